"""OpenAPI 3.1 from routes: ``app.openapi(title="Shop", version="1.0")`` serves the document and a page to read it.

::

    schemas.py      type -> JSON Schema, named ones once
    description.py  what a handler says of itself, by ``@describe``
    operations.py   route -> operation: parameters, body, answers
    document.py     application -> document
    serving.py      the document and the page under their paths
"""

from tarmac.openapi.description import Answer, describe
from tarmac.openapi.document import build_document

__all__ = ["Answer", "build_document", "describe"]
