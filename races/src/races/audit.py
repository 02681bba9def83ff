"""Audits the wrk outputs that an article prints: do their own figures agree with each other.

Little's law: requests in flight = rate x mean time in the system. wrk keeps one request in flight
on each connection, so rate x latency must be the number of connections; with pipelining it is a
multiple of it (about half the depth, as wrk times a batch from its start). And requests are rate x
duration, whatever was measured.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
TOLERANCE = 0.10
COUNT_TOLERANCE = 0.02

HEADER = re.compile(r"Running\s+(\S+)\s+test\s+@\s+(\S+)")
THREADS = re.compile(r"(\d+)\s+threads?\s+and\s+(\d+)\s+connections?")
LATENCY = re.compile(r"^\s*Latency\s+([\d.]+)(us|ms|s|m)\b", re.MULTILINE)
TOTAL = re.compile(r"(\d+)\s+requests\s+in\s+([\d.]+)(us|ms|s|m|h)\b")
RATE = re.compile(r"Requests/sec:\s*([\d.,\s]*\d)")


@dataclass(frozen=True, slots=True)
class Block:
    """One wrk output. Seconds; `connections` as asked for."""

    url: str
    threads: int
    connections: int
    latency: float
    requests: int
    seconds: float
    rate: float

    @property
    def used_connections(self) -> int:
        """What is left when wrk deals whole connections to its threads evenly."""
        return self.connections // self.threads * self.threads

    @property
    def in_flight(self) -> float:
        """By Little's law."""
        return self.rate * self.latency


@dataclass(frozen=True, slots=True)
class Opinion:
    """What to think of a block; `plausible` is false where its figures contradict each other."""

    block: Block
    plausible: bool
    words: str


def find_blocks(text: str) -> Iterator[Block]:
    """All complete wrk outputs of a text, however it is indented."""
    starts = [found.start() for found in HEADER.finditer(text)]
    for start, end in pairwise([*starts, len(text)]):
        block = read_block(text[start:end])
        if block is not None:
            yield block


def read_block(text: str) -> Block | None:
    """One output, or None where a line is missing."""
    header, threads, latency = HEADER.search(text), THREADS.search(text), LATENCY.search(text)
    total, rate = TOTAL.search(text), RATE.search(text)
    if not (header and threads and latency and total and rate):
        return None
    return Block(
        url=header[2],
        threads=int(threads[1]),
        connections=int(threads[2]),
        latency=float(latency[1]) * UNITS[latency[2]],
        requests=int(total[1]),
        seconds=float(total[2]) * UNITS[total[3]],
        rate=float(re.sub(r"[,\s]", "", rate[1])),
    )


def judge(block: Block) -> Opinion:
    """The first contradiction, or how the figures fit."""
    counted = block.requests / block.seconds if block.seconds else 0.0
    if abs(counted / block.rate - 1) > COUNT_TOLERANCE:
        return Opinion(
            block, plausible=False, words=f"{counted:,.0f} requests a second by its own total, not {block.rate:,.0f}"
        )
    share = block.in_flight / max(1, block.used_connections)
    flight = f"{block.in_flight:,.1f} in flight on {block.used_connections} connections"
    if share > 2 - TOLERANCE:
        return Opinion(block, plausible=True, words=f"{flight}: only with pipelining, {share:.1f} on each in the mean")
    if share > 1 + TOLERANCE:
        return Opinion(
            block,
            plausible=False,
            words=f"{flight}: more than they hold without pipelining; wrk's guess at omitted requests may inflate it",
        )
    if share < 1 - TOLERANCE:
        return Opinion(block, plausible=False, words=f"{flight}: connections stood idle, or failed")
    return Opinion(block, plausible=True, words=f"{flight}: consistent")
