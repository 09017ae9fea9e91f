"""Schemas of encoding struct: the fields of a C++ structure or a numpy dtype, as JSON."""

from __future__ import annotations

import math
from typing import Dict, List, NoReturn, Optional, Tuple

from . import json_text
from .json_text import Value
from .model import (
    MAX_DIMENSIONS,
    MAX_FIELDS,
    MAX_NAME_BYTES,
    MAX_STRUCT_LEVELS,
    NUMBER_BYTES,
    Dimension,
    Field,
    Schema,
    SchemaError,
    Structure,
)
from .sentences import escaped

_MAX_BYTES = (1 << 32) - 1  # of a structure; also elements of an array
_ARTICLES = {"number": "a", "text": "a", "array": "an", "object": "an"}


def parse(data: bytes) -> Schema:
    """Returns the structure and those inside it. Raises SchemaError: "byte 17: …"."""
    root = json_text.parse(data)
    if root.kind != "object":
        _fail(root, "an object is expected")
    order = _required(root, "byte_order", "text")
    if order.text not in ("little", "big"):
        _fail(order, '`byte_order` is neither "little" nor "big"')
    reader = _Reader()
    reader.structure(root, 1)
    return Schema(reader.structures, order.text == "big")


def _fail(where: Value, why: str) -> NoReturn:
    raise SchemaError(f"byte {where.begin}: {why}")


def _check_kind(found: Value, key: str, kind: str) -> None:
    if found.kind != kind:
        _fail(found, f"`{key}` is not {_ARTICLES[kind]} {kind}")


def _required(described: Value, key: str, kind: str) -> Value:
    found = described.member(key)
    if found is None:
        _fail(described, f"`{key}` is missing")
    _check_kind(found, key, kind)
    return found


def _count(found: Value, least: int, what: str) -> int:
    """Returns a number of bytes, or of elements."""
    number = found.integer
    if number is None or not least <= number <= _MAX_BYTES:
        _fail(found, f"{what} is not an integer from {least} to {_MAX_BYTES}")
    return number


def _name(found: Value) -> str:
    if not 1 <= len(found.text.encode()) <= MAX_NAME_BYTES:
        _fail(found, "a name has 1 to 255 bytes")
    return found.text


def _shape(found: Optional[Value]) -> Tuple[Dimension, ...]:
    if found is None:
        return ()
    _check_kind(found, "shape", "array")
    sizes: List[int] = []
    for each in found.elements:
        sizes.append(_count(each, 1, "a dimension"))
        if math.prod(sizes) > _MAX_BYTES:
            _fail(each, "too many elements")
        if len(sizes) > MAX_DIMENSIONS:
            _fail(each, f"more than {MAX_DIMENSIONS} dimensions")
    return tuple(map(Dimension, sizes))


class _Reader:
    """Reads depth first."""

    def __init__(self) -> None:
        self.structures: List[Structure] = []
        self.counted = 0

    def count_one(self, where: Value) -> None:
        self.counted += 1
        if self.counted > MAX_FIELDS:
            _fail(where, f"more than {MAX_FIELDS} fields and values")

    def structure(self, described: Value, level: int) -> int:
        """Returns the index of the structure that was read."""
        made = Structure()
        index = len(self.structures)
        self.structures.append(made)
        made.size = _count(_required(described, "size", "number"), 0, "`size`")
        names = set()
        for each in _required(described, "fields", "array").elements:
            if each.kind != "object":
                _fail(each, "a field is not an object")
            self.count_one(each)
            field = self.field(each, made.size, level)
            if field.name in names:
                _fail(each, f"the field `{escaped(field.name)}` appears twice")
            names.add(field.name)
            made.fields.append(field)
        return index

    def field(self, described: Value, end: int, level: int) -> Field:
        name = _name(_required(described, "name", "text"))
        type = described.member("type")
        if type is None:
            _fail(described, "`type` is missing")
        kind, structure, size = self.type(type, level)
        offset = _count(_required(described, "offset", "number"), 0, "`offset`")
        dimensions = _shape(described.member("shape"))
        for key in ("unit", "comment"):
            text = described.member(key)
            if text is not None:
                _check_kind(text, key, "text")
        values = self.values(described.member("values"), kind)
        if offset + size * math.prod(each.size for each in dimensions) > end:
            _fail(described, f"the field `{escaped(name)}` ends behind byte {end}, the size of its structure")
        return Field(name, kind, structure, dimensions, offset=offset, values=values)

    def type(self, type: Value, level: int) -> Tuple[str, int, int]:
        """Returns the kind, the index of the structure if it is one, and the bytes of one element."""
        if type.kind == "object":
            if level == MAX_STRUCT_LEVELS:
                _fail(type, f"structures are nested more than {MAX_STRUCT_LEVELS} levels deep")
            index = self.structure(type, level + 1)
            return "struct", index, self.structures[index].size
        if type.kind != "text" or type.text not in NUMBER_BYTES:
            shown = type.text.encode()[:MAX_NAME_BYTES].decode("utf-8", "surrogateescape")
            _fail(type, f"unknown type `{escaped(shown)}`" if type.kind == "text" else "unknown type")
        return type.text, 0, NUMBER_BYTES[type.text]

    def values(self, found: Optional[Value], kind: str) -> Dict[str, int]:
        made: Dict[str, int] = {}
        if found is None:
            return made
        _check_kind(found, "values", "object")
        if "int" not in kind:
            _fail(found, "only integers have `values`")
        for key, value in zip(found.elements[::2], found.elements[1::2]):
            self.count_one(key)
            name, number = _name(key), value.integer
            if number is None:
                _fail(value, "a value is not an integer of 64 bits")
            if name in made:
                _fail(key, f"the value `{escaped(name)}` appears twice")
            made[name] = number
        return made
