"""How orc.pure sends and fetches schemas, and when it links: without a broker."""

from __future__ import annotations

import dataclasses
from typing import Any, List, Optional

import pytest

pytest.importorskip("zmq")
pytest.importorskip("flatbuffers")

from orc import TypeDescription
from orc.pure import messages, wire
from orc.pure.described_type import DescribedType, describe
from orc.pure.identity import NOBODY, Id
from orc.pure.schema_exchange import SchemaFetches, SchemaUploads
from orc.pure.type_checks import TypeChecks
from orc.pure.type_exchange import TypeExchange
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
    assert {each.offset for each in broker.sent} == {0}


def test_a_slow_broker_gets_a_schema_and_soon_each_part_once() -> None:
    """Only the newest copy's answer counted, so a broker that took longer than 300 ms never got a second part."""
    uploads, broker, now = SchemaUploads(), Broker(), 0.0
    uploads.add(described(size=8 * PART), now)
    for part in range(8):
        uploads.step(now, used, broker)
        first = broker.last
        assert broker.sent[-1].offset == part * PART
        uploads.step(now + 0.3, used, broker)
        now += 0.4
        uploads.on_ack(first, now)  # of any copy
        if broker.last != first:
            assert uploads.on_error(broker.last, messages.Error(BAD_REQUEST, "wrong offset"), now) == ""
    uploads.step(now + 99, used, broker)
    assert broker.last == 9  # the first part twice


def test_refusals_count_only_while_the_broker_takes_no_more() -> None:
    uploads, broker, now = SchemaUploads(), Broker(), 0.0
    uploads.add(described(size=8 * PART), now)
    for reached in range(1, 7):
        for part in range(reached + 1):
            uploads.step(now, used, broker)
            assert broker.sent[-1].offset == part * PART
            if part < reached:
                uploads.on_ack(broker.last, now)
        assert uploads.on_error(broker.last, messages.Error(BAD_REQUEST, "no place"), now) == ""
        now += 60


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
    for part in parts_of(type):
        fetches.step(0, broker)
        assert (broker.sent[-1].hash, broker.sent[-1].offset) == (type.reference.hash, part.offset)
        fetches.on_part(broker.last, part, 0)
    assert fetched(fetches, type, 0) == type.description
    fetches.step(9, broker)
    assert broker.last == 3


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


