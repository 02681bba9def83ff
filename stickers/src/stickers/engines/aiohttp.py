"""The site on aiohttp."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

from aiohttp import web

from stickers.engines import DRAIN_SECONDS, Address
from stickers.http import MOST_BODY, PageRequest, PageResponse
from stickers.pages import UGLY, ugly
from stickers.problems import problem_page
from stickers.routes import ROUTES, missing
from stickers.site import Page, Site

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def application(site: Site) -> web.Application:
    """An aiohttp application that starts and stops `site` with itself."""
    app = web.Application(client_max_size=MOST_BODY)
    for route in ROUTES:
        handler = _ugly if route.page is ugly else _handler(site, route.page, route.names)
        app.router.add_route(route.method, route.path, handler)
        if route.method == "GET":
            app.router.add_route("HEAD", route.path, handler)
    app.router.add_route("*", "/{rest:.*}", _handler(site, missing, ()))

    async def running(_: web.Application) -> AsyncIterator[None]:
        await site.start()
        yield
        await site.stop()

    app.cleanup_ctx.append(running)
    return app


def run(site: Site, address: Address) -> None:
    """Serve until SIGTERM or SIGINT."""
    loop = asyncio.new_event_loop()
    if address.uvloop:
        import uvloop  # noqa: PLC0415 - optional

        loop = uvloop.new_event_loop()
    web.run_app(
        application(site), host=address.host, port=address.port, loop=loop,
        access_log=None, print=None, shutdown_timeout=DRAIN_SECONDS,
    )  # fmt: skip


def _handler(site: Site, page: Page, names: tuple[str, ...]) -> Handler:
    async def handle(request: web.Request) -> web.StreamResponse:
        info = request.match_info
        asked = PageRequest(
            site, request.headers.get, request.method, request.path, request.query_string,
            tuple([info[name] for name in names]), request.remote or "", request.secure,
        )  # fmt: skip
        if request.method == "POST":
            try:
                asked.body = await request.read()
            except web.HTTPRequestEntityTooLarge:
                return _sent(problem_page(asked, 413))
        return _sent(await site.answer(page, asked))

    return handle


async def _ugly(_: web.Request) -> web.StreamResponse:
    return web.Response(body=UGLY, content_type="text/plain", charset="utf-8")


def _sent(answer: PageResponse) -> web.Response:
    headers = [("Content-Type", answer.content_type), *answer.headers]
    return web.Response(body=answer.body, status=answer.status, headers=headers)
