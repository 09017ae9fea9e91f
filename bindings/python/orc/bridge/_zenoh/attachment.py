"""What goes with each sample: the attachment of schemas/ZENOH.md."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Optional

_HEAD = struct.Struct("<2sBBQq16sQQqB")
_HEAD_1 = struct.Struct("<2sBBQq16sQB")  # without a clock
_MAGIC, _VERSION = b"OZ", 2
_KEEPS_LAST = 1
_MAX_NAME = 255
NO_PUBLICATION = bytes(16)


@dataclass(frozen=True)
class SampleHead:
    """What a bridge knows of a sample besides its bytes."""

    sequence: int
    """Of the publisher, from 1 on. 0: unknown."""
    stamp_ns: int
    """When it was sent, in ns since 1970."""
    publication: bytes
    """16 bytes, which name the publication in all networks."""
    type_hash: int = 0
    """TypeDescription.hash; 0: untyped."""
    type_name: str = ""
    """TypeDescription.name"""
    keep_last: bool = True
    """False: a late joiner must not get it."""
    clock: int = 0
    """Names a clock (Clocks). 0: none."""
    clock_ns: int = 0
    """When it was sent, by that clock."""


def encode(head: SampleHead) -> bytes:
    """Returns the attachment."""
    name = head.type_name.encode()[:_MAX_NAME]
    flags = _KEEPS_LAST if head.keep_last else 0
    fixed = (_MAGIC, _VERSION, flags, head.sequence, head.stamp_ns, head.publication, head.type_hash)
    return _HEAD.pack(*fixed, head.clock, head.clock_ns, len(name)) + name


def decode(data: bytes) -> Optional[SampleHead]:
    """Returns what an attachment says. None: it is none of ours."""
    version = data[2] if len(data) >= _HEAD_1.size else 0
    head = {1: _HEAD_1, _VERSION: _HEAD}.get(version)
    if head is None or len(data) < head.size:
        return None
    magic, _, flags, sequence, stamp_ns, publication, type_hash, *clock, size = head.unpack_from(data)
    if magic != _MAGIC or len(data) != head.size + size:
        return None
    if sequence == 0 or stamp_ns < 0 or publication == NO_PUBLICATION or (size and not type_hash):
        return None
    try:
        name = data[head.size :].decode()
    except UnicodeDecodeError:
        return None
    return SampleHead(sequence, stamp_ns, publication, type_hash, name, bool(flags & _KEEPS_LAST), *clock)
