"""The bridge to Zenoh and programs that lie: attachments, payloads, schemas, names."""

from __future__ import annotations

import dataclasses
import random
import time
from typing import Any, Iterator, List

import pytest

from support import wait_until

zenoh = pytest.importorskip("zenoh", reason="eclipse-zenoh is not installed: pip install eclipse-zenoh")

from bridge_fixtures import Fleet, one_fleet, put, receive, wait_for_subscriber  # noqa: E402
from orc import CallError, TypeDescription  # noqa: E402
from orc.bridge._shared.counters import Counters  # noqa: E402
from orc.bridge._shared.patterns import is_topic, matches  # noqa: E402
from orc.bridge._shared.peer_clock import clock_ns  # noqa: E402
from orc.bridge._shared.type_bytes import decode_type, encode_type  # noqa: E402
from orc.bridge._zenoh import attachment, clocks, offered_services  # noqa: E402
from orc.bridge._zenoh.attachment import SampleHead  # noqa: E402
from orc.bridge._zenoh.call_bytes import Asked, decode_asked, decode_error, encode_asked  # noqa: E402
from orc.bridge._zenoh.log import logger  # noqa: E402
from orc.bridge._zenoh.order import Order  # noqa: E402
from orc.bridge._zenoh.patterns import key_expression  # noqa: E402
from orc.bridge._zenoh.settings import Settings  # noqa: E402

__all__ = ["one_fleet"]

ID = bytes(range(16))
HEAD = SampleHead(7, 1_700_000_000_000_000_000, ID, 0x1122334455667788, "robot.State", False, 0x8000000000000001, -2)


def test_the_attachment_has_the_bytes_of_the_page() -> None:
    """schemas/ZENOH.md, "Attachment"."""
    expected = bytes.fromhex(
        "4f5a 02 00 0700000000000000 00002a36fe9c9717000102030405060708090a0b0c0d0e0f 8877665544332211"
        "0100000000000080 feffffffffffffff 0b"
    )
    assert attachment.encode(HEAD) == expected + b"robot.State"
    assert attachment.decode(expected + b"robot.State") == HEAD


def test_a_sample_of_version_1_has_no_clock() -> None:
    old = bytes.fromhex(
        "4f5a 01 00 0700000000000000 00002a36fe9c9717000102030405060708090a0b0c0d0e0f 8877665544332211 0b"
    )
    assert attachment.decode(old + b"robot.State") == dataclasses.replace(HEAD, clock=0, clock_ns=0)


def test_a_call_names_the_robot_whose_clock_it_has() -> None:
    """A serving bridge asks that robot alone."""
    asked = Asked(ID, 1.0, 7, -8, "r1")
    assert decode_asked(encode_asked(asked)) == asked
    assert decode_asked(encode_asked(Asked(ID, 1.0))) == Asked(ID, 1.0)
    for robot in ("", "*", "a/b", "r" * 65):
        assert decode_asked(encode_asked(asked._replace(robot=robot))) is None


class Silent:
    """A session whose questions no one answers."""

    def __init__(self) -> None:
        self.asked: List[str] = []

    def get(self, key: str, callback: Any, **_: Any) -> None:
        self.asked.append(key)


def test_a_robot_that_names_many_clocks_hides_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clocks, "_MAX_KNOWN", 8)
    session, counters = Silent(), Counters(logger)
    known: Any = clocks.Clocks(Settings(prefix="orc"), session, counters)
    honest = known._ask_soon("honest", 1)
    honest.clock.is_ahead(0, clock_ns())
    for clock in range(1, 1000):
        known.age_ns("liar", clock, 0)
    assert len(session.asked) == 1 + 4 and counters.snapshot() == {"clock not asked": 995}
    for robot in range(30):
        known.age_ns(f"liar{robot}", 1, 0)
    assert len(known._known) == 8 and known.age_ns("honest", 1, 0) is not None
    assert known.age_ns("newcomer", 1, 0) is None and session.asked[-1] == "orc/newcomer/@clock/0000000000000001"


