"""LCM's datagrams: messages to datagrams and back, within bounds of memory and time."""

from __future__ import annotations

import struct
from collections import OrderedDict
from dataclasses import dataclass
from typing import Callable, Iterator, Optional, Tuple

from .._shared.counters import Counters

MAX_CHANNEL = 63
_SHORT = struct.Struct(">4sI")
_FRAGMENT = struct.Struct(">4sIIIHH")
_SHORT_MAGIC, _FRAGMENT_MAGIC = b"LC02", b"LC03"
_MAX_SHORT = 65499  # payload and channel: LCM's own bound, and what fits a datagram
_FRAGMENT_BYTES = 65000
_MAX_FRAGMENTS = 65535
_MAX_INCOMPLETE = 32
_MAX_AGE_S = 3.0

Source = Tuple[str, int]


def datagrams(number: int, channel: bytes, payload: bytes, most: int = _FRAGMENT_BYTES) -> Iterator[bytes]:
    """Yields the datagrams of a message. most: bytes of a datagram."""
    number &= 0xFFFFFFFF
    if len(channel) + 1 + len(payload) <= min(most - _SHORT.size, _MAX_SHORT):
        yield b"".join((_SHORT.pack(_SHORT_MAGIC, number), channel, b"\0", payload))
        return
    room = most - _FRAGMENT.size
    first = room - len(channel) - 1
    offsets = [0, *range(min(first, len(payload)), len(payload), room)]
    for index, offset in enumerate(offsets):
        end = offsets[index + 1] if index + 1 < len(offsets) else len(payload)
        head = _FRAGMENT.pack(_FRAGMENT_MAGIC, number, len(payload), offset, index, len(offsets))
        yield b"".join((head, channel + b"\0" if index == 0 else b"", payload[offset:end]))


def max_payload(most: int) -> int:
    """Returns the largest message that datagrams of this size carry."""
    return (most - _FRAGMENT.size) * _MAX_FRAGMENTS - MAX_CHANNEL - 1


class _Malformed(ValueError):
    pass


@dataclass
class _Incomplete:
    number: int
    fragments: int
    data: bytearray
    seen: bytearray  # one byte per fragment
    left: int  # fragments
    received: int  # bytes
    changed: float
    channel: Optional[bytes] = None


class Reassembly:
    """Makes messages of datagrams. Not thread-safe.

    A sender has one incomplete message at a time, as in LCM. There are at most 32, with `max_bytes` in all, each for at
    most 3 s without a fragment. The one that has not moved for longest is dropped first.
    """

    def __init__(self, wanted: Callable[[bytes], bool], max_message: int, max_bytes: int, counters: Counters) -> None:
        self._wanted, self._max_message, self._max_bytes, self._counters = wanted, max_message, max_bytes, counters
        self._incomplete: OrderedDict[Source, _Incomplete] = OrderedDict()  # the longest unmoved first
        self._bytes = 0
        self._ignored: OrderedDict[Source, int] = OrderedDict()  # numbers of messages that nobody wants

    def add(self, datagram: memoryview, source: Source, now: float) -> Optional[Tuple[bytes, bytes]]:
        """Returns channel and payload of a message that is complete now and wanted. Other programs' datagrams: None."""
        magic = bytes(datagram[:4])
        try:
            if magic == _SHORT_MAGIC:
                return self._short(datagram)
            if magic == _FRAGMENT_MAGIC:
                return self._fragment(datagram, source, now)
        except _Malformed as error:
            self._counters.drop("malformed LCM datagram", f"{error} from {source[0]}:{source[1]}")
        return None

    def _short(self, datagram: memoryview) -> Optional[Tuple[bytes, bytes]]:
        channel, payload = _split(datagram[_SHORT.size :])
        if channel is None:
            raise _Malformed("no channel")
        if not self._wanted(channel):
            return None
        if len(payload) > self._max_message:
            raise _Malformed(f"a message of {len(payload)} bytes")
        return channel, bytes(payload)

    def _fragment(self, datagram: memoryview, source: Source, now: float) -> Optional[Tuple[bytes, bytes]]:
        if len(datagram) < _FRAGMENT.size:
            raise _Malformed("a short fragment")
        _, number, size, offset, index, fragments = _FRAGMENT.unpack_from(datagram)
        if self._ignored.get(source) == number:
            return None
        self._ignored.pop(source, None)
        channel, data = None, datagram[_FRAGMENT.size :]
        if index == 0:
            channel, data = _split(data)
            if channel is None:
                raise _Malformed("no channel")
            if not self._wanted(channel):
                self._ignore(source, number)
                return None
        if index >= fragments or offset + len(data) > size or (not data and size) or size > self._max_message:
            raise _Malformed(f"fragment {index} of {fragments}, {len(data)} bytes at {offset} of {size}")
        known = self._of(source, number, size, fragments, now)
        if known is None or known.seen[index]:
            return None
        known.seen[index], known.changed = 1, now
        known.left -= 1
        known.received += len(data)
        if channel is not None:
            known.channel = channel
        known.data[offset : offset + len(data)] = data
        self._incomplete.move_to_end(source)
        if known.left:
            return None
        self._drop(source)
        if known.channel is None or known.received != size:  # a gap, and an overlap
            raise _Malformed("fragments that do not follow each other")
        return known.channel, bytes(known.data)

    def _of(self, source: Source, number: int, size: int, fragments: int, now: float) -> Optional[_Incomplete]:
        known = self._incomplete.get(source)
        if known is not None and (known.number, len(known.data), known.fragments) == (number, size, fragments):
            return known
        if known is not None:
            self._drop(source)
            self._counters.count("incomplete")
        cost = size + fragments
        while self._incomplete and (
            len(self._incomplete) >= _MAX_INCOMPLETE
            or self._bytes + cost > self._max_bytes
            or now - next(iter(self._incomplete.values())).changed > _MAX_AGE_S
        ):
            self._drop(next(iter(self._incomplete)))
            self._counters.count("incomplete")
        made = _Incomplete(number, fragments, bytearray(size), bytearray(fragments), fragments, 0, now)
        self._incomplete[source] = made
        self._bytes += cost
        return made

    def _drop(self, source: Source) -> None:
        gone = self._incomplete.pop(source)
        self._bytes -= len(gone.data) + gone.fragments

    def _ignore(self, source: Source, number: int) -> None:
        if source in self._incomplete:
            self._drop(source)
        self._ignored[source] = number
        self._ignored.move_to_end(source)
        if len(self._ignored) > 4 * _MAX_INCOMPLETE:
            self._ignored.popitem(last=False)


def _split(data: memoryview) -> Tuple[Optional[bytes], memoryview]:
    """Returns the channel and what follows it. None: there is no channel."""
    head = bytes(data[: MAX_CHANNEL + 1])
    end = head.find(b"\0")
    return (head[:end], data[end + 1 :]) if end > 0 else (None, data)
