"""Frames of the control plane: FlatBuffers of messages.py, with the protocol's limits (schemas/PROTOCOL.md, "Message").

The `flatbuffers` package has no verifier. Decoding any frame takes bounded time and memory: frames are short; tables,
lists and text have budgets; and reading outside the frame is Malformed.
"""

from __future__ import annotations

import struct
from typing import Any, Dict, List, Optional

import flatbuffers  # type: ignore[import-untyped]

from .._type_description import MAX_SCHEMA_BYTES
from . import _protocol_generated, messages
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


class Malformed(ValueError):
    """The bytes are no message of this protocol, or break one of its limits."""


class WrongVersion(Malformed):
    """A message of another version of the protocol."""


def _generated(name: str) -> Any:
    return getattr(_protocol_generated, name)


def _pascal(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


def encode(envelope: messages.Envelope) -> bytes:
    """Returns one frame. Shortens free text to the limits. Raises Malformed when the message is still too long."""
    builder = flatbuffers.Builder(512)
    body = _build(builder, envelope.body)
    _generated("EnvelopeStart")(builder)
    _generated("EnvelopeAddVersion")(builder, envelope.version)
    _generated("EnvelopeAddRequest")(builder, envelope.request)
    _generated("EnvelopeAddBodyType")(builder, BODIES.index(type(envelope.body)) + 1)
    _generated("EnvelopeAddBody")(builder, body)
    builder.Finish(_generated("EnvelopeEnd")(builder), _IDENTIFIER)
    frame = bytes(builder.Output())
    if len(frame) > MAX_FRAME:
        raise Malformed(f"a frame of {len(frame)} bytes; {MAX_FRAME} are allowed")
    return frame


def shorten(text: str, limit: int = MAX_TEXT_LENGTH) -> str:
    """Returns at most `limit` bytes of UTF-8, no NUL."""
    return text.replace("\0", " ").encode("utf-8", "replace")[:limit].decode("utf-8", "ignore")


def _build(builder: Any, message: Any) -> int:
    """Writes a table, its parts first. Returns its offset."""
    table = type(message).__name__
    parts: Dict[str, int] = {}
    for field in TABLES[table]:
        value = getattr(message, field.name)
        if field.is_list and value:
            offsets = [_part(builder, field, each) for each in value]
            builder.StartVector(4, len(offsets), 4)
            for offset in reversed(offsets):
                builder.PrependUOffsetTRelative(offset)
            parts[field.name] = int(builder.EndVector())
        elif not field.is_list and field.kind not in ("id", "id?", "number") and (value or field.kind == "text!"):
            parts[field.name] = _part(builder, field, value)
    _generated(table + "Start")(builder)
    for field in TABLES[table]:
        value = getattr(message, field.name)
        add = _generated(f"{table}Add{_pascal(field.name)}")
        if field.kind == "number":
            add(builder, value)
        elif field.kind == "id" or (field.kind == "id?" and value != NOBODY):
            add(builder, _generated("CreateId")(builder, *value))
        elif field.name in parts:
            add(builder, parts[field.name])
    return int(_generated(table + "End")(builder))


def _part(builder: Any, field: Field, value: Any) -> int:
    if field.kind.startswith("text"):
        return int(builder.CreateString(shorten(value, _limit_of(field))))
    return int(builder.CreateByteVector(value)) if field.kind == "bytes" else _build(builder, value)


def _limit_of(field: Field) -> int:
    return MAX_ERROR_LENGTH if field.name == "text" else MAX_TEXT_LENGTH


def decode(frame: bytes) -> messages.Envelope:
    """Returns the message in a frame. Raises Malformed for any other bytes."""
    if not 8 <= len(frame) <= MAX_FRAME or frame[4:8] != _IDENTIFIER:
        raise Malformed("not a frame of ORC's control protocol")
    try:
        return _Decoder(frame).envelope()
    except Malformed:
        raise
    except (struct.error, IndexError, ValueError, TypeError, OverflowError, MemoryError, AssertionError) as error:
        raise Malformed(f"a table reaches outside the frame: {error}") from None


class _Decoder:
    def __init__(self, frame: bytes) -> None:
        self._frame = frame
        self._tables_left = 8 + len(frame) // 12
        self._text_left = MAX_FRAME

    def envelope(self) -> messages.Envelope:
        root = _generated("Envelope").GetRootAs(self._frame, 0)
        if root.Version() != VERSION:
            raise WrongVersion(f"protocol version {root.Version()}; this is {VERSION}")
        number, body = root.BodyType(), root.Body()
        if not 1 <= number <= len(BODIES) or body is None:
            raise Malformed(f"no message of kind {number}")
        kind = BODIES[number - 1].__name__
        table = _generated(kind)()
        table.Init(body.Bytes, body.Pos)
        return messages.Envelope(root.Request(), self._message(kind, table), VERSION)

    def _message(self, kind: str, table: Any) -> Any:
        self._tables_left -= 1
        if self._tables_left < 0:
            raise Malformed("too many tables")
        values = {field.name: self._value(kind, field, table) for field in TABLES[kind]}
        return getattr(messages, kind)(**values)

    def _value(self, kind: str, field: Field, table: Any) -> Any:
        read = getattr(table, _pascal(field.name))
        if field.kind == "bytes":
            return self._bytes(kind, field, table)
        if field.is_list:
            count = getattr(table, _pascal(field.name) + "Length")()
            if count > min(self._tables_left, _MAX_OF.get(field.kind, self._tables_left)):
                raise Malformed(f"{count} of {field.name}")
            return [self._single(kind, field, read(index)) for index in range(count)]
        return self._single(kind, field, read())

    def _single(self, kind: str, field: Field, value: Any) -> Any:
        if field.kind in ("id", "id?"):
            found = NOBODY if value is None else Id(value.Hi(), value.Lo())
            if found == NOBODY and field.kind == "id":
                raise Malformed("an id is missing or zero")
            return found
        if field.kind in ("text", "text!"):
            return self._text(value, field)
        if field.kind != "number":
            return None if value is None else self._message(field.kind, value)
        if value > _NUMBERS.get(field.name, value) or (kind == "Endpoint" and value == 0):
            raise Malformed(f"{field.name} {value}")
        return value

    def _text(self, value: Optional[bytes], field: Field) -> str:
        text = value or b""
        self._text_left -= len(text)
        too_long = len(text) > _limit_of(field) or self._text_left < 0
        if (field.kind == "text!" and not text) or too_long or b"\0" in text:
            raise Malformed("a text is missing, too long or has a NUL")
        return text.decode("utf-8", "replace")

    def _bytes(self, kind: str, field: Field, table: Any) -> bytes:
        length = getattr(table, _pascal(field.name) + "Length")()
        self._text_left -= length
        if length > MAX_SCHEMA_PART or self._text_left < 0:
            raise Malformed(f"a part of a schema of {length} bytes")
        if length == 0:
            return b""
        slots: List[str] = [each.name for each in TABLES[kind]]
        start = table._tab.Vector(table._tab.Offset(4 + 2 * slots.index(field.name)))
        found = bytes(self._frame[start : start + length])
        if len(found) < length:
            raise Malformed("a vector reaches outside the frame")
        return found
