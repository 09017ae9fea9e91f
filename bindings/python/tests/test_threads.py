"""Other threads go on while one waits; several may wait; closing ends the waits."""

from __future__ import annotations

import gc
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any, List

import pytest

from support import run_python


def test_a_waiting_thread_leaves_the_gil_to_others(backend: Any, link: Any) -> None:
    publisher, subscriber = link(backend)
    got: List[bytes] = []
    thread = threading.Thread(target=lambda: got.append(bytes(subscriber.recv_msg(-1))))
    thread.start()
    counted = 0
    while counted < 1_000_000:  # would never end if the waiting thread held the GIL
        counted += 1
    publisher.send_msg(b"now")
    thread.join(20)
    assert got == [b"now"]


def test_each_sample_goes_to_one_of_several_threads(backend: Any, link: Any) -> None:
    publisher, subscriber = link(backend, conflate=0, depth=1000)
    got: List[int] = []

    def receive() -> None:
        while (message := subscriber.recv_msg(-1)) is not None:
            number = int(bytes(message))
            if number < 0:
                return
            got.append(number)

    threads = [threading.Thread(target=receive) for _ in range(4)]
    for thread in threads:
        thread.start()
    for number in range(400):
        publisher.send_msg(b"%d" % number)
    for _ in threads:
        publisher.send_msg(b"-1")
    for thread in threads:
        thread.join(20)
    assert sorted(got) == list(range(400))


def test_many_threads_send_on_one_topic(backend: Any, link: Any) -> None:
    publisher, subscriber = link(backend, conflate=0, depth=1000)

    def send(first: int) -> None:
        for number in range(first, first + 100):
            publisher.send_msg(b"%d" % number)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(send, range(0, 400, 100)))
    messages = [subscriber.recv_msg(20000) for _ in range(400)]
    assert sorted(int(bytes(message)) for message in messages) == list(range(400))
    assert [message.sequence for message in messages] == list(range(1, 401))


@pytest.mark.parametrize("way", ["close", "release_topic", "by name"])
def test_closing_ends_the_waits(backend: Any, broker: Any, way: str) -> None:
    participant = backend.Participant()
    subscriber = participant.request_topic("t")
    outcomes: List[BaseException] = []
    begun = threading.Barrier(5)

    def wait(number: int) -> None:
        begun.wait()
        try:
            if way == "by name":
                participant.recv_msg("t", -1)
            else:
                (subscriber.recv_msg, subscriber.recv_next, subscriber.wait_connected)[number % 3](-1)
        except backend.Closed as error:
            outcomes.append(error)

    threads = [threading.Thread(target=wait, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    begun.wait()
    if way == "release_topic":
        participant.release_topic("t")
    else:
        participant.close()
    for thread in threads:
        thread.join(20)
    participant.close()
    assert len(outcomes) == 4


def test_participants_come_and_go_on_many_threads(backend: Any, broker: Any) -> None:
    def once(number: int) -> bytes:
        with backend.Participant() as participant:
            publisher = participant.register_topic(f"t{number}")
            subscriber = participant.request_topic(f"t{number}", connected_within_ms=20000)
            publisher.send_msg(b"x")
            return bytes(subscriber.recv_msg(20000))

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(once, range(12))) == [b"x"] * 12


def test_on_message(backend: Any, link: Any, caplog: Any) -> None:
    publisher, subscriber = link(backend, conflate=0, depth=100)
    seen: List[bytes] = []
    complete = threading.Event()

    def take(message: Any) -> None:
        seen.append(bytes(message))
        if len(seen) == 2:
            raise RuntimeError("from the callback")
        if len(seen) == 5:
            complete.set()

    with subscriber.on_message(take) as callback:
        for number in range(5):
            publisher.send_msg(b"%d" % number)
        assert complete.wait(20)
        callback.stop()
    assert seen == [b"0", b"1", b"2", b"3", b"4"]
    assert "from the callback" in caplog.text
    publisher.send_msg(b"after")
    assert bytes(subscriber.recv_msg(20000)) == b"after"


def test_a_callback_may_stop_itself_and_ends_with_the_subscription(backend: Any, link: Any) -> None:
    publisher, subscriber = link(backend)
    stopped = threading.Event()

    def once(message: Any) -> None:
        callback.stop()
        stopped.set()

    callback = subscriber.on_message(once)
    publisher.send_msg(b"x")
    assert stopped.wait(20)
    callback.stop()
    with pytest.raises(TypeError):
        subscriber.on_message(None)

    with backend.Participant() as participant:
        ended = participant.request_topic("u").on_message(lambda message: None)
    ended._thread.join(20)
    assert not ended._thread.is_alive()
    ended.stop()


def test_a_callback_over_shm_does_not_hoard_messages(native: Any, link: Any) -> None:
    publisher, subscriber = link(native, "shm", conflate=0, depth=100, max_messages=1)
    seen: List[int] = []
    complete = threading.Event()

    def take(message: Any) -> None:
        seen.append(int(bytes(message)))
        if seen[-1] == 19:
            complete.set()

    with subscriber.on_message(take):
        for number in range(20):
            publisher.send_msg(b"%d" % number)
        assert complete.wait(20)
    assert seen == list(range(20))


def test_closing_while_others_ask(native: Any, broker: Any) -> None:
    """Whoever lets go of the participant last does so without the GIL, which its log waits for."""
    code = """
    import faulthandler, sys, threading, time
    import orc
    faulthandler.dump_traceback_later(40, exit=True)
    sys.setswitchinterval(1e-6)

    def ask(what):
        try:
            while True:
                what()
        except orc.Closed:
            pass

    ends = time.monotonic() + 4
    while time.monotonic() < ends:
        participant = orc.Participant(log=lambda level, text: time.sleep(0.0001), broker_timeout_ms=50)
        threads = [threading.Thread(target=ask, args=(lambda: participant.broker_endpoint,)) for _ in range(2)]
        for thread in threads:
            thread.start()
        time.sleep(0.002)
        participant.close()
        for thread in threads:
            thread.join()
    print("ended")
    """
    assert run_python(code).stdout == "ended\n"


@pytest.mark.parametrize("kept", ["none", "publisher", "subscriber", "loan"])
def test_who_logs_to_itself_is_collected_with_its_handles(native: Any, broker: Any, kept: str) -> None:
    class Node:
        def __init__(self) -> None:
            self.broker = native.Participant(log=self.on_log)
            self.publisher = self.broker.register_topic("t")
            self.subscriber = self.broker.request_topic("t")
            self.loan = self.publisher.loan(4)
            for name in ("publisher", "subscriber", "loan"):
                if name != kept:
                    delattr(self, name)

        def on_log(self, level: str, text: str) -> None:
            pass

    gone = weakref.ref(Node())
    gc.collect()
    assert gone() is None
