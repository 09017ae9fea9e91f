"""The LCM tunnel when a socket, an address or an interface fails: nothing is merged, and nothing ends for good."""

from __future__ import annotations

import errno
import socket
import struct
import threading
import time
from typing import Any, Callable, Iterator, List, Tuple

import pytest

from bridge_process import free_port
from lcm_fixtures import ADDRESSES, PORT, URL, TwoNetworks, two, until_carried
from lcm_loopback import Wire
from orc import TypeDescription
from orc.bridge._lcm import topic_bytes, topics_in
from orc.bridge._lcm.datagrams import Reassembly
from orc.bridge._lcm.frames import CHANNEL, MAX_PIECE, OVERHEAD
from orc.bridge._lcm.groups import Groups, decode_shard, shards_of
from orc.bridge._lcm.incoming import Incoming
from orc.bridge._lcm.link import LinkOptions, OwnAddress
from orc.bridge._lcm.log import logger
from orc.bridge._lcm.loop import Loop
from orc.bridge._lcm.network import LcmNetwork
from orc.bridge._lcm.outgoing import Outgoing, Pace
from orc.bridge._lcm.packets import (
    NO_SESSION,
    REPORT,
    Report,
    Seal,
    decode_hello,
    encode_hello,
    encode_report,
    new_session,
)
from orc.bridge._lcm.settings import Settings, TopicRule
from orc.bridge._lcm.tcp import Connection, TcpLink, TcpListener
from orc.bridge._lcm.topics_in import TopicsIn
from orc.bridge._lcm.urls import lcm_url
from orc.bridge._shared.counters import Counters
from orc.bridge._shared.local_topics import LocalPublications
from orc.bridge._shared.peer_clock import PeerClock, clock_ns
from orc.bridge._shared.type_bytes import encode_type
from support import wait_until

__all__ = ["two"]


@pytest.fixture
def loop() -> Iterator[Loop]:
    """A loop that runs in a thread of its own."""
    made = Loop()
    thread = threading.Thread(target=made.run)
    thread.start()
    yield made
    made.stop()
    thread.join(20)
    made.close()


def on(loop: Loop, work: Callable[[], Any]) -> Any:
    """Runs this on the thread of the loop."""
    done: List[Any] = []
    loop.soon(lambda: done.append(work()))
    return wait_until(lambda: done)[0]


class FailingOnce:
    """A sender whose interface is down for one datagram."""

    def __init__(self, real: socket.socket, fails_at: int, error: int = errno.ENETDOWN) -> None:
        self._real, self._left, self._error = real, fails_at, error

    def send(self, datagram: bytes) -> None:
        self._left -= 1
        if self._left == 0:
            raise OSError(self._error, "down")
        self._real.send(datagram)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


@pytest.mark.parametrize("fails_at", [1, 2, 3])
def test_a_message_of_which_a_fragment_is_not_sent_mixes_with_no_other(loop: Loop, fails_at: int) -> None:
    url = f"udpm://239.255.76.67:{free_port()}?ttl=0"
    wire = Wire(url)
    network: Any = on(
        loop, lambda: LcmNetwork(lcm_url(url), lambda _: True, lambda *_: None, 1 << 20, loop, Counters(logger))
    )
    network._datagram_bytes = 1000
    messages = [bytes([each]) * 2500 for each in (1, 2)]
    network._sender = FailingOnce(network._sender, fails_at)
    assert on(loop, lambda: network.send(b"IMAGE", messages[0])) is False
    assert on(loop, lambda: network.send(b"IMAGE", messages[1])) is True
    reassembly, got = Reassembly(lambda _: True, 1 << 20, 2 << 20, Counters(logger)), []  # type: Tuple[Any, List[Any]]

    def arrives() -> Any:
        wire.heard(b"")
        while wire._heard:
            got.append(reassembly.add(memoryview(wire._heard.pop(0)), ("192.0.2.1", 1), 0.0))
        return any(got)

    wait_until(arrives)
    assert [each for each in got if each] == [(b"IMAGE", messages[1])]
    on(loop, network.close)
    wire.close()


def test_messages_beside_a_batch_that_was_given_up_are_not_merged() -> None:
    """Two messages of one size: the end of the first one and the begin of the second are lost."""
    queue, got = Outgoing(10, 1 << 20, Counters(logger)), []  # type: Tuple[Outgoing, List[bytes]]
    for each in (b"a", b"b", b"c"):
        queue.put(CHANNEL, b"IMAGE", each * 3 * MAX_PIECE, Pace())
    queue.advance(0.0)
    batches = []
    while queue.has_some:
        batches.append(queue.next_batch(MAX_PIECE + OVERHEAD + 1, 0.0))
    groups, incoming = Groups(0.5, Counters(logger)), Incoming(1 << 20, lambda *m: got.append(m[2]), Counters(logger))
    for number, batch in enumerate(batches, 1):
        for body in shards_of(number, batch, 0).shards if number not in (2, 3, 4) else []:
            shard = decode_shard(body)
            assert shard is not None
            groups.add(shard, 0.0)
    for taken in groups.take(0.0) + groups.take(1.0):
        if taken is None:
            incoming.lost()
        else:
            incoming.take(taken, 1.0)
    assert got and all(len(set(each)) == 1 for each in got)
    assert groups.next == len(batches) + 1


