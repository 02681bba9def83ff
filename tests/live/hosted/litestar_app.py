"""The behaviour of test_hosting.py in Litestar."""

import asyncio
import contextlib
import hashlib
import json
from typing import Annotated, Any

from litestar import Litestar, MediaType, Request, Response, WebSocket, get, post, route, websocket
from litestar.background_tasks import BackgroundTask
from litestar.enums import RequestEncodingType
from litestar.exceptions import WebSocketDisconnect
from litestar.params import Body
from litestar.response import Redirect, Stream

log = []
released = asyncio.Event()


@route("/hello", http_method=["GET", "HEAD"], media_type=MediaType.TEXT, status_code=200)
async def hello() -> str:
    return "Hello world!"


@get("/items/{number:int}/{name:str}")
async def item(number: int, name: str) -> dict[str, Any]:
    return {"number": number, "name": name}


@get("/query")
async def query(request: Request) -> dict[str, list[str]]:
    return {name: request.query_params.getall(name) for name in dict(request.query_params)}


@post("/json", status_code=200)
async def echo(request: Request) -> dict[str, Any]:
    return {"got": await request.json()}


@post("/form", status_code=200)
async def form(data: Annotated[dict[str, str], Body(media_type=RequestEncodingType.URL_ENCODED)]) -> dict[str, str]:
    return data


@get("/cookies")
async def cookies(request: Request) -> Response[dict[str, str]]:
    response = Response(dict(request.cookies))
    response.set_cookie("one", "1")
    response.set_cookie("two", "2")
    return response


@get("/headers")
async def headers(request: Request) -> Response[str]:
    return Response(json.dumps(",".join(request.headers.getall("x-multi"))), media_type=MediaType.JSON)


@get("/redirect", status_code=302)
async def redirect() -> Redirect:
    return Redirect("/hello")


@get("/error")
async def error() -> None:
    raise RuntimeError("on purpose")


@post("/upload", status_code=200)
async def upload(request: Request) -> dict[str, Any]:
    body = await request.body()
    return {"length": len(body), "sha256": hashlib.sha256(body).hexdigest()}


@post("/upload-pieces", status_code=200)
async def upload_pieces(request: Request) -> dict[str, Any]:
    digest, length, pieces = hashlib.sha256(), 0, 0
    async for piece in request.stream():
        digest.update(piece)
        length += len(piece)
        pieces += bool(piece)
    return {"length": length, "sha256": digest.hexdigest(), "pieces": pieces}


@get("/stream")
async def stream() -> Stream:
    async def lines():
        yield "one\n"
        await released.wait()
        released.clear()
        yield "two\n"

    return Stream(lines(), media_type="text/plain")


@get("/release")
async def release() -> None:
    released.set()


@get("/background")
async def background() -> Response[str]:
    async def work() -> None:
        log.append("background task ran")

    return Response("later", background=BackgroundTask(work))


@get("/wait")
async def wait(request: Request) -> None:
    log.append("waiting")
    while (await request.receive())["type"] != "http.disconnect":
        pass
    log.append("disconnect seen")


@get("/log")
async def told() -> list[str]:
    return log


@websocket("/talk")
async def talk(socket: WebSocket) -> None:
    await socket.accept(subprotocols=(socket.scope["subprotocols"] or [None])[0])
    try:
        while (text := await socket.receive_text()) != "close":
            await socket.send_text(text.upper())
        await socket.close(4000, "as asked")
    except WebSocketDisconnect:
        log.append("websocket ended")


@contextlib.asynccontextmanager
async def life(app):
    log.append("start-up ran")
    yield
    print("shutdown ran", flush=True)


app = Litestar(
    [
        hello,
        item,
        query,
        echo,
        form,
        cookies,
        headers,
        redirect,
        error,
        upload,
        upload_pieces,
        stream,
        release,
        background,
        wait,
        told,
        talk,
    ],
    lifespan=[life],
    request_max_body_size=None,
)
