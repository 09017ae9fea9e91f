"""Frames of the control plane: FlatBuffers of messages.py, with the protocol's limits (schemas/PROTOCOL.md, "Message").

Decoding any frame takes bounded time and memory: frames are short; tables, lists and text have budgets; and reading
outside the frame is Malformed.
"""

from __future__ import annotations

import struct
from typing import Any, List, Tuple

from .._type_description import MAX_SCHEMA_BYTES
from . import messages
from .identity import NOBODY, Id
from .messages import BODIES, TABLES, Field

VERSION = 1
MAX_FRAME = 65_536
MAX_TEXT_LENGTH = 255
MAX_ERROR_LENGTH = 1_023
MAX_SCHEMA_PART = 32_768
_MAX_OF = {"text!": 16, "Endpoint": 16, "TopicState": 512, "Publication": 64, "Peer": 64}
_NUMBERS = {"state": 4, "code": 8, "schema_size": MAX_SCHEMA_BYTES, "transport": 5}  # the largest that is allowed
_IDENTIFIER = b"ORC1"
_SIZES = {"id": 16, "id?": 16, "Q": 8, "q": 8, "I": 4, "H": 2, "B": 1}
_ENVELOPE = [Field(*each, 0) for each in (("version", "H", False, 0), ("request", "Q", False, 1), ("", "B", False, 2))]


class Malformed(ValueError):
    """The bytes are no message of this protocol, or break one of its limits."""


class WrongVersion(Malformed):
    """A message of another version of the protocol."""


def encode(envelope: messages.Envelope) -> bytes:
    """Returns one frame. Shortens free text to the limits. Raises Malformed when the message is still too long."""
    out = bytearray(b"\0\0\0\0" + _IDENTIFIER)
    kind, number = type(envelope.body).__name__, BODIES.index(type(envelope.body)) + 1
    body = Field("body", kind, False, 3, None)
    entries = [*zip(_ENVELOPE, (envelope.version, envelope.request, number)), (body, envelope.body)]
    struct.pack_into("<I", out, 0, _put_table(out, entries))
    if len(out) > MAX_FRAME:
        raise Malformed(f"a frame of {len(out)} bytes; {MAX_FRAME} are allowed")
    return bytes(out)


def shorten(text: str, limit: int = MAX_TEXT_LENGTH) -> str:
    """Returns at most `limit` bytes of UTF-8, no NUL."""
    return text.replace("\0", " ").encode("utf-8", "replace")[:limit].decode("utf-8", "ignore")


def _put_table(out: bytearray, entries: List[Tuple[Field, Any]]) -> int:
    """Writes a table, the longest fields first, and behind it what it refers to. Returns where it is."""
    vtable_size = 4 + 2 * (1 + max((field.slot for field, _ in entries), default=-1))
    out += bytes(-(len(out) + vtable_size + 4) % 8)
    vtable, at = len(out), len(out) + vtable_size
    out += bytes(vtable_size) + struct.pack("<i", vtable_size)
    references: List[Tuple[int, Field, Any]] = []
    for field, value in sorted(entries, key=lambda entry: -_SIZES.get(entry[0].kind, 4)):
        struct.pack_into("<H", out, vtable + 4 + 2 * field.slot, len(out) - at)
        if field.kind in _SIZES and not field.is_list:
            out += struct.pack("<QQ", *value) if field.kind[:2] == "id" else struct.pack("<" + field.kind, value)
        else:
            references.append((len(out), field, value))
            out += bytes(4)
    struct.pack_into("<HH", out, vtable, vtable_size, len(out) - at)
    for place, field, value in references:
        struct.pack_into("<I", out, place, _put(out, field, value, field.is_list) - place)
    return at


def _put(out: bytearray, field: Field, value: Any, is_list: bool) -> int:
    """Writes a table, a text, bytes, or a list. Returns where it is."""
    if field.kind in TABLES and not is_list:
        found = [(each, getattr(value, each.name)) for each in TABLES[field.kind]]
        return _put_table(out, [entry for entry in found if entry[0].kind == "text!" or entry[1] != entry[0].default])
    out += bytes(-len(out) % 4)
    at = len(out)
    if is_list:
        out += struct.pack("<I", len(value)) + bytes(4 * len(value))
        for place, each in zip(range(at + 4, len(out), 4), value):
            struct.pack_into("<I", out, place, _put(out, field, each, False) - place)
    else:
        data = value if field.kind == "bytes" else shorten(value, _limit_of(field)).encode()
        out += struct.pack("<I", len(data)) + data + b"\0"
    return at


