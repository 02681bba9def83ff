"""The site on Starlette, served by uvicorn."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route as StarletteRoute

from stickers.engines import Address, uvicorn
from stickers.http import MOST_BODY, PageRequest, PageResponse
from stickers.pages import UGLY, ugly
from stickers.problems import problem_page
from stickers.routes import ROUTES, missing
from stickers.site import Page, Site

Handler = Callable[[Request], Awaitable[Response]]
EVERY_METHOD = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")


def application(site: Site) -> Starlette:
    """A Starlette application that starts and stops `site` with itself."""
    routes = [
        StarletteRoute(route.path, handler(site, route.page, route.names), methods=[route.method]) for route in ROUTES
    ]
    rest = StarletteRoute("/{rest:path}", handler(site, missing, ()), methods=[*EVERY_METHOD])

    @asynccontextmanager
    async def running(_: object) -> AsyncIterator[None]:
        await site.start()
        yield
        await site.stop()

    return Starlette(routes=[*routes, rest], lifespan=running)


def run(site: Site, address: Address) -> None:
    """Serve until SIGTERM or SIGINT."""
    uvicorn.serve(application(site), address)


def handler(site: Site, page: Page, names: tuple[str, ...]) -> Handler:
    """`page` as a Starlette endpoint; FastAPI takes the same."""
    if page is ugly:
        return _ugly

    async def handle(request: Request) -> Response:
        scope = request.scope
        asked = PageRequest(
            site, request.headers.get, scope["method"], scope["path"],
            scope["query_string"].decode("latin-1"),
            tuple([scope["path_params"][name] for name in names]),
            scope["client"][0] if scope["client"] else "", scope["scheme"] == "https",
        )  # fmt: skip
        if scope["method"] == "POST":
            async for piece in request.stream():
                asked.body += piece
                if len(asked.body) > MOST_BODY:
                    return _sent(problem_page(asked, 413))
        return _sent(await site.answer(page, asked))

    return handle


async def _ugly(_request: Request) -> Response:
    return Response(UGLY, media_type="text/plain")


def _sent(answer: PageResponse) -> Response:
    response = Response(answer.body, answer.status, media_type=answer.content_type)
    response.raw_headers += [(k.lower().encode(), v.encode()) for k, v in answer.headers]
    return response
