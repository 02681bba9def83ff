"""What Japronto's names mean where no tutorial program looks."""

from __future__ import annotations

import asyncio
import json
import sys
import types
from typing import Any

import pytest
from support.http import Answer, Wire, connected, request, served
from support.loops import on_every_loop
from tarmac import BadRequest, ConfigurationError
from tarmac.compat.japronto import Application
from tarmac.compat.japronto.multipart import File, parse_multipart
from tarmac.compat.japronto.response import make_response

pytestmark = pytest.mark.live

NOTHING = dict.fromkeys(("text", "code", "body", "value", "mime_type", "encoding", "headers", "cookies"))


def application(handler, **options: Any) -> Application:
    app = Application(**options)
    app.router.add_route("/", handler)
    return app


async def answered(app: Application, path: str = "/", **options: Any) -> Answer:
    async with connected(app.service()) as wire:
        return await wire.get(path, **options)


async def text_later(request) -> str:
    return "text"


@pytest.mark.parametrize("handler", [lambda request: "text", lambda request: None, text_later])
@on_every_loop
async def test_a_handler_that_returns_something_else_is_a_defect(handler, caplog):
    assert 500 == (await answered(application(handler))).status
    assert "View did not return Response instance" in caplog.text


@on_every_loop
async def test_the_first_error_handler_that_fits_wins_and_none_is_for_all():
    def divide(request):
        return 1 / 0

    app = application(divide)
    app.add_error_handler(ZeroDivisionError, lambda request, error: request.Response(code=409, text="zero"))
    app.add_error_handler(ArithmeticError, lambda request, error: request.Response(code=410, text="never"))
    app.add_error_handler(None, lambda request, error: request.Response(code=411, text=type(error).__name__))
    assert (409, b"zero") == ((answer := await answered(app)).status, answer.body)
    missing = await answered(app, "/nowhere")
    assert (411, b"RouteNotFoundException") == (missing.status, missing.body)


@pytest.mark.parametrize("broken", [lambda request, error: 1 / 0, lambda request, error: "text"])
@on_every_loop
async def test_an_error_handler_that_fails_is_a_plain_500(broken, caplog):
    app = application(lambda request: 1 / 0)
    app.add_error_handler(ZeroDivisionError, broken)
    answer = await answered(app)
    assert (500, b"Internal Server Error") == (answer.status, answer.body)
    assert "the error handler for ZeroDivisionError" in caplog.text


@on_every_loop
async def test_a_traceback_is_shown_only_for_debugging():
    assert b"Internal Server Error" == (await answered(application(lambda request: 1 / 0))).body
    shown = await answered(application(lambda request: 1 / 0, debug=True, log_request=False))
    assert shown.body.startswith(b"Traceback (most recent call last)")
    assert b"ZeroDivisionError" in shown.body


@on_every_loop
async def test_callbacks_run_once_also_on_error_and_for_both_kinds_of_handler(caplog):
    ended: list[str] = []

    def count(request):
        ended.append(request.path)

    def fine(request):
        request.add_done_callback(count)
        return request.Response(text="fine")

    def broken(request):
        request.add_done_callback(lambda request: 1 / 0)
        fine(request)
        raise KeyError

    async def slow(request):
        await asyncio.sleep(0)
        return broken(request)

    app = Application()
    for handler in (fine, broken, slow):
        app.router.add_route(f"/{handler.__name__}", handler)
    async with connected(app.service()) as wire:
        statuses = [(await wire.get(path)).status for path in ("/fine", "/broken", "/slow")]
    assert [200, 500, 500] == statuses
    assert ["/fine", "/broken", "/slow"] == ended
    assert 2 == caplog.text.count("a done callback failed")


@on_every_loop
async def test_a_handler_that_is_cancelled_is_503():
    async def cancelled(request):
        asyncio.current_task().cancel()
        await asyncio.sleep(10)

    answer = await answered(application(cancelled))
    assert (503, b"Service unavailable") == (answer.status, answer.body)


@on_every_loop
async def test_handlers_may_be_methods_and_share_the_loop_of_the_caller():
    class Shop:
        async def front(self, request):
            return request.Response(text=str(asyncio.get_running_loop() is loop))

    loop = asyncio.get_running_loop()
    assert b"True" == (await answered(application(Shop().front))).body


@on_every_loop
async def test_extensions_are_named_and_a_missing_one_says_so():
    def look(request):
        with pytest.raises(AttributeError, match="extend_request added none"):
            request.nothing  # noqa: B018 - looking is the test
        return request.Response(json=[request.upper, request.twice("a")])

    app = application(look)
    app.extend_request(lambda request: request.path.upper(), name="upper", property=True)
    app.extend_request(lambda request, text: text * 2, name="twice")
    assert b'["/", "aa"]' == (await answered(app)).body


@on_every_loop
async def test_requests_are_logged_where_it_is_asked_for(capsys):
    def handler(request):
        return request.Response(text="x")

    for options, lines in (
        ({}, 0),
        ({"debug": True}, 1),
        ({"log_request": True}, 1),
        ({"debug": True, "log_request": False}, 0),
    ):
        await answered(application(handler, **options))
        assert ("127.0.0.1 GET /\n" * lines) == capsys.readouterr().out


