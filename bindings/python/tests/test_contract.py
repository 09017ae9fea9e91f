"""What every backend promises of samples (liborc/include/orc/*.h): newest wins, order, last value, late join."""

from __future__ import annotations

import select
import threading
from types import ModuleType
from typing import Any, Callable, Iterator, List, Tuple

import pytest

from support import BrokerProcess, wait_until

Link = Callable[..., Tuple[Any, Any]]


@pytest.fixture(params=["ipc", "tcp"])
def transport(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def linked(backend: ModuleType, broker: BrokerProcess, transport: str) -> Iterator[Link]:
    """Makes a publisher and a subscriber of a topic in two participants, linked over the transport."""
    participants = [backend.Participant(name=name) for name in ("publisher", "subscriber")]

    def link(topic: str = "t", **options: Any) -> Tuple[Any, Any]:
        publisher = participants[0].register_topic(topic, transports=transport)
        subscriber = participants[1].request_topic(topic, connected_within_ms=20_000, transports=transport, **options)
        assert subscriber.link.transport == transport, subscriber.link
        return publisher, subscriber

    yield link
    for participant in participants:
        participant.close()


def drain(subscriber: Any) -> List[Any]:
    """What is there, at once."""
    got = []
    while (message := subscriber.recv_msg(0)) is not None:
        got.append(message)
    return got


@pytest.mark.parametrize("size", [0, 1, 10, 4096, 65_535, 65_536, 1_000_000, 20_000_000])
def test_a_sample_arrives_as_it_was_sent(linked: Link, size: int) -> None:
    publisher, subscriber = linked()
    payload = bytes(range(256)) * (size // 256 + 1)
    publisher.send_msg(payload[:size])
    message = subscriber.recv_msg(20_000)
    assert bytes(message) == payload[:size]
    assert len(message) == size
    assert message, "an empty sample is a sample"
    assert (message.sequence, message.missed) == (1, 0)
    assert 0 <= message.age_ns < 60_000_000_000


def test_nothing_new_is_none(linked: Link) -> None:
    publisher, subscriber = linked()
    assert subscriber.recv_msg(0) is None
    assert subscriber.recv_msg(20) is None
    publisher.send_msg(b"1")
    assert bytes(subscriber.recv_msg(20_000)) == b"1"
    assert subscriber.recv_msg(0) is None, "a sample is returned once"


def test_newest_wins(linked: Link) -> None:
    publisher, subscriber = linked()
    count = 2000
    for number in range(1, count + 1):
        publisher.send_msg(number.to_bytes(8, "little") * 100)
    last, skipped, received = 0, 0, 0
    while last < count:
        message = subscriber.recv_msg(20_000)
        assert message is not None, f"the newest of {count} never came, only {last}"
        number = int.from_bytes(bytes(message)[:8], "little")
        assert number == message.sequence > last, "an older sample after a newer one"
        assert message.missed == number - last - 1, "what came after the link was there counts"
        skipped, received, last = skipped + message.missed, received + 1, number
    assert subscriber.recv_msg(0) is None


def test_the_queue_has_one_place(linked: Link) -> None:
    publisher, subscriber = linked()
    _, other = linked("marker")
    for number in range(1, 6):
        publisher.send_msg(bytes([number]))
    poll = select.poll()
    poll.register(subscriber.fileno(), select.POLLIN)
    assert poll.poll(20_000)
    newest = wait_until(lambda: next((m for m in drain(subscriber) if m.sequence == 5), None))
    assert bytes(newest) == b"\5"
    assert other.recv_msg(0) is None


def test_a_slow_subscriber_ends_with_the_newest_large_sample(linked: Link) -> None:
    publisher, subscriber = linked()
    for number in range(40):
        publisher.send_msg(bytes([number]) * 3_000_000)
    last = 0
    while last < 40:
        message = subscriber.recv_msg(20_000)
        assert message is not None and message.sequence > last
        last = message.sequence
        assert bytes(message) == bytes([last - 1]) * 3_000_000


def test_in_order_with_conflate_0(linked: Link) -> None:
    publisher, subscriber = linked(conflate=0, depth=3000)
    for number in range(2000):
        publisher.send_msg(str(number).encode())
    for number in range(2000):
        message = subscriber.recv_msg(20_000)
        assert message is not None, f"{number} is missing"
        assert (bytes(message), message.sequence, message.missed) == (str(number).encode(), number + 1, 0)


def test_a_full_queue_drops_the_oldest_and_counts(linked: Link) -> None:
    publisher, subscriber = linked(conflate=0, depth=4)
    publisher.send_msg(b"first")
    assert subscriber.recv_msg(20_000).sequence == 1
    for _ in range(500):
        publisher.send_msg(b"x" * 20_000)
    last, missed = 1, 0
    while last < 501:
        message = subscriber.recv_msg(20_000)
        assert message is not None and message.sequence == last + message.missed + 1
        last, missed = message.sequence, missed + message.missed
    assert missed + 2 <= 501


@pytest.mark.parametrize("conflate", [0, 1])
def test_late_join_gets_the_last_value(
    backend: ModuleType, broker: BrokerProcess, transport: str, conflate: int
) -> None:
    with backend.Participant() as one, backend.Participant() as two:
        publisher = one.register_topic("t", transports=transport)
        for number in range(1, 4):
            publisher.send_msg(bytes([number]))
        subscriber = two.request_topic("t", transports=transport, conflate=conflate)
        message = subscriber.recv_msg(20_000)
        assert (bytes(message), message.sequence, message.missed) == (b"\3", 3, 0)


def test_request_before_register(backend: ModuleType, broker: BrokerProcess, transport: str) -> None:
    with backend.Participant() as one, backend.Participant() as two:
        subscriber = two.request_topic("t", transports=transport)
        assert not subscriber.connected
        assert subscriber.wait_connected(20) is False
        publisher = one.register_topic("t", transports=transport)
        assert subscriber.wait_connected(20_000) is True
        publisher.send_msg(b"hello")
        assert bytes(subscriber.recv_msg(20_000)) == b"hello"


def test_two_subscribers_get_everything_each(linked: Link, backend: ModuleType, transport: str) -> None:
    publisher, first = linked(conflate=0, depth=100)
    with backend.Participant() as another:
        second = another.request_topic("t", conflate=0, depth=100, connected_within_ms=20_000, transports=transport)
        wait_until(lambda: publisher.readers == 2)
        for number in range(50):
            publisher.send_msg(bytes([number]))
        for subscriber in (first, second):
            assert [subscriber.recv_msg(20_000).sequence for _ in range(50)] == list(range(1, 51))
    wait_until(lambda: publisher.readers == 1)


def test_a_stalled_subscriber_holds_up_nobody(linked: Link, backend: ModuleType, transport: str) -> None:
    """Nobody receives at `stalled`; sends neither block nor fail, and the other one gets the newest."""
    publisher, live = linked()
    with backend.Participant() as another:
        stalled = another.request_topic("t", connected_within_ms=20_000, transports=transport)
        wait_until(lambda: publisher.readers == 2)
        for number in range(1, 101):
            publisher.send_msg(bytes([number]) * 500_000)
        wait_until(lambda: (message := live.recv_msg(1000)) is not None and message.sequence == 100)
        wait_until(lambda: (message := stalled.recv_msg(1000)) is not None and message.sequence == 100)


def test_fileno_is_readable_while_a_sample_is_there(linked: Link) -> None:
    publisher, subscriber = linked()
    poll = select.poll()
    poll.register(subscriber.fileno(), select.POLLIN)
    for round_ in range(1, 20):
        publisher.send_msg(b"x")
        got: List[Any] = []
        while not got:
            assert poll.poll(20_000), f"round {round_}: no wake-up"
            got = drain(subscriber)
        assert got[-1].sequence == round_
        wait_until(lambda: drain(subscriber) == [] and not poll.poll(0))


def test_each_sample_goes_to_one_of_the_threads_that_wait(linked: Link, backend: ModuleType) -> None:
    publisher, subscriber = linked(conflate=0, depth=1000)
    got: List[int] = []

    def take() -> None:
        while (message := subscriber.recv_msg(20_000)) is not None and bytes(message) != b"end":
            got.append(message.sequence)

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(300):
        publisher.send_msg(b"x")
    for _ in threads:
        publisher.send_msg(b"end")
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()
    assert sorted(got) == list(range(1, 301))


def test_recv_next_goes_on_in_order(linked: Link) -> None:
    publisher, subscriber = linked(conflate=0, depth=10)
    for number in range(3):
        publisher.send_msg(bytes([number]))
    assert [bytes(subscriber.recv_next(20_000)) for _ in range(3)] == [b"\0", b"\1", b"\2"]
    assert subscriber.recv_next(0) is None


def test_loan(linked: Link, backend: ModuleType) -> None:
    publisher, subscriber = linked()
    with publisher.loan(5) as memory:
        memory[:] = b"lent!"
    assert bytes(subscriber.recv_msg(20_000)) == b"lent!"
    with pytest.raises(ZeroDivisionError), publisher.loan(5) as memory:
        memory[:] = b"never"
        raise ZeroDivisionError
    publisher.send_msg(b"next")
    message = subscriber.recv_msg(20_000)
    assert (bytes(message), message.sequence) == (b"next", 2)


def test_the_four_calls_by_name(backend: ModuleType, broker: BrokerProcess) -> None:
    with backend.Participant() as participant:
        participant.register_topic("t")
        participant.request_topic("t", connected_within_ms=20_000)
        participant.send_msg("t", b"hello")
        assert bytes(participant.recv_msg("t", 20_000)) == b"hello"
        with participant.loan("t", 2) as memory:
            memory[:] = b"by"
        assert bytes(participant.recv_next("t", 20_000)) == b"by"
        with pytest.raises(backend.NotRegistered):
            participant.send_msg("other", b"")
        with pytest.raises(backend.NotRequested):
            participant.recv_msg("other", 0)
        with pytest.raises(backend.NotRegistered):
            participant.publisher("other")
        with pytest.raises(backend.NotRequested):
            participant.subscriber("other")
        assert participant.broker_endpoint == broker.endpoint
