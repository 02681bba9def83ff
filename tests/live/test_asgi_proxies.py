"""What trusted proxies say reaches hosted applications; what others say does not."""

from __future__ import annotations

import json

import pytest
from support.http import connected
from support.loops import on_every_loop
from tarmac.errors import ConfigurationError
from tarmac.hosting import Hosted

pytestmark = pytest.mark.live

FORWARDED = "X-Forwarded-For: 203.0.113.7, 10.0.0.2\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: shop.example\r\n"


async def app(scope, receive, send):
    """Tell what the scope says of the client."""
    host = dict(scope["headers"])[b"host"].decode()
    told = json.dumps([scope["client"][0], scope["scheme"], host]).encode()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": told})


@on_every_loop
async def test_a_trusted_proxy_is_believed():
    hosted = Hosted(app, lifespan="off", trusted_proxies=["127.0.0.1", "10.0.0.0/8"])
    async with connected(hosted) as wire:
        answer = await wire.get("/", headers=FORWARDED)
        assert ["203.0.113.7", "https", "shop.example"] == json.loads(answer.body)


@on_every_loop
async def test_nobody_is_believed_who_is_not_trusted():
    for trusted in ((), ("192.0.2.1",)):
        async with connected(Hosted(app, lifespan="off", trusted_proxies=trusted)) as wire:
            answer = await wire.get("/", headers=FORWARDED)
            assert ["127.0.0.1", "http", "test"] == json.loads(answer.body)


def test_an_address_that_is_none_is_refused():
    with pytest.raises(ConfigurationError, match="a trusted proxy is an address"):
        Hosted(app, trusted_proxies=["proxy.example"])