def test_calls_whose_clock_does_not_answer_end_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offered_services, "_AGE_S", 0.0)
    unanswered: Any = clocks.Clocks(Settings(prefix="orc"), Silent(), Counters(logger))
    offered = offered_services.OfferedServices(Settings(), None, None, None, None, unanswered, Counters(logger))  # type: ignore[arg-type]
    asked = Asked(ID, 86400.0, 7, -8, "r1")
    with pytest.raises(CallError, match="not known"):
        offered._age_s(asked, time.monotonic())
    monkeypatch.setattr(offered_services, "_AGE_S", 86400.0)
    offered.close()
    with pytest.raises(CallError, match="not known"):
        offered._age_s(asked, time.monotonic())


def test_no_bytes_crash_the_readers() -> None:
    made = random.Random(18)
    good = [
        attachment.encode(HEAD),
        encode_asked(Asked(ID, 1.0, 7, -8, "r1")),
        encode_type(TypeDescription("a.B", "struct", "struct", b"{}")),
    ]
    for data in good:
        for size in range(len(data)):
            assert attachment.decode(data[:size]) is None and decode_asked(data[:size]) is None
        for _ in range(3000):
            changed = bytearray(data)
            for _ in range(made.randrange(1, 4)):
                changed[made.randrange(len(changed))] = made.randrange(256)
            attachment.decode(bytes(changed))
            decode_asked(bytes(changed))
            decode_error(bytes(changed))
            assert decode_type(bytes(changed), 1) is None
    for data in (b"", b"null", b"[]", b"[" * 9999, b'{"code": "none"}', b'{"code": 1}', b"\xff" * 99999):
        assert decode_error(data).code.name == "failed"


def test_a_type_is_taken_only_with_its_hash_and_whole() -> None:
    type = TypeDescription("a.B", "struct", "struct", b"{}")
    data = encode_type(type)
    assert decode_type(data, type.hash) == type
    assert decode_type(data, type.hash + 1) is None

    def hashed(changed: bytes) -> Any:
        import hashlib

        return decode_type(changed, int.from_bytes(hashlib.sha256(changed).digest()[:8], "little"))

    assert hashed(data) == type
    assert hashed(data[:-1]) is None and hashed(data + b"x") is None and hashed(b"") is None
    assert hashed((1 << 63).to_bytes(8, "little") + data[8:]) is None
    assert hashed((256).to_bytes(8, "little") + b"n" * 256 + data[11:]) is None
    assert hashed(data[:8] + b"\xff" + data[9:]) is None  # no UTF-8


def test_order_takes_the_newest_only() -> None:
    order, start = Order(), HEAD.stamp_ns

    def comes(sequence: int, stamp_ns: int, publication: bytes = ID, now: float = 0.0, clock: int = start) -> bool:
        return order.accept(SampleHead(sequence, stamp_ns, publication), now, clock)

    assert comes(5, start)
    assert not comes(5, start) and not comes(4, start - 1)
    assert comes(6, start - 5)  # the clock was set back
    other = bytes(16)[:-1] + b"\x01"
    assert not comes(1, start - 10, other, now=0.5)  # of the publication before
    assert comes(1, start - 10, other, now=2.0)
    assert comes(1, start, ID, now=2.1)
    assert comes(9, start + 99, other, now=2.2, clock=start + 1)  # no stamp keeps later samples away
    assert comes(2, start + 2, ID, now=2.3, clock=start + 2)
    assert comes(9, 1 << 62, other, now=2.3, clock=start + 9) and not comes(9, 1 << 62, other, now=9.0)
    assert comes(3, start + 3, ID, now=2.3, clock=start + 9)
    assert comes((1 << 64) - 1, 1 << 62, ID, now=2.3, clock=start + 3)
    assert comes(4, start + 4, ID, now=2.3, clock=start + 4)


