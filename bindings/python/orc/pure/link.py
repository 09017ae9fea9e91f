"""Data-plane frames: samples and link messages (schemas/PROTOCOL.md, "Samples")."""

from __future__ import annotations

import struct
from typing import NamedTuple, Optional

from .identity import NOBODY, Id

HELLO, WELCOME, REFUSED, GOODBYE = 1, 2, 3, 4
MAX_FROM_SUBSCRIBER = 4096

_HEADER = struct.Struct("<Qq")
_LINK = struct.Struct("<QQ4sBBHQQQQIIQ")
_MAGIC = b"ORCL"
_VERSION = 1

HEADER_BYTES = _HEADER.size


class SampleHeader(NamedTuple):
    sequence: int
    stamp_ns: int


class LinkMessage(NamedTuple):
    kind: int
    publication: Id
    subscription: Id
    depth: int  # hello: 0 newest wins, else samples to be kept in order
    newest: int  # welcome, refused: newest sample so far; hello: newest one received; 0: none
    secret: int = 0  # hello: of a subscription and a publication; 0: none


def pack_header_into(frame: bytearray, sequence: int, stamp_ns: int) -> None:
    _HEADER.pack_into(frame, 0, sequence, stamp_ns)


def unpack_header(frame: memoryview) -> Optional[SampleHeader]:
    """Returns None for a frame that is too short. Sequence 0 marks a link message."""
    return SampleHeader(*_HEADER.unpack_from(frame)) if len(frame) >= HEADER_BYTES else None


def pack_link(message: LinkMessage) -> bytes:
    kind, publication, subscription, depth, newest, secret = message
    return _LINK.pack(0, secret, _MAGIC, kind, _VERSION, 0, *publication, *subscription, depth, 0, newest)


def unpack_link(frame: memoryview) -> Optional[LinkMessage]:
    """Returns None for anything but a link message of this version."""
    if len(frame) != _LINK.size:
        return None
    sequence, secret, magic, kind, version, _, p_hi, p_lo, s_hi, s_lo, depth, _, newest = _LINK.unpack(frame)
    publication, subscription = Id(p_hi, p_lo), Id(s_hi, s_lo)
    if sequence != 0 or magic != _MAGIC or version != _VERSION or not HELLO <= kind <= GOODBYE:
        return None
    if NOBODY in (publication, subscription):
        return None
    return LinkMessage(kind, publication, subscription, depth, newest, secret)
