"""The pages' HTML: templates compiled once, escaped always, rendered to bytes."""

from collections.abc import Callable
from functools import lru_cache
from importlib.resources import files
from typing import Final

from jinja2 import DictLoader, Environment, StrictUndefined, Template
from markupsafe import Markup

from stickers.domain import Sticker

_PAGES: Final = ("index", "listing", "about", "problem")
_PARTS: Final = ("base", "card")
_REMEMBERED: Final = 4096
"""Stickers whose HTML is kept, by everything that stands in it: about 500 bytes each."""


class Templates:
    """All templates, ready to render."""

    __slots__ = ("_base", "_compiled")

    def __init__(self) -> None:
        folder = files("stickers") / "templates"
        sources = {name: (folder / f"{name}.html").read_text("utf-8") for name in (*_PAGES, *_PARTS)}
        environment = Environment(
            loader=DictLoader(sources),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        # A sticker's part changes only with the sticker; the rest of a page is made every time.
        environment.filters["cards"] = _each(_remembered(environment.get_template("card")))
        self._compiled = {name: environment.get_template(name) for name in _PAGES}
        self._base = environment.get_template("base")

    def render(self, name: str, **values: object) -> bytes:
        """The template `name` with `values` in it."""
        template = self._compiled[name]
        values["base"] = self._base
        # What `Template.render` does, without a copy of globals that no page uses.
        context = template.new_context(values, shared=True)
        return "".join(template.root_render_func(context)).encode()


def _remembered(template: Template) -> Callable[[Sticker], Markup]:
    @lru_cache(_REMEMBERED)
    def part(sticker: Sticker) -> Markup:
        return Markup(template.render(sticker=sticker))  # noqa: S704 - the template has escaped it

    return part


def _each(part: Callable[[Sticker], Markup]) -> Callable[[list[Sticker]], Markup]:
    def parts(stickers: list[Sticker]) -> Markup:
        return Markup("".join(map(part, stickers)))  # noqa: S704 - each part is escaped

    return parts
