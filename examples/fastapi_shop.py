"""A FastAPI application as it is, served by tarmac: `tarmac run --app-dir examples fastapi_shop:app`, then open /docs.

curl http://127.0.0.1:8080/packs/cats
curl -X POST 'http://127.0.0.1:8080/packs/dogs?stickers=5'
"""

from contextlib import asynccontextmanager

from fastapi import FastAPI, HTTPException, Response


@asynccontextmanager
async def lifespan(app):
    app.state.packs = {"cats": 3}
    yield


app = FastAPI(title="Shop", lifespan=lifespan)


@app.get("/packs/{name}")
async def pack(name: str):
    if name not in app.state.packs:
        raise HTTPException(404, f"no pack {name}")
    return {"name": name, "stickers": app.state.packs[name]}


@app.post("/packs/{name}", status_code=201)
async def add(name: str, stickers: int, response: Response):
    app.state.packs[name] = stickers
    response.headers["Location"] = f"/packs/{name}"
    return await pack(name)
