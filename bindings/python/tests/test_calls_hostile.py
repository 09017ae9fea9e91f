"""Services whose other end lies, or sends too much."""

from __future__ import annotations

import random
from typing import Any, Iterator, Optional

import pytest

import call_messages as message
from call_messages import CallMessage, CallTypes, Kind
from calls_fixtures import SERVICE, Sides
from orc._calls.values import JSON
from orc._type_description import TypeDescription
from support import wait_until

LIAR = 0x1234
TYPES = CallTypes(JSON.description, JSON.description)
MINUTE_NS = 60 * 10**9
LAST_ID = 2**63  # the highest that a server takes


class Liar:
    """The topics of one end, spoken by hand."""

    def __init__(self, participant: Any, sends: str, receives: str) -> None:
        self._from = participant.request_topic(receives, conflate=0, depth=65_536)
        self._to = participant.register_topic(sends, keep_last=False)
        assert self._to.wait_readers(1, 20_000) and self._from.wait_connected(20_000)

    def send(self, kind: Kind, id: int, payload: bytes = b"", **header: int) -> None:
        self._to.send_msg(message.encode(kind, id, payload, **header))

    def send_bytes(self, data: bytes) -> None:
        self._to.send_msg(data)

    def request(self, id: int, payload: bytes = b"{}") -> None:
        self.send(Kind.REQUEST, id, payload, time_ns=MINUTE_NS, type=JSON.description.hash)

    def next(self, kind: Kind) -> CallMessage:
        read = self.next_within(kind, 20_000)
        assert read is not None
        return read

    def next_within(self, kind: Kind, timeout_ms: int) -> Optional[CallMessage]:
        """Each message may take that long to come. None: no more came."""
        while True:
            sample = self._from.recv_msg(timeout_ms)
            if sample is None:
                return None
            read = message.decode(memoryview(sample))
            assert read is not None
            if read.kind is kind:
                return read

    def greet(self) -> None:
        self.next(Kind.WELCOME)
        self.send(Kind.HELLO, 1, message.encode_types(TYPES))
        self.next(Kind.ACCEPTED)


def lying_server(sides: Sides) -> Liar:
    """Takes the only client of a service that has no server yet."""
    directory = sides.orc.Directory()

    def client_id() -> Optional[Any]:
        topics = [each for each in directory.topics(f"{SERVICE}/.call/*") if each.publication]
        return message.parse_call_topic(topics[0].name) if topics else None

    _, id = wait_until(client_id)
    sides.server.register_topic(SERVICE)
    return Liar(sides.server, message.reply_topic(SERVICE, id), message.call_topic(SERVICE, id))


@pytest.fixture
def lying_client(some_sides: Sides) -> Iterator[Liar]:
    some_sides.serve(threads=1, queue=8)
    participant = some_sides.participant("liar")
    yield Liar(participant, message.call_topic(SERVICE, LIAR), message.reply_topic(SERVICE, LIAR))


def test_a_request_that_comes_twice_runs_once_and_missing_ones_are_reported(
    some_sides: Sides, lying_client: Liar
) -> None:
    client = lying_client
    client.next(Kind.WELCOME)  # the answers reach it now
    client.request(1)  # before hello: its type is not accepted
    assert client.next(Kind.ERROR).id == 1
    client.greet()
    client.request(2)
    assert client.next(Kind.RESULT).id == 2
    for id in (2, 1, 0, 5):
        client.request(id)
    missing = client.next(Kind.RUNNING)
    assert missing.id == 4 and message.decode_ids(missing.payload) == []  # neither 3 nor 4 is open
    assert client.next(Kind.RESULT).id == 5
    assert len(some_sides.orders.started) == 2
    assert some_sides.service.figures.dropped == 3


def test_a_jump_of_the_ids_costs_the_server_one_answer(some_sides: Sides, lying_client: Liar) -> None:
    lying_client.greet()
    lying_client.request(LAST_ID)
    assert lying_client.next(Kind.RUNNING).id == LAST_ID - 1
    assert lying_client.next(Kind.RESULT).id == LAST_ID
    lying_client.send(Kind.OPEN_CALLS, LAST_ID)
    assert lying_client.next(Kind.RUNNING).id == LAST_ID
    assert some_sides.service.figures.refused == 1024


