"""WebSockets of hosted ASGI applications: ASGI's events over the native ``WebSocket``.

::

    connecting ── websocket.accept ────────────► open ── websocket.close, the client's end ──► over
        ├──────── websocket.close (403) ────────────────────────────────────────────────────► over
        └──────── websocket.http.response.start ► denying ── the last body ─────────────────► over
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tarmac._native import Response, WebSocket
from tarmac.errors import WebSocketClosed

if TYPE_CHECKING:
    from tarmac.asgi import ASGIApplication, Event

__all__ = ["serve"]

_ABNORMAL = 1006
_DENIALS = {"websocket.http.response.start", "websocket.http.response.body"}
# What the server itself says of an answer's length and connection.
_FRAMING = {"content-length", "transfer-encoding", "connection", "date"}


async def serve(app: ASGIApplication, scope: Event, socket: WebSocket) -> None:
    """Let *app* answer for one WebSocket, which the server closes when this returns or raises."""
    talk = _Talk(socket)
    await app(scope, talk.receive, talk.send)
    if talk.phase in {"connecting", "denying"}:
        message = "the ASGI application returned before it had accepted or refused the WebSocket"
        raise RuntimeError(message)


class _Talk:
    """``receive`` and ``send`` of one WebSocket."""

    def __init__(self, socket: WebSocket) -> None:
        self.phase = "connecting"
        self._socket = socket
        self._told = False
        self._denial: tuple[int, list[tuple[str, str]]] = (403, [])
        self._body = b""

    async def receive(self) -> Event:
        """``websocket.connect``, then the messages, then ``websocket.disconnect``."""
        if not self._told:
            self._told = True
            return {"type": "websocket.connect"}
        if self.phase in {"connecting", "denying"}:
            await self._socket.request.wait_disconnected()
            return _disconnect(_ABNORMAL)
        if not self._socket.accepted:
            return _disconnect(_ABNORMAL)
        try:
            message = await self._socket.receive()
        except WebSocketClosed as end:
            return _disconnect(end.code, end.reason)
        return {"type": "websocket.receive", "text" if isinstance(message, str) else "bytes": message}

    async def send(self, event: Event) -> None:
        """Take one event. Raises ``RuntimeError`` out of turn, ``OSError`` when the client has gone."""
        kind = event["type"]
        if self.phase == "connecting" and kind == "websocket.accept":
            await self._accept(event)
        elif self.phase == "connecting" and kind == "websocket.close":
            self.phase = "over"
            await self._socket.close()
        elif self.phase in {"connecting", "denying"} and kind in _DENIALS:
            self._deny(event)
        elif self.phase == "open" and kind == "websocket.send":
            await self._send(event)
        elif self.phase == "open" and kind == "websocket.close":
            self.phase = "over"
            # The client's own goodbye is not waited for.
            self._socket.close(event.get("code") or 1000, event.get("reason") or "")
        else:
            message = f"{kind} while the WebSocket is {self.phase}"
            raise RuntimeError(message)

    async def _accept(self, event: Event) -> None:
        headers = _headers(event)
        await self._socket.accept(event.get("subprotocol") or None, headers)
        self.phase = "open"

    async def _send(self, event: Event) -> None:
        message = event.get("bytes")
        if message is None:
            message = event.get("text")
        if message is None:
            raise RuntimeError("websocket.send needs text or bytes")
        await self._socket.send(message)

    def _deny(self, event: Event) -> None:
        if event["type"] == "websocket.http.response.start":
            if self.phase == "denying":
                raise RuntimeError("websocket.http.response.start came twice")
            self._denial = (event["status"], _headers(event))
            self.phase = "denying"
            return
        if self.phase != "denying":
            raise RuntimeError("websocket.http.response.body came before websocket.http.response.start")
        self._body += event.get("body", b"")
        if not event.get("more_body", False):
            self.phase = "over"
            status, headers = self._denial
            self._socket.request.respond(Response(self._body, status=status, headers=headers))


def _headers(event: Event) -> list[tuple[str, str]]:
    pairs = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in event.get("headers", ())]
    return [(name, value) for name, value in pairs if name.lower() not in _FRAMING]


def _disconnect(code: int, reason: str = "") -> dict[str, Any]:
    return {"type": "websocket.disconnect", "code": code, "reason": reason}
