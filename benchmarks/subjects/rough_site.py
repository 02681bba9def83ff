"""What slow and rough clients are let loose on: hello, uploads, a socket, an answer too big for any buffer."""

import asyncio
import hashlib

from tarmac import App, stream

app = App()
PIECE = b"x" * 65536


@app.get("/")
def hello(request):
    return "Hello world!"


@app.get("/big")
def big(request):
    return stream((PIECE for _ in range(256)), content_type="application/octet-stream")


@app.get("/later")
async def later(request):
    await asyncio.sleep(0.01)
    return "later"


@app.post("/")
@app.post("/upload")
async def upload(request):
    return hashlib.sha256(await request.body()).hexdigest()


@app.get("/tasks")
def tasks(request):
    """How many tasks this process has: what is left behind shows here."""
    return str(len(asyncio.all_tasks()))


@app.websocket("/echo")
async def echo(socket):
    async for message in socket:
        await socket.send(message)