@pytest.mark.parametrize("kind", [Kind.OPEN_CALLS, Kind.REQUEST])
def test_the_highest_id_sent_first_is_dropped(some_sides: Sides, lying_client: Liar, kind: Kind) -> None:
    lying_client.greet()
    lying_client.send(kind, 2**64 - 1)
    lying_client.request(1)
    assert lying_client.next(Kind.RESULT).id == 1
    assert some_sides.service.figures.dropped == 1


def test_bytes_that_are_no_message_are_counted_and_dropped(some_sides: Sides, lying_client: Liar) -> None:
    client = lying_client
    client.greet()
    draw = random.Random(17)
    for _ in range(500):
        client.send_bytes(bytes([0x7F]) + draw.randbytes(draw.randrange(63)))  # no kind
    for size in (0, 1, 31):
        client.send_bytes(message.encode(Kind.REQUEST, 7)[:size])
    for kind in (Kind.CANCEL, Kind.FEEDBACK_TAKEN, Kind.OPEN_CALLS):
        client.send(kind, 99)
    client.send(Kind.WELCOME, 1)  # not for servers
    client.send(Kind.HELLO, 2, b"unreadable types")
    assert client.next(Kind.REFUSED).id == 2
    client.request(100)
    assert client.next(Kind.RESULT).id == 100
    assert some_sides.service.figures.dropped == 505


def test_payloads_that_are_no_json_are_refused(some_sides: Sides, lying_client: Liar) -> None:
    client = lying_client
    client.greet()
    some_sides.orders.started.clear()
    for id, payload in enumerate((b"", b"{", b"\xff\xfe", b"[" * 100_000, b"NaN", b"9" * 100_000 + b"x"), 1):
        client.request(id, payload)
        read = client.next(Kind.ERROR)
        error = message.decode_error(read.payload)
        assert read.id == id and error is not None and error.code is some_sides.orc.CallErrc.bad_request
    assert not some_sides.orders.started


def test_a_flood_of_calls_is_busy_and_other_clients_are_served(some_sides: Sides, lying_client: Liar) -> None:
    client = lying_client
    client.greet()
    calls = 5000
    for id in range(1, calls + 1):
        client.request(id)

    def served() -> bool:
        try:
            return bool(some_sides.call(deadline=1).result())
        except some_sides.orc.CallError:
            return False

    wait_until(served)

    def is_through() -> bool:
        client.request(calls)  # the last one comes twice: the server drops the second one when it is through
        figures = some_sides.service.figures
        return figures.dropped > 0 and figures.waiting == 0

    wait_until(is_through)
    figures = some_sides.service.figures
    assert figures.calls + figures.refused >= calls
    assert figures.calls <= calls + 100


def test_too_many_types_of_one_client_are_refused(some_sides: Sides, lying_client: Liar) -> None:
    client = lying_client
    client.next(Kind.WELCOME)
    for number in range(1, 67):
        named = TypeDescription(f"type{number}", "", "json")
        client.send(Kind.HELLO, number, message.encode_types(CallTypes(named, JSON.description)))
        client.next(Kind.ACCEPTED if number <= 64 else Kind.REFUSED)


def test_replies_that_were_not_asked_for_change_nothing(some_sides: Sides) -> None:
    future = some_sides.call()
    assert future.fileno() >= 0  # so that a thread of ORC receives
    server = lying_server(some_sides)
    server.send(Kind.RESULT, 1, b"666")  # before any welcome
    server.send(Kind.ACCEPTED, 1)
    server.send(Kind.WELCOME, 5)
    hello = server.next(Kind.HELLO)
    assert message.decode_types(hello.payload) == TYPES
    server.send(Kind.ACCEPTED, hello.id)
    server.send(Kind.ACCEPTED, hello.id)
    assert server.next(Kind.REQUEST).id == 1
    for wrong in (0, 2, LAST_ID):
        server.send(Kind.RESULT, wrong, b"666")
        server.send(Kind.FEEDBACK, wrong, b"666")
    server.send_bytes(b"\1")
    server.send(Kind.RUNNING, 0, b"666")
    server.send(Kind.REQUEST, 1)
    assert not future.wait(0.05)
    server.send(Kind.FEEDBACK, 1, b"no json")
    server.next(Kind.FEEDBACK_TAKEN)
    server.send(Kind.RESULT, 1, b"42")
    server.send(Kind.RESULT, 1, b"666")
    assert future.feedback() is None
    assert future.result() == 42


