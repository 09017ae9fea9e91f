"""The parts of the LCM tunnel: formats, parity, bounds of what they hold."""

from __future__ import annotations

import itertools
import os
import pathlib
import random
import struct
from typing import Any, Dict, List, Set, Tuple

import pytest

from orc.bridge._lcm import erasure, frames, packets, topic_bytes
from orc.bridge._lcm.channels import Channels
from orc.bridge._lcm.datagrams import Reassembly, Source, datagrams
from orc.bridge._lcm.frames import CHANNEL, Malformed
from orc.bridge._lcm.groups import Groups, decode_shard, shards_of
from orc.bridge._lcm.incoming import Incoming
from orc.bridge._lcm.link import LinkOptions
from orc.bridge._lcm.log import logger
from orc.bridge._lcm.outgoing import Outgoing, Pace
from orc.bridge._lcm.packets import Report, Seal, decode_report, encode_report
from orc.bridge._lcm.settings import ChannelRule
from orc.bridge._lcm.urls import lcm_url, link_url
from orc.bridge._lcm.window import Window
from orc.bridge._shared.counters import Counters
from orc.bridge._shared.settings_file import SettingsError
from orc.bridge.lcm import settings_of

SOURCE = ("192.0.2.1", 5000)


def counters() -> Counters:
    return Counters(logger)


def test_a_parity_shard_is_that_of_the_protocol() -> None:
    """schemas/PROTOCOL.md, "Parity", computed bit by bit."""

    def times(a: int, b: int) -> int:
        product = 0
        for bit in range(8):
            if b >> bit & 1:
                product ^= a << bit
        for bit in range(14, 7, -1):
            if product >> bit & 1:
                product ^= 0x11D << (bit - 8)
        return product

    def divided(a: int, b: int) -> int:
        return next(each for each in range(256) if times(each, b) == a)

    data = [bytes([3, 0, 255]), bytes([7, 1, 128]), bytes([0, 200, 9])]
    for p, shard in enumerate(erasure.parity(data, 3)):
        for at in range(3):
            expected = 0
            for j in range(3):
                expected ^= divided(data[j][at], (3 + p) ^ j)
            assert shard[at] == expected


def test_any_shards_in_sufficient_number_give_the_data() -> None:
    made = random.Random(18)
    for k in (1, 2, 3, 8, 32):
        for m in (1, 2, 16, 32):
            data = [made.randbytes(40) for _ in range(k)]
            shards = dict(enumerate(data + erasure.parity(data, m)))
            for _ in range(8):
                assert erasure.recover(k, {each: shards[each] for each in made.sample(sorted(shards), k)}) == data


@pytest.mark.parametrize("loss", [0.0, 0.05, 0.3])
def test_groups_come_once_and_in_order_whatever_the_network_does(loss: float) -> None:
    made, now = random.Random(18), 0.0
    batches = [made.randbytes(made.choice((1, 100, 1200, 1201, 9_000, 38_400))) for _ in range(200)]
    sent = [shards_of(number, batch, 0.25) for number, batch in enumerate(batches, 1)]
    groups, got = Groups(60.0, counters()), []  # type: Tuple[Groups, List[bytes]]
    on_the_way: List[bytes] = []
    for group in sent:
        for each in group.shards:
            if made.random() >= loss:
                on_the_way += [each] * made.choice((1, 1, 2))
        while len(on_the_way) > 20:  # reordered
            shard = decode_shard(on_the_way.pop(made.randrange(len(on_the_way))))
            assert shard is not None
            now += 0.001
            groups.add(shard, now)
            got += groups.take(now)
    while on_the_way or groups.next <= 200:
        for each in on_the_way:
            shard = decode_shard(each)
            assert shard is not None
            groups.add(shard, now)
        got += groups.take(now)
        now += 0.05
        on_the_way = []
        for number, there in groups.wanted(now):
            on_the_way += [e for i, e in enumerate(sent[number - 1].shards) if not there >> i & 1]
        if not on_the_way and groups.next <= 200:  # the last ones are not known of: the sender's probe
            on_the_way = [sent[199].shards[0]]
    assert got == batches


