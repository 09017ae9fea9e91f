"""Every kind of publisher with every kind of subscriber: native, pure, C++ (the `orc` tool), each in a process."""

from __future__ import annotations

import json
import pathlib
import subprocess
from types import ModuleType
from typing import Any

import pytest

from peers import Pair, PublisherPeer, SubscriberPeer
from support import BrokerProcess, wait_until

TRANSPORTS = ("ipc", "tcp")


def info(bin_dir: pathlib.Path, topic: str) -> Any:
    """What the broker was told of a topic."""
    done = subprocess.run([bin_dir / "orc", "topic", "info", topic, "--json"], capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else {"publisher": None, "subscribers": []}


def linked(pair: Pair, transport: str = "ipc", **options: Any) -> Any:
    """Both, after the first sample, which tells that they are linked."""
    subscriber = pair.subscriber("t", transport, **options)
    publisher = pair.publisher("t", transport)
    exchange(publisher, subscriber, b"\0")
    return publisher, subscriber


def stamped(number: int, size: int = 8) -> bytes:
    return number.to_bytes(8, "big") * (size // 8)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_sizes(pair: Pair, transport: str) -> None:
    publisher, subscriber = linked(pair, transport, queue=10)
    for number, size in enumerate((0, 10, 1_000_000, 3), 2):
        publisher.send(bytes(size))
        sample = subscriber.next()
        assert (sample["sequence"], sample["missed"], sample["data"]) == (number, 0, bytes(size))


def test_newest_wins_and_the_last_arrives(pair: Pair) -> None:
    publisher, subscriber = linked(pair)
    for number in range(2, 501):
        publisher.send(stamped(number, 800))
    got = subscriber.until(lambda sample: bool(sample["sequence"] == 500))
    sequences = [sample["sequence"] for sample in got]
    assert sequences == sorted(set(sequences))
    assert all(sample["data"] == stamped(sample["sequence"], 800) for sample in got)


def test_in_order(pair: Pair) -> None:
    publisher, subscriber = linked(pair, queue=1000)
    for number in range(2, 301):
        publisher.send(stamped(number))
    for number in range(2, 301):
        sample = subscriber.next()
        assert (sample["sequence"], sample["missed"], sample["data"]) == (number, 0, stamped(number))


def test_late_join_gets_the_last_value(pair: Pair) -> None:
    publisher = pair.publisher("t")
    early = pair.subscriber("t")
    publisher.send(b"\1")
    publisher.send(b"\2")
    early.until(lambda sample: bool(sample["sequence"] == 2))
    late = pair.subscriber("t")
    sample = late.next()
    assert (sample["sequence"], sample["data"]) == (2, b"\2")


def test_a_killed_publisher_is_replaced_even_while_the_broker_restarts(pair: Pair, broker: BrokerProcess) -> None:
    publisher, subscriber = linked(pair, queue=100)
    publisher.kill()
    publisher = pair.publisher("t")
    exchange(publisher, subscriber, b"\2")
    broker.kill()
    publisher.send(b"\3")
    assert subscriber.next()["data"] == b"\3", "streams go on without a broker"
    publisher.kill()
    broker.start()
    publisher = pair.publisher("t")
    exchange(publisher, subscriber, b"\4")


def exchange(publisher: PublisherPeer, subscriber: SubscriberPeer, data: bytes) -> None:
    """The first sample of a publisher, which the subscriber gets as soon as it is linked (last value)."""
    publisher.send(data)
    sample = subscriber.next()
    assert (sample["sequence"], sample["data"]) == (1, data)


def test_a_killed_subscriber_is_not_missed(pair: Pair, bin_dir: pathlib.Path) -> None:
    publisher, subscriber = linked(pair)
    other = pair.subscriber("t")
    assert other.next()["sequence"] == 1
    subscriber.kill()
    publisher.send(b"\2")
    assert other.next()["sequence"] == 2

    def counted() -> Any:
        told = info(bin_dir, "t")
        sent = (told["publisher"] or {}).get("counters") or {}
        heard = [s["counters"] for s in told["subscribers"] if s["counters"] and s["counters"]["received"] == 2]
        return (sent.get("sent"), sent.get("readers")) == (2, 1) and heard

    (heard,) = wait_until(counted)
    assert heard["malformed"] == 0, "what a publication does to find out who is gone is no malformed frame"


def test_the_tools_show_sensible_figures(pair: Pair, bin_dir: pathlib.Path) -> None:
    publisher, subscriber = linked(pair, queue=100)
    for number in range(2, 11):
        publisher.send(stamped(number, 80))
    subscriber.until(lambda sample: bool(sample["sequence"] == 10))

    def counted() -> Any:
        done = subprocess.run([bin_dir / "orc", "topic", "list", "--json"], capture_output=True, text=True, check=True)
        topic = next(t for t in json.loads(done.stdout)["topics"] if t["topic"] == "t")
        sent = topic["publisher"]["counters"] or {}
        subscribed = topic["subscribers"][0]
        return sent.get("sent") == 10 and (subscribed["counters"] or {}).get("received") == 10 and (sent, subscribed)

    sent, subscribed = wait_until(counted)
    assert (sent["bytes"], sent["dropped"], sent["readers"]) == (721, 0, 1)
    assert (subscribed["transport"], subscribed["counters"]["bytes"]) == ("ipc", 721)
    assert (subscribed["counters"]["missed"], subscribed["counters"]["malformed"]) == (0, 0)
    assert 0 <= subscribed["counters"]["age_ns"] < 60_000_000_000
    assert "answered" in subscribed["reason"]


def test_names_are_unique_across_kinds(pair: Pair, backend: ModuleType) -> None:
    publisher = pair.publisher("t")
    subscriber = pair.subscriber("t")
    publisher.send(b"\1")
    subscriber.next()
    with backend.Participant() as participant, pytest.raises(backend.NameTaken):
        participant.register_topic("t")
    publisher.kill()
    with backend.Participant() as participant:
        participant.register_topic("t").send_msg(b"\2")
        assert subscriber.until(lambda sample: bool(sample["data"] == b"\2"))
