"""What peers that are no ORC subscribers can do to a publisher of the pure backend: raw ZeroMQ connections to it."""

from __future__ import annotations

import contextlib
import os
import random
from typing import Any, Iterator, List, Tuple

import pytest

import orc.pure as orc
from orc.pure import identity, link
from orc.pure.identity import Id
from raw_peer import RawPeer
from support import BrokerProcess, start_python, wait_until

_FIRST_NUMBER = 0x6B8B4567  # of libzmq's first ROUTER in a process that never calls srand(): glibc's rand()


class Target:
    """A publisher of topic "t" in a process of its own, over one transport. Sends a byte for each line of its input."""

    def __init__(self, transport: str, setting: str = "") -> None:
        """`setting`: a constant of the backend and its value there, "module.NAME=number"."""
        self.process = start_python(
            """
            import importlib, os, sys, orc.pure as orc
            if sys.argv[2]:
                name, value = sys.argv[2].split("=")
                setattr(importlib.import_module("orc.pure." + name.split(".")[0]), name.split(".")[1], float(value))
            with orc.Participant(log=lambda *_: None) as broker:
                publisher = broker.register_topic("t", transports=sys.argv[1])
                its = publisher._publication
                print(*[each.endpoint for each in its._listeners.values()], *its.id, flush=True)
                for number, line in enumerate(sys.stdin):
                    publisher.send_msg(bytes([number % 256]))
                    print(publisher.readers, len(os.listdir("/proc/self/fd")), flush=True)
            """,
            transport,
            setting,
        )
        assert self.process.stdout is not None
        self.endpoint, high, low = self.process.stdout.readline().split()
        self.publication = Id(int(high), int(low))

    def send(self) -> Tuple[int, int]:
        """Its readers and its descriptors then."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        readers, descriptors = self.process.stdout.readline().split() or (-1, -1)
        return int(readers), int(descriptors)

    def hello(self, subscription: Id, secret: int = 0) -> bytes:
        return link.pack_link(link.LinkMessage(link.HELLO, self.publication, subscription, 0, 0, secret))


@pytest.fixture
def setting() -> str:
    """What a test sets otherwise by its parameters."""
    return ""


@pytest.fixture(params=["ipc", "tcp"])
def target(request: pytest.FixtureRequest, broker: BrokerProcess, setting: str) -> Iterator[Target]:
    made = Target(request.param, setting)
    yield made
    made.process.kill()
    made.process.communicate()


@pytest.fixture
def peers() -> Iterator[List[RawPeer]]:
    """Those that are appended are closed in the end."""
    made: List[RawPeer] = []
    yield made
    for peer in made:
        peer.close()


def numbered(number: int) -> bytes:
    """A routing id as libzmq makes them."""
    return b"\0" + (number % 2**32).to_bytes(4, "big")


def connected(peers: List[RawPeer], target: Target, routing_id: bytes = b"") -> RawPeer:
    peers.append(RawPeer(target.endpoint))
    assert peers[-1].shake_hands(routing_id)
    return peers[-1]


def joined(peers: List[RawPeer], target: Target, subscription: Id, secret: int = 0) -> RawPeer:
    peer = connected(peers, target)
    peer.send(target.hello(subscription, secret))
    answer = peer.frame()
    assert answer is not None and answer[20] == link.WELCOME
    return peer


def test_a_claim_to_the_next_routing_id_ends_no_publisher(target: Target, peers: List[RawPeer]) -> None:
    """A ROUTER of libzmq ends the process when a peer has claimed the number of the next one."""
    ahead = 3  # connections that the process may have got before
    claims = [connected(peers, target, numbered(_FIRST_NUMBER + n)) for n in range(ahead + 1)]
    for claim in claims:
        with contextlib.suppress(ConnectionError):  # it is ended at the first frame, which is no hello
            claim.send(b"is known when it is answered")
            claim.send(target.hello(identity.draw_id()))
    for _ in range(2 * ahead):
        with contextlib.suppress(ConnectionError, AssertionError):
            connected(peers, target).send(b"")
    wait_until(lambda: target.process.poll() is not None or target.send()[0] >= 0)
    assert target.process.poll() is None, target.process.stderr.read() if target.process.stderr else ""
    with orc.Participant() as participant:
        wait_until(lambda: participant.request_topic("t").wait_connected(1000), 30)


def test_any_other_routing_id_is_as_good_as_none(target: Target, peers: List[RawPeer]) -> None:
    for routing_id in (b"a name of its own", b"\0", b"\1\2\3\4\5", b"x" * 200):
        peer = connected(peers, target, routing_id)
        peer.send(target.hello(identity.draw_id()))
        answer = peer.frame()
        assert answer is not None and answer[20] == link.WELCOME
    assert target.send()[0] == 4


def test_strangers_are_disconnected(target: Target, peers: List[RawPeer]) -> None:
    """Some say nothing, some shake hands only, some say what is no hello, some name another publication."""
    honest = joined(peers, target, identity.draw_id())
    strangers = []
    for n in range(40):
        peers.append(RawPeer(target.endpoint))
        strangers.append(peers[-1])
        if n % 4 > 0:
            assert strangers[-1].shake_hands()
        if n % 4 == 2:
            strangers[-1].send(b"no hello")
        if n % 4 == 3:
            other = link.LinkMessage(link.HELLO, identity.draw_id(), identity.draw_id(), 0, 0)
            strangers[-1].send(link.pack_link(other))
    for stranger in strangers:
        assert stranger.ended()
    assert target.send()[0] == 1
    assert honest.frame() is not None


@pytest.mark.parametrize("setting", ["publication._HELLO_WITHIN_S=3600"])
def test_a_stranger_is_cut_at_its_first_frame_that_is_no_hello(target: Target, peers: List[RawPeer]) -> None:
    """Without waiting for its time to run out: until then it could send any number of frames."""
    goodbye = link.LinkMessage(link.GOODBYE, target.publication, identity.draw_id(), 0, 0)
    for first in (b"z", b"", link.pack_link(goodbye)):
        stranger = connected(peers, target)
        stranger.send(first)
        assert stranger.ended()


@pytest.mark.parametrize("setting", ["publication._HELLO_WITHIN_S=3600"])
def test_a_stranger_gets_one_refusal(target: Target, peers: List[RawPeer]) -> None:
    stranger = connected(peers, target)
    other = link.pack_link(link.LinkMessage(link.HELLO, identity.draw_id(), identity.draw_id(), 0, 0))
    stranger.send(other)
    answer = stranger.frame()
    assert answer is not None and answer[20] == link.REFUSED
    stranger.send(other)
    assert stranger.frame() is None


def test_many_strangers_hold_few_descriptors(target: Target, peers: List[RawPeer]) -> None:
    before = target.send()[1]
    for _ in range(200):
        with contextlib.suppress(OSError):
            peers.append(RawPeer(target.endpoint))
    held = wait_until(lambda: (now := target.send()[1]) < before + 80 and now)
    assert held < before + 80
    with orc.Participant() as participant:
        assert participant.request_topic("t", connected_within_ms=20_000).connected


def test_a_subscription_id_alone_takes_over_no_link(target: Target, peers: List[RawPeer]) -> None:
    """Ids are shown to others; the secret of the hello is not."""
    subscription = identity.draw_id()
    victim = joined(peers, target, subscription, 7)
    joined(peers, target, subscription, 8)
    joined(peers, target, subscription)
    joined(peers, target, subscription)
    assert target.send()[0] == 4
    assert victim.frame() is not None


def test_a_subscription_that_comes_back_takes_the_place_of_its_old_connection(
    target: Target, peers: List[RawPeer]
) -> None:
    subscription = identity.draw_id()
    old = joined(peers, target, subscription, 7)
    new = joined(peers, target, subscription, 7)
    assert old.ended()
    assert target.send()[0] == 1
    assert new.frame() is not None


def test_a_reader_that_talks_too_much_is_disconnected(target: Target, peers: List[RawPeer]) -> None:
    subscription = identity.draw_id()
    peer = joined(peers, target, subscription)
    with contextlib.suppress(OSError):
        for _ in range(100_000):
            peer.send(target.hello(subscription))
    assert peer.ended()
    wait_until(lambda: target.send()[0] == 0)


def test_a_message_without_an_end_costs_a_tcp_peer_its_connection(broker: BrokerProcess, peers: List[RawPeer]) -> None:
    """A ZeroMQ library keeps its parts, and its user sees none: 2 GB in 4 s."""
    target = Target("tcp")
    try:
        stranger, reader = connected(peers, target), joined(peers, target, identity.draw_id())
        sent = 0
        for peer in (reader, stranger):
            with contextlib.suppress(OSError):
                while sent < 2_000_000_000:
                    sent += peer.send_parts(1000, seconds=2)
            assert sent < 2_000_000_000
            assert peer.ended()
        wait_until(lambda: target.send()[0] == 0)
    finally:
        target.process.kill()
        target.process.communicate()


def test_goodbye_ends_the_connection(target: Target, peers: List[RawPeer]) -> None:
    subscription = identity.draw_id()
    peer = joined(peers, target, subscription)
    peer.send(link.pack_link(link.LinkMessage(link.GOODBYE, target.publication, subscription, 0, 0)))
    assert peer.ended()
    wait_until(lambda: target.send()[0] == 0)


def test_an_honest_subscriber_stays_through_all_of_it(target: Target, peers: List[RawPeer]) -> None:
    """Descriptors are used again: the end of one connection must not be that of another."""
    with orc.Participant() as participant:
        subscriber = participant.request_topic("t", conflate=0, depth=1000, connected_within_ms=20_000)
        wait_until(lambda: target.send()[0] == 1)
        wait_until(lambda: subscriber.recv_msg(0) is None)
        received: List[Any] = []
        for _ in range(100):
            for routing_id in (b"", numbered(random.getrandbits(32))):
                peer = RawPeer(target.endpoint)
                with contextlib.suppress(OSError):
                    if peer.shake_hands(routing_id, 0.05):
                        peer.send(target.hello(identity.draw_id(), 1))
                peer.close()
            target.send()
            received.append(subscriber.recv_msg(20_000))
        assert [message.missed for message in received] == [0] * 100
        assert subscriber.connected
    assert os.path.exists(f"/proc/{target.process.pid}")
