"""Encoding struct: the dataclass that has the fields of tests/types/every.h, and its numpy dtype."""

from __future__ import annotations

import dataclasses
import enum
from typing import Annotated, Any, List

import numpy as np
from numpy.typing import NDArray

from every_values import Encoding, Values, double, number, single
from orc._typed import Field, typed


class Mode(enum.IntEnum):
    idle = 0
    moving = 5


class Level(enum.IntEnum):
    low = -300
    high = 300


@dataclasses.dataclass
class Part:
    id: np.int32
    label: Annotated[bytes, 8]
    at: Annotated[NDArray[np.float64], Field(shape=2, unit="m", comment="in the map")]


@dataclasses.dataclass
class Box:
    low: Part
    kind: np.uint8
    corners: Annotated[List[Part], 2]


@dataclasses.dataclass
class Every:
    __orc_name__ = "typed_struct.every"
    yes: bool
    no: bool
    letter: Annotated[bytes, Field(dtype="S1")]
    i8_low: np.int8
    i8_high: np.int8
    u8_high: np.uint8
    i16_low: np.int16
    i16_high: np.int16
    u16_high: np.uint16
    i32_low: np.int32
    i32_high: np.int32
    u32_high: np.uint32
    i64_low: np.int64
    i64_high: int
    u64_high: np.uint64
    f32_tenth: np.float32
    f32_zero: np.float32
    f32_tiny: np.float32
    f32_largest: np.float32
    f64_tenth: np.float64
    f64_zero: float
    f64_tiny: np.float64
    f64_largest: float
    f64_special: Annotated[NDArray[np.float64], 3]
    mode: Annotated[Mode, np.uint8]
    unnamed_mode: Annotated[Mode, np.uint8]
    level: Annotated[Level, np.int16]
    text: Annotated[bytes, 16]
    no_text: Annotated[bytes, 4]
    full_text: Annotated[bytes, 4]
    flags: Annotated[NDArray[np.bool_], 3]
    i8s: Annotated[NDArray[np.int8], 2]
    u8s: Annotated[NDArray[np.uint8], 3]
    i16s: Annotated[NDArray[np.int16], 2]
    u16s: Annotated[NDArray[np.uint16], 2]
    i32s: Annotated[NDArray[np.int32], 2]
    u32s: Annotated[NDArray[np.uint32], 2]
    i64s: Annotated[List[int], 2]
    u64s: Annotated[NDArray[np.uint64], 2]
    f32s: Annotated[NDArray[np.float32], 3]
    f64s: Annotated[List[float], 3]
    levels: Annotated[List[Level], 2, np.int16]
    grid: Annotated[NDArray[np.int16], (2, 3)]
    cube: Annotated[NDArray[np.float32], (2, 1, 2)]
    words: Annotated[List[bytes], (2, 4)]
    one: Part
    pair: Annotated[List[Part], 2]
    part_grid: Annotated[List[List[Part]], (2, 1)]
    box: Box


ENUMERATIONS = {"mode": Mode, "unnamed_mode": Mode, "level": Level, "levels": Level}


def dataclass() -> Encoding:
    return Encoding(Every, lambda values: _made(Every, values), _plain)


def dtype(backend: Any) -> Encoding:
    """The same fields as a structured dtype: values are tuples and records."""
    of = _with_names(typed(Every).dtype)  # type: ignore[union-attr]
    return Encoding(backend.struct("typed_struct.every", of), lambda values: _tuple(_made(Every, values)), _plain)


def _with_names(plain: Any) -> Any:
    """The dtype with the names of the enumerations, which a dtype has as metadata."""
    fields = []
    for name in plain.names:
        of, shape = plain[name].base, plain[name].shape
        if name in ENUMERATIONS:
            of = np.dtype(of, metadata={"values": ENUMERATIONS[name]})
        fields.append((name, of, shape))
    return np.dtype(fields, align=True)


def _made(kind: Any, values: Values) -> Any:
    return kind(**{name: _field(name, value) for name, value in values.items()})


def _field(name: str, value: Any) -> Any:
    """A value of the JSON as the dataclass has it."""
    if isinstance(value, dict):
        return _made(Box if "corners" in value else Part, value)
    if name in ENUMERATIONS and not isinstance(value, list):
        return ENUMERATIONS[name][value] if isinstance(value, str) else value
    if isinstance(value, list):
        return [_field(name, each) for each in value]
    if isinstance(value, str) and name != "f64_special":
        return value.encode()
    return number(value)


def _tuple(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        return tuple(_tuple(getattr(value, each.name)) for each in dataclasses.fields(value))
    return [_tuple(each) for each in value] if isinstance(value, list) else value


def _plain(value: Any, name: str = "") -> Any:
    """What the dataclass or the record has, as JSON."""
    if dataclasses.is_dataclass(value):
        return {each.name: _plain(getattr(value, each.name), each.name) for each in dataclasses.fields(value)}
    if isinstance(value, (np.void, np.ndarray)) and value.dtype.names and value.shape == ():
        return {each: _plain(value[each], each) for each in value.dtype.names}
    if isinstance(value, np.ndarray) and value.shape == ():
        return _plain(value[()], name)
    if isinstance(value, (list, np.ndarray)):
        return [_plain(each, name) for each in value]
    if name in ENUMERATIONS:
        return {int(each): each.name for each in ENUMERATIONS[name]}.get(int(value), int(value))
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (float, np.floating)):
        return single(value) if isinstance(value, np.float32) else double(value)
    return int(value)