def test_a_reply_that_is_no_json_and_an_unreadable_error_are_errors(some_sides: Sides) -> None:
    code = some_sides.orc.CallErrc
    some_sides.server.serve(SERVICE, lambda request: b"{", request=bytes, reply=bytes)
    assert some_sides.code_of(some_sides.call()) is code.bad_reply


def test_another_server_ends_the_calls_of_the_one_before(some_sides: Sides) -> None:
    future = some_sides.call()
    assert future.fileno() >= 0  # so that a thread of ORC receives
    server = lying_server(some_sides)
    server.send(Kind.WELCOME, 5)
    server.send(Kind.ACCEPTED, server.next(Kind.HELLO).id)
    server.next(Kind.REQUEST)

    def has_ended() -> Any:
        server.send(Kind.WELCOME, 6)  # again and again, as servers do until they hear hello
        return future.wait(0.1)

    wait_until(has_ended)
    with pytest.raises(some_sides.orc.CallError, match="took its place") as caught:
        future.result()
    assert caught.value.code is some_sides.orc.CallErrc.server_died

    next_one = some_sides.call()

    def says_hello() -> Any:
        server.send(Kind.WELCOME, 6)
        return server.next_within(Kind.HELLO, 100)

    wait_until(says_hello)
    assert not next_one.wait(0)


def test_a_server_that_says_bye_ends_its_calls(some_sides: Sides) -> None:
    future = some_sides.call()
    assert future.fileno() >= 0  # so that a thread of ORC receives
    server = lying_server(some_sides)
    server.send(Kind.BYE, 0)  # before any welcome
    server.send(Kind.WELCOME, 5)
    server.send(Kind.ACCEPTED, server.next(Kind.HELLO).id)
    server.next(Kind.REQUEST)
    server.send(Kind.BYE, 0)
    with pytest.raises(some_sides.orc.CallError, match="was withdrawn") as caught:
        future.result()
    assert caught.value.code is some_sides.orc.CallErrc.server_died


def test_a_server_of_another_version_is_named_as_the_reason(some_sides: Sides) -> None:
    held = some_sides.call()  # keeps the connection
    assert held.fileno() >= 0
    server = lying_server(some_sides)
    welcome = bytearray(message.encode(Kind.WELCOME, 5))
    welcome[1] = 2
    server.send_bytes(bytes(welcome))

    def is_named() -> bool:
        with pytest.raises(some_sides.orc.CallError) as caught:
            some_sides.call(deadline=0.1).result()
        return "speaks version 2 of calls" in str(caught.value)

    wait_until(is_named)


def test_lost_replies_end_their_calls(some_sides: Sides) -> None:
    lost, running = some_sides.call(), some_sides.call()
    assert lost.fileno() >= 0  # so that a thread of ORC receives
    server = lying_server(some_sides)
    server.send(Kind.WELCOME, 5)
    server.send(Kind.ACCEPTED, server.next(Kind.HELLO).id)
    assert server.next(Kind.REQUEST).id == 1 and server.next(Kind.REQUEST).id == 2
    server.send(Kind.WELCOME, 5)  # again: the way to the server was interrupted
    assert server.next(Kind.OPEN_CALLS).id == 2
    server.send(Kind.RUNNING, 2, message.encode_ids([2]))
    assert some_sides.code_of(lost) is some_sides.orc.CallErrc.lost
    assert not running.ready()
    server.send(Kind.RESULT, 2, b"true")
    assert running.result() is True
