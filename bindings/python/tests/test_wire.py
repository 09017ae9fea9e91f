"""The bytes of the pure backend: golden vectors, a real broker, mutated frames, hostile peers."""

from __future__ import annotations

import dataclasses
import json
import pathlib
import random
import re
import struct
import time
from typing import Any, Dict, Iterator, Set, Tuple

import pytest

pytest.importorskip("zmq")

import zmq

import orc.pure
from orc._type_description import TypeDescription
from orc.pure import identity, link, messages, wire
from support import REPOSITORY, BrokerProcess, wait_until

GOLDEN = REPOSITORY / "schemas" / "golden"
MANIFEST = json.loads((GOLDEN / "manifest.json").read_text())
TRANSPORTS = ["none", "inproc", "ipc", "tcp", "shm", "multicast"]
FRAMES = [(GOLDEN / entry["file"]).read_bytes() for entry in MANIFEST]


def shown(value: Any) -> Any:
    """A message as the manifest shows it."""
    if isinstance(value, identity.Id):
        return str(value)
    if dataclasses.is_dataclass(value):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return {n: TRANSPORTS[v] if n == "transport" else shown(v) for n, v in fields.items()}
    if isinstance(value, list):
        return [shown(item) for item in value]
    return value.decode() if isinstance(value, bytes) else value


@pytest.mark.parametrize("entry", MANIFEST, ids=lambda entry: str(entry["file"]))
def test_golden_vectors(entry: Dict[str, Any]) -> None:
    frame = (GOLDEN / entry["file"]).read_bytes()
    assert len(frame) == entry["bytes"]
    envelope = wire.decode(frame)
    assert (envelope.version, envelope.request) == (entry["version"], entry["request"])
    assert type(envelope.body).__name__ == entry["kind"]
    assert shown(envelope.body) == entry["body"]
    assert wire.decode(wire.encode(envelope)) == envelope


def test_what_programs_from_before_typed_topics_say_of_a_type_is_ignored() -> None:
    registration = wire.decode((GOLDEN / "before_types" / "register_topic.bin").read_bytes()).body
    assert isinstance(registration, messages.RegisterTopic)
    assert (registration.topic, len(registration.endpoints)) == ("robot/position", 2)
    assert (registration.type, registration.keep_last) == (None, False)
    state = wire.decode((GOLDEN / "before_types" / "topic_state.bin").read_bytes()).body
    assert isinstance(state, messages.TopicState) and state.publication is not None
    assert len(state.publication.endpoints) == 2
    assert (state.publication.type, state.publication.keep_last) == (None, False)


def test_counters_of_programs_that_do_not_report_the_time_of_samples() -> None:
    beat = wire.decode((GOLDEN / "before_timing" / "heartbeat.bin").read_bytes()).body
    assert isinstance(beat, messages.Heartbeat)
    (counters,) = beat.publications
    assert (counters.sent, counters.last_sent_ns, counters.jitter_ns) == (5_000, 0, -1)


def test_counters_of_programs_from_before_predictive_waiting() -> None:
    beat = wire.decode((GOLDEN / "before_prediction" / "heartbeat.bin").read_bytes()).body
    assert isinstance(beat, messages.Heartbeat)
    (counters,) = beat.subscriptions
    assert (counters.received, counters.prediction) == (4_990, None)


def test_every_kind_has_a_golden_vector() -> None:
    assert {entry["kind"] for entry in MANIFEST} == {kind.__name__ for kind in messages.BODIES}


SCHEMA = (REPOSITORY / "schemas" / "orc_protocol.fbs").read_text()
_LETTERS = {"bool": "B", "ubyte": "B", "uint": "I", "ulong": "Q", "long": "q", "string": "text", "[string]": "[text]"}
_NOT_HERE = {("RegisterTopic", "type_with_schema"), ("Publication", "type_with_schema"), ("TopicState", "displaced")}


def fields_of_the_schema(schema: str) -> Set[Tuple[str, str, int, str, int]]:
    """Table, name, place, kind and default of each field, with the letters of messages.py for its numbers."""
    schema = re.sub("//.*", "", schema)
    enums = dict.fromkeys(re.findall(r"enum (\w+) : ubyte", schema), "B")
    found = set()
    for table, body in re.findall(r"table (\w+) \{(.*?)\}", schema, re.DOTALL):
        for place, field in enumerate(re.findall(r"(\w+):([^;=( ]+)([^;]*);", body)):
            name, type, rest = field
            default = re.search(r"= *(\S+)", rest)
            number = {"true": 1}.get(default[1]) or int(default[1]) if default else 0
            found.add((table, name, place, {**_LETTERS, **enums, "Id": "id"}.get(type, type), number))
    return {each for each in found if each[0] != "Envelope" and each[:2] not in _NOT_HERE}


