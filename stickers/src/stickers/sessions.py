"""Who is visiting: the signed session cookie, the address, the User-Agent."""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64encode
from typing import TYPE_CHECKING, Final

from stickers.domain import ADDRESS_LENGTH, AGENT_LENGTH, SESSION_LIFETIME, Visit

if TYPE_CHECKING:
    from stickers.http import PageRequest

COOKIE: Final = "stickers"
_ID_LENGTH: Final = 43
_SIGNATURE_LENGTH: Final = 43


def sign(session: str, key: bytes) -> str:
    """`session.signature`: what the cookie holds."""
    return f"{session}.{_signature(session, key)}"


def verify(value: str, key: bytes) -> str | None:
    """The session id, if this site has signed it; None for everything else."""
    if len(value) != _ID_LENGTH + 1 + _SIGNATURE_LENGTH or not value.isascii():
        return None
    session, signature = value[:_ID_LENGTH], value[_ID_LENGTH + 1 :]
    if value[_ID_LENGTH] != "." or not hmac.compare_digest(signature, _signature(session, key)):
        return None
    return session


def visit(request: PageRequest) -> Visit:
    """Everything that a store is told about the visitor."""
    return Visit(
        session_of(request),
        request.site.clock(),
        address_of(request)[:ADDRESS_LENGTH],
        _clean(request.header("user-agent") or "")[:AGENT_LENGTH],
    )


def session_of(request: PageRequest) -> str | None:
    """The session id from the cookie; None for a new visitor and for rubbish."""
    cookies = request.header("cookie")
    if not cookies:
        return None
    for cookie in cookies.split(";"):
        name, _, value = cookie.strip().partition("=")
        if name == COOKIE:
            return verify(value, request.site.settings.secret)
    return None


def address_of(request: PageRequest) -> str:
    """The peer's address, or what a trusted proxy says about it."""
    if request.site.settings.behind_proxy:
        forwarded = request.header("x-forwarded-for")
        if forwarded:
            # Only the last entry was written by our own proxy; the rest anybody can send.
            return _clean(forwarded.rpartition(",")[2].strip())
    return request.address


def is_secure(request: PageRequest) -> bool:
    """True if the visitor's browser speaks TLS, to us or to a trusted proxy."""
    settings = request.site.settings
    if settings.behind_proxy and request.header("x-forwarded-proto") == "https":
        return True
    return request.secure or settings.secure_cookies


def cookie_header(session: str, request: PageRequest) -> tuple[str, str]:
    """The `Set-Cookie` header for a new session."""
    value = sign(session, request.site.settings.secret)
    secure = "; Secure" if is_secure(request) else ""
    return (
        "Set-Cookie",
        f"{COOKIE}={value}; Path=/; Max-Age={SESSION_LIFETIME}; HttpOnly; SameSite=Lax{secure}",
    )


def _signature(session: str, key: bytes) -> str:
    digest = hmac.digest(key, session.encode(), "sha256")
    return urlsafe_b64encode(digest).rstrip(b"=").decode()


def _clean(text: str) -> str:
    # Engines hand over bytes that are no UTF-8 as lone surrogates; no store can keep those.
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
