"""A Starlette application that shows what a server must do for it, and notes what happens to it."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from starlette.applications import Starlette
from starlette.background import BackgroundTasks
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

Log = list[Any]


@contextlib.asynccontextmanager
async def life(app):
    app.state.log.append("start-up")
    yield {"shared": "a pool"}
    app.state.log.append("shutdown")


async def state(request: Request):
    return JSONResponse({"shared": request.state.shared, "url": str(request.url.path), "method": request.method})


async def streams(request: Request):
    log: Log = request.app.state.log

    async def pieces():
        for number in range(5):
            yield f"{number}\n"
        log.append("stream ended")

    return StreamingResponse(pieces(), headers={"x-kind": "stream"}, status_code=206)


def streams_from_a_thread(request: Request):
    return StreamingResponse(iter([b"a", b"b" * 70_000, b"", b"c"]))


async def breaks(request: Request):
    raise RuntimeError("on purpose")


async def takes_pieces(request: Request):
    log: Log = request.app.state.log
    pieces = [piece async for piece in request.stream()]
    log.append(("received", b"".join(pieces), pieces[-1] == b""))
    return PlainTextResponse(str(sum(map(len, pieces))))


async def takes_twice(request: Request):
    first, second = await request.body(), await request.body()
    return JSONResponse([len(first), first == second])


async def background(request: Request):
    log: Log = request.app.state.log
    tasks = BackgroundTasks()

    async def later(name):
        await asyncio.sleep(0)
        log.append(("background", name))

    tasks.add_task(later, "asynchronous")
    tasks.add_task(log.append, ("background", "in a thread"))
    log.append("answer made")
    return PlainTextResponse("see you", background=tasks)


async def sees_the_end(request: Request):
    log: Log = request.app.state.log

    async def after():
        log.append((await request.receive())["type"])

    tasks = BackgroundTasks()
    tasks.add_task(after)
    await request.body()
    return PlainTextResponse("read", background=tasks)


async def reads_after_the_end(request: Request):
    log: Log = request.app.state.log

    async def after():
        try:
            await request.body()
        except ClientDisconnect:
            log.append("nobody is there")

    tasks = BackgroundTasks()
    tasks.add_task(after)
    return PlainTextResponse("unread", background=tasks)


async def fields(request: Request):
    response = Response(request.headers["x-asked"], media_type="text/plain")
    response.set_cookie("a", "1")
    response.set_cookie("b", "2", httponly=True)
    return response


async def echoes(socket: WebSocket):
    log: Log = socket.app.state.log
    await socket.accept(subprotocol="two", headers=[(b"x-answer", b"yes")])
    log.append(("subprotocols", socket.scope["subprotocols"], socket.query_params["q"], socket.state.shared))
    while (message := await socket.receive())["type"] == "websocket.receive":
        if message.get("text") == "close":
            await socket.close(4005, "as asked")
            log.append(socket.application_state.name)
            return
        await socket.send({**message, "type": "websocket.send"})
    log.append(("client closed", message["code"]))


async def refuses(socket: WebSocket):
    await socket.close()


async def denies(socket: WebSocket):
    await socket.send_denial_response(JSONResponse({"who": "are you"}, status_code=401))


class Passing(BaseHTTPMiddleware):
    async def dispatch(self, request, call_next):
        response = await call_next(request)
        response.headers["x-passed"] = "yes"
        return response


ROUTES: list[Any] = [
    Route("/state", state, methods=["GET", "POST"]),
    Route("/streams", streams),
    Route("/streams-from-a-thread", streams_from_a_thread),
    Route("/breaks", breaks),
    Route("/takes-pieces", takes_pieces, methods=["POST"]),
    Route("/takes-twice", takes_twice, methods=["POST"]),
    Route("/background", background),
    Route("/sees-the-end", sees_the_end, methods=["POST"]),
    Route("/reads-after-the-end", reads_after_the_end, methods=["POST"]),
    Route("/fields", fields),
    WebSocketRoute("/echoes", echoes),
    WebSocketRoute("/refuses", refuses),
    WebSocketRoute("/denies", denies),
]


def application(log: Log) -> Starlette:
    """The application, which notes in *log*."""
    app = Starlette(routes=ROUTES, lifespan=life, middleware=[Middleware(Passing)])
    app.state.log = log
    return app
