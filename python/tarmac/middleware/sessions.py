"""``Sessions``: a little data for each visitor, kept in a cookie that is signed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from datetime import timedelta
from time import time
from typing import TYPE_CHECKING, Any, Literal

from tarmac.middleware.fields import add_vary
from tarmac.middleware.signing import Signer, decoded, encoded

if TYPE_CHECKING:
    from tarmac._native import Request, Response
    from tarmac.http.routing import CallNext

__all__ = ["Session", "Sessions"]

# Browsers keep cookies of 4096 bytes, name and attributes included.
_MOST_BYTES = 4000


class Session(MutableMapping[str, Any]):
    """What is known of one visitor: names and values that JSON can say."""

    def __init__(self, values: dict[str, Any] | None = None) -> None:
        self._values = values or {}
        self.touched = False  # somebody has looked: the answer depends on who asks

    def __getitem__(self, name: str) -> Any:
        self.touched = True
        return self._values[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self.touched = True
        self._values[name] = value

    def __delitem__(self, name: str) -> None:
        self.touched = True
        del self._values[name]

    def __iter__(self) -> Iterator[str]:
        self.touched = True
        return iter(self._values)

    def __len__(self) -> int:
        self.touched = True
        return len(self._values)

    def __repr__(self) -> str:
        return f"Session({self._values!r})"

    def text(self) -> str:
        """The values as JSON. Raises ``TypeError`` for what it cannot say."""
        return json.dumps(self._values, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


class Sessions:
    """``request.state.session``: a mapping that the visitor's browser keeps for us.

    It is signed with HMAC-SHA256 and can be read by the visitor, but not changed: what was tampered with is an
    empty session, and so is what is older than *max_age*. *keys* are secrets of 16 bytes or more; the first
    one signs, the others are still believed, so that keys can be changed. The cookie is written when the
    session has changed, and again after half its time. ``secure=False`` is for development without https.
    """

    def __init__(
        self,
        keys: Sequence[str | bytes] | str | bytes,
        *,
        cookie: str = "session",
        max_age: int | timedelta = timedelta(days=14),
        same_site: Literal["lax", "strict", "none"] = "lax",
        secure: bool = True,
        path: str = "/",
        domain: str | None = None,
        now: Callable[[], float] = time,
    ) -> None:
        self._signer = Signer(keys, f"tarmac.session:{cookie}")
        self._cookie = cookie
        self._max_age = int(max_age.total_seconds()) if isinstance(max_age, timedelta) else max_age
        self._same_site = same_site
        self._secure = secure
        self._path = path
        self._domain = domain
        self._now = now

    async def __call__(self, request: Request, call_next: CallNext) -> Any:
        """Read the session before the handler, and write it after."""
        came = request.cookies.get(self._cookie)
        values, fresh = self._read(came)
        session = request.state.session = Session(values)
        before = session.text()
        response = await call_next(request)
        if session.touched:
            add_vary(response, "Cookie")
        after = session.text()
        if after != before or (values and not fresh):
            self._write(response, after, empty=after == "{}")
        elif came is not None and not values:
            self._forget(response)
        return response

    def _read(self, cookie: str | None) -> tuple[dict[str, Any], bool]:
        """What the cookie holds, and whether it need not be written again."""
        signed = self._signer.text(cookie) if cookie is not None else None
        if signed is None:
            return {}, False
        text, current = signed
        payload, _, made = text.partition(".")
        age = self._now() - int(made)
        data = decoded(payload)
        if data is None or not 0 <= age <= self._max_age:
            return {}, False
        values: dict[str, Any] = json.loads(data)
        return values, current and age < self._max_age / 2

    def _write(self, response: Response, text: str, *, empty: bool) -> None:
        if empty:
            self._forget(response)
            return
        value = self._signer.sign(f"{encoded(text.encode())}.{int(self._now())}")
        if len(value) > _MOST_BYTES:
            message = f"a session of {len(value)} bytes is more than a cookie holds: keep a key to your database in it"
            raise ValueError(message)
        response.set_cookie(
            self._cookie,
            value,
            max_age=self._max_age,
            path=self._path,
            domain=self._domain,
            secure=self._secure,
            http_only=True,
            same_site=self._same_site,
        )

    def _forget(self, response: Response) -> None:
        response.delete_cookie(self._cookie, path=self._path, domain=self._domain, secure=self._secure)
