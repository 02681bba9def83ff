"""The HTTP face: applications, answers, servers. Everything here is also in ``tarmac`` itself."""

from tarmac._native import Headers, Limits, Request, Response
from tarmac.http.app import App
from tarmac.http.responses import html, json, redirect, text
from tarmac.http.routing import Middleware, Router
from tarmac.http.run import run
from tarmac.http.serve import Server, serve
from tarmac.http.tasks import after

__all__ = [
    "App",
    "Headers",
    "Limits",
    "Middleware",
    "Request",
    "Response",
    "Router",
    "Server",
    "after",
    "html",
    "json",
    "redirect",
    "run",
    "serve",
    "text",
]
