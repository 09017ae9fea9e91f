"""Sends the samples of many topics at a fixed rate, from one thread."""

from __future__ import annotations

import heapq
import random
import time
from array import array
from multiprocessing.connection import Connection
from typing import Any, Protocol

from arrivals import sample

LONGEST_SLEEP_S = 0.05


class Stream(Protocol):
    repeat_at: float
    """When repeat() is due, on the monotonic clock; inf: never."""

    def send(self, payload: bytes) -> None: ...

    def repeat(self) -> None: ...


class Pacer:
    """The first samples are spread over one period. What is late is sent once, not made up for."""

    def __init__(self, streams: list[Any], rate: float, size: int) -> None:
        self._streams, self._period, self._size = streams, 1.0 / rate, size
        self._numbers = [0] * len(streams)
        self._sent = array("q")
        self._announced = False
        now = time.monotonic()
        self._due = [(now + random.random() * self._period, index, False) for index in range(len(streams))]
        heapq.heapify(self._due)

    def run(self, line: Connection) -> None:
        """Says "sending" when each topic has sent a sample. Answers (begin, end) with the number of samples sent then,
        and ends at None."""
        while True:
            wait = min(LONGEST_SLEEP_S, max(0.0, self._due[0][0] - time.monotonic()))
            if line.poll(wait):
                asked = line.recv()
                if asked is None:
                    return
                begin, end = asked
                line.send(sum(begin <= each < end for each in self._sent))
            self._send_what_is_due()
            if not self._announced and all(self._numbers):
                self._announced = True
                line.send("sending")

    def _send_what_is_due(self) -> None:
        now = time.monotonic()
        while self._due[0][0] <= now:
            due, index, is_repetition = heapq.heappop(self._due)
            stream = self._streams[index]
            if is_repetition:
                if stream.repeat_at > now:  # a newer sample has moved it
                    continue
                stream.repeat()
            else:
                self._numbers[index] += 1
                sent_ns = time.monotonic_ns()
                self._sent.append(sent_ns)
                stream.send(sample(self._numbers[index], sent_ns, self._size))
                heapq.heappush(self._due, (max(due + self._period, now), index, False))
            if stream.repeat_at != float("inf"):
                heapq.heappush(self._due, (stream.repeat_at, index, True))
