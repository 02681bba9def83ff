"""Ask a freshly installed tarmac for one page: what a wheel has to be able to do wherever it lands."""

import asyncio
import sys
import urllib.request

import tarmac

app = tarmac.App()


@app.get("/")
def hello(_: tarmac.Request) -> str:
    """Say which Python this is."""
    return sys.version.split()[0]


async def main() -> None:
    """Serve, ask, compare."""
    server = await tarmac.serve(app, port=0)
    answer = await asyncio.to_thread(lambda: urllib.request.urlopen(f"{server.url}/", timeout=5).read().decode())  # noqa: S310 - our own
    await server.stop()
    if answer != hello(None):  # type: ignore[arg-type]
        raise SystemExit(f"asked for a page, got {answer!r}")
    print(f"    tarmac {tarmac.__version__} answers on Python {answer}")


asyncio.run(main())
