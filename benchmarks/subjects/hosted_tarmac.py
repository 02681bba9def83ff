"""An ASGI application on tarmac: the `app` of a module beside this file.

usage: hosted_tarmac.py PORT MODULE [asyncio|uvloop]
"""

import importlib
import sys

import tarmac
from loops import argument, run_for_ever

app = importlib.import_module(sys.argv[2]).app


async def start() -> tarmac.Server:
    return await tarmac.serve(app, host="127.0.0.1", port=int(sys.argv[1]))


run_for_ever(start, argument(3, "asyncio"))
