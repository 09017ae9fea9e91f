"""The messages of calls as bytes (schemas/PROTOCOL.md, "Calls"), for tests in which one end lies."""

from __future__ import annotations

import enum
import struct
from typing import Iterable, List, NamedTuple, Optional, Tuple

from orc import CallErrc, CallError, TypeDescription
from orc._calls.description import CallTypes

VERSION = 1
HEADER_BYTES = 32
MAX_IDS = 4096
MAX_ERROR_TEXT = 4096
_MAX_TYPE_TEXT = 255
MAX_SCHEMA_BYTES = 1 << 20
_CALL = "/.call/"
_HEX = frozenset("0123456789abcdef")

_HEADER = struct.Struct("<BB6sQQQ")
_ERROR = struct.Struct("<BBHi")
_SIZE = struct.Struct("<I")
_ZEROS = bytes(6)


class Kind(enum.IntEnum):
    # client -> server
    HELLO = 1
    REQUEST = 2
    CANCEL = 3
    FEEDBACK_TAKEN = 4
    BYE = 5  # also server -> client
    OPEN_CALLS = 6
    # server -> client
    WELCOME = 16
    ACCEPTED = 17
    REFUSED = 18
    FEEDBACK = 19
    RESULT = 20
    ERROR = 21
    RUNNING = 22


_KINDS = {int(kind): kind for kind in Kind}


class CallMessage(NamedTuple):
    kind: Kind
    id: int
    time_ns: int
    type: int  # hash of the payload's type
    payload: bytes


def encode(kind: Kind, id: int, payload: bytes = b"", time_ns: int = 0, type: int = 0) -> bytes:
    return _HEADER.pack(kind, VERSION, _ZEROS, id, time_ns, type) + payload


def decode(sample: memoryview) -> Optional[CallMessage]:
    """None: too short, an unknown kind or version, or reserved bytes that are not 0."""
    if len(sample) < HEADER_BYTES:
        return None
    kind, version, reserved, id, time_ns, type = _HEADER.unpack_from(sample)
    known = _KINDS.get(kind)
    if known is None or version != VERSION or reserved != _ZEROS:
        return None
    return CallMessage(known, id, time_ns, type, bytes(sample[HEADER_BYTES:]))


# Payloads. Their readers return None for bytes that are none.


def encode_types(types: CallTypes) -> bytes:
    parts = [part for each in types for part in _parts(each)]
    return b"".join(_SIZE.pack(len(part)) + part for part in parts)


def decode_types(payload: bytes) -> Optional[CallTypes]:
    try:
        request, at = _type_at(payload, 0)
        reply, at = _type_at(payload, at)
    except (ValueError, struct.error):
        return None
    return CallTypes(request, reply) if at == len(payload) else None


def _parts(type: TypeDescription) -> List[bytes]:
    return [type.name.encode(), type.schema_encoding.encode(), type.message_encoding.encode(), type.schema]


def _type_at(payload: bytes, at: int) -> Tuple[TypeDescription, int]:
    """Raises ValueError, struct.error."""
    parts = []
    for most in (_MAX_TYPE_TEXT, _MAX_TYPE_TEXT, _MAX_TYPE_TEXT, MAX_SCHEMA_BYTES):
        (size,) = _SIZE.unpack_from(payload, at)
        at += _SIZE.size
        if size > most or size > len(payload) - at:
            raise ValueError("too long")
        parts.append(payload[at : at + size])
        at += size
    name, schema_encoding, message_encoding, schema = parts
    return TypeDescription(name.decode(), schema_encoding.decode(), message_encoding.decode(), schema), at


def decode_error(payload: bytes) -> Optional[CallError]:
    if len(payload) < _ERROR.size:
        return None
    code, type_size, text_size, number = _ERROR.unpack_from(payload)
    type_end = _ERROR.size + type_size
    if text_size > MAX_ERROR_TEXT or len(payload) != type_end + text_size:
        return None
    type = payload[_ERROR.size : type_end].decode(errors="replace")
    return CallError(_code_of_server(code), payload[type_end:].decode(errors="replace"), number, type)


def _code_of_server(code: int) -> CallErrc:
    """Other codes are those of a client itself, or of a later version."""
    from_server = 1 <= code <= CallErrc.bad_reply or code in (CallErrc.server_died, CallErrc.no_memory)
    return CallErrc(code) if from_server else CallErrc.failed


def encode_ids(ids: Iterable[int]) -> bytes:
    some = sorted(ids)[:MAX_IDS]
    return struct.pack(f"<{len(some)}Q", *some)


def decode_ids(payload: bytes) -> Optional[List[int]]:
    count, rest = divmod(len(payload), 8)
    if rest or count > MAX_IDS:
        return None
    ids = list(struct.unpack(f"<{count}Q", payload))
    return ids if ids == sorted(ids) else None


# Names of topics.


def call_topic(service: str, client: int) -> str:
    return f"/{service}{_CALL}{client:016x}"


def reply_topic(service: str, client: int) -> str:
    return f"/{service}/.reply/{client:016x}"


def parse_call_topic(topic: str) -> Optional[Tuple[str, int]]:
    """Returns the service and the client of a call topic. None: it is none."""
    service, between, client = topic.rpartition(_CALL)
    if not between or len(client) != 16 or not _HEX.issuperset(client):
        return None
    return service, int(client, 16)