def test_a_group_that_never_comes_holds_up_others_for_a_bounded_time() -> None:
    groups = Groups(0.5, counters())
    for number in (1, 3, 4):
        shard = decode_shard(shards_of(number, b"%d" % number, 0).shards[0])
        assert shard is not None
        groups.add(shard, 10.0)
    assert groups.take(10.0) == [b"1"]
    assert groups.take(10.49) == []
    assert groups.take(10.51) == [None, b"3", b"4"]
    late = decode_shard(shards_of(2, b"2", 0).shards[0])
    assert late is not None
    groups.add(late, 10.6)
    assert groups.take(10.6) == [] and groups.next == 5


def test_forged_group_numbers_cost_bounded_memory() -> None:
    groups = Groups(1e9, counters())
    for number in itertools.chain(range(2, 5000), (1 << 63, (1 << 64) - 1)):
        for each in shards_of(number, bytes(38_400), 0).shards[:-1]:
            shard = decode_shard(each)
            assert shard is not None
            groups.add(shard, 0.0)
    assert groups._bytes <= 4 << 20 and len(groups._waiting) <= 1024
    assert groups.newest <= 1024
    groups.take(2e9)
    assert groups._bytes <= 38_400 and list(groups._waiting) == [groups.newest]  # nothing waits behind it


def test_shards_that_contradict_themselves_are_refused() -> None:
    good = shards_of(7, bytes(5000), 0.5).shards
    assert all(decode_shard(each) is not None for each in good)
    head = struct.Struct("<QHBBB")
    size = 5000 // 5
    for number, total, k, m, index in (
        (0, 5000, 5, 3, 0), (7, 0, 5, 3, 0), (7, 38_401, 33, 3, 0), (7, 5000, 4, 3, 0), (7, 5000, 6, 3, 0),
        (7, 5000, 0, 3, 0), (7, 5000, 5, 60, 0), (7, 5000, 5, 3, 8), (7, 65_535, 55, 0, 0),
    ):  # fmt: skip
        assert decode_shard(head.pack(number, total, k, m, index) + bytes(size)) is None
    assert decode_shard(good[0][:-1]) is None and decode_shard(good[0] + b"x") is None and decode_shard(b"") is None


def pieces(*messages: Tuple[bytes, bytes], most: int = 500) -> List[bytes]:
    queue = Outgoing(100, 1 << 30, counters())
    for name, payload in messages:
        queue.put(CHANNEL, name, payload, Pace())
    queue.advance(0.0)
    made = []
    while queue.has_some:
        made.append(queue.next_batch(most, 0.0))
    return made


def test_messages_take_turns_and_come_whole() -> None:
    made = random.Random(18)
    messages = [(b"LARGE", made.randbytes(30_000)), (b"SMALL", b"s" * 10), (b"EMPTY", b""), (b"LARGE", b"next")]
    got: List[Tuple[bytes, bytes]] = []
    incoming = Incoming(1 << 20, lambda kind, name, payload: got.append((name, payload)), counters())
    for batch in pieces(*messages):
        incoming.take(batch, 0.0)
    assert sorted(got) == sorted(messages)
    assert [payload for name, payload in got if name == b"LARGE"] == [messages[0][1], b"next"]
    assert got[0][0] in (b"SMALL", b"EMPTY")


def test_a_missing_batch_loses_its_messages_alone() -> None:
    got: List[bytes] = []
    incoming = Incoming(1 << 20, lambda kind, name, payload: got.append(payload), counters())
    batches = pieces((b"A", bytes(5000)), (b"A", b"after"))
    for batch in batches[:3] + batches[4:]:
        incoming.take(batch, 0.0)
    assert got == [b"after"]


