"""Right answers before any load: the contract of a course, asked over the real socket."""

from __future__ import annotations

from races.client import Client, Reply
from races.course import Course
from races.errors import LabError

PIPELINE_PROBE = 24
ABSENT_PAGE = "/no-such-page-of-the-race"


def check_contract(port: int, course: Course) -> list[str]:
    """What is wrong, one sentence each; an empty list means the entrant may start."""
    try:
        with Client(port) as client:
            first = client.get(course.path)
            problems = check_reply(first, course)
            second = client.get(course.path)
            problems += [f"second visit: {problem}" for problem in check_reply(second, course)]
            problems += _check_variation(first, second, course)
            problems += _check_absent_page(client)
            problems += _check_pipeline(client, course)
    except (OSError, ValueError, IndexError, LabError) as error:
        return [f"{course.path}: {error}"]
    return problems


def check_reply(reply: Reply, course: Course) -> list[str]:
    """Status, content type, and the texts that must stand in the body."""
    expect = course.expect
    problems: list[str] = []
    if reply.status != expect.status:
        problems.append(f"{course.path} answers {reply.status}, expected {expect.status}")
    content_type = reply.headers.get("content-type", "")
    if not content_type.startswith(expect.content_type):
        problems.append(f"{course.path} is {content_type!r}, expected {expect.content_type!r}")
    problems += [f"{course.path} lacks {text!r}" for text in expect.contains if text.encode() not in reply.body]
    for text, times in expect.counts.items():
        seen = reply.body.count(text.encode())
        if seen != times:
            problems.append(f"{course.path} has {text!r} {seen} times, expected {times}")
    return problems


def _check_variation(first: Reply, second: Reply, course: Course) -> list[str]:
    """A page made of chance must differ between visits: a cached constant may not race."""
    if course.expect.varies and first.body == second.body:
        return [f"{course.path} gives two visitors the same page"]
    return []


def _check_absent_page(client: Client) -> list[str]:
    reply = client.get(ABSENT_PAGE)
    return [] if reply.status == 404 else [f"an absent page answers {reply.status}, not 404"]  # noqa: PLR2004


def _check_pipeline(client: Client, course: Course) -> list[str]:
    """Requests sent in one write are answered in their order: page, absent, page, absent..."""
    if course.depth == 1:
        return []
    client.send([course.path, ABSENT_PAGE] * (PIPELINE_PROBE // 2))
    statuses = [client.receive().status for _ in range(PIPELINE_PROBE)]
    expected = [course.expect.status, 404] * (PIPELINE_PROBE // 2)
    return [] if statuses == expected else [f"pipelined answers came as {statuses}"]
