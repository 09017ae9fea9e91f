"""What a link carries: messages in pieces, several in a batch (schemas/LCM-TUNNEL.md, "Frames")."""

from __future__ import annotations

import struct
from typing import Iterator, NamedTuple

CHANNEL, TOPIC, ASK_TYPE, TYPE = 1, 2, 3, 4
"""Kinds of messages. Unknown ones are ignored."""
MAX_BATCH = 38400
MAX_PIECE = 8192
_LENGTH = struct.Struct("<H")
_HEAD = struct.Struct("<BBII")
OVERHEAD = _LENGTH.size + _HEAD.size + 255
"""Of a piece, at most."""


class Malformed(ValueError):
    """A peer sent what no peer may send."""


class Frame(NamedTuple):
    """A piece of a message."""

    kind: int
    name: bytes
    size: int
    """Of the whole message."""
    offset: int
    """Of this piece."""
    data: memoryview


def encode(kind: int, name: bytes, size: int, offset: int, data: memoryview) -> bytes:
    """Returns a frame, with its length."""
    length = _HEAD.size + len(name) + len(data)
    return b"".join((_LENGTH.pack(length), _HEAD.pack(kind, len(name), size, offset), name, data))


def decode(batch: bytes) -> Iterator[Frame]:
    """Yields the frames of a batch. Raises Malformed."""
    view, at = memoryview(batch), 0
    while at < len(view):
        if len(view) - at < _LENGTH.size + _HEAD.size:
            raise Malformed("a truncated frame")
        (length,) = _LENGTH.unpack_from(view, at)
        start = at + _LENGTH.size
        at = start + length
        if length < _HEAD.size or at > len(view):
            raise Malformed("a frame of a wrong length")
        kind, name_size, size, offset = _HEAD.unpack_from(view, start)
        data_at = start + _HEAD.size + name_size
        if not name_size or data_at > at:
            raise Malformed("a frame without a name")
        data = view[data_at:at]
        if offset + len(data) > size or (size and not data):
            raise Malformed("a piece outside of its message")
        yield Frame(kind, bytes(view[start + _HEAD.size : data_at]), size, offset, data)
