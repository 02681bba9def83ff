"""Middleware ready to use: ``app.add_middleware(tarmac.middleware.CORS(origins=[...]))``.

Each stands in a file of its own, which is loaded when its name is first used.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING

if _TYPE_CHECKING:
    from tarmac.middleware.compression import Compression
    from tarmac.middleware.cors import CORS
    from tarmac.middleware.csrf import CSRF
    from tarmac.middleware.decompression import Decompression
    from tarmac.middleware.proxy_headers import ProxyHeaders
    from tarmac.middleware.rate_limit import RateLimit
    from tarmac.middleware.request_ids import RequestId, request_id
    from tarmac.middleware.security_headers import SecurityHeaders
    from tarmac.middleware.sessions import Session, Sessions
    from tarmac.middleware.timeout import Timeout
    from tarmac.middleware.timing import Timing, Timings
    from tarmac.middleware.trusted_hosts import TrustedHosts

__all__ = [
    "CORS",
    "CSRF",
    "Compression",
    "Decompression",
    "ProxyHeaders",
    "RateLimit",
    "RequestId",
    "SecurityHeaders",
    "Session",
    "Sessions",
    "Timeout",
    "Timing",
    "Timings",
    "TrustedHosts",
    "request_id",
]

_HOMES = {
    "CORS": "cors",
    "CSRF": "csrf",
    "Compression": "compression",
    "Decompression": "decompression",
    "ProxyHeaders": "proxy_headers",
    "RateLimit": "rate_limit",
    "RequestId": "request_ids",
    "SecurityHeaders": "security_headers",
    "Session": "sessions",
    "Sessions": "sessions",
    "Timeout": "timeout",
    "Timing": "timing",
    "Timings": "timing",
    "TrustedHosts": "trusted_hosts",
    "request_id": "request_ids",
}


def _load(name: str) -> object:
    if name in _HOMES:
        value: object = getattr(_import_module(f"tarmac.middleware.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    message = f"module 'tarmac.middleware' has no attribute {name!r}"
    raise AttributeError(message, name=name)


if not _TYPE_CHECKING:  # a checker must see the names above, not a door through which every name passes
    __getattr__ = _load


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
