"""wait="predictive": what it learns, when it does not watch, and what ends its waits."""

from __future__ import annotations

import asyncio
import threading
from typing import Any, List

import pytest

from predictive_stream import LONG_WATCH_MS, PERIOD_MS, WIDE, Stream, receive_until
from support import run_python, wait_until


def test_options(backend: Any, broker: Any) -> None:
    with backend.Participant() as participant:
        for wrong, sentence in (
            ({"wait": "guess"}, "wait is block or predictive, not guess"),
            ({"wait": ""}, "wait is block or predictive"),
            *(
                ({"cpu_budget": share}, "cpu_budget is a share of a core: above 0 and at most 1")
                for share in (0, -0.1, 1.01, 2, float("nan"), float("inf"))
            ),
            ({"spin_us": 1_000_001}, r"spin(_us)? is 0 to 1000"),
        ):
            with pytest.raises(backend.BadArgument, match=sentence):
                participant.request_topic("t", **wrong)
        for wrong in ({"wait": None}, {"wait": True}, {"cpu_budget": "0.1"}, {"cpu_budget": None}):
            with pytest.raises(TypeError):
                participant.request_topic("t", **wrong)
        subscriber = participant.request_topic("t", wait="predictive", cpu_budget=1)
        assert subscriber.link.prediction == backend.PredictionInfo(0, 0, 0, 0, 0)


def test_a_second_request_names_the_same_or_nothing(backend: Any, broker: Any) -> None:
    with backend.Participant() as participant:
        first = participant.request_topic("t", wait="predictive", cpu_budget=0.2, spin_us=7)
        assert participant.request_topic("t") is first
        assert participant.request_topic("t", wait="predictive", cpu_budget=0.2, spin_us=7) is first
        for other in ({"cpu_budget": 0.3}, {"spin_us": 8}):
            with pytest.raises(backend.BadArgument, match="other options"):
                participant.request_topic("t", **other)
        participant.request_topic("u")
        with pytest.raises(backend.BadArgument, match="other options"):
            participant.request_topic("u", wait="predictive")


@pytest.mark.parametrize("transport", ["inproc", "ipc", "tcp", "shm"])
def test_samples_of_a_periodic_stream_are_watched_for(native: Any, link: Any, transport: str) -> None:
    publisher, subscriber = link(native, transport, **WIDE)
    with Stream(publisher):
        receive_until(lambda: subscriber.link.prediction.hits >= 5, subscriber.recv_msg)
        receive_until(lambda: subscriber.link.prediction.hits >= 10, subscriber.recv_next)
    found = subscriber.link.prediction
    assert found.watched_ns > 0
    assert 0.5 < found.period_ns / (PERIOD_MS * 1_000_000) < 2


def test_in_order_every_sample_comes(native: Any, link: Any) -> None:
    publisher, subscriber = link(native, conflate=0, depth=10_000, **WIDE)
    sequences: List[int] = []

    def receive(timeout_ms: int) -> Any:
        message = subscriber.recv_msg(timeout_ms)
        sequences.append(message.sequence)
        return message

    with Stream(publisher):
        receive_until(lambda: subscriber.link.prediction.hits >= 5, receive)
    assert sequences == list(range(1, len(sequences) + 1))


def test_when_the_stream_stops_so_does_the_watching(native: Any, link: Any) -> None:
    publisher, subscriber = link(native, **WIDE)
    hits = [0]
    for _ in range(2):  # and both begin again
        with Stream(publisher):
            receive_until(lambda: subscriber.link.prediction.hits > hits[-1], subscriber.recv_msg)
        while subscriber.recv_msg(200) is not None:
            pass
        stopped = subscriber.link.prediction
        assert stopped.watched_ns > 0
        assert subscriber.recv_msg(200) is None
        assert subscriber.link.prediction == stopped
        hits.append(stopped.hits)


def test_a_stream_without_a_period_is_not_watched_for(backend: Any, link: Any) -> None:
    publisher, subscriber = link(backend, conflate=0, depth=1000, wait="predictive")
    with Stream(publisher, (1, 30, 5, 50, 2)):
        for number in range(1, 80):
            assert subscriber.recv_msg(20_000).sequence == number
    found = subscriber.link.prediction
    assert (found.hits, found.misses, found.watched_ns) == (0, 0, 0)


@pytest.mark.parametrize("transport", ["ipc", "shm"])
def test_an_early_sample_ends_the_sleep(native: Any, link: Any, transport: str) -> None:
    """A sample that a thread finds only after its sleep is counted as a hit, or as none."""
    publisher, subscriber = link(native, transport, wait="predictive", cpu_budget=0.5)
    with Stream(publisher, [PERIOD_MS] * 19 + [PERIOD_MS / 4]):
        receive_until(lambda: subscriber.link.prediction.early > 0, subscriber.recv_msg)


