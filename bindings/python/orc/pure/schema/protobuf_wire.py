"""Reads the wire format of Protobuf (protobuf.dev/programming-guides/encoding)."""

from __future__ import annotations

from typing import Iterator, NamedTuple, Tuple

from .model import SchemaError

_VARINT, _FIXED64, _CONTENT, _GROUP_BEGIN, _GROUP_END, _FIXED32 = range(6)


class Record(NamedTuple):
    """One field of a message. Groups come as a field without content."""

    number: int
    value: int = 0  # of an integer
    begin: int = 0  # of the content; without one: where the record ends
    end: int = -1  # -1: it has no content

    @property
    def is_content(self) -> bool:
        """Whether it is a text, bytes or a message."""
        return self.end >= 0

    @property
    def int32(self) -> int:
        """The value as a signed integer of 32 bits."""
        return ((self.value & 0xFFFFFFFF) ^ (1 << 31)) - (1 << 31)


def _varint(data: bytes, at: int, end: int) -> Tuple[int, int]:
    """Returns the number at `at`, and where it ends."""
    value = shift = 0
    while at < end and shift < 64:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & ((1 << 64) - 1), at
        shift += 7
    raise SchemaError(f"byte {at}: not a FileDescriptorSet")


def records(data: bytes, begin: int, end: int) -> Iterator[Record]:
    """Returns the fields of the message between two bytes, in their order. Raises SchemaError where it is none."""
    at = begin
    while at < end:
        tag, at = _varint(data, at, end)
        number, kind = tag >> 3, tag & 7
        if number == 0 or tag >> 32 or kind > _FIXED32:
            raise SchemaError(f"byte {at}: not a FileDescriptorSet")
        value = size = 0
        if kind == _VARINT:
            value, at = _varint(data, at, end)
        elif kind == _CONTENT:
            size, at = _varint(data, at, end)
        elif kind in (_FIXED64, _FIXED32):
            size = 8 if kind == _FIXED64 else 4
        if size > end - at:
            raise SchemaError(f"byte {at}: not a FileDescriptorSet")
        at += size
        yield Record(number, value, at - size, at) if kind == _CONTENT else Record(number, value, at)
