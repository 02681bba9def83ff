"""Every code of the server has its class."""

from __future__ import annotations

import pytest
from tarmac import tarantool as tnt
from tarmac.tarantool.errors import error_for


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (2, tnt.MemoryFull),
        (3, tnt.TupleFound),
        (7, tnt.ReadOnly),
        (10, tnt.SpaceExists),
        (32, tnt.LuaError),
        (33, tnt.NoSuchFunction),
        (36, tnt.NoSuchSpace),
        (42, tnt.AccessDenied),
        (47, tnt.WrongPassword),
        (48, tnt.UnknownRequest),
        (78, tnt.ServerTimeout),
        (97, tnt.TransactionConflict),
        (109, tnt.SchemaChanged),
        (116, tnt.Loading),
        (9999, tnt.DatabaseError),
    ],
)
def test_a_code_becomes_a_class(code, kind):
    error = error_for("database", code, "ER_X", "no", maybe_sent=False)
    assert kind is type(error)
    assert isinstance(error, tnt.DatabaseError)
    assert (code, "ER_X", "no", []) == (error.code, error.name, error.message, error.stack)
    assert f"no (ER_X, {code})" == str(error)


@pytest.mark.parametrize(
    ("kind", "expected", "builtin"),
    [
        ("network", tnt.NetworkError, ConnectionError),
        ("timeout", tnt.QueryTimeout, TimeoutError),
        ("protocol", tnt.ProtocolError, Exception),
        ("usage", tnt.UsageError, ValueError),
    ],
)
def test_what_is_not_the_databases_fault(kind, expected, builtin):
    error = error_for(kind, 0, "", "why", maybe_sent=False)
    assert expected is type(error)
    assert isinstance(error, builtin)
    assert "why" == str(error)


@pytest.mark.parametrize("kind", ["network", "timeout"])
@pytest.mark.parametrize("maybe_sent", [True, False])
def test_whether_a_write_may_have_run_is_told(kind, maybe_sent):
    error = error_for(kind, 0, "", "gone", maybe_sent=maybe_sent)
    assert isinstance(error, tnt.NetworkError)
    assert maybe_sent is error.maybe_sent


def test_a_wrong_password_is_a_refused_access():
    error = error_for("auth", 47, "ER_CREDS_MISMATCH", "wrong", maybe_sent=False)
    assert isinstance(error, tnt.WrongPassword) and isinstance(error, tnt.AccessDenied)
