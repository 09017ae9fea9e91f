"""Samples as they are sent and as they arrive. All processes run on one host, so they share the monotonic clock."""

from __future__ import annotations

import struct
import threading
import time
from array import array
from typing import Any

HEAD = struct.Struct("<Qq")  # the number of the sample in its topic, and when it was sent
LEAST_BYTES = HEAD.size


def sample(number: int, sent_ns: int, size: int) -> bytes:
    return HEAD.pack(number, sent_ns).ljust(size, b"\0")


def percentile(ordered: list[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


class Arrivals:
    """What reached one receiver. Threads: one adds, any other one asks."""

    def __init__(self, expected: int) -> None:
        self._expected = expected  # topics
        self._newest: dict[str, int] = {}
        self._sent, self._ages = array("q"), array("q")
        self._all_known = threading.Event()
        self.known_at_ns = 0
        self.repeated = self.malformed = 0

    def add(self, key: str, data: bytes) -> None:
        now = time.monotonic_ns()
        if len(data) < LEAST_BYTES:
            self.malformed += 1
            return
        number, sent = HEAD.unpack_from(data)
        if number <= self._newest.get(key, 0):
            self.repeated += 1
            return
        self._newest[key] = number
        self._sent.append(sent)
        self._ages.append(now - sent)
        if not self._all_known.is_set() and len(self._newest) == self._expected:
            self.known_at_ns = now
            self._all_known.set()

    def wait_until_known(self, seconds: float) -> int:
        """Returns the number of topics that sent a sample, after all have or the time is over."""
        self._all_known.wait(seconds)
        return len(self._newest)

    def between(self, begin_ns: int, end_ns: int) -> dict[str, Any]:
        """Returns how many samples of those that were sent then have arrived, and their ages in ms."""
        ages = sorted(age / 1e6 for sent, age in zip(self._sent, self._ages) if begin_ns <= sent < end_ns)
        found: dict[str, Any] = {"count": len(ages), "repeated": self.repeated, "malformed": self.malformed}
        if ages:
            found |= {"p50_ms": percentile(ages, 0.5), "p99_ms": percentile(ages, 0.99), "max_ms": ages[-1]}
        return found
