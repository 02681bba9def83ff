"""Hello world as a bare ASGI application on Granian."""

import sys

from granian import Granian
from granian.constants import Interfaces
from hello_uvicorn import app

__all__ = ["app"]

if __name__ == "__main__":
    Granian(
        "hello_granian:app",
        address="127.0.0.1",
        port=int(sys.argv[1]),
        interface=Interfaces.ASGINL,
        workers=1,
        runtime_threads=1,
        log_enabled=False,
    ).serve()
