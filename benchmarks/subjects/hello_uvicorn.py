"""Hello world as a bare ASGI application on uvicorn."""

import sys

HEAD = {"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain; charset=utf-8")]}
BODY = {"type": "http.response.body", "body": b"Hello world!"}


async def app(scope, receive, send):
    await send(HEAD)
    await send(BODY)


def serve_with_uvicorn(port):
    import uvicorn

    uvicorn.run(
        app,
        host="127.0.0.1",
        port=port,
        loop="uvloop",
        http="httptools",
        lifespan="off",
        access_log=False,
        log_level="error",
    )


if __name__ == "__main__":
    serve_with_uvicorn(int(sys.argv[1]))
