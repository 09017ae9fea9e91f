"""Limits how often something may happen: a number at once, then a steady rate."""

from __future__ import annotations

import time


class Allowance:
    """A token bucket. `at_once` and `per_second` are above 0."""

    def __init__(self, at_once: float, per_second: float) -> None:
        self._at_once, self._per_second = at_once, per_second
        self._left = at_once
        self._since = time.monotonic()

    def take(self) -> bool:
        """Returns whether it may happen now, and counts it if so."""
        self._refill()
        if self._left < 1:
            return False
        self._left -= 1
        return True

    def withhold(self, seconds: float) -> None:
        """Allows nothing for so many seconds."""
        self._refill()
        self._left = -self._per_second * seconds

    @property
    def untouched(self) -> bool:
        """True when it is as new, so that it need not be kept."""
        self._refill()
        return self._left >= self._at_once

    def _refill(self) -> None:
        now = time.monotonic()
        self._left = min(self._at_once, self._left + (now - self._since) * self._per_second)
        self._since = now
