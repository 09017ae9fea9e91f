"""Decides whether a sample is newer than what came before it on the same key."""

from __future__ import annotations

import dataclasses
from typing import Optional

from .attachment import SampleHead

_QUIET_S = 1.0
_MAX_AHEAD_NS = 1_000_000_000


class Order:
    """The newest sample of one key. Not thread-safe."""

    def __init__(self) -> None:
        self._newest: Optional[SampleHead] = None
        self._arrived = 0.0

    def accept(self, head: SampleHead, now: float, clock_ns: int) -> bool:
        """Returns whether the sample is news, and remembers it then. now: time.monotonic(). clock_ns: time.time_ns().

        A publication numbers its samples, so each comes once. Samples of different publications are compared by their
        stamps, unless the key was quiet for 1 s: then the clock of a publisher may have been set.
        A stamp beyond this host's clock counts as the time of arrival. More than 1 s beyond, it says nothing: the
        sample counts as it comes, and keeps no other away.
        """
        newest = self._newest
        says_nothing = head.stamp_ns > clock_ns + _MAX_AHEAD_NS
        if says_nothing:
            head = dataclasses.replace(head, stamp_ns=newest.stamp_ns if newest is not None else 0)
        elif head.stamp_ns > clock_ns:
            head = dataclasses.replace(head, stamp_ns=clock_ns)
        if newest is not None and not (says_nothing and head.publication != newest.publication):
            if not self._is_news(newest, head, now):
                return False
        self._newest, self._arrived = head, now
        return True

    def _is_news(self, newest: SampleHead, head: SampleHead, now: float) -> bool:
        if head.publication != newest.publication:
            return head.stamp_ns > newest.stamp_ns or now - self._arrived > _QUIET_S
        return head.sequence > newest.sequence or head.stamp_ns > newest.stamp_ns
