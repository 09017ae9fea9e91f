"""Frames of the data plane: samples and link messages (schemas/PROTOCOL.md, "Samples")."""

from __future__ import annotations

import struct
import time
from typing import NamedTuple, Optional, Union

from .identity import NOBODY, Id

HELLO, WELCOME, REFUSED, GOODBYE = 1, 2, 3, 4
MAX_FROM_SUBSCRIBER = 4096
MAX_PAYLOAD = (1 << 30) - 16
HEADER = struct.Struct("<Qq")
_LINK = struct.Struct("<QQ4sBBHQQQQIIQ")
_MAGIC = b"ORCL"
_VERSION = 1
Frame = Union[bytes, bytearray, memoryview]


class LinkMessage(NamedTuple):
    kind: int
    publication: Id
    subscription: Id
    depth: int  # hello: 0 newest wins, else samples to be kept in order
    newest: int  # welcome, refused: newest sample so far; hello: newest one received; 0: none
    secret: int = 0  # hello: of a subscription and a publication; 0: none


def pack_link(message: LinkMessage) -> bytes:
    kind, publication, subscription, depth, newest, secret = message
    return _LINK.pack(0, secret, _MAGIC, kind, _VERSION, 0, *publication, *subscription, depth, 0, newest)


def unpack_link(frame: Frame) -> Optional[LinkMessage]:
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


class Allowance:
    """Limits how often something may happen: a number at once, then a steady rate (a token bucket)."""

    def __init__(self, at_once: float, per_second: float) -> None:
        self._at_once, self._per_second = at_once, per_second
        self._left = at_once
        self._since = time.monotonic()

    def take(self, count: float = 1) -> bool:
        """Returns whether it may happen so often now, and counts it if so."""
        now = time.monotonic()
        self._left = min(self._at_once, self._left + (now - self._since) * self._per_second)
        self._since = now
        if self._left < count:
            return False
        self._left -= count
        return True
