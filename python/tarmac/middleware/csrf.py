"""``CSRF``: what changes something must come from our own pages."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tarmac.errors import ConfigurationError, Forbidden
from tarmac.middleware.fields import add_vary, origin_of
from tarmac.middleware.signing import Signer, decoded, encoded

if TYPE_CHECKING:
    from tarmac._native import Request, Response
    from tarmac.http.routing import CallNext
    from tarmac.middleware.sessions import Session

__all__ = ["CSRF"]

_SAFE = {"GET", "HEAD", "OPTIONS", "TRACE"}
_BYTES = 16
_FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")


class CSRF:
    """Refuse requests with 403 that another site has a browser send.

    Two checks for every method but GET, HEAD, OPTIONS and TRACE. First where it comes from: what
    ``Sec-Fetch-Site``, ``Origin`` or ``Referer`` says must be this site or one of *trusted* (origins). Then a
    token: ``request.state.csrf_token()`` gives one for a page, which comes back in the header *header* or the
    form field *field*. Its counterpart is kept in the session where ``Sessions`` stands around this, and else in
    a cookie of its own, signed with *keys*. ``exempt(request)`` lets requests pass that no browser sends on
    its own, such as those with an API key. ``tokens=False`` leaves it at the first check.
    """

    def __init__(
        self,
        keys: Sequence[str | bytes] | str | bytes | None = None,
        *,
        trusted: Sequence[str] = (),
        header: str = "X-CSRF-Token",
        field: str = "csrf_token",
        cookie: str = "csrf",
        secure: bool = True,
        tokens: bool = True,
        exempt: Callable[[Request], bool] | None = None,
    ) -> None:
        self._signer = None if keys is None else Signer(keys, f"tarmac.csrf:{cookie}")
        self._trusted = {origin.lower() for origin in trusted}
        self._header = header
        self._field = field
        self._cookie = cookie
        self._secure = secure
        self._tokens = tokens
        self._exempt = exempt

    async def __call__(self, request: Request, call_next: CallNext) -> Any:
        """Check the request, and give its page a token."""
        checked = request.method not in _SAFE and not (self._exempt is not None and self._exempt(request))
        if checked:
            self._check_source(request)
        if not self._tokens:
            return await call_next(request)
        secret = _Secret(self, request)
        request.state.csrf_token = secret.token
        if checked:
            await self._check_token(request, secret)
        response = await call_next(request)
        secret.keep(response)
        return response

    def _check_source(self, request: Request) -> None:
        origin = _named_origin(request)
        if origin is not None and origin in self._trusted:
            return
        site = request.header("sec-fetch-site")
        if site is not None and site not in {"same-origin", "none"}:
            raise Forbidden("this request comes from another site")
        if site is None and origin is not None and origin != origin_of(request.scheme, request.host):
            raise Forbidden("this request comes from another origin")

    async def _check_token(self, request: Request, secret: _Secret) -> None:
        token = request.header(self._header) or await self._from_form(request)
        if not secret.matches(token):
            raise Forbidden("the token of this form is missing or too old: load the page again")

    async def _from_form(self, request: Request) -> str | None:
        kind = request.header("content-type", "") or ""
        if not kind.lower().startswith(_FORMS):
            return None
        try:
            _ = request.content
        except RuntimeError:
            return None  # it comes in pieces, which belong to the handler
        value = (await request.form()).get(self._field)
        return value if isinstance(value, str) else None

    def stored(self, request: Request) -> bytes | None:
        """The visitor's secret as it was kept, if it was."""
        session = _session(request)
        if session is not None:
            return decoded(session.get("csrf", ""))
        if self._signer is None:
            message = "CSRF needs keys=..., or tarmac.middleware.Sessions around it"
            raise ConfigurationError(message)
        signed = self._signer.text(request.cookies.get(self._cookie, ""))
        return decoded(signed[0]) if signed is not None else None

    def store(self, request: Request, response: Response, secret: bytes) -> None:
        """Have the browser keep the visitor's secret."""
        if self._signer is not None and _session(request) is None:
            value = self._signer.sign(encoded(secret))
            response.set_cookie(self._cookie, value, secure=self._secure, http_only=True, same_site="lax")


class _Secret:
    """One visitor's secret; each token hides it behind another mask, so that compressed pages do not betray it."""

    def __init__(self, middleware: CSRF, request: Request) -> None:
        self._middleware = middleware
        self._request = request
        self._known: bytes | None = None
        self._new = False
        self._asked = False

    def token(self) -> str:
        """A token for a page that is made now."""
        self._asked = True
        value = self._stored()
        if not value:
            value = self._known = secrets.token_bytes(_BYTES)
            self._new = True
            session = _session(self._request)
            if session is not None:
                session["csrf"] = encoded(value)
        mask = secrets.token_bytes(_BYTES)
        return encoded(mask + _xor(mask, value))

    def matches(self, token: str | None) -> bool:
        """Whether *token* was made from this secret."""
        data = decoded(token) if token and token.isascii() else None
        value = self._stored()
        if not value or data is None or len(data) != 2 * _BYTES:
            return False
        return hmac.compare_digest(value, _xor(data[:_BYTES], data[_BYTES:]))

    def keep(self, response: Response) -> None:
        """Send the secret along if it is new."""
        if self._asked:
            add_vary(response, "Cookie")
        if self._new and self._known is not None:
            self._middleware.store(self._request, response, self._known)

    def _stored(self) -> bytes:
        """What was kept, looked up when it is first needed: an answer that needs none does not depend on it."""
        if self._known is None:
            found = self._middleware.stored(self._request)
            self._known = found if found is not None and len(found) == _BYTES else b""
        return self._known


def _session(request: Request) -> Session | None:
    session: Session | None = getattr(request.state, "session", None)
    return session


def _named_origin(request: Request) -> str | None:
    """The origin that ``Origin``, or else ``Referer``, names; ``"null"`` for one that hides."""
    origin = request.header("origin")
    if origin is not None:
        return origin.lower()
    referer = request.header("referer")
    if referer is None:
        return None
    parts = urlsplit(referer)
    return origin_of(parts.scheme, parts.netloc)


def _xor(first: bytes, second: bytes) -> bytes:
    return bytes(one ^ other for one, other in zip(first, second, strict=True))
