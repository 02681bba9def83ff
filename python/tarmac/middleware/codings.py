"""The content codings that answers can be sent in; brotli and zstd where they are installed."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, Protocol

from tarmac.errors import ConfigurationError

__all__ = ["CODINGS", "Coding", "Encoder", "available"]

# zlib's number for a gzip head and checksum around deflate.
_GZIP = 31


class Encoder(Protocol):
    """One stream that is being compressed."""

    def piece(self, data: bytes) -> bytes:
        """*data* in such a form that the client can read all of it at once."""

    def end(self) -> bytes:
        """What ends the stream."""


class Coding(Protocol):
    """One way to compress."""

    def whole(self, data: bytes) -> bytes:
        """All of it."""

    def pieces(self) -> Encoder:
        """A stream."""


class _Gzip:
    def __init__(self, level: int | None) -> None:
        self._level = 6 if level is None else level

    def whole(self, data: bytes) -> bytes:
        return zlib.compress(data, self._level, _GZIP)

    def pieces(self) -> Encoder:
        return _GzipPieces(self._level)


class _GzipPieces:
    def __init__(self, level: int) -> None:
        self._stream = zlib.compressobj(level, zlib.DEFLATED, _GZIP)

    def piece(self, data: bytes) -> bytes:
        return self._stream.compress(data) + self._stream.flush(zlib.Z_SYNC_FLUSH)

    def end(self) -> bytes:
        return self._stream.flush()


class _Brotli:
    def __init__(self, level: int | None) -> None:
        self._quality = 4 if level is None else level
        self._brotli = _needed("brotli", "br")

    def whole(self, data: bytes) -> bytes:
        packed: bytes = self._brotli.compress(data, quality=self._quality)
        return packed

    def pieces(self) -> Encoder:
        return _BrotliPieces(self._brotli.Compressor(quality=self._quality))


class _BrotliPieces:
    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def piece(self, data: bytes) -> bytes:
        packed: bytes = self._stream.process(data) + self._stream.flush()
        return packed

    def end(self) -> bytes:
        packed: bytes = self._stream.finish()
        return packed


class _Zstd:
    """By the standard library where it can (3.14), else by ``zstandard``."""

    def __init__(self, level: int | None) -> None:
        self._level = 3 if level is None else level
        self._own = find_spec("compression") is not None
        self._zstd = _needed("compression.zstd" if self._own else "zstandard", "zstd")

    def whole(self, data: bytes) -> bytes:
        if self._own:
            packed: bytes = self._zstd.compress(data, self._level)
        else:
            packed = self._zstd.ZstdCompressor(level=self._level).compress(data)
        return packed

    def pieces(self) -> Encoder:
        if self._own:
            return _OwnZstdPieces(self._zstd.ZstdCompressor(self._level))
        stream = self._zstd.ZstdCompressor(level=self._level).compressobj()
        return _ZstdPieces(stream, self._zstd.COMPRESSOBJ_FLUSH_BLOCK)


class _ZstdPieces:
    def __init__(self, stream: Any, flush_block: int) -> None:
        self._stream = stream
        self._flush_block = flush_block

    def piece(self, data: bytes) -> bytes:
        packed: bytes = self._stream.compress(data) + self._stream.flush(self._flush_block)
        return packed

    def end(self) -> bytes:
        packed: bytes = self._stream.flush()
        return packed


class _OwnZstdPieces:
    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def piece(self, data: bytes) -> bytes:
        packed: bytes = self._stream.compress(data, self._stream.FLUSH_BLOCK)
        return packed

    def end(self) -> bytes:
        packed: bytes = self._stream.flush()
        return packed


CODINGS: dict[str, Callable[[int | None], Coding]] = {"zstd": _Zstd, "br": _Brotli, "gzip": _Gzip}


def available() -> list[str]:
    """The names of those that are installed, the best one first."""
    installed = {
        "zstd": find_spec("compression") is not None or find_spec("zstandard") is not None,
        "br": find_spec("brotli") is not None,
        "gzip": True,
    }
    return [name for name in CODINGS if installed[name]]


def _needed(module: str, coding: str) -> Any:
    from importlib import import_module  # noqa: PLC0415 - an optional extra

    try:
        return import_module(module)
    except ImportError:
        message = f"{coding} needs the package {module}: pip install 'tarmac[compress]'"
        raise ConfigurationError(message) from None
