"""RIHS01, the hash of a type in ROS 2 (REP 2016): SHA-256 over a description in JSON."""

from __future__ import annotations

import functools
import hashlib
import json
from typing import Any, Dict, List, Set

from orc import TypeDescription

from .._shared.local_topics import NotBridged
from . import ros2_schema
from .ros2_schema import Field, Schema, SchemaError, Structure

# type_description_interfaces/msg/FieldType
_IDS = {
    "struct": 1, "int8": 2, "uint8": 3, "int16": 4, "uint16": 5, "int32": 6, "uint32": 7, "int64": 8, "uint64": 9,
    "float32": 10, "float64": 11, "char": 13, "bool": 15, "byte": 16, "string": 17, "wstring": 18,
}  # fmt: skip
_BOUNDED_TEXT = 4  # from "string" to "bounded string"
_ARRAY, _BOUNDED_SEQUENCE, _UNBOUNDED_SEQUENCE = 48, 96, 144


def type_digest(type: TypeDescription) -> str:
    """Returns RIHS01_… of a type whose schema is ros2msg. Raises NotBridged."""
    return _digest(type.name, type.schema_encoding, type.schema)


@functools.lru_cache(maxsize=256)
def _digest(name: str, schema_encoding: str, schema: bytes) -> str:
    if schema_encoding != "ros2msg":
        raise NotBridged(f"rmw_zenoh needs the hash of the type, whose schema must be ros2msg, not {schema_encoding!r}")
    try:
        parsed = ros2_schema.parse(schema, name)
    except SchemaError as error:
        raise NotBridged(f"the schema of {name}: {error}") from None
    described = [_describe(parsed, each) for each in parsed.structures]
    nested = _reachable(parsed)
    whole = {
        "type_description": described[0],
        "referenced_type_descriptions": sorted((described[at] for at in nested), key=lambda each: each["type_name"]),
    }
    return "RIHS01_" + hashlib.sha256(json.dumps(whole).encode()).hexdigest()


def _reachable(schema: Schema) -> Set[int]:
    found: Set[int] = set()
    way = [0]
    while way:
        for field in schema.structures[way.pop()].fields:
            if field.kind == "struct" and field.structure not in found:
                found.add(field.structure)
                way.append(field.structure)
    return found


def _describe(schema: Schema, structure: Structure) -> Dict[str, Any]:
    fields: List[Dict[str, Any]] = [{"name": each.name, "type": _type(schema, each)} for each in structure.fields]
    if not fields:  # as the generators of ROS 2 do for empty messages
        fields = [{"name": "structure_needs_at_least_one_member", "type": _plain(3)}]
    return {"type_name": structure.name, "fields": fields}


def _plain(id: int) -> Dict[str, Any]:
    return {"type_id": id, "capacity": 0, "string_capacity": 0, "nested_type_name": ""}


def _type(schema: Schema, field: Field) -> Dict[str, Any]:
    made = _plain(_IDS["byte" if field.is_byte else field.kind])
    if field.kind == "struct":
        made["nested_type_name"] = schema.structures[field.structure].name
    if field.max_length:
        made["type_id"] += _BOUNDED_TEXT
        made["string_capacity"] = field.max_length
    for dimension in field.dimensions:
        made["capacity"] = dimension.size
        made["type_id"] += (
            _ARRAY if not dimension.variable else _BOUNDED_SEQUENCE if dimension.size else _UNBOUNDED_SEQUENCE
        )
    return made
