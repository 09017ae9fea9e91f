"""Pieces of a link to messages. A link delivers pieces in order, and may leave out some."""

from __future__ import annotations

from collections import OrderedDict
from typing import Callable, Tuple

from .._shared.counters import Counters
from . import frames

_MAX_INCOMPLETE = 256


class Incoming:
    """Of one link. Not thread-safe.

    Holds one incomplete message per kind and name, 256 in all, and `max_bytes`. It keeps only bytes that have arrived.
    """

    def __init__(self, max_bytes: int, deliver: Callable[[int, bytes, bytes], None], counters: Counters) -> None:
        self._max_bytes, self._deliver, self._counters = max_bytes, deliver, counters
        self._incomplete: OrderedDict[Tuple[int, bytes], Tuple[int, bytearray]] = OrderedDict()
        self._bytes = 0

    def take(self, batch: bytes) -> None:
        """Delivers what is complete with this batch. Raises frames.Malformed."""
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
                self._incomplete[key] = (frame.size, bytearray())
            self._continue(key, frame)

    def _continue(self, key: Tuple[int, bytes], frame: frames.Frame) -> None:
        if key not in self._incomplete:
            return  # its first piece was lost
        size, data = self._incomplete[key]
        if (size, len(data)) != (frame.size, frame.offset):
            self._drop(key)
            return
        data += frame.data
        self._bytes += len(frame.data)
        self._incomplete.move_to_end(key)
        if len(data) == size:
            del self._incomplete[key]
            self._bytes -= size
            self._deliver(frame.kind, frame.name, bytes(data))
        while self._bytes > self._max_bytes or len(self._incomplete) > _MAX_INCOMPLETE:
            self._drop(next(iter(self._incomplete)))

    def _drop(self, key: Tuple[int, bytes]) -> None:
        _, data = self._incomplete.pop(key)
        self._bytes -= len(data)
        self._counters.count("lost on the link")
