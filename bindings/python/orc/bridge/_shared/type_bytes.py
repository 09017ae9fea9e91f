"""A type as the bytes of which its hash is made (schemas/PROTOCOL.md, "Types")."""

from __future__ import annotations

import hashlib
from typing import Optional

from orc import TypeDescription
from orc._type_description import MAX_SCHEMA_BYTES

_MAX_TEXT = 255


def encode_type(type: TypeDescription) -> bytes:
    """Returns the bytes of which the hash is made: four parts, each after its length as a little-endian u64."""
    parts = (type.name.encode(), type.schema_encoding.encode(), type.message_encoding.encode(), type.schema)
    return b"".join(len(each).to_bytes(8, "little") + each for each in parts)


def decode_type(data: bytes, hash: int) -> Optional[TypeDescription]:
    """Returns the type with this hash. None: the bytes are malformed, or have another hash."""
    if int.from_bytes(hashlib.sha256(data).digest()[:8], "little") != hash:
        return None
    parts, at = [], 0
    for most in (_MAX_TEXT, _MAX_TEXT, _MAX_TEXT, MAX_SCHEMA_BYTES):
        size = int.from_bytes(data[at : at + 8], "little")
        if len(data) < at + 8 or size > most or len(data) < at + 8 + size:
            return None
        parts.append(data[at + 8 : at + 8 + size])
        at += 8 + size
    if at != len(data):
        return None
    try:
        name, schema_encoding, message_encoding = (each.decode() for each in parts[:3])
    except UnicodeDecodeError:
        return None
    return TypeDescription(name, schema_encoding, message_encoding, parts[3])
