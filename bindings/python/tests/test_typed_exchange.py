"""How orc.pure sends and fetches schemas, and when it links: without a broker."""

from __future__ import annotations

from typing import Any, List, Optional

import pytest

pytest.importorskip("zmq")
pytest.importorskip("flatbuffers")

from orc import TypeDescription
from orc.pure import messages, wire
from orc.pure.described_type import DescribedType, describe
from orc.pure.identity import Id
from orc.pure.schema_exchange import SchemaFetches, SchemaUploads
from orc.pure.type_checks import TypeChecks
from orc.pure.type_gate import TypeGate

PART = wire.MAX_SCHEMA_PART
LIMIT, BAD_REQUEST = 6, 2


def described(name: str = "robot.State", size: int = 2 * PART + 5) -> DescribedType:
    made = describe(TypeDescription(name, "own", "own", bytes(range(256)) * (size // 256) + bytes(size % 256)))
    assert made is not None
    return made


class Broker:
    """Takes messages, numbers them from 1, and refuses them while it is full."""

    def __init__(self) -> None:
        self.sent: List[Any] = []
        self.full = False

    def __call__(self, body: messages.Body) -> int:
        if self.full:
            return 0
        self.sent.append(body)
        return len(self.sent)

    @property
    def last(self) -> int:
        return len(self.sent)


def used(_: int) -> bool:
    return True


def test_an_upload_goes_part_by_part_after_each_ack() -> None:
    uploads, broker, type = SchemaUploads(), Broker(), described()
    uploads.add(type, 0)
    uploads.add(type, 0)  # once
    for offset in (0, PART, 2 * PART):
        uploads.step(0, used, broker)
        uploads.step(0.1, used, broker)  # nothing before the answer
        part = broker.sent[-1]
        expected = type.description.schema[offset : offset + PART]
        assert (part.hash, part.offset, part.bytes) == (type.reference.hash, offset, expected)
        uploads.on_ack(broker.last + 7, 0)  # of another request
        uploads.on_ack(broker.last, 0)
    uploads.step(9, used, broker)
    assert broker.last == 3


def test_a_part_without_an_answer_is_repeated() -> None:
    uploads, broker = SchemaUploads(), Broker()
    uploads.add(described(), 0)
    broker.full = True
    uploads.step(0, used, broker)
    broker.full = False
    for now, count in ((0, 1), (0.2, 1), (0.3, 2), (0.8, 2), (0.9, 3)):
        uploads.step(now, used, broker)
        assert broker.last == count
    uploads.on_ack(1, 1)  # a late answer under an old number
    uploads.step(1, used, broker)
    assert {each.offset for each in broker.sent} == {0}


def test_a_broker_without_room_is_asked_again() -> None:
    uploads, broker = SchemaUploads(), Broker()
    uploads.add(described(), 0)
    uploads.step(0, used, broker)
    uploads.on_ack(1, 0)
    uploads.step(0, used, broker)
    assert "it is sent again later" in uploads.on_error(2, messages.Error(LIMIT, "full"), 0)
    uploads.step(0.9, used, broker)
    assert broker.last == 2
    uploads.step(1.0, used, broker)
    assert broker.sent[2].offset == 0  # from the beginning
    assert uploads.on_error(3, messages.Error(LIMIT, "full"), 1) == ""  # said once
    uploads.step(2.9, used, broker)
    assert broker.last == 3
    uploads.step(3.0, used, broker)
    assert broker.last == 4


def test_a_schema_that_the_broker_does_not_take_is_dropped() -> None:
    uploads, broker = SchemaUploads(), Broker()
    uploads.add(described("bad\nname"), 0)
    uploads.step(0, used, broker)
    said = uploads.on_error(1, messages.Error(BAD_REQUEST, "wrong hash"), 0)
    assert said == "the broker does not take the schema of type bad\\nname: wrong hash"
    uploads.step(99, used, broker)
    assert broker.last == 1


def test_an_upload_that_lost_its_place_begins_again_but_not_for_ever() -> None:
    uploads, broker = SchemaUploads(), Broker()
    uploads.add(described(), 0)
    now, said = 0.0, ""
    for _ in range(10):
        uploads.step(now, used, broker)
        if broker.sent[-1].offset == 0:
            uploads.on_ack(broker.last, now)
            uploads.step(now, used, broker)
        said = uploads.on_error(broker.last, messages.Error(BAD_REQUEST, "no place"), now)
        now += 60
        if said:
            break
    assert "no place" in said and broker.last == 6


def test_a_type_that_no_topic_has_any_more_is_not_sent() -> None:
    uploads, broker = SchemaUploads(), Broker()
    uploads.add(described(), 0)
    uploads.step(0, lambda _: False, broker)
    assert broker.last == 0


def parts_of(type: DescribedType, size: int = PART) -> List[messages.SchemaPart]:
    schema = type.description.schema
    return [messages.SchemaPart(type.reference.hash, at, schema[at : at + size]) for at in range(0, len(schema), size)]


def fetched(fetches: SchemaFetches, type: DescribedType, now: float) -> Optional[TypeDescription]:
    found = fetches.want(type.reference, now)
    fetches.forget_unwanted()
    return found


def test_a_schema_is_fetched_in_parts() -> None:
    fetches, broker, type = SchemaFetches(), Broker(), described()
    assert fetched(fetches, type, 0) is None
    for part in parts_of(type, 20_000):
        fetches.step(0, broker)
        assert (broker.sent[-1].hash, broker.sent[-1].offset) == (type.reference.hash, part.offset)
        fetches.on_part(broker.last, part, 0)
    assert fetched(fetches, type, 0) == type.description
    fetches.step(9, broker)
    assert broker.last == 4


def test_a_schema_that_the_broker_lacks_is_asked_for_again() -> None:
    fetches, broker, type = SchemaFetches(), Broker(), described()
    for now, count in ((0.0, 1), (0.05, 1), (0.1, 2), (0.2, 2), (0.31, 3)):
        fetched(fetches, type, now)
        fetches.step(now, broker)
        assert broker.last == count
        fetches.on_error(broker.last, now)
    fetches.begin_again(1)
    fetches.step(1, broker)
    assert broker.last == 4


@pytest.mark.parametrize("wrong", ["hash", "offset", "empty", "long", "content"])
def test_parts_of_a_broker_that_lies_are_dropped(wrong: str) -> None:
    fetches, broker, type = SchemaFetches(), Broker(), described(size=100)
    [part] = parts_of(type)
    lies = {
        "hash": messages.SchemaPart(part.hash + 1, 0, part.bytes),
        "offset": messages.SchemaPart(part.hash, 1, part.bytes),
        "empty": messages.SchemaPart(part.hash, 0, b""),
        "long": messages.SchemaPart(part.hash, 0, part.bytes + b"x"),
        "content": messages.SchemaPart(part.hash, 0, b"x" * 100),
    }
    fetched(fetches, type, 0)
    fetches.step(0, broker)
    fetches.on_part(1, lies[wrong], 0)
    assert fetched(fetches, type, 0) is None
    fetches.step(0.1, broker)
    fetches.on_part(1, part, 0.1)  # the answer to the earlier question
    assert fetched(fetches, type, 0.1) is None
    fetches.on_part(2, part, 0.1)
    assert fetched(fetches, type, 0.1) == type.description


def test_a_type_that_is_not_wanted_any_more_is_forgotten() -> None:
    fetches, broker, type = SchemaFetches(), Broker(), described(size=100)
    fetched(fetches, type, 0)
    fetches.step(0, broker)
    fetches.forget_unwanted()
    fetches.on_part(1, parts_of(type)[0], 0)
    fetches.step(9, broker)
    assert broker.last == 1 and fetches.want(type.reference, 9) is None


# The gate


def struct(kind: str) -> DescribedType:
    schema = f'{{"byte_order":"little","size":8,"fields":[{{"name":"x","type":"{kind}","offset":0}}]}}'
    made = describe(TypeDescription("robot.State", "struct", "struct", schema.encode()))
    assert made is not None
    return made


def publication(type: Optional[messages.Type], number: int = 1) -> messages.Publication:
    return messages.Publication(Id(number, 1), Id(2, 2), "arm", "host", 4711, [], type, None, 0)


def test_the_gate_waits_for_the_schema_and_reports_a_mismatch_once() -> None:
    here, there, checks = struct("float64"), struct("int64"), TypeChecks()
    gate = TypeGate("arm/state", here)
    gate.look_at(publication(there.reference), checks)
    obstacle = gate.closed_by()
    assert obstacle is not None and obstacle == ("waits for the schema of robot.State", False)
    assert gate.awaited == there.reference and gate.take_news() is None
    gate.compare(there.description, checks)
    obstacle = gate.closed_by()
    sentence = (
        "topic arm/state: type mismatch between robot.State at publisher `arm (4711)` and robot.State here: "
        "field `x` is int64 at publisher `arm (4711)`, float64 here"
    )
    assert obstacle == (sentence, True) and gate.awaited is None
    assert gate.take_news() == ("warning", sentence) and gate.take_news() is None
    gate.look_away()  # a broker that restarted knows no publication: the verdict stays
    assert gate.closed_by() == (sentence, True)
    gate.look_at(publication(there.reference, 2), checks)  # the same pair of types is compared once
    assert gate.closed_by() == (sentence, True) and gate.take_news() is None
    gate.look_at(publication(here.reference, 3), checks)
    news = gate.take_news()
    assert gate.closed_by() is None and news is not None and news[0] == "info"


@pytest.mark.parametrize("open", ["untyped publisher", "untyped subscriber", "equal", "off"])
def test_the_gate_is_open(open: str) -> None:
    here, other = struct("float64"), struct("int64")
    expected = {"untyped publisher": here, "untyped subscriber": None, "equal": here, "off": None}[open]
    published = {"untyped publisher": None, "untyped subscriber": other, "equal": here, "off": other}[open]
    gate = TypeGate("arm/state", expected)
    gate.look_at(publication(None if published is None else published.reference), TypeChecks())
    assert gate.closed_by() is None and gate.awaited is None


def test_a_schema_that_cannot_be_read_closes_the_gate() -> None:
    here, checks = struct("float64"), TypeChecks()
    broken = describe(TypeDescription("robot.State", "struct", "struct", b"{"))
    assert broken is not None
    gate = TypeGate("arm/state", here)
    gate.look_at(publication(broken.reference), checks)
    gate.compare(broken.description, checks)
    obstacle = gate.closed_by()
    assert obstacle is not None and obstacle.is_mismatch and "schema of robot.State" in obstacle.reason


def test_a_type_without_a_schema_needs_none() -> None:
    one, other = TypeDescription("a.Config", "", "json"), TypeDescription("b.Config", "", "json")
    gate, there = TypeGate("config", describe(one)), describe(other)
    assert there is not None
    gate.look_at(publication(there.reference), TypeChecks())
    obstacle = gate.closed_by()
    assert obstacle is not None and obstacle.is_mismatch
    assert "type is b.Config at publisher `arm (4711)`, a.Config here" in obstacle.reason
