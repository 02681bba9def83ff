"""The blocking and the gevent face: the same names and results as the asynchronous one."""

from __future__ import annotations

import itertools
import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import gevent
import pytest
from support.spaces import ANN, BOB, CREATE, EVE
from tarmac import tarantool as asynchronous
from tarmac.tarantool import blocking
from tarmac.tarantool import gevent as greenlets
from tarmac.waiting import reactor_for_gevent

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from support.tarantool import OwnTarantool, Tarantool
    from tarmac.tarantool.waiting_faces import Connection, Space

pytestmark = pytest.mark.live

FACES = pytest.mark.parametrize("face", [blocking, greenlets], ids=["blocking", "gevent"])
names = (f"faces_{number}" for number in itertools.count())


@pytest.fixture
def db(face: ModuleType, tarantool: Tarantool) -> Iterator[Connection]:
    """Give an open connection of a face."""
    with face.connect(tarantool.url, timeout=10) as connection:
        yield connection


@pytest.fixture
def people(db: Connection) -> Iterator[Space]:
    """Give a space of three people."""
    space = db.space(next(names))
    db.eval(CREATE, space.name)
    for row in (ANN, BOB, EVE):
        space.insert(row)
    yield space
    db.eval("box.space[...]:drop()", space.name)


@FACES
def test_every_operation(db: Connection, people: Space):
    assert db.ping() is None
    assert ANN == tuple(people.get(1) or ())
    assert people.get(9) is None
    assert [ANN, EVE] == [tuple(row) for row in people.select(30, index="age")]
    assert (4, "Dan", 4) == tuple(people.insert({"id": 4, "name": "Dan", "age": 4}))
    assert (4, "Dan", 5) == tuple(people.replace((4, "Dan", 5)))
    assert (4, "Dan", 6) == tuple(people.update(4, asynchronous.add("age", 1)) or ())
    assert people.upsert((4, "x", 0), asynchronous.add("age", 1)) is None
    assert (4, "Dan", 7) == tuple(people.delete(4) or ())
    assert 3 == db.call("math.abs", -3)
    assert (2, 1) == db.eval("local a, b = ... return b, a", 1, 2)
    assert 1 == db.sql("select :a as a", a=1)[0][0]
    with pytest.raises(asynchronous.TupleFound):
        people.insert(ANN)
    assert "ready" == db.state
    assert (db.server_version or "")[0] in "23"
    assert people.name in db.schema


@FACES
def test_many_rows_in_and_out(people: Space):
    rows = [(number, f"n{number}", number) for number in range(100, 1100)]
    assert rows == [tuple(row) for row in people.insert_many(rows)]
    assert [1, 2, 3, *range(100, 1100)] == [row.id for row in people.scan(batch=99)]
    mixed = people.insert_many([ANN, (5000, "y", 1)], return_exceptions=True)
    assert [True, False] == [isinstance(one, asynchronous.TupleFound) for one in mixed]
    with pytest.raises(asynchronous.TupleFound):
        people.insert_many([ANN, (5001, "y", 2)])


@FACES
def test_errors_and_timeouts(face: ModuleType, db: Connection, tarantool: Tarantool):
    with pytest.raises(asynchronous.QueryTimeout):
        db.eval("require('fiber').sleep(1)", timeout=0.05)
    assert 7 == db.eval("return 7")
    with pytest.raises(asynchronous.WrongPassword):
        face.connect(f"tarantool://app:wrong@{tarantool.host}:{tarantool.port}").open()
    db.close()
    with pytest.raises(asynchronous.NetworkError, match="closed"):
        db.ping()


@FACES
def test_a_name_is_looked_up(face: ModuleType, tarantool: Tarantool):
    with face.connect(tarantool.url.replace(tarantool.host, "localhost"), timeout=5) as db:
        assert 7 == db.eval("return 7")
    with pytest.raises(asynchronous.NetworkError, match="looked up"):
        face.connect("tarantool://no-such-host.invalid").ping()


@FACES
def test_a_restart_is_survived(face: ModuleType, own_tarantool: OwnTarantool):
    with face.connect(own_tarantool.url, timeout=20, reconnect_max=0.1) as db:
        assert 1 == db.eval("return 1")
        own_tarantool.restart()
        assert 2 == eventually(lambda: db.eval("return 2"))


def eventually(ask) -> Any:
    """Ask again where the first answer is that the connection was lost."""
    try:
        return ask()
    except asynchronous.NetworkError:
        return ask()


def test_threads_share_one_object_and_get_their_own_answers(tarantool: Tarantool):
    with blocking.connect(tarantool.url, timeout=10) as db:
        code = "local wait, value = ... require('fiber').sleep(wait) return value"

        def work(number: int) -> bool:
            return all(
                (number, turn) == tuple(db.eval(code, 0.001 * (number % 3), [number, turn])) for turn in range(20)
            )

        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(work, range(32)))


def test_other_threads_run_while_one_waits(tarantool: Tarantool):
    with blocking.connect(tarantool.url, timeout=10) as db:
        counted = 0
        stop = threading.Event()

        def count() -> None:
            nonlocal counted
            while not stop.is_set():
                counted += 1

        thread = threading.Thread(target=count)
        thread.start()
        before = counted
        db.eval("require('fiber').sleep(0.2)")
        stop.set()
        thread.join()
        assert counted - before > 1000, "the GIL was held"


def test_a_signal_ends_the_wait(tarantool: Tarantool):
    with blocking.connect(tarantool.url, timeout=10) as db:
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        started = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            db.eval("require('fiber').sleep(5)")
        assert time.monotonic() - started < 3
        assert 7 == db.eval("return 7")


def test_greenlets_wait_side_by_side_and_write_together(tarantool: Tarantool):
    with greenlets.connect(tarantool.url, timeout=10) as db:
        reactor = reactor_for_gevent()
        before = reactor.stats()["writes"]
        started = time.monotonic()
        jobs = [gevent.spawn(db.eval, "require('fiber').sleep(0.1) return ...", number) for number in range(100)]
        gevent.joinall(jobs, timeout=5)
        assert list(range(100)) == [job.value for job in jobs]
        assert time.monotonic() - started < 2
        assert reactor.stats()["writes"] - before <= 5


def test_a_killed_greenlet_cancels_its_query(tarantool: Tarantool):
    with greenlets.connect(tarantool.url, timeout=10) as db:
        job = gevent.spawn(db.eval, "require('fiber').sleep(5)")
        gevent.sleep(0.05)
        job.kill(timeout=1)
        assert job.dead
        assert 7 == db.eval("return 7")
