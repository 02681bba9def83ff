"""TLS of a server: its certificates and who may come; read again when the files change."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tarmac._native import TlsAcceptor
from tarmac.errors import ConfigurationError

if TYPE_CHECKING:
    import asyncio

__all__ = ["TLS", "Watch"]

_log = logging.getLogger("tarmac.tls")

_Path = str | os.PathLike[str]
_Stamp = tuple[int, int, int] | None


class TLS:
    """Certificates, keys and settings of TLS, by rustls. One may serve several servers.

    *cert* and *key* are files in PEM; without *key* both stand in *cert*. The chain follows the certificate, and
    the key has no passphrase. *more* are further pairs of the same kind: a client gets the first certificate that
    is good for the name it asks for, else *cert*.

    With *client_ca*, a file of authorities, a client has to show a certificate that one of them signed, or may with
    ``client_required=False``: see ``request.client_certificate``. *minimum* is ``"1.2"`` or ``"1.3"``, *alpn* what is
    spoken inside. The files are looked at every *watch* seconds (``None``: never) and read again when they have
    changed; open connections do not notice.

    Raises ``ConfigurationError`` for files that are missing, wrong, encrypted, or do not belong together.
    """

    def __init__(
        self,
        cert: _Path,
        key: _Path | None = None,
        *,
        more: Sequence[tuple[_Path, _Path]] = (),
        client_ca: _Path | None = None,
        client_required: bool = True,
        alpn: Sequence[str] = ("http/1.1",),
        minimum: str = "1.2",
        watch: float | None = 5.0,
    ) -> None:
        if watch is not None and watch <= 0:
            message = f"watch is a number of seconds above 0, or None, not {watch!r}"
            raise ConfigurationError(message)
        pairs = [(cert, cert if key is None else key), *more]
        files = [path for pair in pairs for path in pair] + ([] if client_ca is None else [client_ca])
        self.files = tuple(dict.fromkeys(os.fspath(path) for path in files))
        self.watch = watch
        self._stamps = self._look()
        try:
            self.native = TlsAcceptor(
                pairs, client_ca=client_ca, client_required=client_required, alpn=alpn, minimum=minimum
            )
        except ValueError as error:
            raise ConfigurationError(str(error)) from None

    def reload(self) -> None:
        """Read the files again, for connections still to come.

        Raises ``ConfigurationError`` for files that cannot be used; all stays as it is then.
        """
        self._stamps = self._look()
        try:
            self.native.reload()
        except ValueError as error:
            raise ConfigurationError(str(error)) from None

    def refresh(self, *, anyway: bool = False) -> bool:
        """Reload if a file has changed, or *anyway*; tells whether it did. What is wrong is logged, once a change."""
        if not anyway and self._look() == self._stamps:
            return False
        try:
            self.reload()
        except ConfigurationError as error:
            _log.warning("the certificates stay as they were: %s", error)
            return False
        _log.info("read %s again", " and ".join(self.files))
        return True

    def _look(self) -> tuple[_Stamp, ...]:
        return tuple(map(_stamp, self.files))

    def __repr__(self) -> str:
        return f"<TLS {' '.join(self.files)}>"


def _stamp(path: str) -> _Stamp:
    """What changes whenever a file is written or replaced."""
    try:
        facts = os.stat(path)  # noqa: PTH116 - pathlib would be imported for this line alone
    except OSError:
        return None
    return facts.st_mtime_ns, facts.st_size, facts.st_ino


class Watch:
    """Looks at the files of a TLS now and then, on a loop, until it is stopped."""

    def __init__(self, tls: TLS, loop: asyncio.AbstractEventLoop) -> None:
        self._tls = tls
        self._loop = loop
        self._next: asyncio.TimerHandle | None = None
        self._turn()

    def stop(self) -> None:
        """Look no more."""
        if self._next is not None:
            self._next.cancel()

    def _turn(self) -> None:
        self._tls.refresh()
        if self._tls.watch is not None:
            self._next = self._loop.call_later(self._tls.watch, self._turn)
