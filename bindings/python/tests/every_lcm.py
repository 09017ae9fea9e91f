"""Encoding lcm: the classes that lcm-gen makes of tests/types/every.lcm."""

from __future__ import annotations

import pathlib
import sys
from typing import Any, List

import pytest

from every_values import TYPES, Encoding, Values, double, number, single
from generated_types import lcm_module


def encoding(directory: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Encoding:
    lcm_module(directory, monkeypatch, (TYPES / "every.lcm").read_text())
    from typed_lcm import every  # type: ignore[import-not-found]

    if not hasattr(every.every_t, "__typenames__"):
        pytest.skip(
            "this lcm-gen is older than 1.5: its classes do not have their definitions, and echo shows no fields"
        )
    return Encoding(every.every_t, lambda values: _made(every.every_t, values), _plain)


def _class_of(name: str) -> Any:
    package, _, plain = name.rpartition(".")
    return getattr(sys.modules[package], plain, None)


def _made(kind: Any, values: Values) -> Any:
    made = kind()
    for name, type, dimensions in zip(kind.__slots__, kind.__typenames__, kind.__dimensions__):
        setattr(made, name, _field(type, dimensions or [], values[name]))
    return made


def _field(type: str, dimensions: List[Any], value: Any) -> Any:
    if dimensions:
        if type == "byte" and len(dimensions) == 1:
            return bytes(value)
        return [_field(type, dimensions[1:], each) for each in value]
    return _made(_class_of(type), value) if isinstance(value, dict) else value if type == "string" else number(value)


def _plain(value: Any) -> Values:
    types = zip(value.__slots__, value.__typenames__, value.__dimensions__)
    return {name: _json(type, dimensions or [], getattr(value, name)) for name, type, dimensions in types}


def _json(type: str, dimensions: List[Any], value: Any) -> Any:
    if dimensions:
        return [_json(type, dimensions[1:], each) for each in value]
    if hasattr(value, "__slots__"):
        return _plain(value)
    return {"float": single, "double": double}.get(type, lambda value: value)(value)
