"""Tarantool by the connector asynctnt."""

import asyncio
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import asynctnt
from asynctnt.exceptions import TarantoolError

from stickers.domain import StoreUnavailable
from stickers.stores.connection_per_request import ConnectionPerRequest
from stickers.stores.interface import Row, Store
from stickers.stores.tarantool import (
    CONNECT_SECONDS,
    REQUEST_SECONDS,
    Requests,
    TarantoolStore,
)

_RECONNECT_SECONDS: Final = 0.3
_ITERATORS: Final = {"LE": asynctnt.Iterator.LE, "GE": asynctnt.Iterator.GE}


class AsynctntStore(TarantoolStore):
    """One connection for all pages; it reconnects by itself."""

    name = "tarantool-asynctnt"

    def __init__(self, url: str, requests: Requests = "one") -> None:
        super().__init__(url, requests)
        self._connection: Any = None
        self._connecting: asyncio.Task[Any] | None = None

    async def open(self) -> None:
        """Connect; if the server is down, go on trying in the background."""
        if self._connection is None:
            # Names of spaces are needed by `many` only; calls do without the schema.
            self._connection = asynctnt.Connection(
                **_where(self.url),
                reconnect_timeout=_RECONNECT_SECONDS,
                request_timeout=REQUEST_SECONDS,
                fetch_schema=self._many,
                auto_refetch_schema=self._many,
            )
            self._connecting = asyncio.ensure_future(self._connection.connect())
        if self._connecting is not None:
            with _Failures():
                await asyncio.wait_for(asyncio.shield(self._connecting), CONNECT_SECONDS)

    async def close(self) -> None:
        """See Store."""
        connection, self._connection = self._connection, None
        connecting, self._connecting = self._connecting, None
        if connecting is not None and not connecting.done():
            connecting.cancel()
            await asyncio.wait({connecting})
        if connection is not None:
            await connection.disconnect()

    async def _call(self, function: str, *arguments: object) -> Any:
        with _Failures():
            body = (await self._connection.call(function, arguments)).body
            return body[0] if body else None

    async def _select(self, space: str, index: str, iterator: str, limit: int) -> Any:
        with _Failures():
            answer = await self._connection.select(space, index=index, iterator=_ITERATORS[iterator], limit=limit)
            return answer.body

    async def _insert(self, space: str, row: Row) -> None:
        with _Failures():
            await self._connection.insert(space, row)

    async def _update(self, space: str, key: str, changes: list[list[Any]]) -> None:
        with _Failures():
            await self._connection.update(space, [key], changes)

    async def _upsert(self, space: str, row: Row, changes: list[list[Any]]) -> None:
        with _Failures():
            await self._connection.upsert(space, row, changes)


def make(*, url: str, requests: Requests = "one", each_request_connects: bool = False, **_options: object) -> Store:
    """The catalog's way in."""
    if each_request_connects:
        return ConnectionPerRequest(lambda: AsynctntStore(url, requests))
    return AsynctntStore(url, requests)


class _Failures:
    """Turns what the driver raises into StoreUnavailable."""

    __slots__ = ()

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _at: object) -> None:
        if kind is not None and issubclass(kind, (TarantoolError, OSError, TimeoutError)):
            raise StoreUnavailable from error


def _where(url: str) -> dict[str, Any]:
    parts = urlsplit(url)
    if parts.scheme == "unix":
        return {"host": "unix/", "port": parts.path}
    return {
        "host": parts.hostname or "127.0.0.1",
        "port": parts.port or 3301,
        "username": unquote(parts.username) if parts.username else None,
        "password": unquote(parts.password) if parts.password else None,
    }