def test_incomplete_messages_cost_bounded_memory() -> None:
    incoming = Incoming(100_000, lambda kind, name, payload: None, counters())
    for number in range(5000):
        incoming.take(frames.encode(CHANNEL, b"%d" % number, 90_000, 0, memoryview(bytes(1000))), 0.0)
        incoming.take(frames.encode(CHANNEL, b"%d" % number, 90_000, 1000, memoryview(bytes(2000))), 0.0)
    assert incoming._bytes <= 100_000 and len(incoming._incomplete) <= 256
    with pytest.raises(Malformed):
        incoming.take(frames.encode(CHANNEL, b"x", 100_001, 0, memoryview(b"x")), 0.0)
    incoming.take(b"", 31.0)
    assert incoming._bytes == 0 and not incoming._incomplete


def test_no_bytes_crash_the_readers() -> None:
    made = random.Random(18)
    seal = Seal(b"key", bytes(16), bytes([1]) * 16)
    other = Seal(b"key", bytes([1]) * 16, bytes(16))
    good = [
        packets.encode_hello(b"key", b"s" * 16, b"p" * 16),
        encode_report(Report(3, 5, 7, 9, -2, [(3, 1), (4, 0)])),
        shards_of(1, bytes(3000), 0.5).shards[1],
        b"".join(pieces((b"A", b"12345"), (b"B", bytes(1000)))),
        seal.seal(packets.SHARD, b"body"),
        topic_bytes.encode(topic_bytes.TopicHead(1, True, 2, bytes(16)), b"sample"),
        *datagrams(1, b"CHANNEL", bytes(100_000)),
    ]
    incoming = Incoming(1 << 16, lambda kind, name, payload: None, counters())
    reassembly = Reassembly(lambda channel: True, 1 << 20, 2 << 20, counters())
    assert other.open(good[4]) == (packets.SHARD, b"body")

    def read(data: bytes) -> None:
        packets.decode_hello(b"key", data)
        decode_report(data)
        decode_shard(data)
        assert other.open(data) is None
        topic_bytes.decode(data)
        reassembly.add(memoryview(data), SOURCE, 0.0)
        try:
            incoming.take(data, 0.0)
        except Malformed:
            pass

    for data in good:
        for size in range(min(len(data), 400)):
            read(data[:size])
        for _ in range(1500):
            changed = bytearray(data)
            for _ in range(made.randrange(1, 4)):
                changed[made.randrange(len(changed))] ^= made.randrange(1, 256)
            read(bytes(changed))
    assert reassembly._bytes <= 2 << 20


def test_queues_are_bounded_and_keep_the_newest() -> None:
    queue = Outgoing(10, 1_000_000, counters())
    for number in range(1000):
        queue.put(CHANNEL, b"ALL", b"%d" % number, Pace())
        queue.put(CHANNEL, b"FAST", b"%d" % number, Pace(0.25, True))
    for number in range(500):
        queue.put(CHANNEL, b"%d" % number, bytes(10_000), Pace())
    assert queue._bytes <= 1_000_000
    for number in range(5000):
        queue.put(CHANNEL, b"name%d" % number, b"", Pace())
    assert len(queue._lines) <= 2048
    small = Outgoing(3, 1_000_000, counters())
    for number in range(9):
        small.put(CHANNEL, b"ALL", b"%d" % number, Pace())
        small.put(CHANNEL, b"FAST", b"%d" % number, Pace(0.25, True))
    got: Dict[bytes, List[bytes]] = {}
    incoming = Incoming(1 << 20, lambda kind, name, payload: got.setdefault(name, []).append(payload), counters())
    small.advance(0.0)
    incoming.take(small.next_batch(38_400, 0.0), 0.0)
    assert got == {b"ALL": [b"6", b"7", b"8"], b"FAST": [b"8"]}
    small.put(CHANNEL, b"FAST", b"9", Pace(0.25, True))
    assert small.advance(0.1) == 0.25 and not small.has_some
    small.put(CHANNEL, b"FAST", b"10", Pace(0.25, True))
    small.advance(0.25)
    incoming.take(small.next_batch(38_400, 0.25), 0.25)
    assert got[b"FAST"] == [b"8", b"10"]


