"""Which page answers what: the one table that all engines read."""

from typing import Final, NamedTuple

from stickers import api, files, pages
from stickers.http import PageRequest, PageResponse
from stickers.problems import problem_page
from stickers.site import Page
from stickers.stores import Store


class Route(NamedTuple):
    """`path` has parameters like `{pack}`; `names` are theirs, in order."""

    method: str
    path: str
    page: Page
    names: tuple[str, ...] = ()


ROUTES: Final = (
    Route("GET", "/", pages.index),
    Route("POST", "/", pages.vote),
    Route("GET", "/good", pages.good),
    Route("GET", "/bad", pages.bad),
    Route("GET", "/ugly", pages.ugly),
    Route("GET", "/ugliest", pages.ugliest),
    Route("GET", "/about", pages.about),
    Route("GET", "/stickers", api.packs),
    Route("GET", "/stickers/{pack}", api.pack, ("pack",)),
    Route("GET", "/stickers/{pack}/{number}", api.sticker, ("pack", "number")),
    Route("GET", "/img/{pack}/{file}", files.image, ("pack", "file")),
    Route("GET", "/static/{file}", files.static, ("file",)),
    Route("GET", "/favicon.ico", files.favicon),
)


async def missing(request: PageRequest, _store: Store) -> PageResponse:
    """Whatever no route answers: 405 with `Allow` if only the method is wrong, 404 otherwise."""
    known = {route.method for route in ROUTES if _fits(route.path, request.path)}
    allowed = known | {"HEAD"} if "GET" in known else known
    # An engine's parameters may be narrower than ours: then path and method fit, and it is a 404.
    if not known or request.method in allowed:
        return problem_page(request, 404)
    return problem_page(request, 405, (("Allow", ", ".join(sorted(allowed))),))


def _fits(pattern: str, path: str) -> bool:
    wanted, given = pattern.split("/"), path.split("/")
    return len(wanted) == len(given) and all(
        bool(have) if want.startswith("{") else want == have for want, have in zip(wanted, given, strict=True)
    )