def test_other_threads_run_while_one_watches(native: Any, link: Any) -> None:
    publisher, subscriber = link(native, "shm", **WIDE)
    counted, ended = 0, False

    def count() -> None:
        nonlocal counted
        while not ended:
            counted += 1

    thread = threading.Thread(target=count)
    thread.start()
    during = 0
    with Stream(publisher, LONG_WATCH_MS):

        def receive(timeout_ms: int) -> Any:
            nonlocal during
            before, hits = counted, subscriber.link.prediction.hits
            message = subscriber.recv_msg(timeout_ms)
            during = counted - before if subscriber.link.prediction.hits > hits else 0
            return message

        receive_until(lambda: during > 0, receive)
    ended = True
    thread.join(20)


def test_a_release_ends_the_watching(native: Any, broker: Any) -> None:
    with native.Participant() as sender, native.Participant() as receiver:
        publisher = sender.register_topic("t")
        subscriber = receiver.request_topic("t", connected_within_ms=20000, **WIDE)
        ends: List[BaseException] = []

        def receive() -> None:
            try:
                while subscriber.recv_msg(-1) is not None:
                    pass
            except native.Closed as error:
                ends.append(error)

        thread = threading.Thread(target=receive)
        thread.start()
        with Stream(publisher, LONG_WATCH_MS):
            wait_until(lambda: subscriber.link.prediction.hits > 0)
            receiver.release_topic("t")
            thread.join(20)
        assert len(ends) == 1


INTERRUPTED = """
import signal, sys, time
sys.path.insert(0, {tests!r})
from predictive_stream import LONG_WATCH_MS, WIDE, Stream, receive_until
import orc

inside = False  # a late signal is none of the receive

def interrupt(*_):
    if inside:
        raise KeyboardInterrupt

def ended_by_a_signal():
    # In the state that is asked for, and not at its end.
    global inside
    before = subscriber.link.prediction
    signal.setitimer(signal.ITIMER_REAL, after_s)
    try:
        inside = True
        subscriber.recv_msg(-1)
        inside = False
        return False  # a sample was faster
    except KeyboardInterrupt:
        inside = False
        now = subscriber.link.prediction
        return (now.watched_ns > before.watched_ns) == watching and now.misses == before.misses
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)

signal.signal(signal.SIGALRM, interrupt)
watching = sys.argv[1] == "watching"
after_s, intervals_ms = (0.1, LONG_WATCH_MS) if watching else (0.005, (100,))
with orc.Participant() as participant:
    publisher = participant.register_topic("t", transports="shm")
    subscriber = participant.request_topic("t", connected_within_ms=20000, **WIDE)
    with Stream(publisher, intervals_ms):
        receive_until(lambda: subscriber.link.prediction.hits > 0, subscriber.recv_msg)
        ends = time.monotonic() + 60
        while not ended_by_a_signal():
            assert time.monotonic() < ends
print("interrupted")
"""


@pytest.mark.parametrize("state", ["watching", "asleep"])
def test_a_signal_ends(native: Any, broker: Any, state: str) -> None:
    from support import PACKAGE

    code = INTERRUPTED.format(tests=str(PACKAGE / "tests"))
    assert run_python(code, state, timeout=110).stdout == "interrupted\n"


def test_an_event_loop_waits_as_ever(backend: Any, link: Any) -> None:
    publisher, subscriber = link(backend, **WIDE)

    async def receive() -> None:
        for _ in range(40):
            assert await asyncio.wait_for(subscriber.recv(), 20)

    with Stream(publisher):
        asyncio.run(receive())
    found = subscriber.link.prediction
    assert (found.hits, found.watched_ns) == (0, 0)


def test_no_effect_on_shared_topics(native: Any, link: Any) -> None:
    publisher, subscriber = link(native, register={"shared": True}, **WIDE)
    with Stream(publisher):
        for _ in range(40):
            assert subscriber.recv_msg(20_000) is not None
    assert subscriber.link.prediction == native.PredictionInfo()


def test_the_pure_backend_sleeps_as_with_block(link: Any) -> None:
    import orc.pure

    publisher, subscriber = link(orc.pure, **WIDE)
    with Stream(publisher):
        for _ in range(40):
            assert subscriber.recv_msg(20_000) is not None
    assert subscriber.link.prediction == orc.pure.PredictionInfo()


def test_the_directory_shows_it(native: Any, backend: Any, link: Any) -> None:
    publisher, subscriber = link(native, **WIDE)
    with backend.Directory() as directory, Stream(publisher):

        def reported() -> Any:
            (state,) = directory.describe("t").subscriptions
            return state.counters

        receive_until(lambda: subscriber.link.prediction.hits > 0, subscriber.recv_msg)
        shown = wait_until(lambda: (c := reported()) and c.prediction and c.prediction.hits and c.prediction)
        assert isinstance(shown, backend.PredictionInfo)
        assert shown.period_ns > 0 and shown.watched_ns > 0


def test_the_directory_shows_none_of_a_receiver_that_blocks(native: Any, backend: Any, link: Any) -> None:
    link(native)
    with backend.Directory() as directory:
        counters = wait_until(lambda: directory.describe("t").subscriptions[0].counters)
        assert counters.prediction is None