def test_the_window_gives_way_to_a_queue_and_not_to_loss() -> None:
    window, now, number = Window(), 100.0, 1

    def fill_and_settle(round_trip: float, is_lossy: bool = False) -> int:
        """Returns how many bytes were on their way."""
        nonlocal now, number
        sent = 0
        while window.room:
            room = window.room
            window.sent(number, room, now)
            if is_lossy:
                window.repaired(number, now)
            sent, number = sent + room, number + 1
        now += round_trip
        window.settled(Report(number, number - 1, 0, 0, None, []), now)
        assert window.newest == 0
        return sent

    begin = fill_and_settle(0.02)
    fast = [fill_and_settle(0.02) for _ in range(20)][-1]
    assert begin <= 16_384 and 200_000 < fast <= 262_144
    lossy = [fill_and_settle(0.02, True) for _ in range(100)][-1]
    assert 60_000 <= lossy <= 65_536
    queued = [fill_and_settle(0.9) for _ in range(20)]
    assert queued[-1] == 4800 and queued[3] < 10_000
    assert [fill_and_settle(0.02) for _ in range(20)][-1] > 200_000  # the queue is gone
    small = 0
    while window.room:
        window.sent(number, 10, now)
        small, number = small + 1, number + 1
    assert small == 512


def test_lcms_datagrams_are_those_of_the_protocol() -> None:
    (short,) = datagrams(5, b"POSE", b"hello")
    assert short == b"LC02" + bytes([0, 0, 0, 5]) + b"POSE\0hello"
    first, second = datagrams(1 << 32 | 6, b"POSE", bytes(300), most=200)
    assert first[:20] == b"LC03" + struct.pack(">IIIHH", 6, 300, 0, 0, 2) and first[20:25] == b"POSE\0"
    assert second[:20] == b"LC03" + struct.pack(">IIIHH", 6, 300, 175, 1, 2) and len(first) == 200


def test_fragments_come_in_any_order_and_cost_bounded_memory() -> None:
    made = random.Random(18)
    payload = made.randbytes(5_000_000)
    parts = list(datagrams(1, b"IMAGE", payload))
    made.shuffle(parts)
    reassembly = Reassembly(lambda channel: channel != b"NO", 8 << 20, 16 << 20, counters())
    found = [reassembly.add(memoryview(each), SOURCE, 0.0) for each in parts + parts[:1]]
    assert [each for each in found if each is not None] == [(b"IMAGE", payload)]

    for number in range(2000):  # many senders that announce much and never finish
        huge = b"LC03" + struct.pack(">IIIHH", 1, 8 << 20, 0, 1, 65535) + b"x"
        reassembly.add(memoryview(huge), ("192.0.2.1", number), 1.0)
        assert reassembly._bytes <= 1 << 17 and len(reassembly._incomplete) <= 256
    parts = list(datagrams(1, b"IMAGE", payload))
    for number, each in enumerate(parts):  # beside them, those of another host
        found = [reassembly.add(memoryview(each), ("192.0.2.2", 1), 1.0)]
        for sender in range(50):
            reassembly.add(memoryview(huge), ("192.0.2.1", 3000 + 50 * number + sender), 1.0)
    assert found == [(b"IMAGE", payload)]
    for number in range(100):  # what has arrived is bounded too
        large = b"LC03" + struct.pack(">IIIHH", 1, 8 << 20, 0, 1, 200) + bytes(60_000)
        for index in range(20):
            fragment = large[:16] + struct.pack(">HH", index, 200) + large[20:]
            reassembly.add(memoryview(fragment), ("192.0.2.1", number), 1.0)
            assert reassembly._bytes <= 16 << 20
    reassembly.add(memoryview(huge), ("192.0.2.2", 1), 9.0)
    assert len(reassembly._incomplete) == 1  # the others were too old
    for bad in (
        struct.pack(">IIIHH", 1, 10, 5, 1, 2) + b"toolong", struct.pack(">IIIHH", 1, 10, 5, 2, 2) + b"x",
        struct.pack(">IIIHH", 1, 0xFFFFFFFF, 5, 1, 2) + b"x", struct.pack(">IIIHH", 1, 10, 0, 0, 2) + b"x" * 80,
        struct.pack(">IIIHH", 1, 10, 3, 1, 2),
    ):  # fmt: skip
        assert reassembly.add(memoryview(b"LC03" + bad), ("192.0.2.9", 1), 1.0) is None
    assert reassembly._incomplete.get(("192.0.2.9", 1)) is None
    unwanted = list(datagrams(9, b"NO", bytes(200_000)))
    before = reassembly._bytes
    assert [reassembly.add(memoryview(each), SOURCE, 2.0) for each in unwanted] == [None] * len(unwanted)
    assert reassembly._bytes <= before


