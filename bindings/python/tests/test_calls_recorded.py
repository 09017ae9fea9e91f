"""What a recorded service publishes of its calls (schemas/PROTOCOL.md, "Recorded calls")."""

from __future__ import annotations

import base64
import dataclasses
import json
import os
import time
from typing import Any, Callable, Dict, Iterator, List

import pytest

import call_messages as message
from call_messages import Kind
from calls_fixtures import AMPLE_S, SERVICE, Sides
from orc._calls.values import JSON
from support import wait_until
from test_calls_crosswise import ECHO, FAIL, THROW, Peer, order, peer
from test_calls_hostile import LIAR, MINUTE_NS, Liar

__all__ = ["peer"]

TOPIC = f"{SERVICE}/.calls"
Record = Dict[str, Any]


@dataclasses.dataclass
class Position:
    __orc_name__ = "test.Position"
    x: float
    y: float


class Reader:
    """A subscriber of the records, in order."""

    def __init__(self, sides: Sides, topic: str = TOPIC) -> None:
        self._participant = sides.participant("reader")
        self._participant.request_topic(topic, conflate=0, depth=1000, connected_within_ms=20_000)
        self._records = self._participant.subscriber(topic)

    def next(self) -> Record:
        sample = self._records.recv_msg(20_000)
        assert sample is not None
        record: Record = json.loads(bytes(sample))
        return record


def serve(sides: Sides, **options: Any) -> Reader:
    sides.serve(recorded=True, **options)
    return Reader(sides)


@pytest.mark.parametrize("threads", [0, 2])
def test_a_record_says_who_called_when_and_what_came_of_it(sides: Sides, threads: int) -> None:
    reader = serve(sides, threads=threads)
    before = time.time_ns()
    sides.call("echo", note="Grüße").result()
    ok = reader.next()
    assert ok["client"]["name"] == "client" and ok["client"]["pid"] == os.getpid() and ok["client"]["host"]
    assert int(ok["connection"], 16) and len(ok["connection"]) == 16
    assert (ok["id"], ok["outcome"], ok["code"], ok["cancelled"]) == (1, "ok", 0, False)
    assert before <= ok["received_ns"] and ok["started_ns"] and ok["finished_ns"] < ok["deadline_ns"]
    assert json.loads(ok["request"]["text"]) == json.loads(ok["reply"]["text"]) == {"do": "echo", "note": "Grüße"}
    assert ok["request"]["size"] == len(ok["request"]["text"].encode())

    assert sides.code_of(sides.call("raise")) is sides.orc.CallErrc.exception
    thrown = reader.next()
    assert (thrown["outcome"], thrown["exception"], thrown["text"]) == ("exception", "IndexError", "as ordered")
    assert thrown["reply"] is None and thrown["connection"] == ok["connection"] and thrown["id"] == 2

    assert sides.code_of(sides.call("fail", number=-42)) is sides.orc.CallErrc.failed
    failed = reader.next()
    assert (failed["outcome"], failed["number"], failed["text"]) == ("failed", -42, "as ordered")


def test_bytes_and_typed_values_are_base64_and_large_ones_are_cut(sides: Sides) -> None:
    pytest.importorskip("numpy")
    sides.server.serve("bytes", lambda request: request, request=bytes, reply=bytes, recorded=True)
    reader = Reader(sides, "bytes/.calls")
    for size in (0, 17, 65_536, 3_000_000):
        sides.client.call("bytes", b"\7" * size, deadline=AMPLE_S).result()
        record = reader.next()
        for each in (record["request"], record["reply"]):
            assert each["size"] == size
            assert base64.b64decode(each["base64"]) == b"\7" * min(size, 65_536)
    sides.server.serve("typed", lambda request: request, request=Position, reply=Position, recorded=True)
    reader = Reader(sides, "typed/.calls")
    sides.client.call("typed", Position(1, 2), deadline=AMPLE_S, reply=Position).result()
    record = reader.next()
    assert record["reply"] == record["request"] and record["request"]["size"] == 16


@pytest.mark.parametrize("threads", [0, 1])
def test_cancelled_calls_whether_they_ran_or_waited(sides: Sides, threads: int) -> None:
    reader = serve(sides, threads=threads)
    running = sides.call("hold")
    sides.orders.has_started(1)
    waiting = sides.call()
    waiting.cancel()
    running.cancel()
    records = {each["id"]: each for each in (reader.next() for _ in range(2))}
    assert (records[1]["outcome"], records[1]["text"]) == ("failed", "held")
    assert records[1]["cancelled"] and records[1]["started_ns"]
    assert records[2]["outcome"] == "cancelled" and records[2]["cancelled"] and records[2]["started_ns"] is None
    assert json.loads(records[2]["request"]["text"]) == {"do": "echo"} and records[2]["reply"] is None
    assert len(sides.orders.started) == 1


@pytest.fixture
def liar(some_sides: Sides) -> Iterator[Liar]:
    """A client that does not keep to the rules, of a recorded service."""
    some_sides.serve(threads=1, recorded=True)
    participant = some_sides.participant("liar")
    client = Liar(participant, message.call_topic(SERVICE, LIAR), message.reply_topic(SERVICE, LIAR))
    client.greet()
    yield client


