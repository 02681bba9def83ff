"""The sticker voting site: pages written once, served by many engines from many stores."""

__all__ = ["__version__"]

__version__ = "0.1.0"
