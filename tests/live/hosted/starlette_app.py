"""The behaviour of test_hosting.py in Starlette."""

import asyncio
import contextlib
import hashlib

from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, StreamingResponse
from starlette.routing import Route, WebSocketRoute

log = []
released = asyncio.Event()


async def hello(request):
    return PlainTextResponse("Hello world!")


async def item(request):
    return JSONResponse({"number": request.path_params["number"], "name": request.path_params["name"]})


async def query(request):
    return JSONResponse({name: request.query_params.getlist(name) for name in request.query_params})


async def echo(request):
    return JSONResponse({"got": await request.json()})


async def form(request):
    return JSONResponse(dict(await request.form()))


async def cookies(request):
    response = JSONResponse(request.cookies)
    response.set_cookie("one", "1")
    response.set_cookie("two", "2")
    return response


async def headers(request):
    return JSONResponse(",".join(request.headers.getlist("x-multi")))


async def redirect(request):
    return RedirectResponse("/hello", status_code=302)


async def error(request):
    raise RuntimeError("on purpose")


async def upload(request):
    body = await request.body()
    return JSONResponse({"length": len(body), "sha256": hashlib.sha256(body).hexdigest()})


async def upload_pieces(request):
    digest, length, pieces = hashlib.sha256(), 0, 0
    async for piece in request.stream():
        digest.update(piece)
        length += len(piece)
        pieces += bool(piece)
    return JSONResponse({"length": length, "sha256": digest.hexdigest(), "pieces": pieces})


async def stream(request):
    async def lines():
        yield "one\n"
        await released.wait()
        released.clear()
        yield "two\n"

    return StreamingResponse(lines(), media_type="text/plain")


async def release(request):
    released.set()
    return PlainTextResponse("released")


async def background(request):
    async def work():
        log.append("background task ran")

    return PlainTextResponse("later", background=BackgroundTask(work))


async def wait(request):
    log.append("waiting")
    with contextlib.suppress(ClientDisconnect):
        while not await request.is_disconnected():  # noqa: ASYNC110 - as people write it
            await asyncio.sleep(0.01)
    log.append("disconnect seen")
    return PlainTextResponse("nobody reads this")


async def told(request):
    return JSONResponse(log)


async def talk(websocket):
    await websocket.accept(subprotocol=(websocket.scope["subprotocols"] or [None])[0])
    async for text in websocket.iter_text():
        if text == "close":
            await websocket.close(4000, "as asked")
            return
        await websocket.send_text(text.upper())
    log.append("websocket ended")


@contextlib.asynccontextmanager
async def life(app):
    log.append("start-up ran")
    yield
    print("shutdown ran", flush=True)


app = Starlette(
    lifespan=life,
    routes=[
        Route("/hello", hello),
        Route("/items/{number:int}/{name}", item),
        Route("/query", query),
        Route("/json", echo, methods=["POST"]),
        Route("/form", form, methods=["POST"]),
        Route("/cookies", cookies),
        Route("/headers", headers),
        Route("/redirect", redirect),
        Route("/error", error),
        Route("/upload", upload, methods=["POST"]),
        Route("/upload-pieces", upload_pieces, methods=["POST"]),
        Route("/stream", stream),
        Route("/release", release),
        Route("/background", background),
        Route("/wait", wait),
        Route("/log", told),
        WebSocketRoute("/talk", talk),
    ],
)
