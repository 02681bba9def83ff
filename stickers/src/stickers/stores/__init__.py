"""Where the site keeps its data: one interface, one file per store."""

from stickers.stores.interface import TABLES, Row, Store, Table

__all__ = ["TABLES", "Row", "Store", "Table"]
