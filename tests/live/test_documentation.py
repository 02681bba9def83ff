"""The programs and commands of README.md and docs/ do what the pages say."""

from __future__ import annotations

import asyncio
import json
import re
import urllib.error
import urllib.request

import pytest
from support.certificates import Authority
from support.sources import ROOT
from websockets.asyncio.client import connect

PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])


@pytest.mark.live
def test_the_readme_program_reads_and_votes(serve, own_tarantool):
    """The twenty lines of README.md work against a real Tarantool."""
    own_tarantool.lua("""
        local space = box.schema.space.create('stickers', {format = {
            {'pack', 'string'}, {'number', 'unsigned'}, {'rating', 'integer'}}})
        space:create_index('primary', {parts = {'pack', 'number'}})
        space:insert{'cats', 7, 0}
        function vote(pack, number) space:update({pack, number}, {{'+', 'rating', 1}}) end
    """)
    address = f"{own_tarantool.user}:{own_tarantool.password}@127.0.0.1:{own_tarantool.port}"
    service = serve("README.md", **{"app:secret@127.0.0.1:3301": address})
    assert service.ask("/stickers/cats/7") == (200, '{"pack":"cats","number":7,"rating":0}')
    assert service.ask("/vote", pack="cats", number="7")[0] == 303
    assert json.loads(service.ask("/stickers/cats/7")[1])["rating"] == 1
    assert service.ask("/stickers/cats/8")[0] == 404


@pytest.mark.live
def test_the_first_program_of_the_tutorial(serve):
    service = serve("docs/tutorial/first-service.md", 0)
    assert service.ask("/") == (200, "Hello world!")
    assert service.ask("/hello/Ann") == (200, '{"hello":"Ann"}')


@pytest.mark.live
def test_the_guest_book_of_the_tutorial(serve):
    service = serve("docs/tutorial/first-service.md", 1)
    assert service.ask("/", name="Ann")[0] == 303
    assert service.ask("/guests") == (200, '["Ann"]')
    assert service.ask("/", name="")[0] == 400
    assert "1 guests so far" in service.ask("/")[1]


@pytest.mark.live
def test_the_server_beside_a_ticker_stops_itself_cleanly(serve):
    """The how-to's program counts in its own task, answers, drains, and ends with status 0."""
    service = serve("docs/how-to/run-in-your-own-loop.md")
    status, ticks = service.ask("/")
    assert (status, ticks.isdigit()) == (200, True)
    assert service.ask("/stop", now="yes") == (200, "stopping")
    assert service.process.wait() == 0


@pytest.mark.live
def test_the_chat_and_the_sum_of_the_page_about_websockets(serve):
    service = serve("docs/how-to/chat-over-websocket.md")

    async def talk() -> list[object]:
        base = service.base.replace("http:", "ws:")
        async with connect(f"{base}/chat/a") as ann, connect(f"{base}/chat/a") as bob, connect(f"{base}/chat/b") as eve:
            await bob.send("here")
            assert "here" == await bob.recv()
            assert "here" == await ann.recv()
            await ann.send("hello")
            assert "hello" == await bob.recv()
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(eve.recv(), 0.05)
        async with connect(f"{base}/add", subprotocols=["sum"]) as adder:
            for number in ("60", "40"):
                await adder.send(number)
            heard = [json.loads(await adder.recv()) for _ in range(2)]
            await adder.wait_closed()
            return [adder.subprotocol, heard, adder.close_code, adder.close_reason]

    assert ["sum", [{"total": 60}, {"total": 100}], 4000, "that is enough"] == asyncio.run(talk())


@pytest.fixture
def authority(tmp_path, monkeypatch):
    """The files that the page about TLS names, in the working directory."""
    authority = Authority(tmp_path)
    authority.issue("localhost")
    authority.roots.rename(tmp_path / "authorities.pem")
    monkeypatch.chdir(tmp_path)
    return authority


@pytest.mark.live
def test_the_first_program_of_the_page_about_tls(serve, authority):
    base = serve("docs/how-to/serve-over-tls.md").base.replace("http://127.0.0.1", "https://localhost")
    with urllib.request.urlopen(base, context=authority.client()) as answer:  # noqa: S310 - our own server
        assert b"Hello over https!" == answer.read()


@pytest.mark.live
def test_the_program_that_knows_its_clients_by_certificate(serve, authority):
    base = serve("docs/how-to/serve-over-tls.md", 1).base.replace("http://127.0.0.1", "https://localhost")
    with urllib.request.urlopen(base, context=authority.client(name="me.example")) as answer:  # noqa: S310 - see above
        assert answer.read().endswith(b" bytes of DER")
    with pytest.raises(urllib.error.HTTPError, match="403") as refused:
        urllib.request.urlopen(base, context=authority.client())  # noqa: S310 - see above
    refused.value.close()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_make_target_that_a_page_names_exists(page):
    targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"(?:`|\$ )make ([a-z0-9-]+)", page.read_text()))
    assert named <= targets
