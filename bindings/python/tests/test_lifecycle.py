"""Who comes, goes, dies and comes back: registrations, brokers, processes. For both backends."""

from __future__ import annotations

import os
import threading
import time
from types import ModuleType
from typing import Any

import pytest

from support import BrokerProcess, run_python, start_python, wait_until

PUBLISHER = """
    import importlib, sys
    orc = importlib.import_module(sys.argv[1])
    participant = orc.Participant(name="child")
    publisher = participant.register_topic(sys.argv[2])
    for line in sys.stdin:
        publisher.send_msg(line.strip().encode())
        print("sent", flush=True)
"""


class Child:
    """A publisher in a process of its own."""

    def __init__(self, backend: ModuleType, topic: str) -> None:
        self.process = start_python(PUBLISHER, backend.__name__, topic)

    def send(self, text: str) -> None:
        """Returns when it is sent."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "sent\n", self.process.communicate(timeout=20)[1]

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate(timeout=20)


def next_from(subscriber: Any, sequence: int, data: bytes) -> None:
    """Waits for this sample of the current publication."""
    got = wait_until(
        lambda: (m := subscriber.recv_msg(1000)) is not None and bytes(m) == data and (m.sequence, bytes(m))
    )
    assert got == (sequence, data)


def test_a_publisher_is_killed_and_restarted(backend: ModuleType, broker: BrokerProcess) -> None:
    with backend.Participant() as participant:
        subscriber = participant.request_topic("t")
        for life in range(3):
            child = Child(backend, "t")
            for number in range(1, 4):
                child.send(f"{life}.{number}")
            next_from(subscriber, 3, f"{life}.3".encode())
            assert subscriber.connected
            child.kill()
            wait_until(lambda: not subscriber.connected)


def test_the_last_sample_before_a_kill_is_kept(backend: ModuleType, broker: BrokerProcess) -> None:
    with backend.Participant() as participant:
        subscriber = participant.request_topic("t")
        child = Child(backend, "t")
        assert subscriber.wait_connected(20_000)
        child.send("last words")
        wait_until(lambda: (m := participant.recv_msg("t", 1000)) is not None and bytes(m) == b"last words")
        child.kill()
        wait_until(lambda: not subscriber.connected)
        assert subscriber.recv_msg(0) is None


def test_streams_go_on_without_the_broker_and_it_learns_all_again(backend: ModuleType, broker: BrokerProcess) -> None:
    with backend.Participant() as one, backend.Participant() as two, backend.Participant() as three:
        publisher = one.register_topic("t")
        subscriber = two.request_topic("t", conflate=0, depth=1000, connected_within_ms=20_000)
        sequence = 0

        def stream(count: int) -> None:
            nonlocal sequence
            for _ in range(count):
                publisher.send_msg(b"x")
                sequence += 1
                message = subscriber.recv_msg(20_000)
                assert message is not None and (message.sequence, message.missed) == (sequence, 0)

        stream(20)
        for _ in range(2):
            broker.kill()
            stream(20)
            broker.start()
            late = three.request_topic("t", connected_within_ms=20_000)
            assert late.recv_msg(20_000).sequence == sequence
            stream(20)
            three.release_topic("t")
        assert subscriber.connected


def test_the_broker_is_away_while_both_ends_come(backend: ModuleType, broker: BrokerProcess) -> None:
    broker.kill()
    with backend.Participant(broker_timeout_ms=100) as one, backend.Participant(broker_timeout_ms=100) as two:
        with pytest.raises(backend.NoBroker) as raised:
            one.register_topic("t")
        assert raised.value.code == "no_broker" and "orc-broker" in str(raised.value)
        with pytest.raises(backend.NoBroker):
            two.request_topic("t")
        one.send_msg("t", b"early")
        assert one.broker_endpoint == ""
        broker.start()
        assert bytes(two.recv_msg("t", 20_000)) == b"early"
        assert two.subscriber("t").connected
        one.register_topic("t")
        assert one.broker_endpoint == broker.endpoint


def test_a_publisher_dies_with_the_broker_and_both_come_back(backend: ModuleType, broker: BrokerProcess) -> None:
    with backend.Participant() as participant:
        subscriber = participant.request_topic("t")
        child = Child(backend, "t")
        child.send("one")
        next_from(subscriber, 1, b"one")
        broker.kill()
        child.kill()
        broker.start()
        child = Child(backend, "t")
        child.send("two")
        next_from(subscriber, 1, b"two")
        child.kill()


def test_a_name_is_taken_until_its_owner_lets_go(backend: ModuleType, broker: BrokerProcess) -> None:
    with backend.Participant(name="first owner") as one, backend.Participant() as two:
        one.register_topic("t")
        with pytest.raises(backend.NameTaken) as raised:
            two.register_topic("t")
        assert raised.value.code == "name_taken" and "first owner" in str(raised.value)
        with pytest.raises(backend.NotRegistered):
            two.publisher("t")
        one.unregister_topic("t")
        two.register_topic("t").send_msg(b"mine")
        with pytest.raises(backend.NameTaken):
            one.register_topic("t")


def test_a_name_of_a_killed_process_is_free_at_once(backend: ModuleType, broker: BrokerProcess) -> None:
    child = Child(backend, "t")
    child.send("x")
    child.kill()
    with backend.Participant() as participant:
        participant.register_topic("t").send_msg(b"mine")
        subscriber = participant.request_topic("t", connected_within_ms=20_000)
        assert bytes(subscriber.recv_msg(20_000)) == b"mine"


def test_a_name_may_be_taken_when_the_broker_comes(backend: ModuleType, broker: BrokerProcess) -> None:
    """Two register without a broker; the one that comes refuses one of them, who learns it by registering again."""
    broker.kill()
    with backend.Participant(broker_timeout_ms=50) as one, backend.Participant(broker_timeout_ms=50) as two:
        for participant in (one, two):
            with pytest.raises(backend.NoBroker):
                participant.register_topic("t")
        broker.start()

        def outcome(participant: Any) -> str:
            try:
                participant.register_topic("t")
                return "holds it"
            except backend.Error as error:
                return str(error.code)

        def settled() -> Any:
            outcomes = sorted(outcome(participant) for participant in (one, two))
            return "no_broker" not in outcomes and outcomes

        assert wait_until(settled) == ["holds it", "name_taken"]


def test_unregister(backend: ModuleType, broker: BrokerProcess) -> None:
    with backend.Participant() as one, backend.Participant() as two:
        publisher = one.register_topic("t")
        subscriber = two.request_topic("t", connected_within_ms=20_000)
        publisher.send_msg(b"last")
        one.unregister_topic("t")
        with pytest.raises(backend.Closed):
            publisher.send_msg(b"")
        with pytest.raises(backend.NotRegistered):
            one.send_msg("t", b"")
        with pytest.raises(backend.NotRegistered):
            one.unregister_topic("t")
        assert bytes(subscriber.recv_msg(20_000)) == b"last", "what was sent before arrives"
        wait_until(lambda: not subscriber.connected)
        one.register_topic("t").send_msg(b"again")
        message = subscriber.recv_msg(20_000)
        assert (bytes(message), message.sequence, message.missed) == (b"again", 1, 0)


def test_release_wakes_who_waits(backend: ModuleType, broker: BrokerProcess) -> None:
    with backend.Participant() as one, backend.Participant() as two:
        publisher = one.register_topic("t")
        subscriber = two.request_topic("t", connected_within_ms=20_000)
        raised = []

        def wait() -> None:
            try:
                subscriber.recv_msg(-1)
            except backend.Error as error:
                raised.append(error)

        threads = [threading.Thread(target=wait) for _ in range(3)]
        for thread in threads:
            thread.start()
        wait_until(lambda: publisher.readers == 1)
        two.release_topic("t")
        for thread in threads:
            thread.join(20)
        assert [error.code for error in raised] == ["closed"] * 3
        with pytest.raises(backend.NotRequested):
            two.release_topic("t")
        wait_until(lambda: publisher.readers == 0)


def test_a_program_without_close_says_goodbye(backend: ModuleType, broker: BrokerProcess) -> None:
    child = Child(backend, "t")
    child.send("x")
    assert child.process.communicate(timeout=20)[1] == "", "ends quietly"
    assert child.process.returncode == 0
    with backend.Participant() as participant:
        participant.register_topic("t")


WAITS = """
    import atexit, importlib, sys, threading
    threads = []
    atexit.register(lambda: [each.join(20) for each in threads])  # the first one runs last: they say what they have to
    orc = importlib.import_module(sys.argv[1])
    participant = orc.Participant()
    subscriber = participant.request_topic("t")
    directory = orc.Directory()
    watch = directory.watch("**")
    begun = threading.Barrier(4)
    def wait(call):
        begun.wait()
        call()
    for call in (lambda: subscriber.recv_msg(-1), lambda: subscriber.recv(-1), lambda: watch.next_change(-1)):
        threads.append(threading.Thread(target=wait, args=(call,), daemon=True))
        threads[-1].start()
    begun.wait()
