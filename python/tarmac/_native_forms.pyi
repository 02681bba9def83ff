"""A part of the stub of ``tarmac._native``: what reads forms. There is no module of this name."""

from typing import TypeAlias, final

# Name, file name, content type and header fields of a part that begins.
Part: TypeAlias = tuple[str, str | None, str | None, list[tuple[str, str]]]

def _form_pairs(body: bytes, max_fields: int, max_field_bytes: int) -> list[tuple[str, str]]:
    """Names and values of an urlencoded form. Raises ``ContentTooLarge`` beyond a limit."""

@final
class FormReader:
    """Reads one ``multipart/form-data`` body piece by piece.

    Raises ``BadRequest`` for what is no form and ``ContentTooLarge`` beyond a limit; sizes are in bytes,
    ``None`` is no limit.
    """

    def __new__(
        cls,
        content_type: str,
        *,
        max_fields: int = 1000,
        max_files: int = 1000,
        max_field_bytes: int = ...,
        max_file_bytes: int | None = None,
        max_head_bytes: int = 8192,
        max_bytes: int | None = None,
    ) -> FormReader: ...
    def feed(self, data: bytes) -> list[Part | bytes | None]:
        """What the next piece holds: a part begins, data of it, and ``None`` where it ends."""

    def finish(self) -> None:
        """Say that the body is complete; an unfinished form is a ``BadRequest``."""
