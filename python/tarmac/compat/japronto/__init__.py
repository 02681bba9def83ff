"""Japronto's programs, with only the import changed.

::

    from tarmac.compat.japronto import Application   # was: from japronto import Application

Japronto's last release is 0.1.2 of 2018. What its tutorial shows works here, on the parser, the limits and
the workers of tarmac; docs/how-to/migrate-from-japronto.md lists what differs on purpose.
"""

from tarmac.compat.japronto.app import Application
from tarmac.compat.japronto.router import RouteNotFoundException

__all__ = ["Application", "RouteNotFoundException"]
