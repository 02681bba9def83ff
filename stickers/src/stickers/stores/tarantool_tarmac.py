"""Tarantool by tarmac's own connector."""

from typing import Any

from tarmac import tarantool as tnt

from stickers.domain import StoreUnavailable
from stickers.stores.connection_per_request import ConnectionPerRequest
from stickers.stores.interface import Row, Store
from stickers.stores.tarantool import CONNECT_SECONDS, REQUEST_SECONDS, Requests, TarantoolStore


class TarmacStore(TarantoolStore):
    """One connection for all pages; it reconnects by itself."""

    def __init__(self, url: str, requests: Requests = "one") -> None:
        super().__init__(url, requests)
        self._database: Any = None

    async def open(self) -> None:
        """Connect; the connector goes on trying if the server is down."""
        if self._database is None:
            self._database = tnt.connect(self.url, timeout=REQUEST_SECONDS)
        try:
            await self._database.ping(timeout=CONNECT_SECONDS)
        except tnt.TarantoolError as error:
            raise StoreUnavailable from error

    async def close(self) -> None:
        """See Store."""
        database, self._database = self._database, None
        if database is not None:
            await database.close()

    async def _call(self, function: str, *arguments: object) -> Any:
        try:
            return await self._database.call(function, *arguments)
        except tnt.TarantoolError as error:
            raise StoreUnavailable from error

    async def _select(self, space: str, index: str, iterator: str, limit: int) -> Any:
        try:
            return await self._database.space(space).select((), index=index, iterator=iterator, limit=limit)
        except tnt.TarantoolError as error:
            raise StoreUnavailable from error

    async def _insert(self, space: str, row: Row) -> None:
        try:
            await self._database.space(space).insert(row)
        except tnt.TarantoolError as error:
            raise StoreUnavailable from error

    async def _update(self, space: str, key: str, changes: list[list[Any]]) -> None:
        try:
            await self._database.space(space).update(key, *changes)
        except tnt.TarantoolError as error:
            raise StoreUnavailable from error

    async def _upsert(self, space: str, row: Row, changes: list[list[Any]]) -> None:
        try:
            await self._database.space(space).upsert(row, *changes)
        except tnt.TarantoolError as error:
            raise StoreUnavailable from error


def make(*, url: str, requests: Requests = "one", each_request_connects: bool = False, **_options: object) -> Store:
    """The catalog's way in."""
    if each_request_connects:
        return ConnectionPerRequest(lambda: TarmacStore(url, requests))
    return TarmacStore(url, requests)
