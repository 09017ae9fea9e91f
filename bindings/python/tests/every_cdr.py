"""Encoding cdr: tests/types/every.msg with the package rosbags."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from every_values import TYPES, Encoding, Values, double, number, single

NAME = "typed_ros/msg/Every"


def encoding(backend: Any) -> Encoding:
    typesys = pytest.importorskip("rosbags.typesys")
    text = (TYPES / "every.msg").read_text()
    store = typesys.get_typestore(typesys.Stores.EMPTY)
    root, *others = text.split("=" * 80 + "\n")
    types = typesys.get_types_from_msg(root, NAME)
    for each in others:
        name, _, fields = each.partition("\n")
        types.update(typesys.get_types_from_msg(fields, name.replace("MSG: ", "").replace("/", "/msg/")))
    store.register(types)
    return Encoding(
        backend.TypeDescription(NAME, "ros2msg", "cdr", text.encode()),
        lambda values: store.serialize_cdr(_made(store, NAME, values), NAME).tobytes(),
        lambda sample: _plain(store, NAME, store.deserialize_cdr(sample, NAME)),
    )


# The package describes a field as (kind, of what): a primitive, a message, an array, a sequence.
_PRIMITIVE, _MESSAGE = 1, 2
_DTYPES = {"bool": "bool", "byte": "uint8", "char": "uint8"}
_PADDING = "structure_needs_at_least_one_member"  # of a message without fields, as in C of ROS 2


def _made(store: Any, name: str, values: Values) -> Any:
    fields = store.fielddefs[name][1]
    return store.types[name](
        **{each: 0 if each == _PADDING else _field(store, of, values[each]) for each, of in fields}
    )


def _field(store: Any, of: Any, value: Any) -> Any:
    kind, what = of
    if kind == _PRIMITIVE:
        # The package takes a single `byte` for an int8, and those of arrays for uint8. The bits are the same.
        signed = what[0] == "byte" and value > 127
        return value if what[0] == "string" else number(value - 256 if signed else value)
    if kind == _MESSAGE:
        return _made(store, what, value)
    element = what[0]
    if element[0] == _PRIMITIVE and element[1][0] != "string":
        name = element[1][0]
        return np.array([number(each) for each in value], _DTYPES.get(name, name))
    return [_field(store, element, each) for each in value]


def _plain(store: Any, name: str, value: Any) -> Values:
    fields = store.fielddefs[name][1]
    return {each: _json(store, of, getattr(value, each)) for each, of in fields if each != _PADDING}


def _json(store: Any, of: Any, value: Any) -> Any:
    kind, what = of
    if kind == _MESSAGE:
        return _plain(store, what, value)
    if kind != _PRIMITIVE:
        return [_json(store, what[0], each) for each in value]
    if isinstance(value, np.generic):
        value = value.item() if what[0] != "float32" else value
    if what[0] == "byte":
        return value & 0xFF  # see _field
    return {"float32": single, "float64": double}.get(what[0], lambda value: value)(value)
