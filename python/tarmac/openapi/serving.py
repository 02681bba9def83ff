"""Serves the document, and a page that shows it and tries it out, from files of this package alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tarmac._native import Response
from tarmac.http.responses import encode_json
from tarmac.openapi.description import describe
from tarmac.openapi.document import build_document

if TYPE_CHECKING:
    from tarmac._native import Request
    from tarmac.http.app import App

__all__ = ["add_routes"]

_PAGE = Path(__file__).parent / "page"
_TYPES = {".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript"}
# Nothing of the page may come from elsewhere, and nobody may frame it; it asks the servers of the document alone.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src {servers}; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def add_routes(app: App, *, path: str, docs: str | None, title: str, **options: Any) -> None:
    """Let *app* answer *path* with its document, made when it is first asked for, and *docs* with the page."""

    @cache
    def text() -> str:
        return encode_json(build_document(app, title=title, **options))

    @describe(hidden=True)
    def document(_: Request) -> Response:
        return Response(text(), content_type="application/json")

    app.add_route(path, document, name="openapi_document")
    if docs is None:
        return
    base = docs.rstrip("/")
    policy = _POLICY.format(servers=" ".join(["'self'", *_origins(options.get("servers", ()))]))
    app.add_route(docs, _answering(_page(title, path, base), policy), name="openapi_page")
    for name in ("docs.css", "docs.js"):
        app.add_route(f"{base}/{name}", _answering(_file(name), policy), name=f"openapi_{name}")


def _origins(servers: Iterable[str]) -> list[str]:
    """What a policy calls the servers that are somewhere else."""
    return [f"{url.scheme}://{url.netloc}" for url in map(urlsplit, servers) if url.netloc]


def _answering(content: Callable[[], tuple[str, str]], policy: str) -> Callable[[Request], Response]:
    @describe(hidden=True)
    def answer(_: Request) -> Response:
        body, kind = content()
        headers = {"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "Cache-Control": "no-cache"}
        return Response(body, content_type=kind, headers=headers)

    return answer


def _page(title: str, path: str, base: str) -> Callable[[], tuple[str, str]]:
    @cache
    def content() -> tuple[str, str]:
        text, kind = _file("index.html")()
        for name, value in {"title": title, "document": path, "base": base}.items():
            text = text.replace(f"{{{{{name}}}}}", escape(value))
        return text, kind

    return content


def _file(name: str) -> Callable[[], tuple[str, str]]:
    @cache
    def content() -> tuple[str, str]:
        path = _PAGE / name
        return path.read_text(), _TYPES[path.suffix]

    return content
