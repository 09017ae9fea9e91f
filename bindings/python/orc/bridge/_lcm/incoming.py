"""Pieces of a link to messages. A link delivers pieces in order, and may leave out some."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Callable, Tuple

from .._shared.counters import Counters
from . import frames

_MAX_INCOMPLETE = 256
_MAX_AGE_S = 30.0


@dataclass
class _Incomplete:
    size: int
    data: bytearray
    changed: float


class Incoming:
    """Of one link. Not thread-safe.

    Holds one incomplete message per kind and name, 256 in all, and `max_bytes`, each for at most 30 s without a piece.
    It keeps only bytes that have arrived.
    """

    def __init__(self, max_bytes: int, deliver: Callable[[int, bytes, bytes], None], counters: Counters) -> None:
        self._max_bytes, self._deliver, self._counters = max_bytes, deliver, counters
        self._incomplete: OrderedDict[Tuple[int, bytes], _Incomplete] = OrderedDict()  # the longest unmoved first
        self._bytes = 0

    def take(self, batch: bytes, now: float) -> None:
        """Delivers what is complete with this batch. Raises frames.Malformed."""
        while self._incomplete and now - next(iter(self._incomplete.values())).changed > _MAX_AGE_S:
            self._drop(next(iter(self._incomplete)))
        for frame in frames.decode(batch):
            if frame.size > self._max_bytes:
                raise frames.Malformed(f"a message of {frame.size} bytes")
            key = (frame.kind, frame.name)
            if frame.offset == 0:
                if key in self._incomplete:
                    self._drop(key)
                if len(frame.data) == frame.size:
                    self._deliver(frame.kind, frame.name, bytes(frame.data))
                    continue
                self._incomplete[key] = _Incomplete(frame.size, bytearray(), now)
            self._continue(key, frame, now)

    def lost(self) -> None:
        """A batch is missing. Its end of one message and its begin of the next may look like one message."""
        for key in list(self._incomplete):
            self._drop(key)

    def _continue(self, key: Tuple[int, bytes], frame: frames.Frame, now: float) -> None:
        known = self._incomplete.get(key)
        if known is None:
            return  # its first piece was lost
        if (known.size, len(known.data)) != (frame.size, frame.offset):
            self._drop(key)
            return
        known.data += frame.data
        known.changed = now
        self._bytes += len(frame.data)
        self._incomplete.move_to_end(key)
        if len(known.data) == known.size:
            del self._incomplete[key]
            self._bytes -= known.size
            self._deliver(frame.kind, frame.name, bytes(known.data))
        while self._bytes > self._max_bytes or len(self._incomplete) > _MAX_INCOMPLETE:
            self._drop(next(iter(self._incomplete)))

    def _drop(self, key: Tuple[int, bytes]) -> None:
        self._bytes -= len(self._incomplete.pop(key).data)
        self._counters.count("lost on the link")
