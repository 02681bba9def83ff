"""What trusted proxies say of the client, told to hosted applications: the scope's client, scheme and host."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self, cast

from tarmac.middleware.proxy_headers import ProxyHeaders

if TYPE_CHECKING:
    from tarmac._native import Request
    from tarmac.asgi import ASGIApplication, Event, Receive, Send

__all__ = ["behind_proxies"]


def behind_proxies(app: ASGIApplication, trusted: Sequence[str]) -> ASGIApplication:
    """*app*, told what the ``X-Forwarded-`` headers of proxies at *trusted* addresses say.

    As ``tarmac.middleware.ProxyHeaders``. Raises ``ConfigurationError`` for what is no address.
    """
    proxies = ProxyHeaders(trusted=trusted)

    async def call(scope: Event, receive: Receive, send: Send) -> None:
        async def go_on(_: Request) -> None:
            await app(scope, receive, send)

        if scope["type"] == "lifespan":
            await app(scope, receive, send)
        else:
            await proxies(cast("Request", _Seen(scope)), go_on)

    return call


class _Seen:
    """A scope, as ``ProxyHeaders`` looks at a request."""

    def __init__(self, scope: Event) -> None:
        self._scope = scope
        self.client = scope["client"]

    @property
    def headers(self) -> Self:
        """The headers: only ``get_all`` of them is asked for."""
        return self

    def get_all(self, name: str) -> list[str]:
        """Every value of a header."""
        return [value.decode("latin-1") for key, value in self._scope["headers"] if key == name.encode()]

    def override(self, *, client: Any, scheme: str | None, host: str | None) -> None:
        """Write down what was found."""
        scope = self._scope
        if client is not None:
            scope["client"] = client
        if scheme is not None:
            websocket = scope["type"] == "websocket"
            scope["scheme"] = scheme.replace("http", "ws") if websocket else scheme
        if host is not None:
            others = [pair for pair in scope["headers"] if pair[0] != b"host"]
            scope["headers"] = [(b"host", host.encode("latin-1")), *others]
