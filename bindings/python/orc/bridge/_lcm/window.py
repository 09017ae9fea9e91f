"""How much may be on its way: less when packets queue up somewhere, more when the link takes all."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from .packets import Report

_FIRST, _LEAST, _MOST = 16 << 10, 4800, 256 << 10
_LEAST_AFTER_LOSS = 64 << 10
_MOST_BATCHES = 512  # half of what a receiver holds
_QUEUE_S = 0.1
_FORGET_S = 30.0


@dataclass
class _Sent:
    size: int
    at: float
    was_repaired: bool = False


class Window:
    """Of one direction of one link. Not thread-safe.

    Loss alone does not make the window small, because radio links lose packets without a queue. A round trip that is
    0.1 s longer than the shortest one does.
    """

    def __init__(self) -> None:
        self.round_trip = 0.2
        """In seconds, the last one that was measured."""
        self.progress_at = 0.0
        """When the other end last settled something, or nothing was on its way."""
        self._limit = _FIRST
        self._sent: OrderedDict[int, _Sent] = OrderedDict()
        self._bytes = 0
        self._was_full = self._was_lossy = False
        self._changed_at = 0.0
        self._shortest = self._shortest_before = float("inf")
        self._shortest_since = 0.0

    @property
    def room(self) -> int:
        """Returns how many bytes the next batch may have; 0: none may be sent."""
        most = max(_LEAST // 2, self._limit // 2)
        if not self._sent or (self._bytes + most <= self._limit and len(self._sent) < _MOST_BATCHES):
            return most
        self._was_full = True
        return 0

    @property
    def newest(self) -> int:
        """Returns the number of the newest batch that is on its way; 0: none."""
        return next(reversed(self._sent), 0)

    def sent(self, number: int, size: int, now: float) -> None:
        """A batch went out."""
        if not self._sent:
            self.progress_at = now
        self._sent[number] = _Sent(size, now)
        self._bytes += size

    def sent_at(self, number: int) -> float:
        """Returns when a batch that is on its way went out."""
        return self._sent[number].at

    def repaired(self, number: int, now: float) -> None:
        """A part of a batch went out once more."""
        self._sent[number].was_repaired = True
        self._sent[number].at = now
        self._was_lossy = True
        if now - self._changed_at > self.round_trip:
            self._changed_at = now
            self._limit = max(min(self._limit, _LEAST_AFTER_LOSS), self._limit * 7 // 8)

    def settled(self, report: Report, now: float) -> None:
        """The other end reported."""
        measured = self._sent.get(report.newest)
        if measured is not None and not measured.was_repaired:
            self._measure(max(1e-4, now - measured.at - report.held_us / 1e6), now)
        acknowledged = 0
        while self._sent and next(iter(self._sent)) < report.next:
            acknowledged += self._sent.popitem(last=False)[1].size
        if not acknowledged:
            return
        self._bytes -= acknowledged
        self.progress_at = now
        if self._was_full and self.round_trip <= self._target:
            most = max(self._limit, _LEAST_AFTER_LOSS) if self._was_lossy else _MOST
            self._limit = min(most, self._limit + acknowledged)
            self._was_full = self._was_lossy = False

    @property
    def _target(self) -> float:
        return min(self._shortest, self._shortest_before) + _QUEUE_S

    def _measure(self, seconds: float, now: float) -> None:
        self.round_trip = seconds
        if now - self._shortest_since > _FORGET_S:  # the way may be another one now
            self._shortest_since, self._shortest_before, self._shortest = now, self._shortest, float("inf")
        self._shortest = min(self._shortest, seconds)
        if seconds > self._target and now - self._changed_at > seconds:
            self._changed_at = now
            self._limit = max(_LEAST, int(self._limit * max(0.25, min(0.7, self._target / seconds))))
