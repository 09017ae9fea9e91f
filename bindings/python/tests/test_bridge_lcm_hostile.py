"""The LCM tunnel and strangers on its port, peers that lie, and programs that disturb its network."""

from __future__ import annotations

import contextlib
import os
import pathlib
import random
import socket
import struct
import time
from typing import Any, Callable, Iterator, List, Optional

import pytest

from bridge_process import Bridge
from lcm_loopback import Loopback, Wire, loopback, until_crossed
from orc.bridge._lcm import frames, packets
from orc.bridge._lcm.datagrams import datagrams
from orc.bridge._lcm.groups import SHARD_BYTES, shards_of
from orc.bridge._lcm.packets import BATCH, HELLO_BYTES, NO_SESSION, REPORT, SHARD, Seal, decode_hello, encode_hello
from support import wait_until

__all__ = ["loopback"]
SCHEMES = ("tcp", "udp")
ALL = ("--channel", ".*")


def resident(bridge: Bridge) -> int:
    return int(pathlib.Path(f"/proc/{bridge.process.pid}/statm").read_text().split()[1]) * 4096


def garbage() -> List[bytes]:
    made = random.Random(18)
    hello = encode_hello(b"", b"s" * 16, NO_SESSION)
    words = [b"\0", b"ORCL", b"GET / HTTP/1.0\r\n\r\n", b"\xff" * 1400]
    few = [made.randbytes(made.randrange(1, 1400)) for _ in range(200)]
    return [*words, hello[:-1], hello + b"x", hello[:-1] + b"x", *few]


@pytest.fixture(params=SCHEMES)
def attacked(request: pytest.FixtureRequest, loopback: Loopback) -> Iterator[Any]:
    """A tunnel that works, and the scheme. Afterwards it must still work."""
    bridges = loopback.tunnels(request.param, ALL, ())
    wires = loopback.wire(0), loopback.wire(1)
    until_crossed(wires[0], wires[1], b"BEFORE")
    yield loopback, request.param, bridges
    until_crossed(wires[0], wires[1], b"AFTER")


def connect(loopback: Loopback, scheme: str) -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM if scheme == "tcp" else socket.SOCK_DGRAM)
    made.settimeout(20)
    made.connect(("127.0.0.1", loopback.port))
    return made


def test_strangers_bytes_are_counted_and_reported_once(attacked: Any) -> None:
    loopback, scheme, (first, _) = attacked
    lengths = [
        b"",
        struct.pack("<I", 0),
        struct.pack("<I", HELLO_BYTES),
        b"\xff\xff\xff\xff",
        struct.pack("<I", 1 << 20),
    ]
    for each in garbage():
        for length in lengths if scheme == "tcp" else lengths[:1]:
            with connect(loopback, scheme) as stranger:
                with contextlib.suppress(OSError):  # it refused us already
                    stranger.sendall(length + each)
    wait_until(lambda: first.wrote("stranger: "))
    reports = [line for line in first.errors if "stranger: " in line]
    assert len(reports) <= 20  # at most one in ten seconds
    counts = first.end()
    assert counts["stranger"] + counts.get("too many strangers", 0) >= len(garbage()) / 2
    loopback.tunnel(0, "--listen", f"{scheme}://127.0.0.1:{loopback.port}", *ALL)  # for what comes after


def test_strangers_that_stay_silent_take_no_place(attacked: Any) -> None:
    loopback, scheme, (first, _) = attacked
    if scheme == "udp":
        pytest.skip("a silent stranger does not exist over udp")
    before = len(os.listdir(f"/proc/{first.process.pid}/fd"))
    strangers = [connect(loopback, scheme) for _ in range(200)]
    try:
        wait_until(lambda: first.wrote("too many strangers"))
        assert len(os.listdir(f"/proc/{first.process.pid}/fd")) <= before + 70
        for each in strangers[:130]:
            assert not each.recv(1)  # its place went to another one
        for each in strangers[130:]:
            assert not each.recv(1)  # no handshake in time
    finally:
        for each in strangers:
            each.close()


