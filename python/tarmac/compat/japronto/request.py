"""Japronto's request around the native one: its 23 attributes, each read when it is first touched."""

from __future__ import annotations

import json
from collections.abc import Callable
from email.message import Message
from functools import cached_property, partial
from http.cookies import SimpleCookie
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote

from tarmac.compat.japronto.multipart import File, parse_multipart
from tarmac.compat.japronto.response import make_response

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tarmac._native import Request as NativeRequest
    from tarmac._native import Response
    from tarmac.compat.japronto.app import Application
    from tarmac.compat.japronto.router import Route

__all__ = ["Request", "Transport"]


class Transport:
    """What Japronto's programs ask of a connection: ``get_extra_info("peername")``."""

    def __init__(self, native: NativeRequest) -> None:
        self._client = native.client

    def get_extra_info(self, name: str, default: object = None) -> Any:
        """The client's address and port for ``peername``; *default* for everything else."""
        return self._client if name == "peername" and self._client else default


class Request:
    """One request, as a handler written for Japronto sees it."""

    def __init__(
        self, native: NativeRequest, app: Application, route: Route | None, match_dict: dict[str, str]
    ) -> None:
        self._native = native
        self.app = app
        self.route = route
        self.match_dict = match_dict
        self.done_callbacks: list[Callable[[Request], object]] = []

    def Response(  # noqa: N802, PLR0917 - Japronto's name and order
        self,
        text: str | None = None,
        code: int | None = None,
        body: bytes | None = None,
        json: Any = None,
        mime_type: str | None = None,
        encoding: str | None = None,
        headers: Mapping[str, str] | None = None,
        cookies: SimpleCookie | None = None,
    ) -> Response:
        """An answer with one of *text*, *body* and *json*; see docs/how-to/migrate-from-japronto.md."""
        return make_response(
            text=text,
            code=code,
            body=body,
            value=json,
            mime_type=mime_type,
            encoding=encoding,
            headers=headers,
            cookies=cookies,
        )

    def add_done_callback(self, callback: Callable[[Request], object]) -> None:
        """Call ``callback(request)`` once, when the answer is made, also when that is an error's."""
        self.done_callbacks.append(callback)

    def __getattr__(self, name: str) -> Any:
        extension = self.app.request_extensions.get(name)
        if extension is None:
            message = f"a request has no {name!r}, and extend_request added none"
            raise AttributeError(message, name=name, obj=self)
        handler, is_property = extension
        return handler(self) if is_property else partial(handler, self)

    def __repr__(self) -> str:
        return f"<Request {self.method} {self.path}>"

    # The request line and the headers.

    @cached_property
    def method(self) -> str:
        """Such as ``GET``."""
        return self._native.method

    @cached_property
    def path(self) -> str:
        """Percent-decoded, without the query."""
        return self._native.path

    @property
    def version(self) -> str:
        """``1.0`` or ``1.1``."""
        return self._native.version

    @cached_property
    def query_string(self) -> str | None:
        """The query for people, percent-decoded; None without one. Values are in ``query``."""
        return unquote(self._native.query_string.decode("latin-1")) or None

    @cached_property
    def query(self) -> dict[str, str]:
        """The last value of each name."""
        return self._native.query

    @cached_property
    def headers(self) -> dict[str, str]:
        """Headers by their ``Title-Case`` names; several of one name are joined (RFC 9110 section 5.3)."""
        headers: dict[str, str] = {}
        for lower, value in self._native.headers.multi_items():
            name = lower.title()
            between = "; " if name == "Cookie" else ", "
            headers[name] = f"{headers[name]}{between}{value}" if name in headers else value
        return headers

    @cached_property
    def cookies(self) -> dict[str, str]:
        """Cookies by name, unquoted and percent-decoded."""
        reader: SimpleCookie = SimpleCookie()
        pairs = [chunk.partition("=") for chunk in self.headers.get("Cookie", "").split(";")]
        return {name.strip(): unquote(reader.value_decode(value.strip())[0]) for name, equals, value in pairs if equals}

    # The body.

    @cached_property
    def body(self) -> bytes | None:
        """The whole body; None without one."""
        return self._native.content or None

    @cached_property
    def text(self) -> str | None:
        """The body decoded with ``encoding``, or as UTF-8."""
        return None if self.body is None else self.body.decode(self.encoding or "utf-8")

    @cached_property
    def json(self) -> Any:
        """The body as JSON. Raises ``json.JSONDecodeError``."""
        return None if self.text is None else json.loads(self.text)

    @property
    def mime_type(self) -> str | None:
        """The media type of the body, without parameters."""
        return self._content_type.get_content_type() if "Content-Type" in self._content_type else None

    @property
    def encoding(self) -> str | None:
        """The ``charset`` of the body."""
        charset = self._content_type.get_param("charset")
        return charset if isinstance(charset, str) else None

    @property
    def form(self) -> dict[str, str] | None:
        """Fields of an urlencoded or multipart form; None for any other body."""
        return self._form_and_files[0]

    @property
    def files(self) -> dict[str, File] | None:
        """Files of a multipart form; None for any other body."""
        return self._form_and_files[1]

    @cached_property
    def _content_type(self) -> Message:
        message = Message()
        if (given := self._native.header("content-type")) is not None:
            message["Content-Type"] = given
        return message

    @cached_property
    def _form_and_files(self) -> tuple[dict[str, str] | None, dict[str, File] | None]:
        if self.mime_type == "application/x-www-form-urlencoded":
            return dict(parse_qsl(self.text or "", keep_blank_values=True)), None
        if self.mime_type == "multipart/form-data":
            return parse_multipart(self.body or b"", self.headers["Content-Type"])
        return None, None

    # The rest.

    @property
    def keep_alive(self) -> bool:
        """Whether the client wants the connection kept."""
        return self._native.keep_alive

    @cached_property
    def extra(self) -> dict[str, Any]:
        """The program's own, for the life of this request."""
        return {}

    @cached_property
    def transport(self) -> Transport:
        """The connection."""
        return Transport(self._native)

    @property
    def remote_addr(self) -> str:
        """The client's address; empty on a Unix socket."""
        client = self._native.client
        return client[0] if client else ""

    @property
    def hostname(self) -> str | None:
        """The name in ``Host``, in Unicode; None without the header."""
        return self._host[0]

    @property
    def port(self) -> int | None:
        """The port in ``Host``; None where it names none."""
        return self._host[1]

    @cached_property
    def _host(self) -> tuple[str | None, int | None]:
        host = self._native.host
        if not host:
            return None, None
        name, colon, port = host.rpartition(":")
        if not colon or not (port.isdecimal() or not port):  # also the colons inside [::1]
            name, port = host, ""
        if "xn--" in name:
            name = name.encode("ascii").decode("idna")
        return name, int(port) if port else None