@pytest.mark.parametrize("wrong", ["hash", "offset", "empty", "short", "long", "content"])
def test_parts_of_a_broker_that_lies_are_dropped(wrong: str) -> None:
    fetches, broker, type = SchemaFetches(), Broker(), described(size=100)
    [part] = parts_of(type)
    lies = {
        "hash": messages.SchemaPart(part.hash + 1, 0, part.bytes),
        "offset": messages.SchemaPart(part.hash, 1, part.bytes),
        "empty": messages.SchemaPart(part.hash, 0, b""),
        "short": messages.SchemaPart(part.hash, 0, part.bytes[:-1]),  # else it would take a million questions
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


def test_a_type_that_claims_the_hash_of_another_does_not_keep_it_away() -> None:
    """The broker passes on what any publisher says, so a liar could stop the check of another topic for ever."""
    fetches, broker, type = SchemaFetches(), Broker(), described(size=100)
    liar = dataclasses.replace(type.reference, name="liar")
    for now in (0.0, 0.1, 0.2):
        fetches.want(liar, now)
        if (found := fetches.want(type.reference, now)) is not None:
            break
        fetches.forget_unwanted()
        fetches.step(now, broker)
        fetches.on_part(broker.last, parts_of(type)[0], now)
    assert found == type.description


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


def test_the_publisher_learns_of_each_verdict_once() -> None:
    here, there, checks = struct("float64"), struct("int64"), TypeChecks()
    gate = TypeGate("arm/state", here)
    gate.look_at(publication(there.reference), checks)
    assert gate.report(0) == ""
    gate.compare(there.description, checks)
    assert gate.report(0).endswith("field `x` is int64 at publisher `arm (4711)`, float64 here")
    gate.reported(0)
    gate.look_at(publication(there.reference), checks)  # the broker repeats itself
    assert gate.report(9) == ""
    gate.look_at(publication(there.reference, 2), checks)  # the publisher restarted in the same process
    assert gate.report(0.9) == "" and gate.report(1)
    gate.look_at(publication(here.reference, 3), checks)
    assert gate.report(1) == ""


class Subscriber:
    topic, id, described, of = "arm/state", Id(1, 2), None, NOBODY

    def __init__(self) -> None:
        here, there, checks = struct("float64"), struct("int64"), TypeChecks()
        self.gate = TypeGate(self.topic, here)
        self.gate.look_at(publication(there.reference), checks)
        self.gate.compare(there.description, checks)


class Awaiting:
    """A subscription that awaits a schema. The comparison takes `seconds`."""

    described = None

    def __init__(self, number: int, here: DescribedType, clock: Clock, seconds: float) -> None:
        self.topic, self.id, self.compared = f"topic{number}", Id(1, number), 0
        self.gate = TypeGate(self.topic, here)
        self.gate.look_at(publication(described(f"type{number}", 100).reference, number), TypeChecks())
        self._clock, self._seconds = clock, seconds

    def check_type(self, published: TypeDescription) -> None:
        assert published.name == self.gate.awaited.name  # type: ignore[union-attr]
        self.compared += 1
        self.gate.look_away()
        self._clock.now += self._seconds


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


def test_comparisons_leave_the_io_thread_to_the_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """A publisher can make a comparison take long, and ask for many. Nine tenths of the time are for the rest."""
    clock = Clock()
    monkeypatch.setattr("orc.pure.type_exchange.time", clock)
    exchange, broker = TypeExchange(), Broker()
    all = [Awaiting(number, struct("float64"), clock, 0.2) for number in (1, 2, 3)]
    parts = {part.hash: part for number in (1, 2, 3) for part in parts_of(described(f"type{number}", 100))}
    compared_at: List[float] = []
    for _ in range(200):
        before = sum(each.compared for each in all)
        began = clock.now
        has_more = exchange.step([], all, broker, lambda level, text: None)  # type: ignore[arg-type]
        done = sum(each.compared for each in all) - before
        assert done <= 1
        compared_at += [began] * done
        if broker.sent and broker.sent[-1].hash in parts:
            exchange.answered(broker.last, parts[broker.sent[-1].hash])
        clock.now += max(0.01, min(0.1, exchange.rest_s)) if has_more else 0.01
    assert [each.compared for each in all] == [1, 1, 1]
    assert all_apart(compared_at, 0.2 + 9 * 0.2)


def all_apart(moments: List[float], least: float) -> bool:
    return all(later - earlier >= least - 1e-9 for earlier, later in zip(moments, moments[1:]))


def test_a_report_waits_until_the_broker_takes_it() -> None:
    exchange, broker, subscriber = TypeExchange(), Broker(), Subscriber()
    expected = messages.TypeMismatch("arm/state", Id(1, 2), subscriber.gate.report(1))
    for full in (True, False, False):
        broker.full = full
        exchange.step([], [subscriber], broker, lambda level, text: None)  # type: ignore[list-item]
    assert broker.sent == [expected]


def test_reports_are_harmless_and_cannot_fill_the_log() -> None:
    exchange = TypeExchange()
    report = messages.TypeMismatch("arm/state", Id(1, 2), "at \x1b[2J `a\\nb`", "view\ner", 7)
    said = exchange.news_for_publisher(report)
    assert said == ("topic arm/state: subscriber `view\\ner (7)` expects another type; it says: at \\x1b[2J `a\\nb`")
    assert sum(bool(exchange.news_for_publisher(report)) for _ in range(100)) == 9


def test_the_gate_waits_for_the_schema_and_reports_a_mismatch_once() -> None:
    here, there, checks = struct("float64"), struct("int64"), TypeChecks()
    gate = TypeGate("arm/state", here)
    gate.look_at(publication(there.reference), checks)
    obstacle = gate.closed_by()
    assert obstacle is not None and obstacle == ("waits for the schema of robot.State", False)
    assert gate.awaited == there.reference and gate.take_news(0) is None
    gate.compare(there.description, checks)
    obstacle = gate.closed_by()
    sentence = (
        "topic arm/state: type mismatch between robot.State at publisher `arm (4711)` and robot.State here: "
        "field `x` is int64 at publisher `arm (4711)`, float64 here"
    )
    assert obstacle == (sentence, True) and gate.awaited is None
    assert gate.take_news(0) == ("warning", sentence) and gate.take_news(1) is None
    gate.look_away()  # a broker that restarted knows no publication: the verdict stays
    assert gate.closed_by() == (sentence, True)
    gate.look_at(publication(there.reference, 2), checks)  # the same pair of types is compared once
    assert gate.closed_by() == (sentence, True) and gate.take_news(1) is None
    gate.look_at(publication(here.reference, 3), checks)
    news = gate.take_news(1)
    assert gate.closed_by() is None and news is not None and news[0] == "info"


def test_a_publisher_that_changes_its_type_cannot_fill_the_log() -> None:
    """The log gets one line per second, and the last one says how it stands."""
    here, there, checks = struct("float64"), struct("int64"), TypeChecks()
    gate, log = TypeGate("arm/state", here), []
    for change in range(20):
        now = 5 + change / 100
        gate.look_at(publication((there, here)[change % 2].reference, change), checks)
        if gate.awaited is not None:
            gate.compare(there.description, checks)
        log += [news for news in (gate.take_news(now),) if news]
    assert [level for level, _ in log] == ["warning"]
    assert gate.take_news(5.9) is None
    news = gate.take_news(6)
    assert news is not None and news[0] == "info" and "matches now" in news[1]
    assert gate.take_news(9) is None


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
