"""When a publication sent its newest sample, and the jitter of its samples, from the stamps that they carry.

schemas/PROTOCOL.md, "Jitter".
"""

from __future__ import annotations

import math
from typing import Tuple

_MAX_DRIFT_NS = 5_000_000  # a clock that NTP corrects drifts 0.5 ms in a second


class IntervalMeter:
    def __init__(self) -> None:
        self._newest_ns = 0  # stamp; 0: none that the next interval could begin at
        self._usual_ns = 0  # the first interval since the report
        self._intervals = 0
        self._sum = 0.0  # of the differences to _usual_ns
        self._squares = 0.0  # of these
        self._reported_ns = 0
        self._offset_ns = 0
        self._converted_from_ns = 0  # stamp
        self._converted_ns = 0  # the same on the monotonic clock

    def add(self, stamp_ns: int) -> None:
        """A sample with this stamp was sent."""
        if self._newest_ns:
            interval_ns = stamp_ns - self._newest_ns
            if self._intervals == 0:
                self._usual_ns = interval_ns
            self._intervals += 1
            off = float(interval_ns - self._usual_ns)
            self._sum += off
            self._squares += off * off
        self._newest_ns = stamp_ns

    def take(self, monotonic_ns: int, realtime_ns: int) -> Tuple[int, int]:
        """Returns the monotonic time of the newest sample (0: none yet) and the jitter in ns (-1: unknown).

        Begins anew. With fewer than two intervals it goes on, so that a slow topic has a jitter now and then.
        """
        offset_ns = realtime_ns - monotonic_ns
        clock_was_set = self._reported_ns != 0 and abs(offset_ns - self._offset_ns) > _MAX_DRIFT_NS
        if self._newest_ns not in (0, self._converted_from_ns):
            self._converted_from_ns = self._newest_ns
            self._converted_ns = min(max(self._newest_ns - offset_ns, self._reported_ns, 1), monotonic_ns)
        self._offset_ns = offset_ns
        self._reported_ns = monotonic_ns
        if not clock_was_set and self._intervals < 2:
            return self._converted_ns, -1
        jitter_ns = -1
        if clock_was_set:
            self._newest_ns = 0  # the interval to the next sample is unknown
        else:
            mean = self._sum / self._intervals
            jitter_ns = round(math.sqrt(max(self._squares / self._intervals - mean * mean, 0.0)))
        self._intervals = 0
        self._sum = self._squares = 0.0
        return self._converted_ns, jitter_ns
