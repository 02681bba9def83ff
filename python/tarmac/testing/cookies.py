"""The cookies of a test client: kept, sent back and forgotten as RFC 6265 says a browser does."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, MutableMapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from urllib.parse import SplitResult

__all__ = ["Cookie", "Cookies"]


@dataclass
class Cookie:
    """One cookie and where it is sent."""

    name: str
    value: str
    domain: str = ""  # of the host alone, if it is empty or `host_only`
    path: str = "/"
    expires: float | None = None
    secure: bool = False
    http_only: bool = False
    same_site: str | None = None
    host_only: bool = True

    def goes_to(self, url: SplitResult) -> bool:
        """Whether a browser sends it with a request for *url* (RFC 6265 section 5.4)."""
        host = url.hostname or ""
        same = not self.domain or host == self.domain
        if not same and (self.host_only or not host.endswith("." + self.domain)):
            return False
        if self.secure and url.scheme != "https":
            return False
        path = url.path or "/"
        return path == self.path or path.startswith(self.path.rstrip("/") + "/")


class Cookies(MutableMapping[str, str]):
    """Name to value, for tests; ``all`` holds the cookies themselves."""

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self.all: list[Cookie] = []
        self._now = now

    def __getitem__(self, name: str) -> str:
        for cookie in self.all:
            if cookie.name == name:
                return cookie.value
        raise KeyError(name)

    def __setitem__(self, name: str, value: str) -> None:
        """Set a cookie that goes everywhere."""
        self.all = [cookie for cookie in self.all if cookie.name != name]
        self.all.append(Cookie(name, value))

    def __delitem__(self, name: str) -> None:
        if name not in self:
            raise KeyError(name)
        self.all = [cookie for cookie in self.all if cookie.name != name]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(cookie.name for cookie in self.all))

    def __len__(self) -> int:
        return len({cookie.name for cookie in self.all})

    def header(self, url: SplitResult) -> str:
        """The value of ``Cookie`` for a request; the cookie with the longest path first."""
        self._expire()
        going = [cookie for cookie in self.all if cookie.goes_to(url)]
        going.sort(key=lambda cookie: -len(cookie.path))
        return "; ".join(f"{cookie.name}={cookie.value}" for cookie in going)

    def take(self, line: str, url: SplitResult) -> Cookie | None:
        """Keep what a ``Set-Cookie`` says; ``None`` where it is refused."""
        cookie = self._parsed(line, url)
        if cookie is None:
            return None
        same = (cookie.name, cookie.domain, cookie.path)
        self.all = [known for known in self.all if (known.name, known.domain, known.path) != same]
        self.all.append(cookie)
        self._expire()
        return cookie

    def _expire(self) -> None:
        now = self._now()
        self.all = [cookie for cookie in self.all if cookie.expires is None or cookie.expires > now]

    def _parsed(self, line: str, url: SplitResult) -> Cookie | None:
        pair, *attributes = line.split(";")
        name, _, value = pair.partition("=")
        host = url.hostname or ""
        cookie = Cookie(name.strip(), value.strip(), host, _default_path(url.path))
        given = {key.strip().lower(): text.strip() for key, _, text in (one.partition("=") for one in attributes)}
        if domain := given.get("domain", "").lstrip(".").lower():
            if host != domain and not host.endswith("." + domain):
                return None
            cookie.domain, cookie.host_only = domain, False
        if given.get("path", "").startswith("/"):
            cookie.path = given["path"]
        cookie.expires = self._end(given)
        cookie.secure = "secure" in given
        cookie.http_only = "httponly" in given
        cookie.same_site = given.get("samesite")
        return cookie

    def _end(self, given: dict[str, str]) -> float | None:
        if (seconds := given.get("max-age", "")).lstrip("-").isdigit():
            return self._now() + int(seconds)
        if "expires" in given:
            return parsedate_to_datetime(given["expires"]).timestamp()
        return None


def _default_path(path: str) -> str:
    """The folder of the request (RFC 6265 section 5.1.4)."""
    return path.rpartition("/")[0] or "/"
