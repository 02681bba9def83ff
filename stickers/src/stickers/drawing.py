"""Draws sticker characters as SVG from parts: body, colour, eyes, mouth, hat, extra.

Every part is drawn around the face, whose middle is (0, 0); bodies say where the hat sits.
The parts stand in parts.toml, where the fills `D` and `A` mean the colour's dark shade and
accent.
"""

import tomllib
from importlib.resources import files
from typing import Any, Final, NamedTuple


class Colour(NamedTuple):
    """Named fills of one pack."""

    name: str
    body: str
    dark: str
    accent: str


class Body(NamedTuple):
    """A character's shape, the height of its head above the face, and its plural."""

    name: str
    plural: str
    shape: str
    head: int


class Part(NamedTuple):
    """A piece of a face; `word` goes into the sticker's title."""

    word: str
    shape: str


_PARTS: Final[dict[str, Any]] = tomllib.loads((files("stickers") / "parts.toml").read_text("utf-8"))

COLOURS: Final = tuple(Colour(**entry) for entry in _PARTS["colours"])
BODIES: Final = tuple(Body(**entry) for entry in _PARTS["bodies"])
EYES: Final = tuple(Part(**entry) for entry in _PARTS["eyes"])
MOUTHS: Final = tuple(Part(**entry) for entry in _PARTS["mouths"])
HATS: Final = tuple(Part(**entry) for entry in _PARTS["hats"])
EXTRAS: Final = tuple(Part(**entry) for entry in _PARTS["extras"])

LOOKS: Final = len(EYES) * len(MOUTHS) * len(HATS) * len(EXTRAS)
"""How many different characters one body in one colour can be."""


class Look(NamedTuple):
    """Indices of the parts of one character."""

    eyes: int
    mouth: int
    hat: int
    extra: int


def look(number: int) -> Look:
    """Different numbers below LOOKS give different looks."""
    number, eyes = divmod(number, len(EYES))
    number, mouth = divmod(number, len(MOUTHS))
    number, hat = divmod(number, len(HATS))
    return Look(eyes, mouth, hat, number % len(EXTRAS))


def draw(body: Body, colour: Colour, chosen: Look) -> str:
    """The picture: one small SVG document without script, font or link."""
    face = EXTRAS[chosen.extra].shape + EYES[chosen.eyes].shape + MOUTHS[chosen.mouth].shape
    hat = HATS[chosen.hat].shape
    placed_hat = f'<g transform="translate(0 {body.head})">{hat}</g>' if hat else ""
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="-50 -58 100 106">'
        "<style>.l{stroke:#222;stroke-width:2.5;stroke-linecap:round}"
        "path.l:not([fill]){fill:none}</style>"
        # The white border of a real sticker: the outline once more, thick, behind.
        f'<g fill="{colour.body}" stroke="#fff" stroke-width="7" stroke-linejoin="round">'
        f"{_paint(body.shape + placed_hat, colour)}</g>"
        f'<g fill="{colour.body}">{_paint(body.shape, colour)}</g>'
        f'<g fill="#222">{_paint(face + placed_hat, colour)}</g></svg>'
    )


def words(body: Body, colour: Colour, chosen: Look) -> str:
    """What the picture shows, in words: `a sleepy mint ghost in a top hat`."""
    extra = EXTRAS[chosen.extra].word
    parts = (extra, EYES[chosen.eyes].word, MOUTHS[chosen.mouth].word, colour.name, body.name)
    return " ".join(filter(None, (*parts, HATS[chosen.hat].word)))


def _paint(shape: str, colour: Colour) -> str:
    return shape.replace('"D"', f'"{colour.dark}"').replace('"A"', f'"{colour.accent}"')
