"""A stream for tests of predictive waiting: regular, irregular, paused."""

from __future__ import annotations

import itertools
import threading
import time
from typing import Any, Callable, Iterable

PERIOD_MS = 20
WIDE = {"wait": "predictive", "cpu_budget": 1.0}  # also predicts what a loaded machine sends up to a period late
# Its period is found to be 180 ms, and a sample is watched for during 160 of them.
LONG_WATCH_MS = (20, 180)


class Stream:
    """Sends from a thread while the `with` block runs. The intervals count from the beginning: delays do not add up."""

    def __init__(self, publisher: Any, intervals_ms: Iterable[float] = (PERIOD_MS,)) -> None:
        self._publisher, self._intervals_ms = publisher, intervals_ms
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Stream:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join(20)

    def _run(self) -> None:
        due = time.monotonic()
        for interval_ms in itertools.cycle(self._intervals_ms):
            self._publisher.send_msg(b"sample")
            due += interval_ms / 1000
            if self._stopped.wait(max(0.0, due - time.monotonic())):
                return


def receive_until(true: Callable[[], bool], receive: Callable[[int], Any], seconds: float = 60) -> None:
    """Receives samples until the condition holds after one; fails the test after `seconds`."""
    ends = time.monotonic() + seconds
    while True:
        assert receive(20_000) is not None
        if true():
            return
        assert time.monotonic() < ends, f"not true within {seconds} s"
