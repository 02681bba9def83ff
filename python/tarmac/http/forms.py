"""``Form``: what ``await request.form()`` gives."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tarmac.http.uploads import UploadFile

    Value = str | UploadFile

__all__ = ["Form"]


class Form(dict[str, "Value"]):
    """The fields of a form by name: the last value of each, str or ``UploadFile``."""

    __slots__ = ("_pairs",)

    def __init__(self, pairs: Iterable[tuple[str, Value]] = ()) -> None:
        self._pairs = list(pairs)
        super().__init__(self._pairs)

    def get_all(self, name: str) -> list[Value]:
        """Every value of *name*, in the order of the form."""
        return [value for known, value in self._pairs if known == name]

    def multi_items(self) -> list[tuple[str, Value]]:
        """Every name and value, in the order of the form."""
        return list(self._pairs)

    def close(self) -> None:
        """Let go of every file; the end of the request does this by itself."""
        # In a cycle with its request it may have been taken apart before; then the files close themselves.
        for _, value in getattr(self, "_pairs", ()):
            if not isinstance(value, str):
                value.close()