class Ups:
    """A Hub that remembers."""

    def __init__(self) -> None:
        self.links: List[Any] = []
        self.downs: List[str] = []

    def link_up(self, link: Any) -> bool:
        self.links.append(link)
        return True

    def link_down(self, link: Any, why: str) -> None:
        self.downs.append(why)

    def deliver(self, *_: Any) -> None:
        pass


@pytest.mark.parametrize("sends", ["report", "goodbye"])
def test_a_socket_that_fails_while_the_link_sends_ends_it_once(
    loop: Loop, caplog: pytest.LogCaptureFixture, sends: str
) -> None:
    bound = socket.create_server(("127.0.0.1", 0))
    hub = Ups()
    listener = on(loop, lambda: TcpListener(bound, LinkOptions(), hub, loop, Counters(logger)))
    peer = socket.create_connection(bound.getsockname())
    own = new_session()

    def say(packet: bytes) -> None:
        peer.sendall(struct.pack("<I", len(packet)) + packet)

    say(encode_hello(b"", own, NO_SESSION))
    size = struct.unpack("<I", peer.recv(4, socket.MSG_WAITALL))[0]
    answer = decode_hello(b"", peer.recv(size, socket.MSG_WAITALL))
    assert answer is not None
    say(encode_hello(b"", own, answer.session))
    link = wait_until(lambda: hub.links)[0]

    def fail_and_send() -> None:
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        peer.close()  # a reset, which the loop has not read
        link._report_at = 0.0
        if sends == "report":
            listener._advance(time.monotonic())
        else:
            link.end("a test")

    on(loop, fail_and_send)
    wait_until(lambda: hub.downs)
    on(loop, listener.close)
    assert len(hub.downs) == 1 and not link.is_up
    assert not caplog.records, caplog.text


@pytest.mark.parametrize("has_link", [False, True])
def test_a_connection_that_ended_is_looked_at_without_harm(
    loop: Loop, caplog: pytest.LogCaptureFixture, has_link: bool
) -> None:
    """It ends between two looks at whether the host still has its address."""
    server = socket.create_server(("127.0.0.1", 0))
    counters = Counters(logger)
    made = socket.create_connection(server.getsockname())
    connection = on(loop, lambda: Connection(made, "there", True, LinkOptions(), Ups(), loop, counters))
    own = OwnAddress()
    assert not on(loop, lambda: own.is_gone(made, 1.0))
    if has_link:
        on(loop, lambda: connection._lose("a test"))
    else:
        on(loop, connection.close)
    assert not on(loop, lambda: own.is_gone(made, 2.0))
    on(loop, lambda: connection.advance(time.monotonic() + 10.0))
    assert counters.snapshot() == {} and not caplog.records
    server.close()


@pytest.mark.parametrize(("error", "is_new"), [(errno.ENOBUFS, False), (errno.EPERM, False), (errno.ENETDOWN, True)])
def test_only_a_socket_whose_network_is_gone_is_made_anew(loop: Loop, error: int, is_new: bool) -> None:
    url = f"udpm://239.255.76.67:{free_port()}?ttl=0"
    network: Any = on(
        loop, lambda: LcmNetwork(lcm_url(url), lambda _: True, lambda *_: None, 1 << 20, loop, Counters(logger))
    )

    def send_beacon() -> bool:
        network._sender, before = FailingOnce(network._sender, 1, error), network._receiver
        network._beacon_at = 0.0
        network._advance(1.0)
        return network._receiver is not before

    assert on(loop, lambda: [send_beacon()]) == [is_new]
    on(loop, network.close)


def test_a_report_from_after_it_came_leaves_the_ages_as_they_are() -> None:
    """It would make each age 0."""
    counters = Counters(logger)
    link: Any = TcpLink(FakeConnection(), LinkOptions(), Ups(), Seal(b"", b"a", b"b"), counters)  # type: ignore[arg-type]
    for behind_ns in (10**12, 0):
        report = Report(1, 0, 0, clock_ns(), behind_ns, [])
        link._take_packet(REPORT, encode_report(report), time.monotonic())
        link.clock.is_ahead(-(10**9), clock_ns())
    assert -(10**9) <= link.clock.ahead_ns(clock_ns()) <= 0
    assert counters.snapshot() == {"malformed packet": 1}


class FakeConnection:
    name, is_idle = "there", False

    def send(self, packet: bytes) -> None:
        pass


