"""Does a thread that receives hold up one that computes, and the other way round?"""

from __future__ import annotations

import statistics
import sys
import threading
import time
from typing import Any

INTERVALS = {
    "usual_interval": 0.005,
    "short_interval": 0.0002,
}  # seconds that a thread may go on when another one wants to
REPETITIONS = 5


def computing_rate(seconds: float) -> float:
    """Rounds per second of a loop of pure Python."""
    rounds = 0
    start = time.perf_counter()
    until = start + seconds
    while time.perf_counter() < until:
        for value in range(1000):
            rounds += value & 1
    return rounds / (time.perf_counter() - start)


class Receiver:
    """A thread that waits for samples all the time, and notes how old they are when it has them (microseconds)."""

    def __init__(self, subscriber: Any) -> None:
        self._subscriber = subscriber
        self._stop = threading.Event()
        self.ages_us: list[float] = []
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> "Receiver":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.is_set():
            message = self._subscriber.recv_msg(100)
            if message is not None:
                self.ages_us.append(message.age_ns / 1000)


def stalls(broker: Any, topic: str, seconds: float) -> dict[str, Any]:
    """`topic` is published by another process, at a steady rate. Medians of interleaved repetitions."""
    subscriber = broker.request_topic(topic, connected_within_ms=10_000)
    silent = broker.request_topic(topic + "/silent")
    waiting: list[float] = []
    speeds: dict[str, list[float]] = {name: [] for name in INTERVALS}
    ages: dict[str, list[float]] = {name: [] for name in INTERVALS}
    usual = sys.getswitchinterval()
    for _ in range(REPETITIONS):
        alone = computing_rate(seconds)
        with Receiver(silent):
            waiting.append(computing_rate(seconds) / alone)
        for name, interval in INTERVALS.items():
            sys.setswitchinterval(interval)
            with Receiver(subscriber) as receiver:
                speeds[name].append(computing_rate(seconds) / alone)
            ages[name] += receiver.ages_us
        sys.setswitchinterval(usual)
    found: dict[str, Any] = {"waiting": statistics.median(waiting)}
    for name, of_samples in ages.items():
        of_samples.sort()
        found[name] = {
            "speed": statistics.median(speeds[name]),
            "age_p50_us": of_samples[len(of_samples) // 2],
            "age_p99_us": of_samples[len(of_samples) * 99 // 100],
        }
    return found
