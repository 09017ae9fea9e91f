"""Control-plane frames: FlatBuffers of messages.py, with the protocol's limits (schemas/PROTOCOL.md, "Message").

The `flatbuffers` package has no verifier. Decoding any frame takes bounded time and memory: frames are short; tables,
vectors and text have budgets; and reading outside the frame is Malformed.
"""

from __future__ import annotations

import struct
import typing
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import flatbuffers  # type: ignore[import-untyped]

from .._type_description import MAX_SCHEMA_BYTES
from . import _protocol_generated, messages
from .identity import NOBODY, Id

VERSION = 1
MAX_FRAME = 65_536
MAX_TEXT_LENGTH = 255
MAX_ERROR_LENGTH = 1_023
MAX_SCHEMA_PART = 32_768
MAX_ENDPOINTS = 16
MAX_TOPICS = 512
MAX_PATTERNS = 16
MAX_PUBLISHERS = 64
MAX_PEERS = 64
_IDENTIFIER = b"ORC1"


class Malformed(ValueError):
    """The bytes are no message of this protocol, or break one of its limits."""


class WrongVersion(Malformed):
    """A message of another version of the protocol."""


class _Field(NamedTuple):
    name: str  # as in messages.py
    pascal: str  # as in the generated code
    kind: str  # id, text, texts, bytes, number, table, tables
    table: str  # for the kinds table and tables
    slot: int = 0  # of the kind bytes, in the vtable; no field before it is deprecated


def _fields(message: Any) -> List[_Field]:
    """Returns the fields of a dataclass of messages.py: one description for both directions."""
    described = []
    for index, (name, hint) in enumerate(typing.get_type_hints(message, vars(messages)).items()):
        pascal = "".join(part.capitalize() for part in name.split("_"))
        arguments = typing.get_args(hint)
        inner = next((a for a in arguments if a is not type(None)), None)
        if hint is Id:
            described.append(_Field(name, pascal, "id", ""))
        elif hint is str:
            described.append(_Field(name, pascal, "text", ""))
        elif hint is bytes:
            described.append(_Field(name, pascal, "bytes", "", 4 + 2 * index))
        elif inner is str:
            described.append(_Field(name, pascal, "texts", ""))
        elif inner is None:
            described.append(_Field(name, pascal, "number", ""))
        else:
            kind = "tables" if typing.get_origin(hint) is list else "table"
            described.append(_Field(name, pascal, kind, inner.__name__))
    return described


generated: Any = _protocol_generated
_BODIES: Tuple[Any, ...] = typing.get_args(messages.Body)
_BODY_TYPES = {body: number for number, body in enumerate(_BODIES, 1)}
_TABLES: Dict[str, List[_Field]] = {
    table.__name__: _fields(table)
    for table in (
        *_BODIES,
        messages.Endpoint,
        messages.Type,
        messages.PublicationCounters,
        messages.Prediction,
        messages.SubscriptionCounters,
        messages.Publication,
        messages.Subscription,
        messages.Participant,
        messages.Peer,
    )
}
_REQUIRED = {"topic", "address", "host", "text", "endpoint"}
_HOST_OPTIONAL = {"Publication", "Subscription", "Participant"}
_ID_OPTIONAL = {("Hello", "secret"), ("DescribeTopic", "after"), ("TypeMismatch", "publication")}


def encode(envelope: messages.Envelope) -> bytes:
    """Returns one frame. Shortens free text to the limits. Raises Malformed when the message is still too long."""
    builder = flatbuffers.Builder(512)
    body = _build(builder, envelope.body)
    generated.EnvelopeStart(builder)
    generated.EnvelopeAddVersion(builder, envelope.version)
    generated.EnvelopeAddRequest(builder, envelope.request)
    generated.EnvelopeAddBodyType(builder, _BODY_TYPES[type(envelope.body)])
    generated.EnvelopeAddBody(builder, body)
    builder.Finish(generated.EnvelopeEnd(builder), _IDENTIFIER)
    frame = bytes(builder.Output())
    if len(frame) > MAX_FRAME:
        raise Malformed(f"a frame of {len(frame)} bytes; {MAX_FRAME} are allowed")
    return frame


def shorten(text: str, limit: int = MAX_TEXT_LENGTH) -> str:
    """Returns at most `limit` bytes of UTF-8, no NUL."""
    return text.replace("\0", " ").encode("utf-8", "replace")[:limit].decode("utf-8", "ignore")