HOSTS = {
    "example.org": ["example.org", None],
    "example.org:81": ["example.org", 81],
    "[::1]": ["[::1]", None],
    "[::1]:81": ["[::1]", 81],
    "xn--mnchen-3ya.de:80": ["münchen.de", 80],
}


@on_every_loop
async def test_host_and_port():
    app = application(lambda request: request.Response(json=[request.hostname, request.port]))
    async with served(app.service()) as server:
        for host, expected in HOSTS.items():
            async with Wire(server.port) as wire:
                wire.send(f"GET / HTTP/1.1\r\nHost: {host}\r\n\r\n")
                assert expected == json.loads((await wire.answer()).body), host
        async with Wire(server.port) as wire:
            wire.send("GET / HTTP/1.0\r\n\r\n")
            assert [None, None] == json.loads((await wire.answer()).body)


@on_every_loop
async def test_the_application_serves_in_the_callers_loop_and_pipelines():
    async def echo(request):
        await asyncio.sleep(0)
        return request.Response(text=request.match_dict["n"])

    app = Application()
    app.router.add_route("/{n}", echo)
    async with connected(app.service()) as wire:
        wire.send(b"".join(request(f"/{number}") for number in range(40)))
        assert [str(number).encode() for number in range(40)] == [(await wire.answer()).body for _ in range(40)]


@pytest.mark.parametrize(
    "given",
    [
        {"text": "a", "body": b"b"},
        {"text": "a", "value": {}},
        {"body": b"b", "value": []},
        {"code": 99},
        {"code": 600},
        {"headers": {"X": "a\r\nY: b"}},
    ],
)
def test_a_response_that_cannot_be_sent_is_refused(given):
    with pytest.raises(ValueError, match=r"one of text, body and json|is not a status|header"):
        make_response(**(NOTHING | given))


def test_a_mime_type_says_its_encoding_where_it_is_text_or_json():
    for given, expected in (
        ({"text": "x", "mime_type": "text/html"}, "text/html; charset=utf-8"),
        ({"value": 1, "mime_type": "application/problem/json"}, "application/problem/json; charset=utf-8"),
        ({"body": b"x", "encoding": "utf-16"}, "application/octet-stream; charset=utf-16"),
        ({"body": b"x", "mime_type": "image/png"}, "image/png"),
        ({"mime_type": "image/png"}, None),
    ):
        assert expected == make_response(**(NOTHING | given)).content_type


KIND = "multipart/form-data; boundary=x"
FORM = b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--x--\r\n'


def test_the_parts_of_a_form():
    assert ({"a": "1"}, {}) == parse_multipart(FORM, KIND)
    assert ({"a": "1"}, {}) == parse_multipart(b"preamble\r\n" + FORM + b"epilogue", KIND)
    named = FORM.replace(b'name="a"', b'name="a"; filename="b;c"')
    assert ({}, {"a": File(None, b"1", "b;c")}) == parse_multipart(named, KIND)
    typed = FORM.replace(b'"a"\r\n', b'"a"\r\ncontent-type: TEXT/plain\r\n')
    assert ({}, {"a": File("TEXT/plain", b"1", None)}) == parse_multipart(typed, KIND)


@pytest.mark.parametrize(
    "body",
    [b"", FORM[:-4], FORM.replace(b"--x--", b""), FORM.replace(b'; name="a"', b""), FORM.replace(b"\r\n\r\n", b"\r\n"),
     FORM.replace(b"Content-Disposition:", b"Content-Disposition")],
)  # fmt: skip
def test_what_is_no_form_is_refused(body):
    with pytest.raises(BadRequest):
        parse_multipart(body, KIND)


@on_every_loop
async def test_head_and_options_are_methods_like_any_other():
    app = application(lambda request: request.Response(text=request.method))
    app.router.add_route("/get", lambda request: request.Response(text="got"), "GET")
    async with connected(app.service()) as wire:
        head = await wire.get("/", method="HEAD")
        assert (200, "4", b"") == (head.status, head.header("Content-Length"), head.body)
        assert b"OPTIONS" == (await wire.get("/", method="OPTIONS")).body
        assert [404, 404] == [(await wire.get("/get", method=method)).status for method in ("HEAD", "OPTIONS")]
        assert b"got" == (await wire.get("/get")).body


@on_every_loop
async def test_a_form_that_is_none_is_the_clients_fault():
    app = application(lambda request: request.Response(json=request.form))
    answer = await answered(app, method="POST", headers=f"Content-Type: {KIND}\r\n", body=FORM[:-4])
    assert 400 == answer.status


def run_reloading_without_a_file() -> None:
    """As in an interactive session."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "__main__", types.ModuleType("__main__"))
        Application().run(reload=True)


def test_what_cannot_be_had_is_said():
    with pytest.raises(ConfigurationError, match="protocol_factory"):
        Application(protocol_factory=object())
    with pytest.raises(ConfigurationError, match="in a file"):
        run_reloading_without_a_file()


def test_the_loop_is_there_before_the_server_and_serves():
    app = Application()
    assert app.loop is app.loop
    ready = app.loop.create_future()
    app.loop.call_soon(ready.set_result, "prepared")
    assert "prepared" == app.loop.run_until_complete(ready)
    app.loop.close()
