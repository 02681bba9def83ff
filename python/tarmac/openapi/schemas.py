"""From types to JSON Schema (draft 2020-12, the one of OpenAPI 3.1). Models stand once, under their names."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import types
import uuid
from collections.abc import Mapping, Sequence
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from tarmac.http.jsonable import jsonable
from tarmac.http.models import library

__all__ = ["Schemas"]

Schema = dict[str, Any]
_REFERENCE = "#/components/schemas/"
_SIMPLE: dict[Any, Schema] = {
    Any: {},
    object: {},
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    None: {"type": "null"},
    bytes: {"type": "string", "format": "binary"},
    datetime.datetime: {"type": "string", "format": "date-time"},
    datetime.date: {"type": "string", "format": "date"},
    datetime.time: {"type": "string", "format": "time"},
    uuid.UUID: {"type": "string", "format": "uuid"},
    decimal.Decimal: {"type": "string", "format": "decimal"},
}
_TRANSPARENT = {Annotated, Required, NotRequired}


class Schemas:
    """The schemas of one document."""

    def __init__(self) -> None:
        self.components: dict[str, Schema] = {}
        self._names: dict[Any, str] = {}

    def of(self, kind: Any) -> Schema:
        """The schema of *kind*; a model's is a reference to its component."""
        if isinstance(kind, type(Any)) or (_is_hashable(kind) and kind in _SIMPLE):
            return dict(_SIMPLE[kind])
        owner = library(kind)
        if owner == "msgspec":
            return self._of_msgspec(kind)
        if owner == "pydantic":
            return self._of_pydantic(kind)
        return self._of_plain(kind)

    def fields(self, model: Any) -> dict[str, tuple[Schema, bool]]:
        """The schema of each field of a model, and whether it has to be there."""
        schema = self.of(model)
        while "$ref" in schema:
            schema = self.components[schema["$ref"].removeprefix(_REFERENCE)]
        required = schema.get("required", [])
        return {name: (one, name in required) for name, one in schema.get("properties", {}).items()}

    def _of_plain(self, kind: Any) -> Schema:
        origin = get_origin(kind)
        if origin in _TRANSPARENT:
            return self.of(get_args(kind)[0])
        if origin in {Union, types.UnionType}:
            return {"anyOf": [self.of(one) for one in get_args(kind)]}
        if origin is Literal:
            return {"enum": list(get_args(kind))}
        if dataclasses.is_dataclass(kind) or is_typeddict(kind):
            return self._component(kind)
        found = origin or kind
        if isinstance(found, type):
            return self._of_class(found, get_args(kind))
        return {}

    def _of_class(self, kind: type, inner: tuple[Any, ...]) -> Schema:
        if issubclass(kind, enum.Enum):
            return {"enum": [one.value for one in kind], "title": kind.__name__}
        if issubclass(kind, Mapping):
            return {"type": "object", "additionalProperties": self.of(inner[1])} if inner else {"type": "object"}
        if issubclass(kind, tuple) and inner and inner[-1] is not Ellipsis:
            items = [self.of(one) for one in inner]
            return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
        if issubclass(kind, (Sequence, set, frozenset)):
            return {"type": "array", "items": self.of(inner[0])} if inner else {"type": "array"}
        return {}

    def _component(self, kind: Any) -> Schema:
        if kind not in self._names:
            name = self._names[kind] = self._free_name(kind)
            self.components[name] = {}  # a model may contain itself
            self.components[name] = self._object(kind)
        return {"$ref": _REFERENCE + self._names[kind]}

    def _object(self, kind: Any) -> Schema:
        hints = get_type_hints(kind, include_extras=True)
        defaults = _defaults(kind)
        properties = {name: self.of(hint) for name, hint in hints.items() if name in defaults}
        for name, schema in properties.items():
            if defaults[name] not in {_REQUIRED, _UNKNOWN}:
                schema["default"] = _plainly(defaults[name].value)
        schema = {"type": "object", "title": kind.__name__, "properties": properties}
        if required := [name for name in properties if defaults[name] is _REQUIRED]:
            schema["required"] = required
        own = kind.__doc__ or ""
        if own and not own.startswith(f"{kind.__name__}("):  # which dataclass() writes by itself
            schema["description"] = own.strip()
        return schema

    def _of_msgspec(self, kind: Any) -> Schema:
        import msgspec  # noqa: PLC0415 - an optional package

        (schema,), components = msgspec.json.schema_components([kind], ref_template=_REFERENCE + "{name}")
        self.components.update(components)
        return schema

    def _of_pydantic(self, kind: Any) -> Schema:
        import pydantic  # noqa: PLC0415 - an optional package

        schema = pydantic.TypeAdapter(kind).json_schema(ref_template=_REFERENCE + "{model}")
        self.components.update(schema.pop("$defs", {}))
        if schema.get("type") == "object" and isinstance(kind, type):
            name = self._names.setdefault(kind, kind.__name__)
            self.components[name] = schema
            return {"$ref": _REFERENCE + name}
        return schema

    def _free_name(self, kind: Any) -> str:
        name = str(kind.__name__)
        return name if name not in self.components else f"{kind.__module__}.{kind.__qualname__}".replace("<locals>", "")


class _Default:
    def __init__(self, value: Any = None) -> None:
        self.value = value


_REQUIRED = _Default()
_UNKNOWN = _Default()


def _defaults(kind: Any) -> dict[str, _Default]:
    if is_typeddict(kind):
        hints = get_type_hints(kind, include_extras=True)
        needed = {name for name in kind.__required_keys__ if get_origin(hints[name]) is not NotRequired}
        return {name: _REQUIRED if name in needed else _UNKNOWN for name in hints}
    return {field.name: _default_of(field) for field in dataclasses.fields(kind) if field.init}


def _default_of(field: dataclasses.Field[Any]) -> _Default:
    if field.default is not dataclasses.MISSING:
        return _Default(field.default)
    return _REQUIRED if field.default_factory is dataclasses.MISSING else _UNKNOWN


def _plainly(value: Any) -> Any:
    return value if isinstance(value, (str, int, float, list, dict, type(None))) else jsonable(value)


def _is_hashable(kind: Any) -> bool:
    return getattr(kind, "__hash__", None) is not None
