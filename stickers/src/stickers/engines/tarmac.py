"""The site on tarmac."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from tarmac import App, Limits, Request, Response

from stickers.engines import DRAIN_SECONDS, Address
from stickers.http import MOST_BODY, PageRequest, PageResponse
from stickers.pages import UGLY, ugly
from stickers.problems import problem_page
from stickers.routes import ROUTES
from stickers.site import Page, Site

Handler = Callable[..., Awaitable[Response]]


def application(site: Site) -> App:
    """A tarmac application that starts and stops `site` with itself."""
    app = App()
    for route in ROUTES:
        handler = _ugly if route.page is ugly else _handler(site, route.page, route.names)
        app.add_route(route.path, handler, methods=[route.method])
    # tarmac itself tells a wrong method from a wrong path.
    app.add_error_handler(404, lambda request, _: _sent(problem_page(_asked(site, request), 404)))

    async def running(_: App) -> AsyncIterator[None]:
        await site.start()
        yield
        await site.stop()

    app.lifespan(running)
    return app


def run(site: Site, address: Address) -> None:
    """Serve until SIGTERM or SIGINT."""
    application(site).run(
        host=address.host,
        port=address.port,
        loop="uvloop" if address.uvloop else "asyncio",
        workers=address.workers,
        drain=DRAIN_SECONDS,
        limits=Limits(body_bytes=MOST_BODY),
        quiet=True,
    )


def _handler(site: Site, page: Page, names: tuple[str, ...]) -> Handler:
    async def handle(request: Request, **params: Any) -> Response:
        asked = _asked(site, request)
        if names:
            asked.params = tuple([params[name] for name in names])
        if asked.method == "POST":
            asked.body = await request.body()
        return _sent(await site.answer(page, asked))

    return handle


def _asked(site: Site, request: Request) -> PageRequest:
    client, query = request.client, request.query_string
    return PageRequest(
        site, request.header, request.method, request.path, query.decode("latin-1") if query else "",
        (), client[0] if client else "", request.scheme == "https",
    )  # fmt: skip


def _ugly(_: Request) -> Response:
    return Response(UGLY, content_type="text/plain; charset=utf-8")


def _sent(answer: PageResponse) -> Response:
    return Response(answer.body, status=answer.status, content_type=answer.content_type, headers=answer.headers)