def fields_of_the_codec() -> Set[Tuple[str, str, int, str, int]]:
    found = set()
    for table, fields in messages.TABLES.items():
        for field in fields:
            kind = "[ubyte]" if field.kind == "bytes" else field.kind.strip("!?")
            default = field.default if isinstance(field.default, int) else 0
            found.add((table, field.name, field.slot, f"[{kind}]" if field.is_list else kind, default))
    return found


def test_the_codec_is_that_of_the_schema() -> None:
    assert fields_of_the_codec() == fields_of_the_schema(SCHEMA)
    (bodies,) = re.findall(r"union Body \{(.*?)\}", SCHEMA, re.DOTALL)
    assert [kind.__name__ for kind in messages.BODIES] == re.findall(r"\w+", bodies)


@pytest.mark.parametrize(
    ("was", "becomes", "changed"),
    [
        ("pid:uint;", "pid:ulong;", "pid"),
        ("library:string;", "library:string; more:string;", "more"),
        ("sent:ulong;", "sent:ulong = 7;", "sent"),
        ("readers:uint;", "another:uint; readers:uint;", "readers"),
    ],
)
def test_a_change_of_the_schema_is_noticed(was: str, becomes: str, changed: str) -> None:
    assert was in SCHEMA
    difference = fields_of_the_schema(SCHEMA.replace(was, becomes, 1)) ^ fields_of_the_codec()
    assert changed in {name for _, name, *_ in difference}


class Tool:
    """A bare connection to the broker."""

    def __init__(self, context: "zmq.Context[zmq.Socket[bytes]]", endpoint: str) -> None:
        self.socket = context.socket(zmq.DEALER)
        self.socket.linger = 0
        self.socket.rcvtimeo = 20_000
        self.socket.connect(endpoint)
        self.request = 0

    def ask(self, body: messages.Body) -> messages.Body:
        self.request += 1
        self.socket.send(wire.encode(messages.Envelope(self.request, body)))
        while True:
            answer = wire.decode(self.socket.recv())
            if answer.request == self.request:
                return answer.body


@pytest.fixture
def context() -> Iterator["zmq.Context[zmq.Socket[bytes]]"]:
    made: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    yield made
    made.destroy(0)


def test_a_real_broker_accepts_what_is_encoded(
    broker: BrokerProcess, context: "zmq.Context[zmq.Socket[bytes]]"
) -> None:
    tool = Tool(context, broker.endpoint)
    me, publication, subscription = (identity.draw_id() for _ in range(3))
    welcome = tool.ask(messages.Hello(me, "wire", identity.host_identity(), 0, 0, "orc.pure"))
    assert isinstance(welcome, messages.Welcome) and welcome.epoch != 0 and welcome.lease_ms > 0
    schema = bytes(range(256)) * 64
    type = TypeDescription("Pose", "text", "text", schema)
    described = messages.Type(type.name, type.schema_encoding, type.message_encoding, type.hash, len(schema))
    endpoints = [messages.Endpoint(3, f"tcp://127.0.0.{n}:40000") for n in range(1, 9)]
    state = tool.ask(messages.RegisterTopic("a", publication, endpoints, described))
    assert isinstance(state, messages.TopicState) and state.publication is not None
    assert state.publication.publication == publication and state.publication.endpoints == endpoints
    assert state.lacks_schema
    assert isinstance(tool.ask(messages.SchemaPart(described.hash, 0, schema)), messages.Ack)
    kept = tool.ask(messages.GetSchema(described.hash))
    assert isinstance(kept, messages.SchemaPart) and kept.bytes == schema
    unknown = tool.ask(messages.GetSchema(described.hash + 1))
    assert isinstance(unknown, messages.Error) and unknown.code == 8
    assert isinstance(tool.ask(messages.RequestTopic("a", subscription, 5, described)), messages.TopicState)
    counters = messages.PublicationCounters(publication, 1, 2, 3, 4, 5, 6, 7)
    heard = messages.SubscriptionCounters(subscription, 1, 2, 3, 4, 5, -1, 3, "täuschend " * 40)
    assert isinstance(tool.ask(messages.Heartbeat([counters] * 64, [heard] * 64)), messages.Ack)
    told = tool.ask(messages.DescribeTopic("a"))
    assert isinstance(told, messages.TopicState) and told.publication is not None
    assert told.publication.type == described and told.publication.counters == counters
    assert told.subscriptions[0].counters is not None
    assert told.subscriptions[0].counters.reason == wire.shorten("täuschend " * 40)
    listed = tool.ask(messages.ListTopics("", 0))
    assert isinstance(listed, messages.TopicList) and [t.topic for t in listed.topics] == ["a"]
    assert listed.rejected == 0
    assert isinstance(tool.ask(messages.ReleaseTopic("a", subscription)), messages.Ack)
    assert isinstance(tool.ask(messages.UnregisterTopic("a", publication)), messages.Ack)
    gone = tool.ask(messages.DescribeTopic("a"))
    assert isinstance(gone, messages.Error) and gone.code == 5
    assert isinstance(tool.ask(messages.Goodbye()), messages.Ack)


