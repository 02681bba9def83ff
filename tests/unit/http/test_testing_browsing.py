"""The test client follows redirects and keeps cookies as a browser does."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
import tarmac
from tarmac import App, Response
from tarmac.testing import Client, Cookies


def echoing() -> App:
    app = App()

    @app.route("/echo/{rest:path}", methods=["GET", "POST"])
    def echo(request, rest):
        return {
            "method": request.method,
            "headers": request.headers.multi_items(),
            "cookies": request.cookies,
            "body": request.content.decode("latin-1"),
            "host": request.host,
        }

    return app


def headers_of(answer) -> dict[str, str]:
    return dict(answer.json()["headers"])


def wandering() -> App:
    app = echoing()

    @app.route("/go/{status:int}", methods=["GET", "POST"])
    def go(request, status):
        return tarmac.redirect(f"/echo/{status}", status=status)

    @app.get("/round")
    def around(request):
        return tarmac.redirect("/round")

    @app.get("/away")
    def away(request):
        return tarmac.redirect("http://elsewhere.test/echo/", status=307)

    return app


@pytest.mark.parametrize(
    ("status", "method", "body"),
    [(301, "GET", ""), (302, "GET", ""), (303, "GET", ""), (307, "POST", "x"), (308, "POST", "x")],
)
def test_redirects_are_followed_as_a_browser_does(status, method, body):
    with Client(wandering()) as client:
        answer = client.post(f"/go/{status}", data="x")
        assert (method, body) == (answer.json()["method"], answer.json()["body"])
        assert (method == "POST") == ("content-type" in headers_of(answer))
        assert ([status], f"http://testserver/echo/{status}") == ([one.status for one in answer.history], answer.url)
        stays = client.get(f"/go/{status}", follow_redirects=False)
        assert (status, f"/echo/{status}", []) == (stays.status, stays.headers["location"], stays.history)


def test_a_ring_of_redirects_ends():
    with Client(wandering()) as client, pytest.raises(RuntimeError, match="more than 20 redirects"):
        client.get("/round")
    with Client(wandering(), follow_redirects=False) as client:
        assert 302 == client.get("/round").status


def test_a_password_does_not_travel_to_another_host():
    with Client(wandering()) as client:
        answer = client.get("/away", headers={"Authorization": "Basic x", "X-A": "1"})
        assert ("1", None) == (headers_of(answer)["x-a"], headers_of(answer).get("authorization"))
        assert "elsewhere.test" == answer.json()["host"]


def test_a_body_in_pieces_cannot_be_sent_twice():
    with Client(wandering()) as client, pytest.raises(RuntimeError, match="sent again"):
        client.post("/go/307", data=iter([b"x"]))


def baking() -> App:
    app = echoing()

    @app.get("/set")
    def bake(request):
        response = Response("baked")
        for name, attributes in COOKIES.items():
            response.set_header("Set-Cookie", f"{name}=1{attributes}")
        return response

    return app


COOKIES = {
    "plain": "",
    "root": "; Path=/",
    "below": "; Path=/echo/below",
    "secure": "; Secure",
    "domain": "; Domain=testserver; Path=/",
    "foreign": "; Domain=elsewhere.test",
    "aged": "; Max-Age=0",
    "old": "; Expires=Thu, 01 Jan 1970 00:00:00 GMT",
    "fresh": "; Path=/; Expires=Thu, 01 Jan 2099 00:00:00 GMT",
    "host": "; Path=/",
}


def test_cookies_are_kept_and_sent_where_they_belong():
    with Client(baking()) as client:
        answer = client.get("/set")
        assert {"plain", "root", "below", "secure", "domain", "aged", "old", "fresh", "host"} == set(answer.cookies)
        everywhere = {"plain", "root", "domain", "fresh", "host"}
        assert everywhere == set(client.get("/echo/x").json()["cookies"])
        assert everywhere | {"below"} == set(client.get("/echo/below/x").json()["cookies"])
        assert everywhere == set(client.get("/echo/belowx").json()["cookies"])
        assert "secure" in client.get("https://testserver/echo/").json()["cookies"]
        assert {"domain"} == set(client.get("http://sub.testserver/echo/").json()["cookies"])
        client.cookies["mine"] = "2"
        del client.cookies["root"]
        assert "2" == client.get("/echo/").json()["cookies"]["mine"] == client.cookies["mine"]
        assert "root" not in client.get("/echo/").json()["cookies"]
        client.cookies.clear()
        assert {} == client.get("/echo/").json()["cookies"]
        with pytest.raises(KeyError):
            del client.cookies["root"]


def test_a_cookie_ends_with_its_time():
    now = 1000.0
    cookies = Cookies(lambda: now)
    url = urlsplit("http://x.test/")
    cookies.take("a=1; Max-Age=10", url)
    now = 1009.9
    assert "a=1" == cookies.header(url)
    now = 1010.0
    assert "" == cookies.header(url)
