"""How old a sample of another host is, although the clocks of two hosts do not agree."""

from __future__ import annotations

import time
from typing import Optional, Tuple

_DRIFT = 5000
"""Clocks run apart: by 1 ns in this many, 200 ppm."""


def clock_ns() -> int:
    """Returns ns since this host started, asleep or awake. No one sets this clock."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


class PeerClock:
    """How far this host's clock is ahead of another host's, at least.

    So an age is never too small. It is too large by the shortest round trip at most. All times are of clock_ns().
    Threads: one measures, any reads.
    """

    def __init__(self) -> None:
        self._least: Optional[Tuple[int, int]] = None  # in ns, and when that was measured

    def is_ahead(self, by_ns: int, at_ns: int) -> None:
        """It was ahead by this, or more, at that time."""
        latest = at_ns if self._least is None else max(at_ns, self._least[1])
        known = self.ahead_ns(latest)
        if known is None or by_ns - (latest - at_ns) // _DRIFT > known:
            self._least = (by_ns, at_ns)

    def ahead_ns(self, now_ns: int) -> Optional[int]:
        """Returns by how much it is ahead, at least. None: not measured."""
        least = self._least
        return None if least is None else least[0] - abs(now_ns - least[1]) // _DRIFT

    def age_ns(self, stamp_ns: int, now_ns: int) -> Optional[int]:
        """Returns the age of what was sent then, by the other host's clock. None: not measured."""
        ahead = self.ahead_ns(now_ns)
        if ahead is None:
            return None
        age = now_ns - (stamp_ns + ahead)
        return age + age // _DRIFT + 1 if age > 0 else 0
