"""The sticker characters: many, different, small, harmless, always the same."""

from __future__ import annotations

from hashlib import sha256
from xml.etree import ElementTree

import pytest

from stickers import drawing, generator

ALLOWED = {"svg", "style", "g", "path", "circle", "ellipse", "rect"}


def test_there_are_as_many_as_the_article_had_and_all_differ() -> None:
    """16,200 stickers, 16,200 pictures, each a few hundred bytes."""
    rows = list(generator.generate())
    pictures = [generator.picture(row.pack, row.number) for row in rows]
    assert 16_200 == len(rows) == len(set(pictures))
    assert list(range(1, 16_201)) == [row.id for row in rows]
    assert 16_200 == len({(row.pack, row.number) for row in rows})
    sizes = sorted(len(picture) for picture in pictures if picture)
    assert sizes[len(sizes) // 2] < 1000
    assert sizes[-1] < 1500


def test_the_drawings_never_change() -> None:
    """Deterministic: addresses of pictures may be cached for a year."""
    together = sha256()
    for row in generator.generate(1000):
        together.update(generator.picture(row.pack, row.number) or b"")
        together.update(row.title.encode())
    assert "6442b9def1e67d4245dc1ff60313c94387245203e40cbcc3c1f7e8b0aa264b6c" == together.hexdigest()


@pytest.mark.parametrize("number", range(1, 121, 7))
def test_pictures_are_plain_svg(number: int) -> None:
    """Only shapes: no script, no link, no font, nothing loaded."""
    for pack in generator.PACKS:
        picture = generator.picture(pack, number)
        assert picture is not None
        for element in ElementTree.fromstring(picture).iter():  # noqa: S314 - our own drawing
            name = element.tag.rpartition("}")[2]
            assert name in ALLOWED
            assert not [key for key in element.attrib if key.startswith("on") or "href" in key]
        assert picture.count(b"http") == 1, "the namespace"
        assert b'"D"' not in picture
        assert b'"A"' not in picture


def test_titles_describe_the_picture() -> None:
    """They are the alternative text for those who cannot see it."""
    titles = [row.title for row in generator.generate(500)]
    assert all(20 <= len(title) <= 90 for title in titles)
    assert all(" the " in title for title in titles)
    first = generator.title_of("mint-ghosts", 1)
    assert "mint ghost" in first


def test_packs_are_sized_by_what_is_in_them() -> None:
    """Also when the last round is not full."""
    for count in (0, 1, 134, 135, 136, 1000):
        sizes = {pack.name: pack.size for pack in generator.packs_of(count)}
        counted: dict[str, int] = {}
        for row in generator.generate(count):
            counted[row.pack] = counted.get(row.pack, 0) + 1
        assert counted == sizes


def test_unknown_characters_are_not_drawn() -> None:
    """The picture's address is made up by visitors."""
    assert generator.picture("mint-ghosts", 0) is None
    assert generator.picture("mint-ghosts", drawing.LOOKS + 1) is None
    assert generator.picture("nobody", 1) is None
    with pytest.raises(ValueError, match="different stickers"):
        list(generator.generate(10**9))
