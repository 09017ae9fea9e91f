"""LCM's datagrams: messages to datagrams and back, within bounds of memory and time."""

from __future__ import annotations

import struct
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Callable, Dict, Iterator, Optional, Tuple

from .._shared.counters import Counters
from .hosts import Hosts

MAX_CHANNEL = 63
_SHORT = struct.Struct(">4sI")
_FRAGMENT = struct.Struct(">4sIIIHH")
_SHORT_MAGIC, _FRAGMENT_MAGIC = b"LC02", b"LC03"
_MAX_SHORT = 65499  # payload and channel: LCM's own bound, and what fits a datagram
_FRAGMENT_BYTES = 65000
_MAX_FRAGMENTS = 65535
_MAX_INCOMPLETE = 256
_FRAGMENT_COST = 256  # bytes that a fragment takes besides its own
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
    size: int
    fragments: int
    data: Dict[int, Tuple[int, bytes]] = field(default_factory=dict)
    """Offset and bytes of each fragment that has arrived."""
    cost: int = 0
    changed: float = 0.0
    channel: Optional[bytes] = None

    def joined(self) -> bytes:
        """Raises _Malformed."""
        parts, end = sorted(self.data.values()), 0
        for offset, data in parts:
            if offset != end:
                raise _Malformed("fragments that do not follow each other")
            end += len(data)
        if end != self.size:
            raise _Malformed("fragments that do not follow each other")
        return b"".join(data for _, data in parts)


class Reassembly:
    """Makes messages of datagrams. Not thread-safe.

    A sender has one incomplete message at a time, as in LCM. There are at most 256, each for at most 3 s without a
    fragment, and what has arrived of them takes `max_bytes` at most. When there are too many, the host that has most
    loses the one that has not moved for longest.
    """

    def __init__(self, wanted: Callable[[bytes], bool], max_message: int, max_bytes: int, counters: Counters) -> None:
        self._wanted, self._max_message, self._max_bytes, self._counters = wanted, max_message, max_bytes, counters
        self._incomplete: Hosts[_Incomplete] = Hosts()
        self._bytes, self._look_at = 0, 0.0
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
        if index in known.data:
            return None
        known.data[index], known.changed = (offset, bytes(data)), now
        known.cost += len(data) + _FRAGMENT_COST
        self._bytes += len(data) + _FRAGMENT_COST
        if channel is not None:
            known.channel = channel
        self._incomplete.put(source, known)
        if len(known.data) < fragments:
            self._bound(now)
            return None
        self._drop(source)
        if known.channel is None:
            raise _Malformed("no channel")
        return known.channel, known.joined()

    def _of(self, source: Source, number: int, size: int, fragments: int, now: float) -> _Incomplete:
        known = self._incomplete.get(source)
        if known is not None and now - known.changed <= _MAX_AGE_S:
            if (known.number, known.size, known.fragments) == (number, size, fragments):
                return known
        if known is not None:
            self._drop(source)
            self._counters.count("incomplete")
        return _Incomplete(number, size, fragments)

    def _bound(self, now: float) -> None:
        while self._bytes > self._max_bytes:
            self._give_up(self._incomplete.longest_unmoved(lambda each: each.cost))
        while len(self._incomplete) > _MAX_INCOMPLETE:
            self._give_up(self._incomplete.longest_unmoved())
        if now >= self._look_at:
            self._look_at = now + _MAX_AGE_S
            for source in self._incomplete.where(lambda each: now - each.changed > _MAX_AGE_S):
                self._give_up(source)

    def _give_up(self, source: Source) -> None:
        self._drop(source)
        self._counters.count("incomplete")

    def _drop(self, source: Source) -> None:
        self._bytes -= self._incomplete.pop(source).cost

    def _ignore(self, source: Source, number: int) -> None:
        if self._incomplete.get(source) is not None:
            self._drop(source)
        self._ignored[source] = number
        self._ignored.move_to_end(source)
        if len(self._ignored) > _MAX_INCOMPLETE:
            self._ignored.popitem(last=False)


def _split(data: memoryview) -> Tuple[Optional[bytes], memoryview]:
    """Returns the channel and what follows it. None: there is no channel."""
    head = bytes(data[: MAX_CHANNEL + 1])
    end = head.find(b"\0")
    return (head[:end], data[end + 1 :]) if end > 0 else (None, data)