def _build(builder: Any, message: Any) -> int:
    table = type(message).__name__
    parts: Dict[str, int] = {}
    for field in _TABLES[table]:
        value = getattr(message, field.name)
        if field.kind == "text" and (value or field.name in _REQUIRED):
            parts[field.name] = builder.CreateString(
                shorten(value, MAX_ERROR_LENGTH if field.name == "text" else MAX_TEXT_LENGTH)
            )
        elif field.kind == "bytes" and value:
            parts[field.name] = builder.CreateByteVector(value)
        elif field.kind == "texts" and value:
            parts[field.name] = _vector(builder, [builder.CreateString(shorten(item)) for item in value])
        elif field.kind == "table" and value is not None:
            parts[field.name] = _build(builder, value)
        elif field.kind == "tables" and value:
            parts[field.name] = _vector(builder, [_build(builder, item) for item in value])
    _generated(table, "Start")(builder)
    for field in _TABLES[table]:
        add = _generated(table, "Add" + field.pascal)
        if field.kind == "id":
            value = getattr(message, field.name)
            if value != NOBODY or (table, field.name) not in _ID_OPTIONAL:
                add(builder, generated.CreateId(builder, *value))
        elif field.kind == "number":
            add(builder, getattr(message, field.name))
        elif field.name in parts:
            add(builder, parts[field.name])
    return int(_generated(table, "End")(builder))


def _vector(builder: Any, offsets: List[int]) -> int:
    builder.StartVector(4, len(offsets), 4)
    for offset in reversed(offsets):
        builder.PrependUOffsetTRelative(offset)
    return int(builder.EndVector())


def _generated(table: str, what: str) -> Any:
    return getattr(generated, table + what)


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
        root = generated.Envelope.GetRootAs(self._frame, 0)
        if root.Version() != VERSION:
            raise WrongVersion(f"protocol version {root.Version()}; this is {VERSION}")
        number = root.BodyType()
        body = root.Body()
        if not 1 <= number <= len(_BODIES) or body is None:
            raise Malformed(f"no message of kind {number}")
        kind = _BODIES[number - 1]
        table = _generated(kind.__name__, "")()
        table.Init(body.Bytes, body.Pos)
        return messages.Envelope(root.Request(), self._message(kind.__name__, table), VERSION)

    def _message(self, kind: str, table: Any) -> Any:
        self._tables_left -= 1
        if self._tables_left < 0:
            raise Malformed("too many tables")
        values = {field.name: self._value(kind, field, table) for field in _TABLES[kind]}
        return getattr(messages, kind)(**values)

    def _value(self, kind: str, field: _Field, table: Any) -> Any:
        read = getattr(table, field.pascal)
        if field.kind == "id":
            return self._id(read(), (kind, field.name) in _ID_OPTIONAL)
        if field.kind == "text":
            required = field.name in _REQUIRED and not (field.name == "host" and kind in _HOST_OPTIONAL)
            return self._text(read(), required, MAX_ERROR_LENGTH if field.name == "text" else MAX_TEXT_LENGTH)
        if field.kind == "bytes":
            return self._bytes(table._tab, field.slot, getattr(table, field.pascal + "Length")())
        if field.kind == "texts":
            count = getattr(table, field.pascal + "Length")()
            if count > MAX_PATTERNS:
                raise Malformed(f"{count} of {field.name}")
            return [self._text(read(index), True, MAX_TEXT_LENGTH) for index in range(count)]
        if field.kind == "table":
            inner = read()
            return None if inner is None else self._message(field.table, inner)
        if field.kind == "tables":
            count = getattr(table, field.pascal + "Length")()
            limits = {
                "Endpoint": MAX_ENDPOINTS,
                "TopicState": MAX_TOPICS,
                "Publication": MAX_PUBLISHERS,
                "Peer": MAX_PEERS,
            }
            if count > min(self._tables_left, limits.get(field.table, self._tables_left)):
                raise Malformed(f"{count} of {field.name}")
            return [self._message(field.table, read(index)) for index in range(count)]
        return self._number(kind, field.name, read())

    @staticmethod
    def _number(kind: str, name: str, value: Any) -> Any:
        if name == "transport" and not (0 if kind == "SubscriptionCounters" else 1) <= value <= 5:
            raise Malformed(f"transport {value}")
        if name == "state" and not 0 <= value <= 4:
            raise Malformed(f"state {value}")
        if name == "code" and not 0 <= value <= 8:
            raise Malformed(f"error code {value}")
        if name == "schema_size" and value > MAX_SCHEMA_BYTES:
            raise Malformed(f"a schema of {value} bytes")
        return value

    @staticmethod
    def _id(read: Any, optional: bool) -> Id:
        found = NOBODY if read is None else Id(read.Hi(), read.Lo())
        if found == NOBODY and not optional:
            raise Malformed("an id is missing or zero")
        return found

    def _text(self, read: Optional[bytes], required: bool, limit: int) -> str:
        text = read or b""
        self._text_left -= len(text)
        if (required and not text) or len(text) > limit or self._text_left < 0 or b"\0" in text:
            raise Malformed("a text is missing, too long or has a NUL")
        return text.decode("utf-8", "replace")

    def _bytes(self, table: Any, slot: int, length: int) -> bytes:
        self._text_left -= length
        if length > MAX_SCHEMA_PART or self._text_left < 0:
            raise Malformed(f"a part of a schema of {length} bytes")
        if length == 0:
            return b""
        start = table.Vector(table.Offset(slot))
        found = bytes(self._frame[start : start + length])
        if len(found) < length:
            raise Malformed("a vector reaches outside the frame")
        return found
