"""The data set: 135 packs of 120 sticker characters, always the same ones."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from stickers.domain import Pack, Sticker
from stickers.drawing import BODIES, COLOURS, LOOKS, Body, Colour, Look, draw, look, words

PACK_SIZE: Final = 120
WHOLE: Final = len(BODIES) * len(COLOURS) * PACK_SIZE
"""16,200 stickers: as many as the article's site had."""

# The first is prime to LOOKS, so that the numbers of a pack never meet in the same look.
_STRIDE: Final = 7919
_PACK_STRIDE: Final = 4007

_FIRST: Final = ("Pi", "Bo", "Mo", "Zu", "Ti", "Lu", "Ka", "Fi", "Do", "Ne", "Wo", "Ja", "Ru")
_LAST: Final = ("p", "bo", "mi", "nk", "zzy", "ro", "la", "ckle", "ff", "dget", "li")


def _packs() -> dict[str, tuple[int, Body, Colour]]:
    # Neighbours differ in body and in colour, so that nine in a row are fun to look at.
    found: dict[str, tuple[int, Body, Colour]] = {}
    for index in range(len(BODIES) * len(COLOURS)):
        body = BODIES[index % len(BODIES)]
        colour = COLOURS[(index + index // len(BODIES)) % len(COLOURS)]
        found[f"{colour.name}-{body.plural}"] = (index, body, colour)
    return found


PACKS: Final = _packs()
_NAMES: Final = tuple(PACKS)


def generate(count: int = WHOLE) -> Iterator[Sticker]:
    """The first `count` stickers, numbered from 1, one of each pack in turn."""
    if not 0 <= count <= len(PACKS) * LOOKS:
        message = f"there are {len(PACKS) * LOOKS} different stickers, {count} were asked for"
        raise ValueError(message)
    return map(_sticker, range(count))


def packs_of(count: int = WHOLE) -> list[Pack]:
    """The packs of the first `count` stickers."""
    full, rest = divmod(count, len(PACKS))
    sized = ((name, full + (index < rest)) for name, (index, _, _) in PACKS.items())
    return [Pack(name, name.replace("-", " ").capitalize(), size) for name, size in sized if size]


def title_of(pack: str, number: int) -> str:
    """`Pinky the sleepy smiling mint ghost in a top hat`."""
    index, body, colour = PACKS[pack]
    seed = index * 31 + number * 17
    name = _FIRST[seed % len(_FIRST)] + _LAST[seed // len(_FIRST) % len(_LAST)]
    return f"{name} the {words(body, colour, _look(index, number))}"


@lru_cache(maxsize=4096)
def picture(pack: str, number: int) -> bytes | None:
    """The SVG of a generated sticker; None if there is no such sticker."""
    if pack not in PACKS or not 1 <= number <= LOOKS:
        return None
    index, body, colour = PACKS[pack]
    return draw(body, colour, _look(index, number)).encode()


def _sticker(place: int) -> Sticker:
    name, number = _NAMES[place % len(_NAMES)], place // len(_NAMES) + 1
    return Sticker(place + 1, name, number, title_of(name, number), "svg", 0, 0, 0, 0)


def _look(index: int, number: int) -> Look:
    return look((number * _STRIDE + index * _PACK_STRIDE) % LOOKS)
