"""A connected subscription, as its publication sees it."""

from __future__ import annotations

import collections
from typing import Deque, Optional

import zmq

from .allowance import Allowance
from .link import HEADER_BYTES, LinkMessage

_MAX_QUEUED_BYTES = 64 * 1024 * 1024
_MAX_QUEUE_DEPTH = 65_536
_FRAMES_AT_ONCE = 200
_FRAMES_PER_SECOND = 20


class Sample:
    """A sample, copied into libzmq's memory when the first reader gets it.

    libzmq's thread would have to give Python's memory back, and would fall behind a busy program. And a sample that
    newer ones overtake is never copied.
    """

    def __init__(self, sequence: int, filled: bytearray) -> None:
        self.sequence = sequence
        self.size = len(filled) - HEADER_BYTES  # of the payload, in bytes
        self._filled = filled
        self._frame: Optional[zmq.Frame] = None

    @property
    def frame(self) -> zmq.Frame:
        if self._frame is None:
            self._frame = zmq.Frame(self._filled, copy=True)
            self._filled = bytearray()
        return self._frame


class Reader:
    """Queues the newest sample if it lacks it (depth 0), else all samples, up to its depth and 64 MiB."""

    def __init__(self, hello: LinkMessage, descriptor: int, owner: str) -> None:
        self.subscription = hello.subscription
        self.secret = hello.secret
        self.descriptor = descriptor  # libzmq's, of its connection; -1: it has ended
        self.owner = owner  # of its connection: an address or a process
        self.depth = min(hello.depth, _MAX_QUEUE_DEPTH)
        self.owes_welcome = True
        self.checks = 2  # further welcomes, which show whether it left before its hello was taken
        self.dropped = 0
        self.last = hello.newest  # sequence of the newest sample that it has, or that was queued for it
        self._frames = Allowance(_FRAMES_AT_ONCE, _FRAMES_PER_SECOND)
        self._queue: Deque[Sample] = collections.deque()
        self._bytes = 0

    def may_speak(self) -> bool:
        """Returns whether it may send another frame: a subscriber needs few."""
        return self._frames.take()

    def push(self, sample: Sample) -> None:
        self._queue.append(sample)
        self._bytes += sample.size
        self.last = sample.sequence
        while len(self._queue) > max(1, self.depth) or (self._bytes > _MAX_QUEUED_BYTES and len(self._queue) > 1):
            self.pop()
            self.dropped += 1

    def next(self) -> Optional[Sample]:
        return self._queue[0] if self._queue else None

    def pop(self) -> None:
        self._bytes -= self._queue.popleft().size

    @property
    def idle(self) -> bool:
        return not self._queue and not self.owes_welcome
