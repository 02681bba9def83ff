"""The behaviour of test_hosting.py in FastAPI."""

import asyncio
import contextlib
import hashlib
from typing import Annotated, Any

from fastapi import BackgroundTasks, FastAPI, Form, Header, Query, Request, WebSocket, WebSocketDisconnect
from fastapi.responses import JSONResponse, PlainTextResponse, RedirectResponse, StreamingResponse

log = []
released = asyncio.Event()


@contextlib.asynccontextmanager
async def life(app):
    log.append("start-up ran")
    yield
    print("shutdown ran", flush=True)


app = FastAPI(lifespan=life)


@app.api_route("/hello", methods=["GET", "HEAD"], response_class=PlainTextResponse)
async def hello() -> str:
    return "Hello world!"


@app.get("/items/{number}/{name}")
def item(number: int, name: str) -> dict[str, Any]:
    return {"number": number, "name": name}


@app.get("/query")
async def query(a: Annotated[list[str], Query()], b: Annotated[list[str], Query()]) -> dict[str, Any]:
    return {"a": a, "b": b}


@app.post("/json")
async def echo(request: Request) -> dict[str, Any]:
    return {"got": await request.json()}


@app.post("/form")
async def form(name: Annotated[str, Form()], city: Annotated[str, Form()]) -> dict[str, str]:
    return {"name": name, "city": city}


@app.get("/cookies")
async def cookies(request: Request):
    response = JSONResponse(request.cookies)
    response.set_cookie("one", "1")
    response.set_cookie("two", "2")
    return response


@app.get("/headers")
async def headers(x_multi: Annotated[list[str], Header()]) -> str:
    return ",".join(x_multi)


@app.get("/redirect")
async def redirect():
    return RedirectResponse("/hello", status_code=302)


@app.get("/error")
async def error():
    raise RuntimeError("on purpose")


@app.post("/upload")
async def upload(request: Request):
    body = await request.body()
    return {"length": len(body), "sha256": hashlib.sha256(body).hexdigest()}


@app.post("/upload-pieces")
async def upload_pieces(request: Request):
    digest, length, pieces = hashlib.sha256(), 0, 0
    async for piece in request.stream():
        digest.update(piece)
        length += len(piece)
        pieces += bool(piece)
    return {"length": length, "sha256": digest.hexdigest(), "pieces": pieces}


@app.get("/stream")
async def stream():
    async def lines():
        yield "one\n"
        await released.wait()
        released.clear()
        yield "two\n"

    return StreamingResponse(lines(), media_type="text/plain")


@app.get("/release")
async def release():
    released.set()


@app.get("/background")
async def background(tasks: BackgroundTasks):
    tasks.add_task(log.append, "background task ran")


@app.get("/wait")
async def wait(request: Request):
    log.append("waiting")
    while not await request.is_disconnected():  # noqa: ASYNC110 - as people write it
        await asyncio.sleep(0.01)
    log.append("disconnect seen")


@app.get("/log")
async def told() -> list[str]:
    return log


@app.websocket("/talk")
async def talk(websocket: WebSocket):
    await websocket.accept(subprotocol=(websocket.scope["subprotocols"] or [None])[0])
    try:
        while (text := await websocket.receive_text()) != "close":
            await websocket.send_text(text.upper())
        await websocket.close(4000, "as asked")
    except WebSocketDisconnect:
        log.append("websocket ended")
