"""One JSON answer as a FastAPI application; on uvicorn when it is run.

usage: hosted_fastapi.py PORT
"""

import sys

from fastapi import FastAPI

app = FastAPI()


@app.get("/")
async def hello() -> dict[str, str]:
    return {"hello": "world"}


def serve_with_uvicorn(port):
    import uvicorn

    uvicorn.run(
        app,
        host="127.0.0.1",
        port=port,
        loop="uvloop",
        http="httptools",
        access_log=False,
        log_level="error",
    )


if __name__ == "__main__":
    serve_with_uvicorn(int(sys.argv[1]))