def test_a_flood_costs_no_memory(attacked: Any) -> None:
    loopback, scheme, (first, _) = attacked
    before = resident(first)
    until = time.monotonic() + 2
    sent = 0
    while time.monotonic() < until:
        with connect(loopback, scheme) as stranger:
            for _ in range(1 if scheme == "tcp" else 500):
                packet = encode_hello(b"", os.urandom(16), NO_SESSION)
                with contextlib.suppress(ConnectionResetError):  # its place went to another one
                    stranger.send(struct.pack("<I", len(packet)) + packet if scheme == "tcp" else packet)
                sent += 1
    assert sent > 100
    wait_until(lambda: resident(first) - before < 8 << 20)


class LyingPeer:
    """Shakes hands as a bridge does. What it sends then is up to the test. meanwhile: called within the handshake."""

    def __init__(
        self, loopback: Loopback, scheme: str, key: bytes = b"", meanwhile: Callable[[], None] = lambda: None
    ) -> None:
        self.socket, self._scheme = connect(loopback, scheme), scheme
        own = packets.new_session()
        self.send_bare(encode_hello(key, own, NO_SESSION))
        answer = decode_hello(key, self.receive() or b"")
        assert answer is not None and answer.peer == own
        meanwhile()
        self.send_bare(encode_hello(key, own, answer.session))
        self.seal = Seal(key, own, answer.session)
        self.hello = (own, answer.session)
        if scheme == "udp":
            opened = self.seal.open(self.receive() or b"")
            assert opened is not None and opened[0] == REPORT

    def send_bare(self, packet: bytes) -> None:
        self.socket.sendall(struct.pack("<I", len(packet)) + packet if self._scheme == "tcp" else packet)

    def send(self, kind: int, body: bytes) -> None:
        self.send_bare(self.seal.seal(kind, body))

    def receive(self) -> Optional[bytes]:
        if self._scheme == "udp":
            return self.socket.recv(2000)
        head = self.socket.recv(4, socket.MSG_WAITALL)
        return self.socket.recv(struct.unpack("<I", head)[0], socket.MSG_WAITALL) if len(head) == 4 else None

    def send_batch(self, number: int, batch: bytes) -> None:
        if self._scheme == "tcp":
            self.send(BATCH, struct.pack("<Q", number) + batch)
            return
        for each in shards_of(number, batch, 0).shards:
            self.send(SHARD, each)

    def close(self) -> None:
        self.socket.close()


@pytest.mark.parametrize("key", [b"", b"0123456789abcdef"])
def test_silent_connections_end_no_handshake(loopback: Loopback, tmp_path: pathlib.Path, key: bytes) -> None:
    path = tmp_path / "key"
    path.write_bytes(key)
    path.chmod(0o600)
    more = ("--key-file", str(path)) if key else ()
    first = loopback.tunnel(0, "--listen", f"tcp://127.0.0.1:{loopback.port}", *more)
    silent: List[socket.socket] = []

    def crowd() -> None:
        silent.extend(connect(loopback, "tcp") for _ in range(200))
        assert not silent[100].recv(1)  # there were too many

    peer = LyingPeer(loopback, "tcp", key, crowd)
    wire = loopback.wire(0)
    peer.send_batch(1, frame(b"GOOD", 4, 0, b"good"))
    wait_until(lambda: wire.heard(b"GOOD") == [b"good"])
    for each in (*silent, peer):
        each.close()
    assert first.end()["too many strangers"] >= 100


def test_fragments_that_announce_much_hold_up_no_message(loopback: Loopback) -> None:
    first, _ = loopback.tunnels("tcp", ALL, ())
    wires = loopback.wire(0), loopback.wire(1)
    until_crossed(wires[0], wires[1], b"BEFORE")
    liars = [loopback.wire(0) for _ in range(20)]
    before = resident(first)
    parts = list(datagrams(1, b"HONEST", bytes(1000), most=100))
    for number, part in enumerate(parts):
        wires[0].send_bare(part)
        for each in liars:
            each.send_bare(b"LC03" + struct.pack(">IIIHH", number, 64 << 20, 0, 1, 2) + b"x")
    wait_until(lambda: wires[1].heard(b"HONEST") == [bytes(1000)])
    assert resident(first) - before < 32 << 20


def frame(name: bytes, size: int, offset: int, data: bytes, kind: int = frames.CHANNEL) -> bytes:
    return frames.encode(kind, name, size, offset, memoryview(data))


