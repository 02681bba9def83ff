"""Fills a store: with the generated stickers, or with a folder of real pictures."""

import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from stickers import generator
from stickers.domain import Counter, Pack, Sticker
from stickers.files import KINDS, PACK_NAME
from stickers.stores import Store

BATCH: Final = 500

Progress = Callable[[int], None]


def _silent(_done: int) -> None:
    """Nobody wants to know."""


@dataclass(frozen=True, slots=True)
class DataSet:
    """Packs and their stickers; the stickers are made while they are read."""

    packs: list[Pack]
    stickers: Iterable[Sticker]
    count: int


def generated(count: int = generator.WHOLE) -> DataSet:
    """The first `count` sticker characters."""
    return DataSet(generator.packs_of(count), generator.generate(count), count)


async def load(store: Store, data: DataSet, progress: Progress = _silent) -> None:
    """Replace everything in `store` by `data`, with all counters at zero."""
    await store.clear()
    await store.put("packs", data.packs)
    done = 0
    left = iter(data.stickers)
    while batch := list(islice(left, BATCH)):
        await store.put("stickers", batch)
        done += len(batch)
        progress(done)
    await store.put("server", [Counter(name, 0) for name in ("clicks", "users", "votes")])


async def is_empty(store: Store) -> bool:
    """True if nothing was ever loaded."""
    return not await store.rows("stickers", None, 1)


def pictures(folder: Path, images: Path) -> DataSet:
    """Copy a folder of pictures (one sub-folder per pack) to `images`; what was found there.

    Raises ValueError if there is no picture in it.
    """
    found = list(_found(folder))
    if not found:
        message = f"no pictures in {folder}: expected pack/picture.({'|'.join(KINDS)})"
        raise ValueError(message)
    sizes: dict[str, int] = {}
    stickers = []
    for place, (pack, path) in enumerate(found, start=1):
        number = sizes[pack] = sizes.get(pack, 0) + 1
        kind = path.suffix.lower().removeprefix(".")
        target = images / pack / f"{number}.{kind}"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
        title = path.stem.replace("_", " ").replace("-", " ")
        stickers.append(Sticker(place, pack, number, title, kind, 0, 0, 0, 0))
    packs = [Pack(name, name.replace("-", " ").capitalize(), size) for name, size in sizes.items()]
    return DataSet(packs, stickers, len(stickers))


def _found(folder: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted(folder.glob("*/*")):
        kind = path.suffix.lower().removeprefix(".")
        pack = re.sub(r"[^a-z0-9_-]+", "-", path.parent.name.lower()).strip("-_")
        if kind in KINDS and path.is_file() and PACK_NAME.fullmatch(pack):
            yield pack, path
