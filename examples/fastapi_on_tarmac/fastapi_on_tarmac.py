"""A FastAPI application, unchanged, on tarmac's server.

pip install 'fastapi' 'tarmac'
cd examples/fastapi_on_tarmac
tarmac run fastapi_on_tarmac:app

curl http://127.0.0.1:8080/packs/cats
curl -X POST http://127.0.0.1:8080/packs/cats/votes
"""

import contextlib
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import BackgroundTasks, Depends, FastAPI, HTTPException, Request, WebSocket
from pydantic import BaseModel


class Pack(BaseModel):
    """A pack of stickers."""

    name: str
    votes: int = 0


@contextlib.asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[dict[str, dict[str, Pack]]]:
    """Make what every request finds in its state."""
    yield {"packs": {"cats": Pack(name="cats")}}


app = FastAPI(title="Stickers", lifespan=lifespan)


def find(name: str, request: Request) -> Pack:
    """The pack of a path, or 404."""
    packs: dict[str, Pack] = request.state.packs
    if name not in packs:
        raise HTTPException(404, f"there is no pack {name}")
    return packs[name]


@app.get("/packs/{name}")
async def show(pack: Annotated[Pack, Depends(find)]) -> Pack:
    """Show a pack."""
    return pack


@app.post("/packs/{name}/votes", status_code=202)
async def vote(pack: Annotated[Pack, Depends(find)], tasks: BackgroundTasks) -> dict[str, str]:
    """Count a vote after the answer."""

    def count() -> None:
        pack.votes += 1

    tasks.add_task(count)
    return {"thank": "you"}


@app.websocket("/chat")
async def chat(websocket: WebSocket) -> None:
    """Say everything again, louder."""
    await websocket.accept()
    async for text in websocket.iter_text():
        await websocket.send_text(text.upper())