def test_random_fragments_of_many_senders_join_to_what_was_sent() -> None:
    """Fuzz: any order, losses, repetitions and lies. ORC_TEST_LONG=1 does it for long."""
    for seed in range(2000 if os.environ.get("ORC_TEST_LONG") == "1" else 20):
        made = random.Random(seed)
        reassembly = Reassembly(lambda channel: channel != b"NO", 1 << 20, 1 << 20, counters())
        sources = [(f"192.0.2.{made.randrange(4)}", made.randrange(1000)) for _ in range(8)]
        sent: Dict[Source, Set[Tuple[bytes, bytes]]] = {each: set() for each in sources}
        flying: List[Tuple[Source, bytes]] = []
        for number in range(60):
            source, name = made.choice(sources), made.choice([b"A", b"B", b"NO"])
            message = (name, made.randbytes(made.randrange(5000)))
            sent[source].add(message)
            flying += [(source, each) for each in datagrams(number, *message, most=1000)]
        for _ in range(len(flying) // 4):
            at = made.randrange(len(flying))
            flying.insert(made.randrange(len(flying)), flying[at])
            del flying[made.randrange(len(flying))]
        liar = ("192.0.2.1", 5000)
        for now, (source, each) in enumerate(flying):
            found = reassembly.add(memoryview(each), source, now / 100)
            assert found is None or (found in sent[source] and found[0] != b"NO"), seed
            changed = bytearray(each)
            for _ in range(made.randrange(1, 4)):
                changed[made.randrange(4, min(40, len(changed)))] = made.randrange(256)
            reassembly.add(memoryview(changed), liar, now / 100)
            held = reassembly._incomplete.where(lambda _: True)
            assert reassembly._bytes == sum(reassembly._incomplete.get(each).cost for each in held), seed  # type: ignore[union-attr]
            assert len(held) == len(reassembly._incomplete) and reassembly._bytes <= 1 << 20, seed


def test_channels_match_whole_names() -> None:
    channels = Channels([ChannelRule("A.*"), ChannelRule("FAST", 10.0)], ["OK|GOOD.*"])
    assert channels.pace(b"ABC") == Pace() and channels.pace(b"XA") is None
    assert channels.pace(b"FAST") == Pace(0.1, True) and channels.pace(b"FASTER") is None
    assert channels.may_come_in(b"OK") and channels.may_come_in(b"GOOD1") and not channels.may_come_in(b"OKAY")
    assert channels.pace(b"A\xff") == Pace()
    assert Channels([ChannelRule(".*")], []).pace(b"LCM_SELF_TEST") is None
    for number in range(10_000):
        channels.pace(b"%d" % number)
    assert len(channels._out) <= 4096


def test_urls() -> None:
    assert lcm_url("udpm://239.255.76.67:7667?ttl=1").ttl == 1
    assert lcm_url("udpm://").port == 7667 and lcm_url("udpm://239.1.2.3").group == "239.1.2.3"
    more = lcm_url("udpm://239.1.2.3:1?recv_buf_size=9999&interface=lo&fec=20&reassembly=1")
    assert (more.recv_buf_size, more.interface, more.ttl) == (9999, "lo", 0)
    for bad in ("", "tcp://239.1.2.3:1", "udpm://10.0.0.1:1", "udpm://239.1.2.3:0", "udpm://239.1.2.3:x",
                "udpm://239.1.2.3:1?ttl=256", "udpm://239.1.2.3:1?ttl=-1", "udpm://239.1.2.3:1?other=1",
                "udpm://[ff15::1]:1"):  # fmt: skip
        with pytest.raises(SettingsError):
            lcm_url(bad)
    assert str(link_url("udp://*:6789", True)) == "udp://*:6789"
    assert link_url("tcp://[fd79::1]:1", False).host == "fd79::1"
    for bad in ("tcp://*:1", "tcp://a", "ipc://a:1", "tcp://a:0", "tcp://a:65536", "tcp://a b:1", ""):
        with pytest.raises(SettingsError):
            link_url(bad, False)


def test_the_allow_list_takes_addresses_and_networks() -> None:
    options = LinkOptions(allow=["192.0.2.7", "198.51.100.0/24", "fd79::/64"])
    for good in ("192.0.2.7", "::ffff:192.0.2.7", "198.51.100.9", "fd79::5%3"):
        assert options.allows(good)
    for bad in ("192.0.2.8", "::ffff:203.0.113.1", "fd80::1"):
        assert not options.allows(bad)
    assert LinkOptions().allows("203.0.113.1")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "--connect"),
        ('listen = "tcp://*:1"\n[[channel]]\nname = "("', "regular expression"),
        ('listen = "tcp://*:1"\n[[channel]]\nname = "a"\nmax_rate = -1', "max_rate"),
        ('listen = "tcp://*:1"\nfec = 2', "fec"),
        ('listen = "tcp://*:1"\nallow = ["nowhere"]', "allow"),
        ('listen = "tcp://*:1"\nlcm_url = "x"', "lcm_url"),
        ('listen = "tcp://*:1"\n[[topic]]\nname = "a"\ndirection = "up"', "direction"),
        ('listen = "tcp://*:1"\nother = 1', "unknown key other"),
        ('listen = "tcp://*:1"\naccept = ["["]', "regular expression"),
        ("listen = 1", "listen"),
        ("a = ", "file.toml"),
    ],
)
def test_bad_settings_are_refused(tmp_path: pathlib.Path, text: str, why: str) -> None:
    path = tmp_path / "file.toml"
    path.write_text(text)
    with pytest.raises(SettingsError, match=why):
        settings_of(["--file", str(path)])


