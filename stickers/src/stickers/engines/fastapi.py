"""The site on FastAPI, served by uvicorn."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from stickers.engines import Address, uvicorn
from stickers.engines.starlette import EVERY_METHOD, handler
from stickers.routes import ROUTES, missing
from stickers.site import Site


def application(site: Site) -> FastAPI:
    """A FastAPI application that starts and stops `site` with itself."""

    @asynccontextmanager
    async def running(_: object) -> AsyncIterator[None]:
        await site.start()
        yield
        await site.stop()

    # Its documentation pages load scripts from a third party, so they are not shown.
    app = FastAPI(lifespan=running, openapi_url=None)
    for route in ROUTES:
        methods = ["GET", "HEAD"] if route.method == "GET" else [route.method]
        endpoint = handler(site, route.page, route.names)
        app.add_api_route(route.path, endpoint, methods=methods, response_model=None)
    app.add_api_route("/{rest:path}", handler(site, missing, ()), methods=[*EVERY_METHOD], response_model=None)
    return app


def run(site: Site, address: Address) -> None:
    """Serve until SIGTERM or SIGINT."""
    uvicorn.serve(application(site), address)
