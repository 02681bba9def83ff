"""``SecurityHeaders``: what tells browsers to be careful."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tarmac.errors import ConfigurationError

if TYPE_CHECKING:
    from tarmac._native import Request, Response
    from tarmac.http.routing import CallNext

__all__ = ["SecurityHeaders"]

Policy = str | Mapping[str, str | Sequence[str]]


class SecurityHeaders:
    """Add security headers that the handler has not set itself; ``None`` leaves one out.

    ``content_security_policy`` is text or ``{"default-src": ["'self'"], ...}``. ``hsts`` is how many seconds a
    browser is to come by https only; it is said on https alone, so put ``ProxyHeaders`` around this one.
    ``extra`` are more headers.
    """

    def __init__(
        self,
        *,
        content_security_policy: Policy | None = None,
        hsts: int | None = 31_536_000,
        hsts_subdomains: bool = False,
        frame_options: str | None = "DENY",
        referrer_policy: str | None = "strict-origin-when-cross-origin",
        opener_policy: str | None = "same-origin",
        permissions_policy: str | None = None,
        extra: Mapping[str, str] | None = None,
    ) -> None:
        given = {
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": frame_options,
            "Referrer-Policy": referrer_policy,
            "Cross-Origin-Opener-Policy": opener_policy,
            "Permissions-Policy": permissions_policy,
            "Content-Security-Policy": None if content_security_policy is None else _policy(content_security_policy),
            **(extra or {}),
        }
        self._fields = {name: value for name, value in given.items() if value is not None}
        self._hsts = None if hsts is None else f"max-age={hsts}{'; includeSubDomains' if hsts_subdomains else ''}"

    async def __call__(self, request: Request, call_next: CallNext) -> Any:
        """Add the headers."""
        response = await call_next(request)
        self.decorate(request, response)
        return response

    def decorate(self, request: Request, response: Response) -> None:
        """Add what *response* has not."""
        for name, value in self._fields.items():
            response.headers.setdefault(name, value)
        if self._hsts is not None and request.scheme == "https":
            response.headers.setdefault("Strict-Transport-Security", self._hsts)


def _policy(policy: Policy) -> str:
    if isinstance(policy, str):
        return policy
    parts = []
    for directive, sources in policy.items():
        text = sources if isinstance(sources, str) else " ".join(sources)
        if ";" in directive or ";" in text or "," in text:
            message = f"a source of a policy has no semicolon and no comma: {text!r}"
            raise ConfigurationError(message)
        parts.append(f"{directive} {text}".strip())
    return "; ".join(parts)
