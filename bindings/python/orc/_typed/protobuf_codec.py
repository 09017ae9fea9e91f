"""Messages of classes that protoc made. The package protobuf is the program's: nothing of it is imported here."""

from __future__ import annotations

from typing import Any, Dict

from .._errors import BadSample
from .._type_description import TypeDescription
from .codec import T, Typed


class Protobuf(Typed[T]):
    def __init__(self, kind: Any) -> None:
        self._kind = self.values = kind
        of = kind.DESCRIPTOR
        super().__init__(TypeDescription(of.full_name, "protobuf", "protobuf", _file_descriptor_set(of.file)))

    def encode(self, value: Any) -> Any:
        if not isinstance(value, self._kind):
            return super().encode(value)
        try:
            return value.SerializeToString()
        except Exception as error:  # EncodeError: a required field is missing
            raise BadSample(f"the message is no {self.name}: {error}") from None

    def decode(self, message: Any) -> T:
        try:
            found: T = self._kind.FromString(bytes(message))
        except Exception as error:  # DecodeError, which only the program's package has
            raise BadSample(f"a sample of {len(message)} bytes is no {self.name}: {error}") from None
        return found


def _file_descriptor_set(file: Any) -> bytes:
    """Returns google.protobuf.FileDescriptorSet: each file after those that it imports."""
    found: Dict[str, bytes] = {}

    def add(one: Any) -> None:
        if one.name in found:
            return
        found[one.name] = b""
        for each in one.dependencies:
            add(each)
        del found[one.name]  # again, as the last one
        found[one.name] = one.serialized_pb

    add(file)
    return b"".join(b"\x0a" + _varint(len(each)) + each for each in found.values())


def _varint(value: int) -> bytes:
    made = bytearray()
    while value > 0x7F:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    made.append(value)
    return bytes(made)
