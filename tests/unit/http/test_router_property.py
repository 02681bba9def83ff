"""The native router agrees with the plain meaning of its patterns, on generated routes and paths.

At each segment text wins over int, that over float, that over uuid, that over any text, that over the whole
rest; the search goes back when a branch leads nowhere. Methods are asked last.
"""

from __future__ import annotations

import re
import uuid
from urllib.parse import quote, unquote_to_bytes

from hypothesis import example, given
from hypothesis import strategies as st
from tarmac._native import Router

METHODS = ("GET", "HEAD", "POST", "OPTIONS", "PROPFIND")
LITERALS = st.text(alphabet="ab1-é%", max_size=2)
KINDS = ("int", "float", "uuid", "str", "path")


def integer(text: str) -> int | None:
    return int(text) if re.fullmatch("-?[0-9]+", text) and -(2**63) <= int(text) < 2**63 else None


HEX = "[0-9a-fA-F]"
READ = {
    "int": integer,
    "float": lambda text: float(text) if re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", text) else None,
    "uuid": lambda text: (
        uuid.UUID(text) if re.fullmatch(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", text) else None
    ),
    "str": lambda text: text or None,
}


def rank(part: str) -> int:
    if not part.startswith("{"):
        return 0
    return 1 + KINDS.index(part[1:-1].partition(":")[2])


def fits(pattern: list[str], path: list[bytes]) -> list[object] | None:
    """The values of the parameters, or None."""
    if not pattern or not path:
        return [] if not pattern and not path else None
    part, segment = pattern[0], unquote_to_bytes(path[0])
    if not part.startswith("{"):
        return fits(pattern[1:], path[1:]) if part.encode() == segment else None
    kind = part[1:-1].partition(":")[2]
    if kind == "path":
        return [unquote_to_bytes(b"/".join(path)).decode(errors="surrogateescape")]
    value = READ[kind](segment.decode(errors="surrogateescape"))
    if value is None:
        return None
    rest = fits(pattern[1:], path[1:])
    return None if rest is None else [value, *rest]


def plainly(table: list[tuple[str, list[str]]], method: str, path: str) -> object:
    """What `Router.match` is to answer."""
    segments = path.encode()[1:].split(b"/")
    found = [(parts, values) for _, parts in table if (values := fits(parts, segments)) is not None]
    if not found:
        return None
    best = min([rank(part) for part in parts] for parts, _ in found)
    parts, values = next(one for one in found if [rank(part) for part in one[0]] == best)
    methods = [known for known, other in table if key(other) == key(parts)]
    if method in methods or (method == "HEAD" and "GET" in methods):
        number = table.index((method if method in methods else "GET", parts))
        return number, values
    return {*methods, "OPTIONS", *(["HEAD"] if "GET" in methods else [])}


def key(parts: list[str]) -> list[tuple[int, str]]:
    return [(rank(part), "" if rank(part) else part) for part in parts]


@st.composite
def tables(draw: st.DrawFn) -> list[tuple[str, list[str]]]:
    """Routes without two of the same method and shape; parameters of one place have one name."""
    table: list[tuple[str, list[str]]] = []
    for _ in range(draw(st.integers(0, 8))):
        length = draw(st.integers(1, 3))
        parts = []
        for place in range(length):
            kind = draw(st.sampled_from(("text", *KINDS[: 5 if place == length - 1 else 4])))
            parts.append(draw(LITERALS) if kind == "text" else f"{{p{place}:{kind}}}")
        method = draw(st.sampled_from(METHODS))
        if (method, key(parts)) not in [(known, key(other)) for known, other in table]:
            table.append((method, parts))
    return table


def written(segment: str) -> str:
    return quote(segment, safe="%" if "%" in segment else "")


UUID = "0188f3c2-1234-7ABC-8def-0123456789ab"
ODD = [UUID, "7.5", "-0.0", "7.", "7", "-7", "+7", "07", "9" * 19, "", "%2f", "%", "%zz", "%C3%A9", "%c3%a9"]
SEGMENTS = st.one_of(LITERALS, st.sampled_from(ODD))
PATHS = st.lists(SEGMENTS.map(written), min_size=1, max_size=4).map(lambda parts: "/" + "/".join(parts))


SHAPES = ("{a:path}", "{a:str}", "{a:uuid}", "{a:float}", "{a:int}", "b")


@given(table=tables(), paths=st.lists(PATHS, min_size=1, max_size=6), method=st.sampled_from(METHODS))
@example(table=[("GET", ["{a:str}", "x"]), ("GET", ["7", "{b:path}"])], paths=["/7/x", "/7", "/7/"], method="GET")
@example(table=[("GET", [part]) for part in SHAPES], paths=["/7", "/7.5", f"/{UUID}"], method="GET")
@example(table=[("POST", ["a"]), ("GET", ["{p0:str}"])], paths=["/a"], method="GET")
def test_the_native_and_the_plain_router_agree(table, paths, method):
    router = Router()
    for number, (known, parts) in enumerate(table):
        router.add(known, "/" + "/".join(parts), lambda number=number: number, asynchronous=False)
    own = ["/" + "/".join(map(written, parts)) for _, parts in table]
    for path in [*paths, *own]:
        found: object = router.match(method, path)
        if isinstance(found, tuple):
            found = (found[0](), list(found[1].values()))
        elif found is not None:
            found = set(found)
        assert plainly(table, method, path) == found, (path, table)