def test_patterns_and_their_keys() -> None:
    assert matches("arm/*", "arm/state") and not matches("arm/*", "arm/a/b") and matches("arm/**", "arm/a/b")
    assert matches("**", "a/b") and matches("ar*", "arm") and matches("a**z", "a/b/z") and not matches("a.b", "acb")
    made = {each: key_expression(each) for each in ("arm/*", "ar*/x", "**", "a**z/b", "a/**/b")}
    assert made == {
        "arm/*": "arm/*", "ar*/x": "ar$*/x", "**": "**", "a**z/b": "**", "a/**/b": "a/**/b",
    }  # fmt: skip
    for name in ("", "/a", "a//b", "a/", ".orc/a", "a/.b", "a b", "a*", "ä", "a" * 256, "@x"):
        assert not is_topic(name), name


@pytest.fixture
def attacked(one_fleet: Fleet) -> Iterator[Any]:
    """A bridge, a client of Zenoh that attacks it, and a participant behind it."""
    limits = 'max_bytes = 100000\nmax_topics = 8\n[[topic]]\nname = "**"\ndirection = "in"\nmax_age_ms = 3600000\n'
    bridge = one_fleet.bridge("r1", "--file", one_fleet.file(limits))
    session = one_fleet.session()
    wait_for_subscriber(session, "orc/evil/a")
    yield one_fleet, bridge, session, one_fleet.participant("r1")


def head(sequence: int, type: int = 0, name: str = "", stamp_ns: int = 0, publication: bytes = ID) -> bytes:
    return attachment.encode(SampleHead(sequence, stamp_ns or time.time_ns(), publication, type, name))


def test_malformed_attachments_are_dropped_and_counted(attacked: Any) -> None:
    _, bridge, session, local = attacked
    topic = local.request_topic("evil/a")
    good = head(1)
    bad = [b"x", good[:-1], good + b"x", b"XX" + good[2:], good[:4] + bytes(8) + good[12:], bytes(10_000), b"\xff" * 61]
    for each in bad:
        put(session, "orc/evil/a", b"bad", attachment=each)
    put(session, "orc/evil/a", bytes(100_001), attachment=head(2))
    put(session, "orc/evil/a", b"old", attachment=head(3, stamp_ns=1))
    wait_until(lambda: bridge.wrote("too old"))
    put(session, "orc/evil/a", b"good", attachment=head(4))
    assert receive(topic, b"good") == [b"good"]
    counts = bridge.end()
    assert counts["malformed"] == len(bad) and counts["too old"] == 1 and counts["received"] == 1


def test_names_that_are_no_topics_never_appear(attacked: Any) -> None:
    fleet, bridge, session, local = attacked
    for key in (
        "orc/evil/.orc/a",
        "orc/evil/ä",
        "orc/evil",
        "orc/e vil/a",
        "orc/evil/@x/a",
        "orc/evil/" + "a/" * 130 + "a",
    ):
        put(session, key, b"bad")
    put(session, "orc/evil/a", b"good")
    receive(local.request_topic("evil/a"), b"good")
    assert [each.name for each in fleet.orc.Directory(fleet.broker("r1")).topics()] == ["evil/a"]


def test_more_topics_than_allowed_are_refused(attacked: Any) -> None:
    fleet, bridge, session, local = attacked
    for number in range(200):
        put(session, f"orc/evil{number}/a", b"x")
    directory = fleet.orc.Directory(fleet.broker("r1"))
    wait_until(lambda: len(directory.topics()) == 8)
    wait_until(lambda: bridge.wrote("too many topics"))
    put(session, "orc/evil0/a", b"last")
    receive(local.request_topic("evil0/a"), b"last")  # so all before it have come
    assert bridge.end()["too many topics"] >= 100 and len(directory.topics()) <= 8


def test_a_stamp_in_the_future_keeps_no_sample_away(attacked: Any) -> None:
    _, _, session, local = attacked
    topic, forged = local.request_topic("evil/a"), bytes(15) + b"\x01"
    put(session, "orc/evil/a", b"forged", attachment=head(1, stamp_ns=1 << 62, publication=forged))
    receive(topic, b"forged")
    for sequence in range(1, 4):
        put(session, "orc/evil/a", b"%d" % sequence, attachment=head(sequence))
        put(session, "orc/evil/a", b"forged", attachment=head(1, stamp_ns=1 << 62, publication=forged))
    put(session, "orc/evil/a", b"last", attachment=head(4))
    receive(topic, b"last", 0.9)  # within the second after which anything counts


