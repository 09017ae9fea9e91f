"""keep_last and max_age_ms, for topics whose samples must not act late, such as commands."""

from __future__ import annotations

import signal
import time
from types import ModuleType
from typing import Any, Iterator

import pytest

from support import BrokerProcess, start_python, wait_until


@pytest.fixture(params=["ipc", "tcp"])
def transport(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def participants(backend: ModuleType, broker: BrokerProcess) -> Iterator[Any]:
    with backend.Participant() as one, backend.Participant() as two, backend.Participant() as three:
        yield one, two, three


def wait_for_age(milliseconds: int) -> None:
    """What was sent before is older then."""
    since = time.time_ns()
    wait_until(lambda: time.time_ns() - since > milliseconds * 1_000_000)


@pytest.mark.parametrize("conflate", [0, 1])
def test_without_keep_last_only_connected_subscribers_receive(participants: Any, transport: str, conflate: int) -> None:
    one, two, three = participants
    publisher = one.register_topic("t", transports=transport, keep_last=False)
    publisher.send_msg(b"before all of them")
    early = two.request_topic("t", transports=transport, conflate=conflate, connected_within_ms=20_000)
    wait_until(lambda: publisher.readers == 1)
    publisher.send_msg(b"for one")
    message = early.recv_msg(20_000)
    assert (bytes(message), message.sequence, message.missed) == (b"for one", 2, 0)
    late = three.request_topic("t", transports=transport, conflate=conflate, connected_within_ms=20_000)
    wait_until(lambda: publisher.readers == 2)
    assert late.recv_msg(100) is None
    publisher.send_msg(b"for both")
    for subscriber in (early, late):
        message = subscriber.recv_msg(20_000)
        assert (bytes(message), message.sequence, message.missed) == (b"for both", 3, 0)


def test_without_keep_last_a_lagging_subscriber_receives_the_newest(participants: Any, transport: str) -> None:
    one, two, _ = participants
    publisher = one.register_topic("t", transports=transport, keep_last=False)
    subscriber = two.request_topic("t", transports=transport, connected_within_ms=20_000)
    wait_until(lambda: publisher.readers == 1)
    for number in range(1, 101):
        publisher.send_msg(bytes([number]) * 500_000)
    wait_until(lambda: (message := subscriber.recv_msg(1000)) is not None and message.sequence == 100)


def test_without_keep_last_a_subscriber_that_starts_again_receives_no_old_command(
    backend: ModuleType, broker: BrokerProcess, transport: str
) -> None:
    """The robot that is restarted must not act on yesterday's command."""
    with backend.Participant() as one:
        publisher = one.register_topic("robot/do", transports=transport, keep_last=False)
        for _ in range(2):
            with backend.Participant() as robot:
                commands = robot.request_topic("robot/do", connected_within_ms=20_000)
                wait_until(lambda: publisher.readers == 1)
                assert commands.recv_msg(50) is None
                publisher.send_msg(b"HOME")
                assert bytes(commands.recv_msg(20_000)) == b"HOME"
            wait_until(lambda: publisher.readers == 0)


def test_samples_that_are_too_old_are_dropped_and_counted(participants: Any, transport: str) -> None:
    one, two, _ = participants
    publisher = one.register_topic("t", transports=transport)
    publisher.send_msg(b"old when it is joined")
    wait_for_age(60)
    subscriber = two.request_topic("t", transports=transport, max_age_ms=50, connected_within_ms=20_000)
    assert subscriber.recv_msg(100) is None
    assert wait_until(lambda: subscriber.link.stale or subscriber.recv_msg(0)) == 1
    while True:  # until the machine is quick enough for one of them
        publisher.send_msg(b"young")
        message = subscriber.recv_msg(40)
        if message is not None:
            break
    assert bytes(message) == b"young" and message.age_ns < 20_000_000_000
    assert message.missed == message.sequence - 1 == subscriber.link.stale


def test_what_waited_in_the_queue_ages_there(participants: Any, transport: str) -> None:
    one, two, _ = participants
    publisher = one.register_topic("t", transports=transport)
    subscriber = two.request_topic(
        "t", transports=transport, conflate=0, depth=10, max_age_ms=200, connected_within_ms=20_000
    )
    wait_until(lambda: publisher.readers == 1)
    for _ in range(3):
        publisher.send_msg(b"old")
    wait_for_age(210)
    assert subscriber.recv_msg(0) is None
    while (message := subscriber.recv_msg(100)) is None:
        publisher.send_msg(b"young")
    assert bytes(message) == b"young"
    assert message.missed == message.sequence - 1 >= 3


def test_a_wait_goes_on_over_old_samples_until_its_end(participants: Any) -> None:
    one, two, _ = participants
    publisher = one.register_topic("t", transports="ipc")
    publisher.send_msg(b"old")
    wait_for_age(20)
    subscriber = two.request_topic("t", max_age_ms=10, connected_within_ms=20_000)
    since = time.monotonic()
    assert subscriber.recv_msg(200) is None
    assert time.monotonic() - since >= 0.19


def test_of_a_publisher_that_was_stopped_only_young_samples_return(backend: ModuleType, broker: BrokerProcess) -> None:
    """The first one after a reconnection, which the broker's and the network's queues may have kept."""
    child = start_python(
        """
        import importlib, sys
        orc = importlib.import_module(sys.argv[1])
        with orc.Participant() as broker:
            publisher = broker.register_topic("t", transports="tcp")
            publisher.send_msg(b"old")
            print("sent", flush=True)
            for line in sys.stdin:
                publisher.send_msg(b"young")
        """,
        "orc" if backend.backend == "native" else "orc.pure",
    )
    try:
        assert child.stdin is not None and child.stdout is not None and child.stdout.readline() == "sent\n"
        child.send_signal(signal.SIGSTOP)
        with backend.Participant() as participant:
            subscriber = participant.request_topic("t", max_age_ms=500)
            wait_for_age(510)
            child.send_signal(signal.SIGCONT)
            assert subscriber.wait_connected(20_000)
            message = None
            while message is None:
                child.stdin.write("\n")
                child.stdin.flush()
                message = subscriber.recv_msg(100)
            assert bytes(message) == b"young"
    finally:
        child.kill()
        child.communicate()


def test_both_options_are_shown_to_the_broker(backend: ModuleType, broker: BrokerProcess) -> None:
    from orc.pure import messages
    from session_peer import ask

    with backend.Participant() as one, backend.Participant() as two:
        publisher = one.register_topic("t", keep_last=False)
        publisher.send_msg(b"x")
        two.request_topic("t", max_age_ms=70)
        told = ask(broker.endpoint, messages.DescribeTopic("t"))
        assert isinstance(told, messages.TopicState) and told.publication is not None
        if (told.publication.keep_last, told.subscriptions[0].max_age_ms) == (True, 0):
            pytest.skip("this broker is older than the two options")
        assert (told.publication.keep_last, told.subscriptions[0].max_age_ms) == (False, 70)


def test_naming_them_again_must_agree(backend: ModuleType, broker: BrokerProcess) -> None:
    with backend.Participant() as participant:
        participant.register_topic("t", keep_last=False)
        participant.register_topic("t", keep_last=False)
        participant.register_topic("t")
        participant.request_topic("t", max_age_ms=50)
        participant.request_topic("t", max_age_ms=50)
        participant.request_topic("t")
        with pytest.raises(backend.BadArgument):
            participant.request_topic("t", max_age_ms=60)
        participant.register_topic("u")
        with pytest.raises(backend.BadArgument):
            participant.register_topic("u", keep_last=False)


def test_values_that_make_no_sense(backend: ModuleType, broker: BrokerProcess) -> None:
    with backend.Participant() as participant:
        with pytest.raises(backend.BadArgument, match="max_age(_ms)? is 0"):
            participant.request_topic("t", max_age_ms=-1)
        for huge in (2**31, -(2**31) - 1, 2**100):
            with pytest.raises((OverflowError, backend.BadArgument)):
                participant.request_topic("t", max_age_ms=huge)
        for wrong in (None, "5", 1.5):
            with pytest.raises(TypeError):
                participant.request_topic("t", max_age_ms=wrong)
        for wrong in (None, "yes", 1):
            with pytest.raises(TypeError):
                participant.register_topic("t", keep_last=wrong)


def test_commands_reach_only_the_connected_and_are_not_old(participants: Any, transport: str) -> None:
    one, two, _ = participants
    publisher = one.register_command("do", transports=transport)
    publisher.send_msg(b"before")
    subscriber = two.request_command("do", 200, transports=transport, connected_within_ms=20_000)
    wait_until(lambda: publisher.readers == 1)
    assert subscriber.recv_msg(50) is None
    publisher.send_msg(b"go")
    assert bytes(subscriber.recv_msg(20_000)) == b"go"
    publisher.send_msg(b"too late")
    wait_for_age(200)
    wait_until(lambda: subscriber.recv_msg(0) is None and subscriber.link.stale == 1)


def test_what_contradicts_a_command(backend: ModuleType, broker: BrokerProcess) -> None:
    with backend.Participant() as participant:
        for wrong in ({"keep_last": True}, {"priority": "bulk"}):
            with pytest.raises(backend.BadArgument):
                participant.register_command("t", **wrong)
        for age in (0, -1):
            with pytest.raises(backend.BadArgument, match="above 0"):
                participant.request_command("t", age)
        with pytest.raises(backend.BadArgument, match="queue of commands"):
            participant.request_command("t", 50, conflate=0)
        participant.register_command("t", transports="ipc", type=dict)
        participant.register_command("u", keep_last=False, priority="control")
