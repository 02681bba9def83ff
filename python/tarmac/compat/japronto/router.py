"""Routes as Japronto wrote them: patterns with ``{placeholders}``, methods, the first one that fits wins."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from tarmac.compat.japronto.request import Request

    Handler = Callable[[Request], Any]

__all__ = ["Matcher", "Route", "RouteNotFoundException", "Router", "Segment", "parse"]

Parameters = dict[str, str]
_TOKEN = re.compile(r"\{\{|\}\}|\{([^{}]*)\}(?=/|\Z)|[{}]")


class RouteNotFoundException(Exception):
    """No route fits the path and the method of a request."""


class Segment(NamedTuple):
    """A part of a pattern: text as it stands, or a placeholder by its name."""

    kind: Literal["exact", "placeholder"]
    text: str


class Route:
    """One pattern, its methods (none means all) and its handler."""

    __slots__ = ("handler", "methods", "pattern", "segments")

    def __init__(self, pattern: str, handler: Handler, methods: frozenset[str]) -> None:
        self.pattern = pattern
        self.handler = handler
        self.methods = methods
        self.segments = parse(pattern)

    @property
    def names(self) -> list[str]:
        """The placeholders in their order."""
        return [segment.text for segment in self.segments if segment.kind == "placeholder"]

    def describe(self) -> str:
        """Pattern and methods for people."""
        return " ".join([self.pattern, *sorted(self.methods)])

    def __repr__(self) -> str:
        return f"<Route {self.describe()}>"


class Router:
    """The routes of an application, in the order in which they were added."""

    def __init__(self) -> None:
        self.routes: list[Route] = []

    def add_route(
        self,
        pattern: str,
        handler: Handler,
        method: str | None = None,
        methods: str | Iterable[str] | None = None,
    ) -> Route:
        """Let *handler* answer *pattern*, for one method, for several, or for all if none is named."""
        if method and methods:
            message = "say method or methods, not both"
            raise ValueError(message)
        named = methods or method or ()
        wanted = [named] if isinstance(named, str) else named
        route = Route(pattern, handler, frozenset(name.upper() for name in wanted))
        self.routes.append(route)
        return route

    def matcher(self) -> Matcher:
        """The routes as they are now, made quick."""
        return Matcher(self.routes)


class Matcher:
    """Routes compiled: a dictionary for fixed paths, one regular expression for all others."""

    def __init__(self, routes: Iterable[Route]) -> None:
        known = list(routes)
        self._dynamic = [route for route in known if route.names]
        self._fixed = {path: _fitting(known, path) for path in {_fixed_path(route) for route in known} if path}
        self._starts: list[int] = []
        self._search = re.compile("|".join(self._alternatives())).fullmatch

    def find(self, method: str, path: str) -> tuple[Route, Parameters] | None:
        """The first route that fits a decoded path, and the values of its placeholders."""
        fixed = self._fixed.get(path)
        if fixed is not None:
            return next(((route, dict(values)) for route, values in fixed if allows(route, method)), None)
        if not self._dynamic or (found := self._search(f"{method} {path}")) is None:
            return None
        number = int((found.lastgroup or "")[1:])
        route, start = self._dynamic[number], self._starts[number]
        return route, dict(zip(route.names, found.groups()[start:], strict=False))

    def _alternatives(self) -> Iterable[str]:
        start = 0
        for number, route in enumerate(self._dynamic):
            start += 1  # the group around the alternative
            self._starts.append(start)
            start += len(route.names)
            methods = "|".join(map(re.escape, sorted(route.methods))) or "[^ ]+"
            yield f"(?P<r{number}>(?:{methods}) {expression(route)})"


def parse(pattern: str) -> list[Segment]:
    """The parts of a pattern. A placeholder reaches to the next slash; ``{{`` and ``}}`` are braces.

    Raises ``ValueError`` for braces that do not pair, for a name without letters and for one that stands twice.
    """
    segments: list[Segment] = []
    exact, place = "", 0
    for token in _TOKEN.finditer(pattern):
        exact += pattern[place : token.start()]
        place = token.end()
        name = token[1]
        if name is None:
            exact += _literal_brace(pattern, token[0])
            continue
        if exact:
            segments.append(Segment("exact", exact))
            exact = ""
        placeholder = Segment("placeholder", name)
        if not name or placeholder in segments:
            message = f"in {pattern!r} every placeholder has a name of its own, not {name!r}"
            raise ValueError(message)
        segments.append(placeholder)
    exact += pattern[place:]
    return [*segments, Segment("exact", exact)] if exact else segments


def _literal_brace(pattern: str, token: str) -> str:
    if len(token) == 1:
        message = f"in {pattern!r} a placeholder looks like {{name}} and ends at a slash or at the end"
        raise ValueError(message)
    return token[0]


def expression(route: Route) -> str:
    """The regular expression of a route's path."""
    return "".join("([^/]+)" if kind == "placeholder" else re.escape(text) for kind, text in route.segments)


def allows(route: Route, method: str) -> bool:
    """Whether *route* answers *method*."""
    return not route.methods or method in route.methods


def _fixed_path(route: Route) -> str | None:
    return None if route.names else "".join(text for _, text in route.segments)


def _fitting(routes: list[Route], path: str) -> list[tuple[Route, Parameters]]:
    """Every route that fits one path, whatever the method, in their order."""
    found = [(route, re.fullmatch(expression(route), path)) for route in routes]
    return [(route, dict(zip(route.names, match.groups(), strict=True))) for route, match in found if match]
