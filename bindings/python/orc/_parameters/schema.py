"""The type of a parameter's topic: JSON Schema of its samples, which describes the parameter."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Dict, Optional

from .._directory_types import ParticipantState
from .._errors import BadArgument
from .._type_description import TypeDescription
from .description import ParameterDescription
from .values import MAX_LENGTH, Value, converted, parse, value_of

TYPE_NAME = "orc.Parameter"
MAX_SCHEMA_BYTES = 256 << 10
_MARKER = "x-orc-parameter"
_TYPES: Dict[str, Value] = {"boolean": False, "integer": 0, "number": 0.0, "string": "", "array": []}
_NAMES = {type(value): name for name, value in _TYPES.items()}


def json_type(name: str, properties: Any, required: Any, **more: Any) -> TypeDescription:
    """Returns the type of JSON objects, with the bytes that C++ writes. Raises UnicodeEncodeError."""
    schema = {
        "title": name,
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
        **more,
    }
    text = json.dumps(schema, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return TypeDescription(name, "jsonschema", "json", text.encode())


def type_of(parameter: ParameterDescription) -> TypeDescription:
    """Returns the type of its topic. Raises BadArgument: it would be too large."""
    value: Dict[str, Any] = {"type": _NAMES[type(parameter.initial)], "default": parameter.initial}
    limits = {"minimum": parameter.min, "maximum": parameter.max}
    numbers = {name: limit for name, limit in limits.items() if limit is not None}
    if isinstance(parameter.initial, list):
        value["items"] = {"type": "number", **numbers}
        value["minItems"], value["maxItems"] = parameter.min_length, parameter.max_length
    else:
        value.update(numbers)
    if isinstance(parameter.initial, str):
        value["maxLength"] = parameter.max_length
    if parameter.choices:
        value["enum"] = parameter.choices
    if parameter.description:
        value["description"] = parameter.description
    if parameter.read_only:
        value["readOnly"] = True
    mark = {"unit": parameter.unit} if parameter.unit else {}
    made = json_type(TYPE_NAME, {"value": value}, ["value"], **{_MARKER: mark})
    if len(made.schema) > MAX_SCHEMA_BYTES:
        raise BadArgument(
            f"the description of {parameter.name} has {len(made.schema)} bytes; {MAX_SCHEMA_BYTES} are allowed: "
            "fewer choices"
        )
    return made


def read_type(name: str, owner: ParticipantState, type: TypeDescription) -> Optional[ParameterDescription]:
    """Returns what another program's type says. None: it describes no parameter."""
    if type.name != TYPE_NAME or len(type.schema) > MAX_SCHEMA_BYTES:
        return None
    try:
        schema = parse(type.schema)
        found = _read_value(name, owner, schema["properties"]["value"])
        return replace(found, unit=_member(schema[_MARKER], "unit", ""))
    except (ValueError, LookupError, TypeError):
        return None


def _read_value(name: str, owner: ParticipantState, schema: Any) -> ParameterDescription:
    """Raises ValueError, LookupError, TypeError."""
    initial = _typed_value(schema["default"], _TYPES[schema["type"]])
    is_list = isinstance(initial, list)
    numbers = schema.get("items", {}) if is_list else schema
    least, most = 0, 0
    if is_list or isinstance(initial, str):
        least = _member(schema, "minItems", 0) if is_list else 0
        most = min(_member(schema, "maxItems" if is_list else "maxLength", MAX_LENGTH), MAX_LENGTH)
    return ParameterDescription(
        name,
        owner,
        initial,
        _limit(numbers, "minimum", initial),
        _limit(numbers, "maximum", initial),
        least,
        most,
        [_typed_value(each, initial) for each in _member(schema, "enum", [])],
        _member(schema, "description", ""),
        "",
        _member(schema, "readOnly", False),
    )


def _limit(numbers: Any, keyword: str, initial: Value) -> Optional[Value]:
    if not isinstance(numbers, dict):
        raise TypeError("no schema")
    if keyword not in numbers:
        return None
    return _typed_value(numbers[keyword], 0.0 if isinstance(initial, list) else initial)


def _typed_value(read: Any, like: Value) -> Value:
    value = value_of(read)
    if value is not None:
        value = converted(value, like)
    if value is None or type(value) is not type(like):
        raise ValueError("a value of another type")
    return value


def _member(schema: Any, keyword: str, default: Any) -> Any:
    found = schema.get(keyword, default) if isinstance(schema, dict) else None
    if type(found) is not type(default):
        raise TypeError("a member of another type")
    return found
