"""The race lab: which stack is faster on this machine, by how much, and how sure is that."""

__version__ = "0.1.0"

__all__ = ["__version__"]