def test_a_call_whose_deadline_passed_before_it_began(some_sides: Sides, liar: Liar) -> None:
    reader = Reader(some_sides)
    liar.send(Kind.REQUEST, 1, b"{}", time_ns=1, type=JSON.description.hash)
    record = reader.next()
    assert (record["outcome"], record["cancelled"], record["started_ns"]) == ("deadline_exceeded", True, None)
    assert record["connection"] == f"{LIAR:016x}" and record["request"] == {"size": 2, "cut": False, "text": "{}"}
    assert not some_sides.orders.started


def test_requests_of_a_stranger_make_records_that_can_be_read(some_sides: Sides, liar: Liar) -> None:
    reader = Reader(some_sides)
    requests = [b"", b"\xff\xfe{", b"\0" * 200_000, b"[" * 100_000, b'"\xed\xa0\x80"', "💡".encode() * 50_000]
    for id, request in enumerate(requests, 1):
        liar.request(id, request)
        record = reader.next()
        assert record["id"] == id and record["outcome"] in ("bad_request", "exception") and record["reply"] is None
        assert record["request"]["size"] == len(request)
        assert record["request"]["text"] == request[:65_536].decode(errors="replace")
    liar.send(Kind.REQUEST, 99, b"{}", time_ns=MINUTE_NS, type=12345)
    assert reader.next()["outcome"] == "lost"  # its type was never accepted


def test_calls_that_find_no_place_and_those_of_a_service_that_is_withdrawn(sides: Sides) -> None:
    reader = serve(sides, threads=1, queue=1)
    running = sides.call("hold")
    sides.orders.has_started(1)
    waiting = sides.call()
    assert sides.code_of(sides.call()) is sides.orc.CallErrc.busy
    busy = reader.next()
    assert (busy["id"], busy["outcome"], busy["started_ns"]) == (3, "busy", None)
    sides.service.close()
    ends = {each["id"]: each["outcome"] for each in (reader.next() for _ in range(2))}
    assert ends == {1: "failed", 2: "server_died"}
    del running, waiting


@pytest.mark.parametrize("threads", [0, 3])
def test_every_call_is_recorded_once_in_the_order_of_its_client(some_sides: Sides, threads: int) -> None:
    reader = serve(some_sides, threads=threads)
    for number in range(300):
        some_sides.call(number=number).result()
    records = [reader.next() for _ in range(300)]
    assert [each["id"] for each in records] == list(range(1, 301))
    assert [json.loads(each["request"]["text"])["number"] for each in records] == list(range(300))


def test_a_service_that_is_not_recorded_has_no_such_topic_and_a_taken_one_is_an_error(some_sides: Sides) -> None:
    sides = some_sides
    sides.server.serve("plain", lambda request: request)
    with pytest.raises(sides.orc.Error):
        sides.server.publisher("plain/.calls")
    serve(sides)
    sides.service.close()
    other = sides.participant("other")
    other.register_topic(TOPIC)  # withdrawn with its service
    with pytest.raises(sides.orc.NameTaken):
        sides.serve(recorded=True)
    other.unregister_topic(TOPIC)
    sides.serve(recorded=True)


def test_python_reads_what_cpp_records(far_sides: Sides, peer: Callable[..., Peer]) -> None:
    sides = far_sides
    peer("record", sides)
    reader = Reader(sides)
    sent = [order(ECHO, number=7), order(THROW), order(FAIL, 42)]
    sides.client.call(SERVICE, sent[0], deadline=AMPLE_S).result()
    for each in sent[1:]:
        sides.code_of(sides.client.call(SERVICE, each, deadline=AMPLE_S))
    records: List[Record] = [reader.next() for _ in sent]
    assert [each["outcome"] for each in records] == ["ok", "exception", "failed"]
    assert [base64.b64decode(each["request"]["base64"]) for each in records] == sent
    assert records[0]["reply"] == records[0]["request"] and records[1]["exception"] == "std::out_of_range"
    assert records[2]["number"] == 42 and records[2]["client"]["name"] == "client"


def test_cpp_reads_what_python_records(far_sides: Sides, peer: Callable[..., Peer]) -> None:
    sides = far_sides
    sides.serve(recorded=True)
    listener = peer("listen", sides)
    assert sides.server.publisher(TOPIC).wait_readers(1, 20_000)
    sides.call("echo", note="Grüße").result()
    assert listener.line() == 'client 1 ok json:{"do":"echo","note":"Grüße"} json:{"do":"echo","note":"Grüße"}'
    sides.code_of(sides.call("raise"))
    assert listener.line() == 'client 2 exception IndexError as ordered json:{"do":"raise"} -'
    sides.code_of(sides.call("fail", number=42))
    assert listener.line() == 'client 3 failed 42 as ordered json:{"do":"fail","number":42} -'


def test_both_languages_describe_records_by_the_same_type(some_sides: Sides, peer: Callable[..., Peer]) -> None:
    sides = some_sides
    peer("record", sides)
    sides.server.serve("here", lambda request: request, request=bytes, reply=bytes, recorded=True)

    def types() -> List[Any]:
        found = sides.orc.Directory().topics("**/.calls")
        return [each.publication.type for each in found if each.publication and each.publication.type]

    wait_until(lambda: len(types()) == 2)
    first, second = types()
    assert first == second and first.name == "orc.Call"
