"""What stands before a sample of an ORC topic on a link (schemas/LCM-TUNNEL.md, "Topics")."""

from __future__ import annotations

import struct
from typing import NamedTuple, Optional, Tuple

_HEAD = struct.Struct("<QBq16s")
_KEEPS_LAST = 1


class TopicHead(NamedTuple):
    """What a bridge knows of a sample besides its bytes."""

    type_hash: int
    """0: untyped."""
    keep_last: bool
    """False: a late joiner must not get it."""
    stamp_ns: int
    """When it was sent, by the clock of the sending end (PeerClock)."""
    publication: bytes
    """16 bytes, which name the publication in all networks."""


def encode(head: TopicHead, payload: bytes) -> bytes:
    """Returns the message."""
    return _HEAD.pack(head.type_hash, _KEEPS_LAST * head.keep_last, head.stamp_ns, head.publication) + payload


def decode(message: bytes) -> Optional[Tuple[TopicHead, bytes]]:
    """Returns head and sample. None: it is malformed."""
    if len(message) < _HEAD.size:
        return None
    type_hash, flags, stamp_ns, publication = _HEAD.unpack_from(message)
    if stamp_ns < 0:
        return None
    return TopicHead(type_hash, bool(flags & _KEEPS_LAST), stamp_ns, publication), message[_HEAD.size :]


def type_name(hash: int) -> bytes:
    """Returns the name under which a type is asked for and sent."""
    return b"%016x" % hash


def hash_of(name: bytes) -> Optional[int]:
    """Returns the hash that such a name has. None: it has none."""
    return int(name, 16) if len(name) == 16 and set(name) <= set(b"0123456789abcdef") else None
