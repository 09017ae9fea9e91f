"""Parameters whose other end lies, or asks for too much."""

from __future__ import annotations

import json
import threading
import time
from typing import Any, List

import pytest

from calls_fixtures import AMPLE_S, Sides
from support import wait_until

SERVICE_PREFIX = ".parameters/"


@pytest.fixture
def sides(some_sides: Sides) -> Sides:
    return some_sides


def service_of(sides: Sides) -> str:
    directory = sides.orc.Directory()
    (found,) = [each for each in directory.topics(SERVICE_PREFIX + "*") if each.publication]
    return str(found.name)


def refusal(sides: Sides, service: str, request: bytes) -> Any:
    """The number and the text with which the program refuses; None: it accepts."""
    try:
        sides.client.call(service, request, deadline=AMPLE_S, reply=bytes).result()
    except sides.orc.CallError as error:
        return error.code.name, error.number, str(error)
    return None


def test_requests_that_are_none_are_refused_and_change_nothing(sides: Sides) -> None:
    gain = sides.server.parameter("gain", 1.0, max=10)
    service = service_of(sides)
    malformed = 'a request is {"name": "...", "value": ...}, or without a value'
    for request in (
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff",
        b"[" * 200_000,
        b'{"name":"gain","value":' + b"[" * 200_000,
        b'{"name":3,"value":2}',
        b'{"value":2}',
        b'{"name":"gain","value":2,"more":1}',
        b'{"name":"gain","value":NaN}',
        b'{"name":"gain","value":1e999}',
        b'{"name":"gain","value":' + b"9" * 400_000 + b"}",
        b'{"name":"\\ud800","value":1}',
    ):
        assert refusal(sides, service, request) == ("failed", 4, malformed)
    for request in (
        b'{"name":"gain","value":null}',
        b'{"name":"gain","value":{"a":1}}',
        b'{"name":"gain","value":[true]}',
        b'{"name":"gain","value":[' + b"1," * 4096 + b"1]}",
    ):
        assert refusal(sides, service, request) == ("failed", 2, "gain is a number of at most 10.0")
    for request in (b"11", b'"2"', b"true", b"[2]", b"18446744073709551616", b"9" * 300, b'"' + b"x" * 300_000 + b'"'):
        name, number, text = refusal(sides, service, b'{"name":"gain","value":' + request + b"}")
        assert (name, number) == ("failed", 2) and text.startswith("gain is a number of at most 10.0, not ")
        assert len(text) < 120
    long_name = json.dumps({"name": "x" * 300_000, "value": 1}).encode()
    name, number, text = refusal(sides, service, long_name)
    assert (name, number) == ("failed", 1) and len(text) < 200
    assert refusal(sides, service, b'{"name":"gain","value":2' + b" " * (512 << 10) + b"}")[0] == "bad_request"
    assert gain.value == 1.0 and not gain.changed()
    assert refusal(sides, service, b'{"value":2,"name":"gain"}') is None
    assert gain.value == 2.0


def test_another_program_reaches_no_parameter_that_it_was_not_given(sides: Sides) -> None:
    sides.server.parameter("mine", 1.0)
    other = sides.client.parameter("other", 1.0)
    mine, others = (
        next(each.name for each in sides.orc.Directory().topics(SERVICE_PREFIX + "*") if owner(each) == program)
        for program in ("server", "client")
    )
    assert mine != others
    name, number, text = refusal(sides, mine, b'{"name":"other","value":2}')
    assert (name, number, text) == ("failed", 1, "this program has no parameter other")
    assert other.value == 1.0


def owner(topic: Any) -> Any:
    return topic.publication.participant.name if topic.publication else None


def json_type(sides: Sides, name: str, properties: bytes, required: bytes, more: bytes = b"") -> Any:
    schema = b'{"additionalProperties":false,"properties":%s,"required":[%s],"title":"%s","type":"object"%s}' % (
        properties,
        required,
        name.encode(),
        more,
    )
    return sides.orc.TypeDescription(name, "jsonschema", "json", schema)


def number_type(sides: Sides) -> Any:
    """Of the topic of a parameter that is a number."""
    value = b'{"value":{"default":1.0,"type":"number"}}'
    return json_type(sides, "orc.Parameter", value, b'"value"', b',"x-orc-parameter":{}')