def test_a_robot_with_all_topics_gives_others_their_share(attacked: Any) -> None:
    fleet, bridge, session, local = attacked
    for number in range(20):
        put(session, f"orc/evil/{number}", b"x")
    wait_until(lambda: bridge.wrote("too many topics"))
    wanted = [local.request_topic(f"new/{number}") for number in range(4)]

    def all_come() -> bool:
        for number in range(8):
            put(session, f"orc/evil/{number}", b"x")  # they are never idle
        for number in range(4):
            put(session, f"orc/new/{number}", b"x")
        return all(each.recv_msg(50) is not None for each in wanted)

    wait_until(all_come, 9)  # sooner than a topic counts as idle
    assert len(fleet.orc.Directory(fleet.broker("r1")).topics()) <= 9  # one may be leaving


def test_a_schema_that_lies_is_refused_and_the_right_one_taken(attacked: Any) -> None:
    fleet, bridge, session, local = attacked
    type = TypeDescription("robot.State", "jsonschema", "json", b"{}")
    answers: List[bytes] = [b"", b"\0" * 100, encode_type(TypeDescription("robot.State", "jsonschema", "json", b"[]"))]
    asked: List[str] = []

    def lie(query: Any) -> None:
        with query:
            asked.append(str(query.key_expr))
            for answer in answers:
                query.reply(query.key_expr, answer)

    session.declare_queryable("orc/evil/@schema/*", lie)
    topic = local.request_topic("evil/a")

    def send() -> bool:
        put(session, "orc/evil/a", b"{}", attachment=head(time.time_ns(), type.hash, "robot.State"))
        return bool(asked)

    wait_until(send)
    wait_until(lambda: bridge.wrote("schema refused"))
    assert topic.recv_msg(0) is None and not topic.connected
    answers.append(encode_type(type))
    receive(topic, b"{}")
    found = fleet.orc.Directory(fleet.broker("r1")).describe("evil/a").publication.type
    assert (found.name, found.hash) == (type.name, type.hash)
    assert set(asked) == {f"orc/evil/@schema/{type.hash:016x}"}


def test_a_schema_that_cannot_be_read_makes_no_topic(attacked: Any) -> None:
    """The hash is right, and the bytes are no schema of their encoding."""
    fleet, bridge, session, local = attacked
    type = TypeDescription("robot.State", "struct", "struct", b"\xff\0 no schema")

    def answer(query: Any) -> None:
        with query:
            query.reply(query.key_expr, encode_type(type))

    session.declare_queryable("orc/evil/@schema/*", answer)

    def refused() -> bool:
        put(session, "orc/evil/a", b"x", attachment=head(time.time_ns(), type.hash, type.name))
        return bridge.wrote("not registered: evil/a")

    wait_until(refused)
    put(session, "orc/evil/b", b"still there")
    receive(local.request_topic("evil/b"), b"still there")
    assert [each.name for each in fleet.orc.Directory(fleet.broker("r1")).topics()] == ["evil/b"]


def test_a_stranger_cannot_make_a_typed_topic_untyped(attacked: Any) -> None:
    fleet, bridge, session, local = attacked
    type = TypeDescription("robot.State", "jsonschema", "json", b"{}")

    def answer(query: Any) -> None:
        with query:
            query.reply(query.key_expr, encode_type(type))

    session.declare_queryable("orc/evil/@schema/*", answer)
    topic = local.request_topic("evil/a", type=type)

    def arrives() -> Any:
        put(session, "orc/evil/a", b"{}", attachment=head(time.time_ns(), type.hash, type.name))
        return topic.recv_msg(100)

    wait_until(arrives)
    put(session, "orc/evil/a", b"untyped")
    wait_until(lambda: bridge.wrote("wrong type"))
    put(session, "orc/evil/a", b'{"n":1}', attachment=head(time.time_ns(), type.hash, type.name))
    receive(topic, b'{"n":1}')
