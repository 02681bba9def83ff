"""What kind of application an object is."""

from __future__ import annotations

from functools import partial, wraps

import pytest
from tarmac import App
from tarmac.errors import ConfigurationError
from tarmac.hosting import Hosted, adapt, interface_of


async def asgi(scope, receive, send): ...


def asgi_that_returns_an_awaitable(scope, receive, send): ...


def asgi_2(scope): ...


def wsgi(environ, start_response): ...


def wsgi_with_more(environ, start_response, *, debug=False): ...


class AsgiObject:
    async def __call__(self, scope, receive, send) -> None: ...

    async def method(self, scope, receive, send): ...


class AsgiClass:
    def __init__(self, scope, receive, send) -> None: ...

    def __await__(self) -> None: ...


class Asgi2Class:
    def __init__(self, scope) -> None: ...

    async def __call__(self, receive, send) -> None: ...


class WsgiObject:
    def __call__(self, environ, start_response) -> None: ...


@wraps(asgi)
def decorated(*arguments: object):
    return asgi(*arguments)


async def anything(*arguments: object): ...


def asgi_with_a_setting(setting, scope, receive, send): ...


@pytest.mark.parametrize(
    ("kind", "app"),
    [
        ("tarmac", App()),
        ("asgi", asgi),
        ("asgi", asgi_that_returns_an_awaitable),
        ("asgi", AsgiObject()),
        ("asgi", AsgiObject().method),
        ("asgi", AsgiClass),
        ("asgi", decorated),
        ("asgi", anything),
        ("asgi", partial(asgi_with_a_setting, "a")),
        ("asgi2", asgi_2),
        ("asgi2", Asgi2Class),
        ("wsgi", wsgi),
        ("wsgi", wsgi_with_more),
        ("wsgi", WsgiObject()),
        ("wsgi", WsgiObject().__call__),
    ],
    ids=str,
)
def test_the_kind_is_seen(kind, app):
    assert kind == interface_of(app)


@pytest.mark.parametrize(
    ("app", "advice"),
    [
        (7, "is no application but int"),
        (lambda: 1, "say --factory"),
        (AsgiObject, "serve an instance"),
        (App, "serve an instance"),
        (lambda *arguments: 1, "say --interface"),
        (lambda a, b, c, d: 1, "say --interface"),
    ],
)
def test_what_is_no_application_is_refused_with_advice(app, advice):
    with pytest.raises(ConfigurationError, match=advice):
        interface_of(app)


def test_an_app_stays_itself_and_others_are_hosted():
    app = App()
    assert app is adapt(app)
    assert isinstance(adapt(asgi), Hosted)
    assert isinstance(adapt(lambda *arguments: 1, "wsgi"), Hosted)


def test_an_interface_that_does_not_fit_is_refused():
    with pytest.raises(ConfigurationError, match="is not a tarmac"):
        adapt(asgi, "tarmac")
    with pytest.raises(ConfigurationError, match="served as it is"):
        Hosted(App())
