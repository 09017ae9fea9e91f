"""What is sent and what arrives is counted once, and in the window in which it was sent."""

import multiprocessing
import threading
import time

import pytest
from arrivals import LEAST_BYTES, Arrivals, sample
from pacer import Pacer

WAIT_S = 30.0


def test_counts_each_sample_once():
    arrivals = Arrivals(expected=2)
    for key, number in (("a", 1), ("a", 1), ("a", 2), ("b", 5), ("a", 1)):
        arrivals.add(key, sample(number, 100 + number, 64))
    arrivals.add("a", b"x" * (LEAST_BYTES - 1))
    found = arrivals.between(0, 1 << 62)
    assert (found["count"], found["repeated"], found["malformed"]) == (3, 2, 1)


def test_takes_those_that_were_sent_in_the_window():
    arrivals, now = Arrivals(expected=1), time.monotonic_ns()
    for number in range(1, 11):
        arrivals.add("a", sample(number, now - number, LEAST_BYTES))
        arrivals.add("b", sample(number, now - number, LEAST_BYTES))
    found = arrivals.between(now - 5, now - 2)  # 5, 4 and 3 of both
    assert found["count"] == 6
    assert 0 < found["p50_ms"] <= found["p99_ms"] <= found["max_ms"]
    assert "p50_ms" not in arrivals.between(0, 1)


def test_knows_when_all_topics_have_sent():
    arrivals = Arrivals(expected=2)
    arrivals.add("a", sample(1, 0, LEAST_BYTES))
    assert arrivals.wait_until_known(0.0) == 1
    assert arrivals.known_at_ns == 0
    arrivals.add("b", sample(1, 0, LEAST_BYTES))
    assert arrivals.wait_until_known(0.0) == 2
    assert arrivals.known_at_ns > 0


class Stream:
    """Repeats a sample once, at once. Never after the last one."""

    def __init__(self, last=0):
        self.repeat_at = float("inf")
        self.heard, self.repeated, self._last = [], [], last
        self.done = threading.Event()

    def send(self, payload):
        self.heard.append(payload)
        self.repeat_at = time.monotonic()
        if self._last and len(self.heard) >= self._last:
            self.done.set()

    def repeat(self):
        self.repeated.append(self.heard[-1])
        self.repeat_at = float("inf")


@pytest.fixture
def pacing():
    """Runs a pacer in a thread, which ends with the test."""
    here, there = multiprocessing.Pipe()
    threads = []

    def start(streams, rate, size):
        threads.append(threading.Thread(target=Pacer(streams, rate, size).run, args=(there,)))
        threads[0].start()
        return here

    yield start
    here.send(None)
    threads[0].join(WAIT_S)
    assert not threads[0].is_alive()


def test_sends_each_topic_and_says_so(pacing):
    streams = [Stream(), Stream(last=5)]
    line = pacing(streams, rate=200.0, size=40)
    assert line.poll(WAIT_S) and line.recv() == "sending"
    assert all(each.heard for each in streams)
    assert streams[1].done.wait(WAIT_S)
    line.send((0, time.monotonic_ns()))
    assert line.poll(WAIT_S) and line.recv() >= 6
    line.send((0, 1))
    assert line.poll(WAIT_S) and line.recv() == 0
    arrivals = Arrivals(expected=1)
    for each in streams[1].heard[:5]:
        assert len(each) == 40
        arrivals.add("a", each)
    assert arrivals.between(0, 1 << 62)["count"] == 5


def test_repeats_what_asks_for_it(pacing):
    stream = Stream(last=4)
    pacing([stream], rate=100.0, size=LEAST_BYTES)
    assert stream.done.wait(WAIT_S)
    assert stream.repeated
    assert len(stream.repeated) <= len(stream.heard)
    assert len(set(stream.repeated)) == len(stream.repeated)