"""


def test_threads_that_wait_at_the_end_of_a_program_say_nothing(backend: ModuleType, broker: BrokerProcess) -> None:
    assert run_python(WAITS, backend.__name__).stderr == ""


def test_close(backend: ModuleType, broker: BrokerProcess) -> None:
    participant = backend.Participant()
    publisher = participant.register_topic("t")
    subscriber = participant.request_topic("t", connected_within_ms=20_000)
    before = time.monotonic()
    participant.close()
    participant.close()
    assert time.monotonic() - before < 10
    for call in (
        lambda: publisher.send_msg(b""),
        lambda: subscriber.recv_msg(0),
        lambda: subscriber.wait_connected(0),
        lambda: participant.register_topic("t"),
        lambda: participant.request_topic("t"),
        lambda: participant.send_msg("t", b""),
        lambda: participant.recv_msg("t", 0),
    ):
        with pytest.raises(backend.Closed):
            call()
    with backend.Participant() as next_one:
        next_one.register_topic("t")


def test_setting_up_again_with_other_options_is_refused(backend: ModuleType, broker: BrokerProcess) -> None:
    with backend.Participant() as participant:
        participant.register_topic("t")
        participant.request_topic("t", conflate=0, depth=5)
        participant.register_topic("t")
        participant.request_topic("t", conflate=0, depth=5)
        with pytest.raises(backend.BadArgument):
            participant.register_topic("t", transports="tcp")
        with pytest.raises(backend.BadArgument):
            participant.request_topic("t", conflate=0, depth=6)
        participant.request_topic("t")  # names no options


def test_request_times_out_and_stays(backend: ModuleType, broker: BrokerProcess) -> None:
    with backend.Participant() as participant:
        with pytest.raises(backend.TimedOut):
            participant.request_topic("t", connected_within_ms=50)
        subscriber = participant.subscriber("t")
        participant.register_topic("t").send_msg(b"there")
        assert bytes(subscriber.recv_msg(20_000)) == b"there"


def test_topics_that_come_and_go_leave_nothing(backend: ModuleType, broker: BrokerProcess) -> None:
    with backend.Participant(transports="ipc") as participant:

        def use(topic: str) -> int:
            participant.register_topic(topic).send_msg(b"1")
            participant.request_topic(topic, connected_within_ms=20000).recv_msg(20000)
            participant.release_topic(topic)
            participant.unregister_topic(topic)
            return len(os.listdir("/proc/self/fd"))

        before = use("t/0")
        for number in range(1, 30):
            use(f"t/{number}")
        wait_until(lambda: use("t/last") <= before + 5)