def mutated(rng: random.Random, frame: bytes) -> bytes:
    changed = bytearray(frame)
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        at = rng.randrange(len(changed))
        how = rng.randrange(4)
        if how == 0:
            changed[at] ^= 1 << rng.randrange(8)
        elif how == 1:
            changed[at] = rng.choice((0, 1, 0x7F, 0x80, 0xFF))
        elif how == 2:
            changed[at : at + 4] = struct.pack(
                "<I", rng.choice((0, 4, 2**31, 2**32 - 1, len(frame), rng.getrandbits(32)))
            )
        else:
            del changed[at : at + rng.randrange(8)]
        changed[4:8] = b"ORC1" if rng.random() < 0.95 else changed[4:8]
        if not changed:
            break
    return bytes(changed)


def test_mutated_frames_never_crash_the_decoder() -> None:
    """Malformed, or a message; in bounded time, and what comes out can be encoded again."""
    rng = random.Random(20_26)
    outcomes = {"malformed": 0, "message": 0}
    slowest = 0.0
    for _ in range(10_000):
        frame = mutated(rng, rng.choice(FRAMES))
        before = time.perf_counter()
        try:
            message = wire.decode(frame)
        except wire.Malformed:
            outcomes["malformed"] += 1
        else:
            outcomes["message"] += 1
            assert wire.decode(wire.encode(message)).request == message.request
        slowest = max(slowest, time.perf_counter() - before)
    assert min(outcomes.values()) > 1000, outcomes
    assert slowest < 5, "a frame of 1 kB kept the decoder for seconds"


def test_frames_that_refer_to_themselves_are_bounded() -> None:
    """64 KiB in which everything points into a table that claims endless vectors."""
    rng = random.Random(5)
    base = (GOLDEN / "topic_list.bin").read_bytes()
    for _ in range(20):
        frame = bytearray((base * 70)[: wire.MAX_FRAME])
        for at in range(64, len(base), 4):
            if rng.random() < 0.05:
                frame[at : at + 4] = struct.pack("<I", rng.randrange(4, 60_000))
        before = time.perf_counter()
        try:
            wire.decode(bytes(frame))
        except wire.Malformed:
            pass
        assert time.perf_counter() - before < 10


@pytest.mark.parametrize(
    "frame",
    [b"", b"x" * 7, b"\0" * 8, b"\xff" * 64, b"\4\0\0\0ORC1", b"\4\0\0\0ORC1" + b"\xff" * 65_528, b"y" * 70_000],
)
def test_no_frames(frame: bytes) -> None:
    with pytest.raises(wire.Malformed):
        wire.decode(frame)


def test_another_version_is_named() -> None:
    frame = wire.encode(messages.Envelope(1, messages.Ack(), version=2))
    with pytest.raises(wire.WrongVersion):
        wire.decode(frame)


def test_link_messages() -> None:
    publication, subscription = identity.Id(1, 2), identity.Id(3, 4)
    message = link.LinkMessage(link.HELLO, publication, subscription, 5, 6, 7)
    packed = link.pack_link(message)
    assert packed.hex() == (
        "00" * 8
        + "0700000000000000"
        + "4f52434c"
        + "01"
        + "01"
        + "0000"
        + "0100000000000000"
        + "0200000000000000"
        + "0300000000000000"
        "0400000000000000" + "05000000" + "00000000" + "0600000000000000"
    )
    assert link.unpack_link(memoryview(packed)) == message
    for at, value in ((0, 1), (16, 0), (20, 0), (20, 5), (21, 2)):
        broken = bytearray(packed)
        broken[at] = value
        assert link.unpack_link(memoryview(broken)) is None, f"byte {at} = {value}"
    assert link.unpack_link(memoryview(packed[:-1])) is None
    assert link.unpack_link(memoryview(packed + b"\0")) is None
    assert link.unpack_link(memoryview(packed[:24] + bytes(16) + packed[40:])) is None
    spare = bytearray(packed)
    spare[22], spare[60] = 9, 9
    assert link.unpack_link(memoryview(spare)) == message, "bytes to be ignored"


