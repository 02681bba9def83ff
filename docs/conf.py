"""Sphinx: MyST pages, the API from the sources, nothing fetched from the network."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

project = "Tarmac"
author = "The Tarmac authors"
release = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]

extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["_build"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
# Pages link to sources and tests beside the documentation: those links are for readers of the repository.
suppress_warnings = ["myst.xref_missing"]

autodoc_member_order = "bysource"
autodoc_typehints = "description"

html_theme = "alabaster"
html_title = "Tarmac"
html_theme_options = {"description": "HTTP and Tarantool for Python on one native reactor", "fixed_sidebar": True}
