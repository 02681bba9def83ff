"""Header fields that are lists: what a client accepts, what an answer varies by, origins."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tarmac._native import Response

__all__ = ["add_vary", "elements", "origin_of", "qualities"]

_DEFAULT_PORTS = {"http": ":80", "https": ":443"}


def elements(value: str | None) -> list[str]:
    """The elements of a comma list, in lower case, without empty ones."""
    return [element for part in (value or "").split(",") if (element := part.strip().lower())]


def add_vary(response: Response, *names: str) -> None:
    """Say that the answer depends on these headers of the request too."""
    known = elements(", ".join(response.headers.get_all("vary")))
    new = [name for name in names if name.lower() not in known]
    if new and "*" not in known:
        response.headers["Vary"] = ", ".join([*response.headers.get_all("vary"), *new])


def qualities(value: str) -> dict[str, float]:
    """What a client accepts, and how gladly (RFC 9110 section 12.4.2); what is malformed counts as refused."""
    found = {}
    for element in elements(value):
        name, *parameters = (part.strip() for part in element.split(";"))
        weight = 1.0
        for parameter in parameters:
            key, _, number = parameter.partition("=")
            if key.strip() == "q":
                weight = _weight(number.strip())
        found[name] = weight
    return found


def origin_of(scheme: str, host: str) -> str:
    """The origin that a browser would name for this scheme and ``Host``."""
    return f"{scheme}://{host.lower().removesuffix(_DEFAULT_PORTS.get(scheme, ''))}"


def _weight(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        return 0.0
    return number if 0 <= number <= 1 else 0.0
