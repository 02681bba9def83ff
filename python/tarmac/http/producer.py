"""What an answer in pieces is written by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from tarmac._native import Writer

__all__ = ["Producer"]


class Producer(Protocol):
    """Writes a body piece by piece: a ``Response`` takes one as its body.

    An attribute ``length`` in bytes, if it has one that is not None, becomes ``Content-Length``. A method
    ``for_request(request, response)``, if it has one, is called before the answer begins and may change
    *response*, its body included: a file becomes what the conditions and ranges of its request ask for.
    """

    async def send_to(self, writer: Writer, /) -> None:
        """Write all of it; the server ends the answer when this returns, and breaks it off when it raises."""
