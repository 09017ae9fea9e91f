"""Encoding protobuf: the classes that protoc makes of tests/types/every.proto."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest

from every_values import TYPES, Encoding, Values, double, number, single
from generated_types import proto_modules


def encoding(directory: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Encoding:
    kind = proto_modules(directory, monkeypatch, TYPES / "every.proto", TYPES / "every_part.proto").Every
    return Encoding(kind, lambda values: _fill(kind(), values), _plain)


def _fill(message: Any, values: Values) -> Any:
    for name, value in values.items():
        field = message.DESCRIPTOR.fields_by_name[name]
        target = getattr(message, name)
        if _is_map(field):
            _fill_map(target, field.message_type.fields_by_name, value)
        elif isinstance(value, list) and field.type == field.TYPE_MESSAGE:
            for each in value:
                _fill(target.add(), each)
        elif isinstance(value, list) and not (field.type == field.TYPE_BYTES and not _is_repeated(field)):
            target.extend(_scalar(field, each) for each in value)
        elif isinstance(value, dict):
            target.SetInParent()
            _fill(target, value)
        else:
            setattr(message, name, _scalar(field, value))
    return message


def _fill_map(target: Any, entry: Any, values: Values) -> None:
    keys = {entry["key"].TYPE_BOOL: lambda key: key == "true", entry["key"].TYPE_STRING: str}
    for key, value in values.items():
        made = keys.get(entry["key"].type, int)(key)
        if isinstance(value, dict):
            _fill(target[made], value)
        else:
            target[made] = _scalar(entry["value"], value)


def _scalar(field: Any, value: Any) -> Any:
    if field.type == field.TYPE_ENUM and isinstance(value, str):
        return field.enum_type.values_by_name[value].number
    if field.type == field.TYPE_BYTES:
        return bytes(value)
    return value if field.type == field.TYPE_STRING else number(value)


def _plain(message: Any) -> Values:
    fields = message.DESCRIPTOR.fields
    return {
        each.name: _field(each, getattr(message, each.name))
        for each in fields
        if not each.has_presence or message.HasField(each.name)
    }


def _field(field: Any, value: Any) -> Any:
    if _is_map(field):
        entry = field.message_type.fields_by_name
        keys = {entry["key"].TYPE_BOOL: lambda key: "true" if key else "false"}
        return {keys.get(entry["key"].type, str)(key): _json(entry["value"], value[key]) for key in value}
    return [_json(field, each) for each in value] if _is_repeated(field) else _json(field, value)


def _json(field: Any, value: Any) -> Any:
    if field.type == field.TYPE_MESSAGE:
        return _plain(value)
    if field.type == field.TYPE_ENUM:
        found = field.enum_type.values_by_number.get(value)
        return int(value) if found is None else found.name
    if field.type == field.TYPE_BYTES:
        return list(value)
    return {field.TYPE_FLOAT: single, field.TYPE_DOUBLE: double}.get(field.type, lambda value: value)(value)


def _is_map(field: Any) -> bool:
    return field.type == field.TYPE_MESSAGE and bool(field.message_type.GetOptions().map_entry)


def _is_repeated(field: Any) -> bool:
    """`label` is gone in newer packages, `is_repeated` is not in older ones."""
    return bool(field.is_repeated if hasattr(field, "is_repeated") else field.label == field.LABEL_REPEATED)