def endpoint_of(endpoint: str, context: "zmq.Context[zmq.Socket[bytes]]", topic: str) -> messages.Publication:
    state = Tool(context, endpoint).ask(messages.DescribeTopic(topic))
    assert isinstance(state, messages.TopicState) and state.publication is not None
    return state.publication


def junk(rng: random.Random, publication: identity.Id) -> Any:
    """Frames that a peer may send instead of what it should."""
    hello = link.pack_link(link.LinkMessage(rng.randrange(0, 9), publication, identity.draw_id(), 2**32 - 1, 2**64 - 1))
    kinds: Any = [
        [b""],
        [rng.randbytes(rng.randrange(200))],
        [mutated(rng, hello)],
        [hello, b"more"],
        [b"a"] * 20,
        [struct.pack("<Qq", rng.getrandbits(64), -1) + b"payload"],
        [hello],
    ]
    return rng.choice(kinds)


def test_a_hostile_peer_at_a_publication(broker: BrokerProcess, context: "zmq.Context[zmq.Socket[bytes]]") -> None:
    rng = random.Random(1)
    with orc.pure.Participant() as one, orc.pure.Participant() as two:
        publisher = one.register_topic("t")
        subscriber = two.request_topic("t", conflate=0, depth=1000, connected_within_ms=20_000)
        found = endpoint_of(broker.endpoint, context, "t")
        sequence = 0
        for _ in range(5):
            hostile = context.socket(zmq.DEALER)
            hostile.connect(found.endpoints[0].address)
            for _ in range(150):
                hostile.send_multipart(junk(rng, found.publication))
            hostile.send(b"x" * 10_000)
            for _ in range(20):
                publisher.send_msg(b"x" * 1000)
                sequence += 1
                message = subscriber.recv_msg(20_000)
                assert message is not None and (message.sequence, message.missed) == (sequence, 0)
        wait_until(lambda: publisher.readers <= 6)
        context.destroy(0)
        wait_until(lambda: publisher.readers == 1)


def test_a_hostile_publication(broker: BrokerProcess, context: "zmq.Context[zmq.Socket[bytes]]") -> None:
    """A publication that answers with junk: nothing of it is returned, and the subscription takes the next one."""
    rng = random.Random(2)
    router = context.socket(zmq.ROUTER)
    router.rcvtimeo = 20_000
    port = router.bind_to_random_port("tcp://127.0.0.1")
    tool = Tool(context, broker.endpoint)
    tool.ask(messages.Hello(identity.draw_id(), "hostile", identity.host_identity(), 0, 0, ""))
    publication = identity.draw_id()
    tool.ask(messages.RegisterTopic("t", publication, [messages.Endpoint(3, f"tcp://127.0.0.1:{port}")]))
    with orc.pure.Participant() as participant, orc.pure.Participant() as other:
        subscriber = participant.request_topic("t", conflate=0, depth=100)
        peer, hello = router.recv_multipart()
        asked = link.unpack_link(memoryview(hello))
        assert asked is not None and (asked.kind, asked.publication, asked.newest) == (link.HELLO, publication, 0)
        early = struct.pack("<Qq", 1, 0) + b"before the welcome"
        for _ in range(40):  # more would pass a limit of the connection
            frames = junk(rng, publication)
            if len(frames) > 1 or len(frames[0]) != 72:
                router.send_multipart([peer, *frames])
        router.send_multipart([peer, early])
        router.send_multipart([peer, link.pack_link(asked._replace(kind=link.WELCOME, newest=1))])
        assert subscriber.wait_connected(20_000)
        router.send_multipart([peer, b"short"])
        router.send_multipart([peer, struct.pack("<Qq", 2, 0) + b"two parts", b"x"])
        router.send_multipart([peer, struct.pack("<Qq", 7, 0) + b"fine"])
        router.send_multipart([peer, struct.pack("<Qq", 6, 0) + b"older"])
        router.send_multipart([peer, struct.pack("<Qq", 7, 0) + b"again"])
        router.send_multipart([peer, struct.pack("<Qq", 8, 0) + b"last"])
        got = [subscriber.recv_msg(20_000) for _ in range(2)]
        assert [(m.sequence, bytes(m)) for m in got if m is not None] == [(7, b"fine"), (8, b"last")]
        tool.ask(messages.Goodbye())
        other.register_topic("t").send_msg(b"honest")
        message = wait_until(lambda: subscriber.recv_msg(1000))
        assert bytes(message) == b"honest"