def test_options_win_over_the_file(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "file.toml"
    path.write_text('listen = "tcp://*:1"\nfec = 0.1\n[[channel]]\nname = "B"\nmax_rate = 2\n')
    read = settings_of(["--file", str(path), "--fec", "0.5", "--channel", "A", "--rate", "9", "--topic", "t/**"])
    assert (read.listen, read.fec) == (["tcp://*:1"], 0.5)
    assert read.channels == [ChannelRule("A", 9.0), ChannelRule("B", 2.0)]
    assert [(each.name, each.max_rate, each.local) for each in read.topics] == [("t/**", 9.0, "{topic}")]


def test_a_key_must_be_secret_and_long(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "key"

    def options(content: bytes, mode: int) -> Any:
        path.write_bytes(content)
        path.chmod(mode)
        return settings_of(["--listen", "tcp://*:1", "--key-file", str(path)]).link_options()

    assert options(b"0123456789abcdef\n", 0o600).shared_key == b"0123456789abcdef"
    with pytest.raises(SettingsError, match="chmod 600"):
        options(b"0123456789abcdef", 0o640)
    with pytest.raises(SettingsError, match="openssl rand"):
        options(b"short", 0o600)


def test_a_tunnel_of_another_version_is_named() -> None:
    hello = packets.encode_hello(b"", packets.new_session(), packets.NO_SESSION)
    assert "version 1" in packets.why_no_hello(hello[:4] + b"\x01" + hello[5:])
    for stranger in (hello, hello[:4], b"", b"GET / HTTP/1.1"):
        assert packets.why_no_hello(stranger) == "no hello with our key"
