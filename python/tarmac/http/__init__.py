"""The HTTP face: applications, answers, servers. Everything here is also in ``tarmac`` itself."""

from tarmac._native import Headers, Limits, Request, Response, WebSocket
from tarmac.http.app import App
from tarmac.http.conditional import conditional
from tarmac.http.events import ServerSentEvent, sse
from tarmac.http.files import file
from tarmac.http.forms import Form
from tarmac.http.responses import html, json, redirect, text
from tarmac.http.routing import Middleware, Router
from tarmac.http.run import run
from tarmac.http.serve import Server, serve
from tarmac.http.streams import stream
from tarmac.http.tasks import after
from tarmac.http.uploads import UploadFile

__all__ = [
    "App",
    "Form",
    "Headers",
    "Limits",
    "Middleware",
    "Request",
    "Response",
    "Router",
    "Server",
    "ServerSentEvent",
    "UploadFile",
    "WebSocket",
    "after",
    "conditional",
    "file",
    "html",
    "json",
    "redirect",
    "run",
    "serve",
    "sse",
    "stream",
    "text",
]
