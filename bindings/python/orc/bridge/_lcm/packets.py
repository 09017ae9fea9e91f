"""Packets of a link, and how its ends come to know each other (schemas/LCM-TUNNEL.md, "Packets").

Each end draws a session at random. The keys of both directions are made of both sessions and of the shared key, so no
packet of another session counts, and none of a stranger who has not seen them.
"""

from __future__ import annotations

import hmac
import os
import struct
from dataclasses import dataclass
from typing import List, NamedTuple, Optional, Tuple

HELLO, SHARD, REPORT, BATCH, GOODBYE = range(5)
_HEAD = struct.Struct("<4sBB")
_MAGIC, _VERSION = b"ORCL", 2
_MAC_BYTES = 16
SESSION_BYTES = 16
NO_SESSION = bytes(SESSION_BYTES)
OVERHEAD = _HEAD.size + _MAC_BYTES
HELLO_BYTES = OVERHEAD + 2 * SESSION_BYTES
MAX_DATAGRAM = 1400


def new_session() -> bytes:
    """Returns the session of one end of one link."""
    return os.urandom(SESSION_BYTES)


def _seal(key: bytes, kind: int, body: bytes) -> bytes:
    data = _HEAD.pack(_MAGIC, _VERSION, kind) + body
    return data + hmac.digest(key, data, "sha256")[:_MAC_BYTES]


def _open(key: bytes, packet: bytes) -> Optional[Tuple[int, bytes]]:
    """Returns kind and body. None: it was not made with this key."""
    if len(packet) < OVERHEAD:
        return None
    data, mac = packet[:-_MAC_BYTES], packet[-_MAC_BYTES:]
    magic, version, kind = _HEAD.unpack_from(data)
    if (magic, version) != (_MAGIC, _VERSION):
        return None
    if not hmac.compare_digest(hmac.digest(key, data, "sha256")[:_MAC_BYTES], mac):
        return None
    return kind, data[_HEAD.size :]


class Hello(NamedTuple):
    """How an end introduces itself."""

    session: bytes
    """Of the end that sends."""
    peer: bytes
    """Of the other end; all zero: not known yet."""


def encode_hello(shared_key: bytes, session: bytes, peer: bytes) -> bytes:
    """Returns the packet."""
    return _seal(shared_key, HELLO, session + peer)


def decode_hello(shared_key: bytes, packet: bytes) -> Optional[Hello]:
    """Returns what a packet says. None: it is no hello with this key."""
    opened = _open(shared_key, packet) if len(packet) == HELLO_BYTES else None
    if opened is None or opened[0] != HELLO or opened[1][:SESSION_BYTES] == NO_SESSION:
        return None
    return Hello(opened[1][:SESSION_BYTES], opened[1][SESSION_BYTES:])


def why_no_hello(packet: bytes) -> str:
    """Returns why decode_hello took none."""
    magic, version = packet[:4], packet[4:5]
    if magic == _MAGIC and version and version[0] != _VERSION:
        return f"version {version[0]} of the tunnel, and this end has {_VERSION}: update both"
    return "no hello with our key"


class Seal:
    """Seals and opens the packets of one link."""

    def __init__(self, shared_key: bytes, own: bytes, peer: bytes) -> None:
        self._send = hmac.digest(shared_key, b"orc lcm tunnel" + own + peer, "sha256")
        self._receive = hmac.digest(shared_key, b"orc lcm tunnel" + peer + own, "sha256")

    def seal(self, kind: int, body: bytes) -> bytes:
        """Returns the packet."""
        return _seal(self._send, kind, body)

    def open(self, packet: bytes) -> Optional[Tuple[int, bytes]]:
        """Returns kind and body of a packet. None: the other end did not make it."""
        return _open(self._receive, packet)


_REPORT = struct.Struct("<QQIQqB")
_WANTED = struct.Struct("<QQ")
MAX_WANTED = 32
_NOT_KNOWN = -(1 << 63)


@dataclass
class Report:
    """What an end has received."""

    next: int
    """All batches before this one are settled: they came, or were given up."""
    newest: int
    """The newest batch of which something came; 0: none."""
    held_us: int
    """Since it came."""
    clock_ns: int
    """What the end's clock shows."""
    behind_ns: Optional[int]
    """How far that is behind the other end's clock, at least. None: not known yet."""
    wanted: List[Tuple[int, int]]
    """Groups that are not complete, and one bit for each shard that is there."""


def encode_report(report: Report) -> bytes:
    """Returns the body."""
    held_us, behind_ns = min(report.held_us, 0xFFFFFFFF), report.behind_ns
    clocks = (report.clock_ns, _NOT_KNOWN if behind_ns is None else behind_ns)
    head = _REPORT.pack(report.next, report.newest, held_us, *clocks, len(report.wanted))
    return head + b"".join(_WANTED.pack(*each) for each in report.wanted)


def decode_report(body: bytes) -> Optional[Report]:
    """Returns what a body says. None: it is malformed."""
    if len(body) < _REPORT.size:
        return None
    next, newest, held_us, clock_ns, behind_ns, count = _REPORT.unpack_from(body)
    if count > MAX_WANTED or len(body) != _REPORT.size + count * _WANTED.size:
        return None
    known = None if behind_ns == _NOT_KNOWN else behind_ns
    return Report(next, newest, held_us, clock_ns, known, list(_WANTED.iter_unpack(body[_REPORT.size :])))
