"""What the benchmarks of round trips in Python share."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

MARK = 8  # bytes that tell one round trip from the next
STOP = b""  # ends the other end
LARGE = 65_536  # pyzmq: from here on without its copy
LEAST, MOST = 20, 200_000


def warm_up_and_measure(round_trip: Callable[[int], int], seconds: float) -> list[int]:
    """Returns the nanoseconds of as many round trips as fit into `seconds`, after a quarter of it to warm up.

    `round_trip` takes a number that no other one has and returns its nanoseconds.
    """
    until = time.monotonic() + seconds / 4
    warm = [round_trip(number) for number in range(3)]
    while time.monotonic() < until:
        warm.append(round_trip(len(warm)))
    typical = sorted(warm)[len(warm) // 2]
    count = max(LEAST, min(MOST, int(seconds * 1e9 / typical)))
    return [round_trip(len(warm) + i) for i in range(count)]


def summary(times_ns: Sequence[int], ways: int) -> dict[str, float]:
    """Returns percentiles in microseconds. `ways` of a round trip are in each time: 2 gives the time of one way."""
    times = sorted(times_ns)
    shares = {"p50_us": 0.5, "p99_us": 0.99, "p999_us": 0.999}
    found = {name: times[min(len(times) - 1, int(len(times) * share))] / ways / 1000 for name, share in shares.items()}
    return {**found, "max_us": times[-1] / ways / 1000}
