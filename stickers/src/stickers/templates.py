"""The pages' HTML: templates compiled once, escaped always, rendered to bytes."""

from importlib.resources import files
from typing import Final

from jinja2 import DictLoader, Environment, StrictUndefined

_NAMES: Final = ("base", "index", "listing", "about", "problem")


class Templates:
    """All templates, ready to render."""

    __slots__ = ("_compiled",)

    def __init__(self) -> None:
        folder = files("stickers") / "templates"
        sources = {name: (folder / f"{name}.html").read_text("utf-8") for name in _NAMES}
        environment = Environment(
            loader=DictLoader(sources),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        self._compiled = {name: environment.get_template(name) for name in _NAMES}

    def render(self, name: str, **values: object) -> bytes:
        """The template `name` with `values` in it."""
        return self._compiled[name].render(values).encode()