def lie(sides: Sides, reply: bytes) -> Any:
    """A program whose parameter `lying` answers with these bytes."""
    liar = sides.participant("liar")
    liar.serve(
        SERVICE_PREFIX + "0123456789abcdef",
        lambda request: reply,
        request=json_type(sides, "orc.ParameterRequest", b'{"name":{"type":"string"},"value":{}}', b'"name"'),
        reply=json_type(sides, "orc.ParameterReply", b'{"value":{}}', b'"value"'),
    )
    liar.register_topic("lying", type=number_type(sides))
    return liar


@pytest.mark.parametrize(
    "reply", [b"", b"{", b"[]", b'{"value":null}', b'{"value":NaN}', b'{"value":{}}', b"[" * 100_000, b"\xff"]
)
def test_a_reply_that_is_no_value_is_refused(sides: Sides, reply: bytes) -> None:
    lie(sides, reply)
    with pytest.raises(sides.orc.Refused, match="the program of lying answered something that is no value"):
        sides.client.get_parameter("lying", AMPLE_S)


def test_a_reply_that_is_too_large_is_refused(sides: Sides) -> None:
    lie(sides, b'{"value":1' + b" " * (512 << 10) + b"}")
    with pytest.raises(sides.orc.Refused):
        sides.client.get_parameter("lying", AMPLE_S)


def test_a_topic_of_a_parameter_without_a_service_is_no_parameter(sides: Sides) -> None:
    sides.server.register_topic("alone", type=number_type(sides))
    with pytest.raises(sides.orc.UnknownTopic, match="no program has the parameter alone"):
        sides.client.get_parameter("alone", AMPLE_S)


def test_descriptions_that_cannot_be_read_are_left_out_of_the_list(sides: Sides) -> None:
    sides.server.parameter("good", 1.0)
    for number, schema in enumerate((b"", b"{", b"[" * 100_000, b'{"properties":3}', b"x" * (300 << 10))):
        type = sides.orc.TypeDescription("orc.Parameter", "jsonschema" if schema else "", "json", schema)
        try:
            sides.client.register_topic(f"bad{number}", type=type)
        except sides.orc.BadArgument:  # a schema that even topics do not have
            continue
    directory = sides.orc.Directory()
    wait_until(lambda: [each.name for each in sides.orc.list_parameters(directory)] == ["good"])


def test_a_flood_of_sets_leaves_the_value_readable_and_others_served(sides: Sides) -> None:
    gain = sides.server.parameter("gain", 0)
    service = service_of(sides)
    open = [
        sides.client.call(service, b'{"name":"gain","value":%d}' % number, deadline=AMPLE_S, reply=bytes)
        for number in range(1000)
    ]
    other = sides.participant("other")

    def served() -> bool:
        try:
            return isinstance(other.get_parameter("gain", 2.0), int)
        except (sides.orc.Refused, sides.orc.TimedOut):
            return False

    wait_until(served)
    assert isinstance(gain.value, int)
    for each in open:
        each.cancel()


def test_a_check_that_hangs_holds_up_no_reader_and_no_other_program(sides: Sides) -> None:
    entered, leave = threading.Event(), threading.Event()

    def hang(value: float) -> None:
        if value == 2.0:
            entered.set()
            assert leave.wait(AMPLE_S)

    gain = sides.server.parameter("gain", 1.0, validate=hang)
    failed: List[BaseException] = []

    def set_it() -> None:
        try:
            sides.client.set_parameter("gain", 2.0, AMPLE_S)
        except BaseException as error:
            failed.append(error)

    setter = threading.Thread(target=set_it)
    setter.start()
    assert entered.wait(AMPLE_S)
    assert gain.value == 1.0 and not gain.changed()
    other = sides.participant("other")
    start = time.monotonic()
    with pytest.raises((sides.orc.TimedOut, sides.orc.Refused)):
        other.set_parameter("gain", 3.0, 0.2)
    assert time.monotonic() - start < AMPLE_S
    leave.set()
    setter.join()
    assert not failed and gain.value == 2.0
