"""Tables of classes that flatc made. The package flatbuffers is the program's: nothing of it is imported here."""

from __future__ import annotations

import os
import struct
from typing import Any, Type

from .._errors import BadArgument, BadSample
from .._type_description import TypeDescription
from .codec import T, Typed

_ROOT_TABLE = 4 + 2 * 4  # place in the vtable: reflection.fbs, Schema.root_table
_NAME = 4  # reflection.fbs, Object.name


class FlatBuffer(Typed[T]):
    def __init__(self, table: Type[T], schema: Any) -> None:
        if isinstance(schema, (str, os.PathLike)):
            with open(schema, "rb") as file:
                schema = file.read()
        data = bytes(schema)
        name = _root_name(data)
        if name.rpartition(".")[2] != table.__name__:
            raise BadArgument(f"the root type of the schema is {name}, not {table.__name__}: add root_type, or pass it")
        self._table: Any = table
        self.values = table
        super().__init__(TypeDescription(name, "flatbuffer", "flatbuffer", data))

    def encode(self, value: Any) -> Any:
        """Accepts a finished Builder, and bytes."""
        output = getattr(value, "Output", None)
        if output is None:
            return super().encode(value)
        try:
            return output()
        except Exception as error:  # BuilderNotFinishedError, which only the program's package has
            raise BadSample(f"the builder has no {self.name}: {type(error).__name__}: call Finish first") from None

    def decode(self, message: Any) -> T:
        """The table reads the message's bytes when a field is asked for. The Python package verifies nothing: a field
        of a malformed sample raises, or is wrong."""
        data = memoryview(message)
        root = struct.unpack_from("<I", data)[0] if data.nbytes >= 8 else data.nbytes
        if root + 4 > data.nbytes or root < 4:
            raise BadSample(f"a sample of {data.nbytes} bytes is no {self.name}: its root lies outside")
        found: T = self._table.GetRootAs(data, 0)
        return found


def _root_name(data: bytes) -> str:
    """Returns the full name of the root type of a binary schema. Raises BadArgument."""
    if data[4:8] != b"BFBS":
        raise BadArgument("the schema is no binary schema of FlatBuffers: make one with flatc --binary --schema")
    try:
        root = _field(data, _offset(data, 0), _ROOT_TABLE)
        name = _field(data, root, _NAME)
        length = struct.unpack_from("<I", data, name)[0]
        found = data[name + 4 : name + 4 + length].decode()
    except (struct.error, UnicodeDecodeError):
        raise BadArgument("the binary schema is damaged, or has no root_type") from None
    return found


def _offset(data: bytes, at: int) -> int:
    return int(at + struct.unpack_from("<I", data, at)[0])


def _field(data: bytes, table: int, slot: int) -> int:
    vtable = table - struct.unpack_from("<i", data, table)[0]
    at = 0
    if vtable >= 0 and struct.unpack_from("<H", data, vtable)[0] > slot:
        at = struct.unpack_from("<H", data, vtable + slot)[0]
    if at == 0:
        raise struct.error("the field is absent")
    return _offset(data, table + at)
