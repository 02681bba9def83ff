"""Test an application without a socket: bytes go through the real parser, router, handlers and writer.

::

    with Client(app) as client:
        answer = client.post("/vote", data={"pack": "cats"})
        assert answer.status == 303

``Client`` is for plain tests and drives a loop of its own; ``AsyncClient`` is for tests that run in a loop.
"""

from tarmac.testing.answers import Answer, AnswerHeaders, BrokenAnswer
from tarmac.testing.asynchronous import AsyncClient, AsyncStream
from tarmac.testing.client import Client
from tarmac.testing.connection import AsyncConnection
from tarmac.testing.cookies import Cookies
from tarmac.testing.faces import Connection, Stream, WebSocket
from tarmac.testing.websocket import AsyncWebSocket, WebSocketRefused

__all__ = [
    "Answer",
    "AnswerHeaders",
    "AsyncClient",
    "AsyncConnection",
    "AsyncStream",
    "AsyncWebSocket",
    "BrokenAnswer",
    "Client",
    "Connection",
    "Cookies",
    "Stream",
    "WebSocket",
    "WebSocketRefused",
]