def test_a_peer_that_lies_harms_itself_alone(attacked: Any) -> None:
    loopback, scheme, (first, _) = attacked
    before = resident(first)
    good = frame(b"GOOD", 4, 0, b"good")
    batches = [
        b"x", b"\xff\xff", good[:-1], frame(b"MORE", 1, 0, b"x") + b"\0", struct.pack("<H", 3) + b"abc",
        frame(b"", 1, 0, b"x"),
        frame(b"HUGE", 0xFFFFFFFF, 0, b"x"), frame(b"LATE", 10, 9, b"xx"), frame(b"NONE", 10, 0, b""),
        frame(b"L" * 64, 1, 0, b"x"), frame(b"NUL\0", 1, 0, b"x"), frame(b"KIND", 1, 0, b"x", kind=200),
        frame(b"zz", 1, 0, b"x", kind=frames.TYPE), frame(b"topic", 1, 0, b"x", kind=frames.TOPIC),
    ]  # fmt: skip
    peer = LyingPeer(loopback, scheme)
    wire = loopback.wire(0)
    for number, batch in enumerate(batches, 1):
        peer.send_batch(number, batch)
    peer.send_batch(len(batches) + 1, good)
    wait_until(lambda: wire.heard(b"GOOD") == [b"good"])
    for number in range(3000):  # messages that never end
        peer.send_batch(len(batches) + 2 + number, frame(b"N%d" % number, 50 << 20, 0, bytes(8000)))
        if scheme == "udp" and number > 300:
            break
    assert resident(first) - before < 96 << 20
    peer.send(REPORT, b"short")
    peer.send(
        REPORT,
        packets.encode_report(packets.Report(1 << 63, 1 << 63, 1 << 30, 1 << 63, -1, [(1, 0), (1 << 60, 0)] * 16)),
    )
    if scheme == "udp":
        for number in (1, 1 << 40, (1 << 64) - 1):
            peer.send(SHARD, struct.pack("<QHBBB", number, 38_400, 32, 31, 62) + bytes(SHARD_BYTES))
            peer.send(SHARD, struct.pack("<QHBBB", number, 65_535, 255, 255, 255) + bytes(300))
    else:
        peer.send(BATCH, struct.pack("<Q", 1) + good)  # a number that was there
        while peer.receive():
            pass  # the tunnel ends the connection
    wait_until(lambda: first.wrote("malformed packet"))
    peer.close()


def test_a_wrong_key_makes_no_link(loopback: Loopback, tmp_path: pathlib.Path) -> None:
    keys = []
    for number, text in enumerate(("0123456789abcdef", "another key of us")):
        path = tmp_path / f"key{number}"
        path.write_text(text)
        path.chmod(0o600)
        keys.append(("--key-file", str(path)))
    for scheme in SCHEMES:
        with_key, without_key = [], []
        listen = loopback.tunnel(0, "--listen", f"{scheme}://127.0.0.1:{loopback.port}", *keys[0])
        where = ("--connect", f"{scheme}://127.0.0.1:{loopback.port}", *ALL)
        for wrong in (keys[1], ()):
            without_key.append(loopback.tunnel(1, *where, *wrong))
        wait_until(lambda listen=listen: listen.wrote("stranger: "))  # type: ignore[misc]
        with_key.append(loopback.tunnel(1, *where, *keys[0]))
        wires = loopback.wire(1), loopback.wire(0)
        until_crossed(*wires, b"CHANNEL")
        assert [each.end().get("links", 0) for each in without_key] == [0, 0]
        assert with_key[0].end()["links"] == 1
        assert listen.end()["links"] == 1


def test_recorded_packets_do_not_count_again(loopback: Loopback) -> None:
    """Somebody records a session over udp, and sends all of it once more from the same address."""
    loopback.tunnel(0, "--listen", f"udp://127.0.0.1:{loopback.port}")
    wire = loopback.wire(0)
    peer = LyingPeer(loopback, "udp")
    recorded: List[bytes] = [encode_hello(b"", peer.hello[0], NO_SESSION), encode_hello(b"", *peer.hello)]
    for number in range(1, 4):
        for body in shards_of(number, frame(b"COMMAND", 4, 0, b"%04d" % number), 0).shards:
            recorded.append(peer.seal.seal(SHARD, body))
            peer.send_bare(recorded[-1])
    wait_until(lambda: len(wire.heard(b"COMMAND")) == 3)
    for _ in range(2):
        for packet in recorded:
            peer.send_bare(packet)
    peer.send_batch(4, frame(b"COMMAND", 4, 0, b"last"))
    wait_until(lambda: b"last" in wire.heard(b"COMMAND"))
    peer.send(packets.GOODBYE, b"")
    for packet in recorded:
        peer.send_bare(packet)
    again = LyingPeer(loopback, "udp")
    again.send_batch(1, frame(b"COMMAND", 4, 0, b"anew"))
    wait_until(lambda: b"anew" in wire.heard(b"COMMAND"))
    assert wire.heard(b"COMMAND") == [b"0001", b"0002", b"0003", b"last", b"anew"]
    peer.close()
    again.close()


