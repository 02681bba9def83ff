"""Little's law on wrk outputs: what fits, what needs pipelining, what cannot be."""

from pathlib import Path

import pytest
from races.audit import find_blocks, judge
from races.cli import main


def output(connections: int, latency: str, requests: int, seconds: str, rate: str, *, threads: int = 1) -> str:
    return f"""
  Running 30s test @ http://127.0.0.1:8080/page
    {threads} threads and {connections} connections
    Thread Stats   Avg      Stdev     Max   +/- Stdev
      Latency     {latency}   10.15ms  441.17ms   95.62%
      Req/Sec   221.30     35.19   290.00     83.10%
    {requests} requests in {seconds}, 320.86MB read
  Requests/sec:   {rate}
  Transfer/sec:      5.34MB
"""


@pytest.mark.parametrize(
    ("text", "plausible", "words"),
    [
        (output(100, "10.00ms", 300000, "30.00s", "10000.00"), True, "100.0 in flight on 100 connections: consistent"),
        (output(50, "50.00ms", 60000, "1.00m", "1000.00"), True, "consistent"),
        (output(100, "240.00us", 3000000, "30.00s", "100000.00"), False, "stood idle"),
        (output(100, "15.00ms", 300000, "30.00s", "10000.00"), False, "more than they hold without pipelining"),
        (output(100, "2.40ms", 30000000, "30.00s", "1 000,000.00"), True, "only with pipelining, 24.0 on each"),
        (output(100, "10.00ms", 300000, "30.00s", "12000.00"), False, "10,000 requests a second by its own total"),
        (output(50, "12.50ms", 96000, "30.00s", "3200.00", threads=20), True, "on 40 connections: consistent"),
    ],
)
def test_a_block_is_judged_by_its_own_figures(text: str, plausible: bool, words: str) -> None:  # noqa: FBT001
    (block,) = find_blocks(text)
    opinion = judge(block)
    assert (plausible, True) == (opinion.plausible, words in opinion.words), opinion.words


def test_blocks_are_found_among_prose_and_broken_ones_are_passed_over() -> None:
    whole = output(100, "10.00ms", 300000, "30.00s", "10000.00")
    text = f"I ran it:\n{whole}\nThen Running 30s test @ http://x/ was cut off.\n{whole}"
    assert 2 == len(list(find_blocks(text)))


def test_the_status_tells_of_a_contradiction(tmp_path: Path) -> None:
    article = tmp_path / "article.txt"
    article.write_text(output(100, "10.00ms", 300000, "30.00s", "10000.00"))
    assert 0 == main(["audit", str(article)])
    article.write_text(article.read_text() + output(100, "15.00ms", 300000, "30.00s", "10000.00"))
    assert 1 == main(["audit", str(article)])
    article.write_text("no figures at all")
    assert 2 == main(["audit", str(article)])
    assert 2 == main(["audit", str(tmp_path / "absent")])