def test_a_sample_whose_age_stays_unknown_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topics_in, "_UNKNOWN_S", 0.0)
    settings = Settings(topics=[TopicRule(name="**", local="{topic}")], max_topics=10)
    topics = TopicsIn(settings, Publishes(), LocalPublications(), Counters(logger))
    topics.start()
    head = topic_bytes.TopicHead(0, True, 1, bytes(15) + b"\1")
    topics.put(b"state", topic_bytes.encode(head, b"sample"), PeerClock(), lambda _: None)
    wait_until(lambda: topics._counters.snapshot().get("age unknown") == 1)
    wait_until(lambda: not topics._fresh)
    topics.close()


class Publishes:
    """A participant, as far as TopicsIn uses it."""

    def __init__(self) -> None:
        self.sent: List[Tuple[str, bytes]] = []

    def register_topic(self, name: str, **_: Any) -> Any:
        made = Publishes()
        made.sent, made.name = self.sent, name  # type: ignore[attr-defined]
        return made

    def unregister_topic(self, name: str) -> None:
        pass

    def send_msg(self, payload: bytes, *_: Any, **__: Any) -> None:
        self.sent.append((self.name, payload))  # type: ignore[attr-defined]


def test_types_that_nobody_answers_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topics_in, "_MAX_TYPES", 8)
    participant = Publishes()
    settings = Settings(topics=[TopicRule(name="**", local="{topic}")], max_topics=10)
    topics = TopicsIn(settings, participant, LocalPublications(), Counters(logger))
    topics.start()
    asked: List[int] = []
    clock = PeerClock()
    clock.is_ahead(0, clock_ns())

    def put(hash: int) -> None:
        head = topic_bytes.TopicHead(hash, True, 1, bytes(15) + b"\1")
        topics.put(b"state", topic_bytes.encode(head, b"sample"), clock, asked.append)

    for unanswered in range(1, 20):
        if "state" in topics._topics:
            topics._topics["state"].try_at = 0.0
        put(unanswered)
        wait_until(lambda number=unanswered: asked[-1:] == [number])  # type: ignore[misc]
    type = TypeDescription("a.B", "struct", "struct", b"{}")
    put(type.hash)
    topics.put_type(type.hash, encode_type(type))
    wait_until(lambda: participant.sent)
    assert participant.sent == [("state", b"sample")]
    topics.put_type(1, encode_type(type))
    assert topics._counters.snapshot()["types that nobody asked for"] == 1
    topics.close()


def test_an_address_that_changes_elsewhere_does_not_stop_multicast_by_lo(two: TwoNetworks) -> None:
    first, second = two.tunnels("udp", ("--channel", ".*"), ("--channel", ".*"))
    ends = [two.peer(0), two.peer(1)]
    until_carried(ends[0], ends[1], "BEFORE")
    two.networks[1].run("ip", "addr", "del", f"{ADDRESSES[1]}/24", "dev", "cable")
    two.networks[1].run("ip", "addr", "add", "10.81.0.7/24", "dev", "cable")
    until_carried(ends[0], ends[1], "AFTER")
    until_carried(two.peer(1), ends[0], "BACK")  # LCM's own sockets do not follow
    sent = ends[0].send("DATA", 6, 20, 1000, 0.01)
    wait_until(lambda: ends[1].heard("DATA") == sent)
    assert not second.wrote("not sent")


@pytest.mark.parametrize("change", ["address", "made again", "made again with the same index"])
def test_the_interface_of_the_network_changes(two: TwoNetworks, change: str) -> None:
    """ttl 1: the multicast network is another interface than lo."""
    here = two.networks[1]

    def make(address: str, *index: str) -> None:
        here.run("ip", "link", "add", "lan", *index, "type", "veth", "peer", "name", "far")
        here.run("ip", "link", "set", "far", "up")
        here.run("ip", "link", "set", "lan", "up", "multicast", "on")
        here.run("ip", "addr", "add", f"{address}/24", "dev", "lan")
        here.run("ip", "route", "replace", "224.0.0.0/4", "dev", "lan")

    make("10.82.0.1", "index", "77")
    url = URL.replace("ttl=0", "ttl=1")
    two.tunnel(0, "--listen", f"tcp://*:{PORT}", "--channel", ".*")
    second = two.tunnel(1, "--lcm-url", url, "--connect", f"tcp://{ADDRESSES[0]}:{PORT}", "--channel", ".*")
    wait_until(lambda: second.wrote("link to"))
    ends = [two.peer(0), two.peer(1, url)]
    until_carried(ends[0], ends[1], "BEFORE")
    if change == "address":
        here.run("ip", "addr", "flush", "dev", "lan")
        here.run("ip", "addr", "add", "10.83.0.1/24", "dev", "lan")
        here.run("ip", "route", "replace", "224.0.0.0/4", "dev", "lan")
    else:
        here.run("ip", "link", "del", "lan")
        make("10.82.0.1", "index", "77" if change.endswith("index") else "78")
    wait_until(lambda: "239.255.76.67" in here.run("ip", "maddr", "show", "dev", "lan"))
    again = two.peer(1, url)  # LCM's own sockets do not follow
    until_carried(ends[0], again, "AFTER")
    until_carried(again, ends[0], "BACK")