def _limit_of(field: Field) -> int:
    return MAX_ERROR_LENGTH if field.name == "text" else MAX_TEXT_LENGTH


def decode(frame: bytes) -> messages.Envelope:
    """Returns the message in a frame. Raises Malformed for any other bytes."""
    if not 8 <= len(frame) <= MAX_FRAME or frame[4:8] != _IDENTIFIER:
        raise Malformed("not a frame of ORC's control protocol")
    try:
        return _Decoder(frame).envelope()
    except struct.error as error:
        raise Malformed(f"a table reaches outside the frame: {error}") from None


class _Decoder:
    def __init__(self, frame: bytes) -> None:
        self._frame = frame
        self._tables_left = 8 + len(frame) // 12
        self._text_left = MAX_FRAME

    def envelope(self) -> messages.Envelope:
        root = self._follow(0)
        version, request, number = (self._value("Envelope", field, self._place(root, field)) for field in _ENVELOPE)
        if version != VERSION:
            raise WrongVersion(f"protocol version {version}; this is {VERSION}")
        body = self._place(root, Field("body", "", False, 3, None))
        if not 1 <= number <= len(BODIES) or not body:
            raise Malformed(f"no message of kind {number}")
        return messages.Envelope(request, self._message(BODIES[number - 1].__name__, self._follow(body)), version)

    def _read(self, format: str, at: int) -> Any:
        if at < 0:  # struct would count from the end
            raise Malformed("a table reaches outside the frame")
        return struct.unpack_from(format, self._frame, at)

    def _follow(self, at: int) -> int:
        return at + int(self._read("<I", at)[0])

    def _place(self, table: int, field: Field) -> int:
        """Returns where a field is; 0: it is absent."""
        vtable = table - self._read("<i", table)[0]
        entry = 4 + 2 * field.slot
        offset = self._read("<H", vtable + entry)[0] if entry + 2 <= self._read("<H", vtable)[0] else 0
        return table + offset if offset else 0

    def _message(self, kind: str, table: int) -> Any:
        self._tables_left -= 1
        if self._tables_left < 0:
            raise Malformed("too many tables")
        values = {field.name: self._value(kind, field, self._place(table, field)) for field in TABLES[kind]}
        return getattr(messages, kind)(**values)

    def _value(self, kind: str, field: Field, at: int) -> Any:
        if not field.is_list:
            return self._single(kind, field, at)
        start = self._follow(at) if at else 0
        count = self._read("<I", start)[0] if at else 0
        if count > min(self._tables_left, _MAX_OF.get(field.kind, self._tables_left)):
            raise Malformed(f"{count} of {field.name}")
        return [self._single(kind, field, start + 4 + 4 * index) for index in range(count)]

    def _single(self, kind: str, field: Field, at: int) -> Any:
        if field.kind in TABLES:
            return self._message(field.kind, self._follow(at)) if at else None
        if field.kind[:4] in ("text", "byte"):
            return self._bytes(field, at)
        if len(field.kind) == 1:
            value = self._read("<" + field.kind, at)[0] if at else field.default
            if value > _NUMBERS.get(field.name, value) or (kind == "Endpoint" and value == 0):
                raise Malformed(f"{field.name} {value}")
            return value
        found = Id(*self._read("<QQ", at)) if at else NOBODY
        if found == NOBODY and field.kind == "id":
            raise Malformed("an id is missing or zero")
        return found

    def _bytes(self, field: Field, at: int) -> Any:
        start = self._follow(at) if at else 0
        length = self._read("<I", start)[0] if at else 0
        limit = MAX_SCHEMA_PART if field.kind == "bytes" else _limit_of(field)
        self._text_left -= length
        found = self._frame[start + 4 : start + 4 + length]
        if length > limit or self._text_left < 0 or len(found) < length:
            raise Malformed(f"{field.name} is too long")
        if field.kind == "bytes":
            return found
        if b"\0" in found or (field.kind == "text!" and not found):
            raise Malformed(f"{field.name} is missing or has a NUL")
        return found.decode("utf-8", "replace")
