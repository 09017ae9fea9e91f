"""Waiting on a subscription of the pure backend: by threads of both kinds, and through its descriptor."""

from __future__ import annotations

import select
import socket
import threading
import time
from typing import Any, List

import pytest

import orc.pure as orc
from orc.pure import identity, link, messages
from support import BrokerProcess, wait_until


class Connection:
    """Only its publication counts."""

    publication = identity.Id(1, 1)


def arrive(subscriber: Any, sequence: int) -> None:
    """A sample over a former link: there is none now."""
    frame = bytes(link.HEADER.size + 1)
    subscriber._subscription._arrived(Connection(), sequence, time.time_ns(), frame)


def waiting(subscriber: Any) -> int:
    return len(subscriber._subscription.changed._waiters)


def test_a_sample_wakes_the_receiver_and_not_who_waits_for_the_link(broker: BrokerProcess) -> None:
    """One of them was woken, which of both was chance: the receiver slept on beside its sample."""
    with orc.Participant() as participant:
        subscriber = participant.request_topic("t")
        received: List[Any] = []
        linked = threading.Thread(target=lambda: pytest.raises(orc.Closed, subscriber.wait_connected, -1))
        linked.start()
        wait_until(lambda: waiting(subscriber) == 1)
        receiver = threading.Thread(target=lambda: received.append(subscriber.recv_msg(-1)), daemon=True)
        receiver.start()
        wait_until(lambda: waiting(subscriber) == 2)
        arrive(subscriber, 1)
        receiver.join(20)
        assert [message.sequence for message in received] == [1]
        participant.close()
        linked.join(20)


def test_the_descriptor_of_what_was_closed(broker: BrokerProcess) -> None:
    """-1, or a descriptor that may be another file's by now."""
    participant = orc.Participant()
    asked, unasked = participant.request_topic("asked"), participant.request_topic("unasked")
    descriptor = asked.fileno()
    participant.close()
    for subscriber in (asked, unasked):
        with pytest.raises(orc.Closed):
            subscriber.fileno()
    assert select.select([descriptor], [], [], 20)[0], "who waits is woken"


@pytest.mark.parametrize("name", ["recv", "send"])
def test_ctrl_c_at_the_bell(broker: BrokerProcess, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Between flag and byte, it was silent for good, or recv_msg raised BlockingIOError."""
    with orc.Participant() as participant:
        subscriber = participant.request_topic("t", conflate=0, depth=10)
        descriptor = subscriber.fileno()
        arrive(subscriber, 1)
        assert subscriber.recv_msg(0) is not None

        def interrupted(*_: Any) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            if name == "send":
                assert subscriber.recv_msg(0) is None
            patch.setattr(socket.socket, name, interrupted)
            with pytest.raises(KeyboardInterrupt):
                arrive(subscriber, 2) if name == "send" else subscriber.recv_msg(0)
        while subscriber.recv_msg(0) is not None:
            pass
        arrive(subscriber, 3)
        assert select.select([descriptor], [], [], 20)[0]
        assert subscriber.recv_msg(0) is not None and subscriber.recv_msg(0) is None
        assert not select.select([descriptor], [], [], 0)[0]


def test_a_finalizer_closes_while_the_bell_is_quietened(broker: BrokerProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    """The byte that tells of the end was read with the others."""
    with orc.Participant() as participant:
        subscriber = participant.request_topic("t")
        descriptor = subscriber.fileno()
        arrive(subscriber, 1)
        assert subscriber.recv_msg(0) is not None
        real = socket.socket.recv

        def recv(its: socket.socket, size: int) -> bytes:
            if its.fileno() == descriptor:
                subscriber._subscription.close()
            return real(its, size)

        with monkeypatch.context() as patch:
            patch.setattr(socket.socket, "recv", recv)
            subscriber.recv_msg(0)
        assert select.select([descriptor], [], [], 20)[0]


def test_a_mismatch_ends_with_its_publication_also_in_an_answer(broker: BrokerProcess) -> None:
    """The event that the publisher left is lost when the broker is away: the answer after it says the same."""
    here, there = (orc.TypeDescription(name, "", "json") for name in ("a.Config", "b.Config"))
    with orc.Participant() as publishing, orc.Participant() as participant:
        publishing.register_topic("t", type=there)
        with pytest.raises(orc.TypeMismatch):
            participant.request_topic("t", type=here, connected_within_ms=20_000)
        subscriber = participant.subscriber("t")
        subscription = subscriber._subscription
        gone = messages.TopicState("t", None, [], 0)
        subscription.reactor.post(lambda: subscription.apply(gone, pushed=False))
        wait_until(lambda: subscriber.link.reason == "no publisher")
        assert not subscriber.wait_connected(0)
