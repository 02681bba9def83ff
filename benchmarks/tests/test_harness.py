"""The harness itself: what it measures with must be right before what it measures."""

import socket
import subprocess
import sys
import time

import pytest
from harness import counters, floor, report
from harness.errors import Broken, Unavailable
from harness.meter import Meter, cpu_microseconds, family, resident_bytes
from harness.processes import SUBJECT_CORE, Child, free_port, listens
from harness.results import Claim, Run, Sample
from harness.slots import Turn, alternate
from harness.statistics import paired_ratio, spread
from harness.strace import _parse

BURN = """\
import time
end = time.process_time() + {0}
while time.process_time() < end: pass
print('done', flush=True); time.sleep(60)
"""


def burning(seconds: float) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", BURN.format(seconds)], stdout=subprocess.PIPE)


def test_cpu_time_is_the_time_that_was_burnt() -> None:
    """Within a tenth: 0.3 s of work read from outside as 0.3 s."""
    with burning(0.3) as child:
        assert child.stdout is not None
        child.stdout.readline()
        measured = cpu_microseconds(child.pid)
        child.kill()
    assert 300_000 == pytest.approx(measured, rel=0.25)


def test_children_are_counted() -> None:
    """A master's workers belong to it."""
    script = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {BURN.format(0.2)!r}])"
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as master:
        assert master.stdout is not None
        master.stdout.readline()
        meter = Meter(master.pid)
        assert 2 == len(family(master.pid))
        assert meter.read().microseconds > 200_000
        meter.close()
        for member in reversed(family(master.pid)):
            subprocess.run(["kill", "-9", str(member)], check=False)


def test_instructions_grow_with_the_work() -> None:
    """Twice the work is about twice the instructions."""
    if reason := counters.why_not():
        pytest.skip(reason)
    counter = counters.InstructionCounter([0])
    readings = [counter.read()]
    for size in (100_000, 200_000):
        sum(range(size))
        readings.append(counter.read())
    counter.close()
    once, twice = readings[1] - readings[0], readings[2] - readings[1]
    assert 2 == pytest.approx(twice / once, rel=0.3)


def test_memory_of_a_process_is_not_nothing() -> None:
    with burning(0.0) as child:
        assert child.stdout is not None
        child.stdout.readline()
        assert 2**20 < resident_bytes(child.pid) < 2**30
        child.kill()


def test_a_ratio_is_taken_round_by_round() -> None:
    """A slow round of the whole machine leaves it alone."""
    assert (2.0, 2.0, 2.0) == tuple(vars(paired_ratio([2.0, 20.0, 4.0], [1.0, 10.0, 2.0])).values())
    assert 3.0 == spread([3.0]).median


@pytest.mark.parametrize(
    ("ours", "limit", "at_least", "verdict"),
    [
        ([1.0, 1.0, 1.0], 0.5, False, "yes"),
        ([3.0, 3.0, 3.0], 0.5, False, "no"),
        ([3.0, 3.0, 3.0], 1.0, True, "yes"),
        ([1.0, 2.0, 3.0], 1.0, False, "unresolved"),
    ],
)
def test_a_claim_is_judged_by_the_paired_ratio(ours: list[float], limit: float, at_least: bool, verdict: str) -> None:  # noqa: FBT001
    run = claimed(limit, at_least=at_least)
    for mine in ours:
        run.experiment("e").add("tarmac", Sample(1, mine, 1.0))
        run.experiment("e").add("other", Sample(1, 2.0, 1.0))
    assert verdict == run.judged()[0].verdict


def test_wrong_answers_lose_a_row() -> None:
    run = claimed(1.0)
    run.experiment("e").add("tarmac", Sample(1, 1.0, 1.0, errors=1))
    run.experiment("e").add("other", Sample(1, 2.0, 1.0))
    assert "no" == run.judged()[0].verdict
    assert any("1 wrong or missing answers" in line for line in report.plain(run))


def test_what_is_missing_is_said_by_name() -> None:
    run = claimed(1.0)
    run.skip("other", "needs Python 3.6, not found here")
    run.experiment("e").add("tarmac", Sample(1, 1.0, 1.0))
    assert "skipped" == run.judged()[0].verdict
    assert "skipped other: needs Python 3.6, not found here" in report.plain(run)


def test_strace_tables_with_and_without_errors_are_read() -> None:
    text = """\
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 60.00    0.000200           2       100         3 sendto
 40.00    0.000100           1        50           epoll_wait
------ ----------- ----------- --------- --------- ----------------
100.00    0.000300           2       150         3 total
"""
    calls = _parse(text)
    assert (150, 100) == (calls.total, calls.writes)


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
def test_the_floor_answers_each_request_once_however_it_is_cut(size: int) -> None:
    try:
        binary = floor.compiled()
    except Unavailable as error:
        pytest.skip(str(error))
    port = free_port()
    request = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * 5
    with Child([binary, str(port)], core=SUBJECT_CORE) as child:
        child.wait_until(lambda: listens(port), "the floor")
        with socket.create_connection(("127.0.0.1", port), timeout=5) as client:
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for at in range(0, len(request), size):
                client.sendall(request[at : at + size])
            client.shutdown(socket.SHUT_WR)
            answer = b"".join(iter(lambda: client.recv(65536), b""))
    assert 5 == answer.count(b"HTTP/1.1 200 OK\r\n") == answer.count(b"Hello world!")


def test_a_child_is_pinned_and_ends() -> None:
    with Child([sys.executable, "-c", "import time; time.sleep(60)"], core=SUBJECT_CORE) as child:
        started = time.monotonic()
    assert child.popen.returncode is not None
    assert time.monotonic() - started < 10


def claimed(limit: float, *, at_least: bool = False) -> Run:
    return Run(claims=[Claim("X1", "a claim", "e", "tarmac", "other", limit, at_least=at_least)])


def test_a_broken_contender_loses_its_row_and_leaves_the_others() -> None:
    """Dies in its third slot: no figure from the rounds before, and the other one goes on."""
    run, slots = claimed(1.0), iter([1, 1])

    def dying() -> Sample:
        if next(slots, None) is None:
            raise Broken("gone")
        return Sample(1, 1.0, 1.0)

    alternate(run.experiment("e"), [Turn("tarmac", dying), Turn("other", lambda: Sample(1, 2.0, 1.0))], rounds=4)
    assert ("no", "gone") == (run.judged()[0].verdict, run.judged()[0].reason)
    assert [2.0] * 4 == run.experiment("e").figures("other", "cpu")
    assert "broken tarmac in e: gone" in report.plain(run)


def test_the_warm_up_is_no_evidence() -> None:
    values = iter([100.0, 1.0, 2.0])
    experiment = Run().experiment("e")
    alternate(experiment, [Turn("tarmac", lambda: Sample(1, next(values), 1.0))], rounds=2)
    assert [1.0, 2.0] == experiment.figures("tarmac", "cpu")
