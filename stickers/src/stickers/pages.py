"""The pages: each asks the store once and renders once. They know no engine and no store."""

from typing import Final

from stickers import sessions
from stickers.domain import Ballot, Listing, Pair, Sticker, Visit
from stickers.http import DATA_HEADERS, HTML, PAGE_HEADERS, PLAIN, PageRequest, PageResponse
from stickers.http import redirect as see_other
from stickers.problems import Problem
from stickers.stores import Store

UGLY: Final = b"UGLY"
"""All of `/ugly`: the server alone."""

UGLY_RESPONSE: Final = PageResponse(UGLY, 200, PLAIN, ())


async def index(request: PageRequest, store: Store) -> PageResponse:
    """Two different stickers to choose from."""
    visit = _visit(request)
    pair = await store.index(visit)
    if _is_plain(request):
        return _plain(request, visit, pair.session, _pair_lines(pair))
    body = request.site.templates.render("index", page="index", left=pair.left, right=pair.right)
    return _page(request, visit, pair.session, body)


async def vote(request: PageRequest, store: Store) -> PageResponse:
    """Count a vote and show the next pair; every refusal looks the same."""
    _check_origin(request)
    session = sessions.session_of(request)
    site = request.site
    if not site.address_votes.allows(sessions.address_of(request)):
        raise Problem(429)
    if session is None:
        raise Problem(403)
    if not site.session_votes.allows(session):
        raise Problem(429)
    form = request.fields()
    ballot = Ballot(session, form.get("winner", ""), form.get("loser", ""), site.clock())
    if not await store.vote(ballot):
        raise Problem(403)
    return see_other("/")


async def good(request: PageRequest, store: Store) -> PageResponse:
    """The nine best."""
    visit = _visit(request)
    return _listing(request, visit, await store.listing(visit, best=True), "good")


async def bad(request: PageRequest, store: Store) -> PageResponse:
    """The nine worst."""
    visit = _visit(request)
    return _listing(request, visit, await store.listing(visit, best=False), "bad")


async def ugly(_request: PageRequest, _store: Store) -> PageResponse:
    """A constant; engines may answer it without a coroutine."""
    return UGLY_RESPONSE


async def ugliest(request: PageRequest, store: Store) -> PageResponse:
    """The worst of those that many have judged."""
    stickers = await store.ugliest()
    if _is_plain(request):
        return PageResponse(_lines(stickers), 200, PLAIN, DATA_HEADERS)
    body = request.site.templates.render("listing", page="ugliest", stickers=stickers)
    return PageResponse(body)


async def about(request: PageRequest, _store: Store) -> PageResponse:
    """Numbers that a background task keeps fresh: no store work here."""
    site = request.site
    body = site.templates.render("about", page="about", statistics=site.statistics, store=site.store.name)
    return PageResponse(body)


def _listing(request: PageRequest, visit: Visit, listing: Listing, page: str) -> PageResponse:
    if _is_plain(request):
        return _plain(request, visit, listing.session, _lines(listing.stickers))
    body = request.site.templates.render("listing", page=page, stickers=listing.stickers)
    return _page(request, visit, listing.session, body)


def _visit(request: PageRequest) -> Visit:
    visit = sessions.visit(request)
    if visit.session is None and not request.site.newcomers.allows(visit.address):
        raise Problem(429)
    return visit


def _page(request: PageRequest, visit: Visit, session: str, body: bytes) -> PageResponse:
    if visit.session is not None:
        return PageResponse(body)
    cookie = sessions.cookie_header(session, request)
    return PageResponse(body, 200, HTML, (*PAGE_HEADERS, cookie))


def _plain(request: PageRequest, visit: Visit, session: str, body: bytes) -> PageResponse:
    if visit.session is not None:
        return PageResponse(body, 200, PLAIN, DATA_HEADERS)
    cookie = sessions.cookie_header(session, request)
    return PageResponse(body, 200, PLAIN, (*DATA_HEADERS, cookie))


def _is_plain(request: PageRequest) -> bool:
    query = request.query
    return bool(query) and (query == "format=plain" or request.options().get("format") == "plain")


def _lines(stickers: list[Sticker]) -> bytes:
    return "".join(f"{row.rating} {row.pack}/{row.number} {row.title}\n" for row in stickers).encode()


def _pair_lines(pair: Pair) -> bytes:
    shown = (one for one in (pair.left, pair.right) if one is not None)
    return "".join(
        f"{one.token} {one.sticker.pack}/{one.sticker.number} {one.sticker.title}\n" for one in shown
    ).encode()


def _check_origin(request: PageRequest) -> None:
    """A vote comes from our own page; browsers say where it was sent from."""
    site = request.header("sec-fetch-site")
    if site is not None and site != "same-origin":
        raise Problem(403)
    origin = request.header("origin")
    if origin is not None and origin.partition("://")[2] != request.header("host"):
        raise Problem(403)