def test_only_allowed_addresses_may_connect(loopback: Loopback) -> None:
    for scheme in SCHEMES:
        first = loopback.tunnel(0, "--listen", f"{scheme}://*:{loopback.port}", "--allow", "192.0.2.0/24")
        second = loopback.tunnel(1, "--connect", f"{scheme}://127.0.0.1:{loopback.port}", *ALL)
        wait_until(lambda first=first: first.wrote("not allowed"))  # type: ignore[misc]
        assert "links" not in second.end() and "links" not in first.end()
        first = loopback.tunnel(0, "--listen", f"{scheme}://*:{loopback.port}", "--allow", "127.0.0.1")
        second = loopback.tunnel(1, "--connect", f"{scheme}://127.0.0.1:{loopback.port}", *ALL)
        until_crossed(loopback.wire(1), loopback.wire(0), b"CHANNEL" + scheme.encode())
        assert second.end()["links"] == 1 == first.end()["links"]


def test_a_ninth_link_is_refused(loopback: Loopback) -> None:
    first = loopback.tunnel(0, "--listen", f"udp://127.0.0.1:{loopback.port}")
    peers = [LyingPeer(loopback, "udp") for _ in range(8)]
    with pytest.raises(OSError):
        late = connect(loopback, "udp")
        late.settimeout(1)
        own = packets.new_session()
        late.send(encode_hello(b"", own, NO_SESSION))
        answer = decode_hello(b"", late.recv(2000))
        assert answer is not None
        late.send(encode_hello(b"", own, answer.session))
        late.recv(2000)
    wait_until(lambda: first.wrote("too many links"))
    for each in peers:
        each.send(packets.GOODBYE, b"")
    LyingPeer(loopback, "udp").close()
    for each in peers:
        each.close()


def test_malformed_datagrams_of_the_network_are_counted(loopback: Loopback) -> None:
    first, _ = loopback.tunnels("tcp", ALL, ())
    wires = loopback.wire(0), loopback.wire(1)
    until_crossed(wires[0], wires[1], b"BEFORE")
    bad = [
        b"LC02",
        b"LC02" + bytes(4),
        b"LC02" + bytes(4) + b"C" * 100,
        b"LC03",
        b"LC03" + bytes(15),
        b"LC03" + bytes(16),
    ]
    made = random.Random(18)
    bad += [b"LC03" + made.randbytes(made.randrange(60)) for _ in range(500)]
    for each in bad:
        wires[0].send_bare(each)
    until_crossed(wires[0], wires[1], b"AFTER")
    assert first.end()["malformed LCM datagram"] > 100


def test_a_beacon_silences_its_own_sender_alone(loopback: Loopback) -> None:
    first, _ = loopback.tunnels("tcp", ALL, ())
    wires = loopback.wire(0), loopback.wire(1)
    until_crossed(wires[0], wires[1], b"BEFORE")
    liar: Wire = loopback.wire(0)
    liar.send_bare(b"ORCT\x01")
    liar.send(b"OF_LIAR", b"x")
    for _ in range(1000):  # many senders
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made:
            liar.socket, kept = made, liar.socket
            made.setsockopt(
                socket.IPPROTO_IP,
                socket.IP_MULTICAST_IF,
                struct.pack("=4s4si", bytes(4), bytes(4), socket.if_nametoindex("lo")),
            )
            liar.send_bare(b"ORCT\x01")
            liar.socket = kept
    liar.send(b"OF_LIAR", b"x")  # it is no program yet
    until_crossed(wires[0], wires[1], b"AFTER")
    assert wires[1].heard(b"OF_LIAR") == []
    assert first.end()["loop"] == 2
