"""Decides whether a sample is newer than what came before it on the same key."""

from __future__ import annotations

from typing import Optional

from .attachment import SampleHead

_QUIET_S = 1.0


class Order:
    """The newest sample of one key. Not thread-safe."""

    def __init__(self) -> None:
        self._newest: Optional[SampleHead] = None
        self._arrived = 0.0

    def accept(self, head: SampleHead, now: float) -> bool:
        """Returns whether the sample is news, and remembers it then. now: time.monotonic().

        A publication numbers its samples, so each comes once. Samples of different publications are compared by their
        stamps, unless the key was quiet for 1 s: then the clock of a publisher may have been set.
        """
        newest = self._newest
        if newest is not None and not self._is_news(newest, head, now):
            return False
        self._newest, self._arrived = head, now
        return True

    def _is_news(self, newest: SampleHead, head: SampleHead, now: float) -> bool:
        if head.publication != newest.publication:
            return head.stamp_ns > newest.stamp_ns or now - self._arrived > _QUIET_S
        return head.sequence > newest.sequence or head.stamp_ns > newest.stamp_ns
