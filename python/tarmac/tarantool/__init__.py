"""The Tarantool face: ``from tarmac import tarantool as tnt``.

::

    async with tnt.connect("tarantool://app:secret@127.0.0.1:3301?timeout=1") as db:
        users = db.space("users")
        await users.insert({"id": 2, "name": "Ann"})
        user = await users.get(2)
        await users.update(2, tnt.add("visits", 1))
"""

from tarmac._native import Query, Row
from tarmac.tarantool.address import Options
from tarmac.tarantool.connection import Connection, connect
from tarmac.tarantool.errors import (
    AccessDenied,
    DatabaseError,
    Loading,
    LuaError,
    MemoryFull,
    NetworkError,
    NoSuchFunction,
    NoSuchIndex,
    NoSuchSpace,
    NotSupported,
    ProtocolError,
    QueryTimeout,
    ReadOnly,
    SchemaChanged,
    ServerTimeout,
    SpaceExists,
    SyntaxProblem,
    TarantoolError,
    TransactionConflict,
    TupleFound,
    TupleNotFound,
    UnknownRequest,
    UsageError,
    WrongPassword,
)
from tarmac.tarantool.operations import add, band, bor, bxor, delete_field, insert_field, set, splice, subtract
from tarmac.tarantool.space import Space

__all__ = [
    "AccessDenied",
    "Connection",
    "DatabaseError",
    "Loading",
    "LuaError",
    "MemoryFull",
    "NetworkError",
    "NoSuchFunction",
    "NoSuchIndex",
    "NoSuchSpace",
    "NotSupported",
    "Options",
    "ProtocolError",
    "Query",
    "QueryTimeout",
    "ReadOnly",
    "Row",
    "SchemaChanged",
    "ServerTimeout",
    "Space",
    "SpaceExists",
    "SyntaxProblem",
    "TarantoolError",
    "TransactionConflict",
    "TupleFound",
    "TupleNotFound",
    "UnknownRequest",
    "UsageError",
    "WrongPassword",
    "add",
    "band",
    "bor",
    "bxor",
    "connect",
    "delete_field",
    "insert_field",
    "set",
    "splice",
    "subtract",
]
