"""Reads FlatBuffers from another program: the `flatbuffers` package has no verifier. Each access checks the bounds."""

from __future__ import annotations

import struct
from typing import Iterator, Optional

from .model import SchemaError

_U8 = struct.Struct("<B")
_U16 = struct.Struct("<H")
_I32 = struct.Struct("<i")
_U32 = struct.Struct("<I")
_I64 = struct.Struct("<q")
_F64 = struct.Struct("<d")


class Buffer:
    """The bytes."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def check(self, at: int, size: int) -> None:
        if at > len(self.data) - size:
            raise SchemaError(f"byte {at}: not a binary schema")

    def number(self, form: struct.Struct, at: int) -> int:
        self.check(at, form.size)
        return int(form.unpack_from(self.data, at)[0])

    def target(self, at: int) -> int:
        """Returns where the offset at `at` points to."""
        return at + self.number(_U32, at)

    def text(self, at: int) -> bytes:
        count = self.number(_U32, at)
        if count > len(self.data) - at - 4:
            raise SchemaError(f"byte {at}: not a binary schema")
        return self.data[at + 4 : at + 4 + count]

    def root(self) -> Table:
        return Table(self, self.target(0))


class Table:
    """A table. A field is named by its id."""

    __slots__ = ("buffer", "at")

    def __init__(self, buffer: Buffer, at: int) -> None:
        self.buffer = buffer
        self.at = at

    def _place(self, field: int) -> int:
        """Returns where the field is. 0: it is absent."""
        vtable = self.at - self.buffer.number(_I32, self.at)
        if vtable < 0:
            raise SchemaError(f"byte {self.at}: not a binary schema")
        if 6 + 2 * field > self.buffer.number(_U16, vtable):
            return 0
        offset = self.buffer.number(_U16, vtable + 4 + 2 * field)
        return self.at + offset if offset else 0

    def _number(self, field: int, form: struct.Struct, default: int) -> int:
        place = self._place(field)
        return self.buffer.number(form, place) if place else default

    def flag(self, field: int) -> bool:
        return self._number(field, _U8, 0) != 0

    def u8(self, field: int) -> int:
        return self._number(field, _U8, 0)

    def u16(self, field: int) -> int:
        return self._number(field, _U16, 0)

    def i32(self, field: int, default: int = 0) -> int:
        return self._number(field, _I32, default)

    def i64(self, field: int) -> int:
        return self._number(field, _I64, 0)

    def f64(self, field: int) -> float:
        place = self._place(field)
        if not place:
            return 0.0
        self.buffer.check(place, 8)
        return float(_F64.unpack_from(self.buffer.data, place)[0])

    def text(self, field: int) -> bytes:
        place = self._place(field)
        return self.buffer.text(self.buffer.target(place)) if place else b""

    def table(self, field: int) -> Optional[Table]:
        place = self._place(field)
        return Table(self.buffer, self.buffer.target(place)) if place else None

    def vector(self, field: int) -> Vector:
        """Returns a vector of tables or texts. It is empty where it is absent."""
        place = self._place(field)
        return Vector(self.buffer, self.buffer.target(place) if place else None)


class Vector:
    """A vector of offsets."""

    def __init__(self, buffer: Buffer, at: Optional[int]) -> None:
        self.buffer = buffer
        self.first = 0 if at is None else at + 4
        self.size = 0 if at is None else buffer.number(_U32, at)
        if self.size:
            buffer.check(self.first + 4 * (self.size - 1), 4)  # the last one is inside

    def _targets(self) -> Iterator[int]:
        return (self.buffer.target(self.first + 4 * each) for each in range(self.size))

    def tables(self) -> Iterator[Table]:
        return (Table(self.buffer, at) for at in self._targets())

    def texts(self) -> Iterator[bytes]:
        return (self.buffer.text(at) for at in self._targets())
