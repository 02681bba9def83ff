"""Sends a file at /file, and stores what is PUT to /upload in another folder.

usage: files_tarmac.py PORT FOLDER STORE
"""

import sys
from pathlib import Path

import tarmac
from loops import run_for_ever
from tarmac import App, Limits, Request, Response

app = App()
folder, stored = Path(sys.argv[2]), Path(sys.argv[3])


@app.get("/ready")
def ready(request: Request) -> str:
    return "ready"


@app.get("/file")
async def send(request: Request) -> Response:
    return tarmac.file(folder / "file")


@app.put("/upload", stream=True)
async def store(request: Request) -> Response:
    with (stored / "upload-tarmac").open("wb", buffering=0) as target:
        async for piece in request.stream():
            target.write(piece)
    return Response(status=204)


async def start() -> tarmac.Server:
    limits = Limits(body_bytes=1 << 30)
    return await tarmac.serve(app, host="127.0.0.1", port=int(sys.argv[1]), limits=limits)


run_for_ever(start, "asyncio")
