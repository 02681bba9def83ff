"""Every exception of the database face, in one tree.

::

    TarmacError
    └── TarantoolError
        ├── NetworkError                  the connection failed; .maybe_sent tells whether a write may have run
        │   └── QueryTimeout              no reply in time (also a TimeoutError)
        ├── ProtocolError                 the other side does not speak IPROTO, or not well
        ├── UsageError                    a wrong argument; nothing was sent (also a ValueError)
        ├── NotSupported                  the server (or this release) cannot do it; nothing was sent
        └── DatabaseError                 the server refused: .code, .name, .message, .stack
            ├── MemoryFull                     2   ER_MEMORY_ISSUE
            ├── TupleFound                     3   ER_TUPLE_FOUND: a unique index has that key already
            ├── TupleNotFound                  4   ER_TUPLE_NOT_FOUND
            ├── ReadOnly                       7   ER_READONLY
            ├── SpaceExists                   10   ER_SPACE_EXISTS
            ├── LuaError                      32   ER_PROC_LUA: error() in a stored procedure
            ├── NoSuchFunction                33   ER_NO_SUCH_PROC, 51 ER_NO_SUCH_FUNCTION
            ├── NoSuchIndex                   35   ER_NO_SUCH_INDEX_ID, 148 ER_NO_SUCH_INDEX_NAME
            ├── NoSuchSpace                   36   ER_NO_SUCH_SPACE
            ├── AccessDenied                  42   ER_ACCESS_DENIED
            │   └── WrongPassword             45   ER_NO_SUCH_USER, 47 ER_PASSWORD_MISMATCH
            ├── UnknownRequest                48   ER_UNKNOWN_REQUEST_TYPE
            ├── ServerTimeout                 78   ER_TIMEOUT
            ├── TransactionConflict           97   ER_TRANSACTION_CONFLICT
            ├── SchemaChanged                109   ER_WRONG_SCHEMA_VERSION
            ├── Loading                      116   ER_LOADING: the server is still starting
            └── SyntaxProblem                179   ER_SQL_SYNTAX_WITH_POS, 182, 184, 185, 186, 206: SQL
"""

from __future__ import annotations

from typing import Any

from tarmac.errors import TarmacError

__all__ = [
    "AccessDenied",
    "DatabaseError",
    "Loading",
    "LuaError",
    "MemoryFull",
    "NetworkError",
    "NoSuchFunction",
    "NoSuchIndex",
    "NoSuchSpace",
    "NotSupported",
    "ProtocolError",
    "QueryTimeout",
    "ReadOnly",
    "SchemaChanged",
    "ServerTimeout",
    "SpaceExists",
    "SyntaxProblem",
    "TarantoolError",
    "TransactionConflict",
    "TupleFound",
    "TupleNotFound",
    "UnknownRequest",
    "UsageError",
    "WrongPassword",
]


class TarantoolError(TarmacError):
    """The root of everything that the database face raises."""


class NetworkError(TarantoolError, ConnectionError):
    """The connection failed.

    ``maybe_sent`` is True when the server may have executed the query: a write is never repeated for you.
    """

    def __init__(self, message: str, *, maybe_sent: bool = False) -> None:
        super().__init__(message)
        self.maybe_sent = maybe_sent


class QueryTimeout(NetworkError, TimeoutError):
    """No reply in time. With ``maybe_sent`` the server may still execute the query."""


class ProtocolError(TarantoolError):
    """What came back is not IPROTO: the wrong port, a damaged stream, a packet above the limit."""


class UsageError(TarantoolError, ValueError):
    """A wrong argument; nothing was sent."""


class NotSupported(TarantoolError):
    """The server's version, or this release of tarmac, cannot do it; nothing was sent."""


class DatabaseError(TarantoolError):
    """The server refused. ``stack`` has one entry for each cause on servers from 2.4, outermost first."""

    def __init__(self, code: int, name: str, message: str, stack: list[dict[str, Any]] | None = None) -> None:
        super().__init__(code, name, message)
        self.code = code
        self.name = name
        self.message = message
        self.stack = stack or []

    def __str__(self) -> str:
        return f"{self.message} ({self.name}, {self.code})"


class MemoryFull(DatabaseError):
    """The server's memory for tuples is used up."""


class TupleFound(DatabaseError):
    """A unique index has that key already."""


class TupleNotFound(DatabaseError):
    """There is no such tuple."""


class ReadOnly(DatabaseError):
    """The server takes no writes: a replica, or ``box.cfg.read_only``."""


class SpaceExists(DatabaseError):
    """A space of that name exists."""


class LuaError(DatabaseError):
    """A stored procedure raised an error."""


class NoSuchFunction(DatabaseError):
    """There is no function of that name."""


class NoSuchIndex(DatabaseError):
    """The space has no such index."""


class NoSuchSpace(DatabaseError):
    """There is no space of that name, or the user may not see it."""


class AccessDenied(DatabaseError):
    """The user may not do that."""


class WrongPassword(AccessDenied):
    """The user does not exist, or the password is another one."""


class UnknownRequest(DatabaseError):
    """The server does not know this kind of request: it is older than the feature."""


class ServerTimeout(DatabaseError):
    """The server gave up waiting by itself."""


class TransactionConflict(DatabaseError):
    """Another transaction was faster; do it again."""


class SchemaChanged(DatabaseError):
    """The schema changed while the query was on its way; nothing was executed."""


class Loading(DatabaseError):
    """The server is still starting; try again in a moment."""


class SyntaxProblem(DatabaseError):
    """SQL that the server cannot parse."""


_CLASSES: dict[int, type[DatabaseError]] = {
    2: MemoryFull,
    3: TupleFound,
    4: TupleNotFound,
    7: ReadOnly,
    10: SpaceExists,
    32: LuaError,
    33: NoSuchFunction,
    35: NoSuchIndex,
    36: NoSuchSpace,
    42: AccessDenied,
    45: WrongPassword,
    47: WrongPassword,
    48: UnknownRequest,
    51: NoSuchFunction,
    78: ServerTimeout,
    97: TransactionConflict,
    109: SchemaChanged,
    116: Loading,
    148: NoSuchIndex,
    179: SyntaxProblem,
    182: SyntaxProblem,
    184: SyntaxProblem,
    185: SyntaxProblem,
    186: SyntaxProblem,
    206: SyntaxProblem,
}


def error_for(  # noqa: PLR0917 - the native core calls it
    kind: str,
    code: int,
    name: str,
    message: str,
    maybe_sent: bool,  # noqa: FBT001 - as above
    stack: list[dict[str, Any]] | None = None,
) -> TarantoolError:
    """The exception of a failed query, as the native core asks for it."""
    if kind in {"database", "auth"} and code:
        return _CLASSES.get(code, DatabaseError)(code, name, message, stack)
    if kind == "timeout":
        return QueryTimeout(message, maybe_sent=maybe_sent)
    if kind == "network":
        return NetworkError(message, maybe_sent=maybe_sent)
    if kind == "usage":
        return UsageError(message)
    return ProtocolError(message)