@pytest.mark.parametrize("stamp_ns", [-(2**63), -1, 2**63 - 1])
def test_an_absurd_stamp_does_not_stop_the_heartbeats(
    broker: BrokerProcess, context: "zmq.Context[zmq.Socket[bytes]]", stamp_ns: int
) -> None:
    """Its age did not fit into 64 bits: no counters, no heartbeat, and soon no lease."""
    logged = []
    router = context.socket(zmq.ROUTER)
    router.rcvtimeo = 20_000
    port = router.bind_to_random_port("tcp://127.0.0.1")
    tool = Tool(context, broker.endpoint)
    tool.ask(messages.Hello(identity.draw_id(), "clockless", identity.host_identity(), 0, 0, ""))
    publication = identity.draw_id()
    tool.ask(messages.RegisterTopic("t", publication, [messages.Endpoint(3, f"tcp://127.0.0.1:{port}")]))
    with orc.pure.Participant(log=lambda *entry: logged.append(entry)) as participant:
        subscriber = participant.request_topic("t")
        peer, hello = router.recv_multipart()
        asked = link.unpack_link(memoryview(hello))
        assert asked is not None
        router.send_multipart([peer, link.pack_link(asked._replace(kind=link.WELCOME, newest=0))])
        router.send_multipart([peer, struct.pack("<Qq", 1, stamp_ns) + b"x"])
        message = subscriber.recv_msg(20_000)
        assert message is not None and (bytes(message), message.stamp_ns) == (b"x", stamp_ns)

        def counted() -> bool:
            told = tool.ask(messages.DescribeTopic("t"))
            assert isinstance(told, messages.TopicState)
            counters = told.subscriptions[0].counters
            return counters is not None and counters.received == 1

        wait_until(counted)
    assert [text for level, text in logged if level == "error"] == []


def test_a_hostile_broker(run_dir: pathlib.Path, context: "zmq.Context[zmq.Socket[bytes]]") -> None:
    """Whatever it answers, the participant goes on; when it behaves, the registration succeeds."""
    rng = random.Random(3)
    router = context.socket(zmq.ROUTER)
    router.rcvtimeo = 20_000
    router.bind(f"ipc://{run_dir}/orc/broker")
    with orc.pure.Participant(broker_timeout_ms=0, log=lambda *_: None) as participant:
        with pytest.raises(orc.pure.NoBroker):
            participant.register_topic("t")
        peer, empty = router.recv_multipart()
        assert empty == b""
        for _ in range(500):
            router.send_multipart([peer, mutated(rng, rng.choice(FRAMES))])
        router.send_multipart([peer, b"two", b"parts"])
        welcome = messages.Welcome(1, 3000, 1000, False, "")
        router.send_multipart([peer, wire.encode(messages.Envelope(0, welcome))])
        router.send_multipart([peer, wire.encode(messages.Envelope(77, messages.Probe()))])
        alive = []

        def registered() -> bool:
            """Behaves, until the participant has what it wants."""
            while router.poll(0):
                peer, frame = router.recv_multipart()
                asked = (
                    wire.decode(frame)
                    if frame
                    else messages.Envelope(0, messages.Hello(identity.draw_id(), "", "", 0, 0, ""))
                )
                if isinstance(asked.body, messages.Hello):
                    router.send_multipart([peer, wire.encode(messages.Envelope(asked.request, welcome))])
                elif isinstance(asked.body, messages.RegisterTopic):
                    state = messages.TopicState("t", None, [], 0)
                    router.send_multipart([peer, wire.encode(messages.Envelope(asked.request, state))])
                elif isinstance(asked.body, messages.Alive):
                    alive.append(asked.request)
            try:
                participant.register_topic("t")
                return True
            except (orc.pure.NoBroker, orc.pure.Refused):  # Refused: a mutated frame had another version
                return False

        wait_until(lambda: registered() and 77 in alive)
