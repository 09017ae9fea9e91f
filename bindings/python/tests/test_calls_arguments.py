"""What serve, call and find_services accept, and what the directory shows of a service."""

from __future__ import annotations

import dataclasses
import functools
import json
from types import ModuleType
from typing import Any

import numpy
import pytest

from calls_fixtures import AMPLE_S, SERVICE, Sides
from support import BrokerProcess, wait_until


@dataclasses.dataclass
class Force:
    __orc_name__ = "test.Force"
    newton: float


def test_what_a_handler_takes(some_sides: Sides) -> None:
    class Methods:
        def plain(self, request: Any) -> Any:
            return ["plain", request]

        def both(self, request: Any, context: Any) -> Any:
            return ["both", request, context.client.name]

    def optional(request: Any, scale: int = 2) -> Any:
        return ["optional", request, scale]

    def named(request: Any, context: Any = None) -> Any:
        return ["named", request, context.client.name]

    def keyword(request: Any, *, flag: bool = True) -> Any:
        return ["keyword", request, flag]

    def variadic(*arguments: Any) -> Any:
        return ["variadic", *arguments]

    wrapped = functools.wraps(named)(lambda *arguments: named(*arguments))
    expected = {
        "plain": (Methods().plain, ["plain", 1]),
        "both": (Methods().both, ["both", 1, "client"]),
        "optional": (optional, ["optional", 1, 2]),
        "named": (named, ["named", 1, "client"]),
        "wrapped": (wrapped, ["named", 1, "client"]),
        "keyword": (keyword, ["keyword", 1, True]),
        "variadic": (variadic, ["variadic", 1]),
        "partial": (functools.partial(optional, scale=3), ["optional", 1, 3]),
        "builtin": (abs, 1),
    }
    for name, (handler, _) in expected.items():
        some_sides.server.serve(name, handler)
    for name, (_, reply) in expected.items():
        assert some_sides.client.call(name, 1, deadline=AMPLE_S).result() == reply


@pytest.mark.parametrize("handler", [lambda: 1, lambda a, b, c: 1, 7, None])
def test_other_handlers_are_refused(some_sides: Sides, handler: Any) -> None:
    with pytest.raises(TypeError, match="handler"):
        some_sides.server.serve("s", handler)


def test_a_coroutine_is_no_handler(some_sides: Sides) -> None:
    async def handler(request: Any) -> Any:
        return request

    with pytest.raises(TypeError, match="ordinary function"):
        some_sides.server.serve("s", handler)


@pytest.mark.parametrize(
    "options",
    [
        {"threads": -1},
        {"threads": 257},
        {"queue": 0},
        {"queue": 65537},
        {"max_clients": 0},
        {"max_clients": 1025},
        {"interfaces": ["i"] * 33},
        {"interfaces": [""]},
        {"interfaces": ["i" * 256]},
        {"transports": "multicast"},
        {"transports": ["pigeon"]},
    ],
)
def test_options_out_of_range(some_sides: Sides, options: Any) -> None:
    with pytest.raises(some_sides.orc.BadArgument):
        some_sides.server.serve("s", abs, **options)
    some_sides.server.serve("s", abs).close()  # the name is free


def test_options_of_the_wrong_kind(some_sides: Sides) -> None:
    for options in ({"threads": "1"}, {"queue": 1.5}, {"interfaces": "one"}, {"interfaces": [1]}, {"request": 5}):
        with pytest.raises(TypeError):
            some_sides.server.serve("s", abs, **options)
    with pytest.raises(TypeError):
        some_sides.server.serve(5, abs)
    for deadline in ("1", None, True):
        with pytest.raises(TypeError):
            some_sides.client.call("s", 1, deadline=deadline)
    with pytest.raises(TypeError):
        some_sides.client.call("s", 1)
    with pytest.raises(TypeError):
        some_sides.client.call("s", object(), deadline=1)
    with pytest.raises(TypeError):
        some_sides.client.call("s", numpy.int64(1), deadline=1)
    with pytest.raises(TypeError):
        some_sides.client.call(b"s", 1, deadline=1)


def test_names(some_sides: Sides) -> None:
    orc = some_sides.orc
    long = "n" * 231
    some_sides.server.serve(long, abs)
    assert some_sides.client.call(long, -5, deadline=AMPLE_S).result() == 5
    for name in ("n" * 232, "not a name", ""):
        with pytest.raises(orc.BadName):
            some_sides.server.serve(name, abs)
    assert some_sides.code_of(some_sides.client.call("n" * 232, 1, deadline=1)) is orc.CallErrc.bad_argument
    with pytest.raises(orc.BadName):
        some_sides.client.wait_for_service("n" * 232, 1)


def test_a_topic_of_the_program_with_that_name_stays(some_sides: Sides) -> None:
    topic = some_sides.server.register_topic("taken")
    with pytest.raises(some_sides.orc.Error):
        some_sides.server.serve("taken", abs)
    topic.send_msg(b"works still")


def test_deadlines_and_requests_that_make_no_sense(some_sides: Sides) -> None:
    bad = some_sides.orc.CallErrc.bad_argument
    for deadline in (0, -1, 86_401, float("nan"), float("inf")):
        assert some_sides.code_of(some_sides.client.call("s", 1, deadline=deadline)) is bad
    looped: Any = []
    looped.append(looped)
    for request in ({"a": object()}, {"a": {1}}, float("nan"), looped, "\ud800"):
        assert some_sides.code_of(some_sides.client.call("s", request, deadline=1)) is bad
    wrong_type = some_sides.client.call("s", 5, deadline=1, type=Force)
    assert some_sides.code_of(wrong_type) is bad
    assert wrong_type.ready() and wrong_type.feedback() is None and wrong_type.fileno() >= 0


def test_replies_that_are_none_of_their_type(some_sides: Sides) -> None:
    code = some_sides.orc.CallErrc
    some_sides.server.serve("set", lambda request: {1, 2})
    assert some_sides.code_of(some_sides.client.call("set", 1, deadline=AMPLE_S)) is code.bad_reply
    some_sides.server.serve("force", lambda request: "5 N", reply=Force)
    future = some_sides.client.call("force", 1, deadline=AMPLE_S, reply=Force)
    assert some_sides.code_of(future) is code.bad_reply
    large = "x" * (16 << 20)
    some_sides.server.serve("large", lambda request: large)
    assert some_sides.code_of(some_sides.client.call("large", 1, deadline=AMPLE_S)) is code.bad_reply
    assert some_sides.code_of(some_sides.client.call("large", large, deadline=AMPLE_S)) is code.bad_argument


def test_bytes_of_the_wrong_size_are_no_request(some_sides: Sides) -> None:
    some_sides.server.serve("force", lambda force: force.newton, request=Force)
    future = some_sides.client.call("force", b"123", deadline=AMPLE_S, reply=None)
    assert some_sides.code_of(future) is some_sides.orc.CallErrc.bad_request
    exact = some_sides.client.call("force", numpy.float64([5.0]).tobytes(), deadline=AMPLE_S)
    assert exact.result() == b"5.0"


def test_types_that_values_do_not_show(some_sides: Sides) -> None:
    orc = some_sides.orc
    dtype = numpy.dtype([("x", "f8"), ("y", "f8")])
    point = orc.struct("test.Point", dtype)
    some_sides.server.serve("sum", lambda each: float(each["x"] + each["y"]), request=point)
    asked = some_sides.client.call("sum", (1.0, 2.0), deadline=AMPLE_S, type=point)
    assert asked.result() == b"3.0"
    record = numpy.zeros((), dtype)
    record["x"] = 3
    assert some_sides.client.call("sum", record, deadline=AMPLE_S).result() == b"3.0"


def test_feedback_of_each_kind(some_sides: Sides) -> None:
    def handler(request: Any, context: Any) -> Any:
        assert context.feedback(Force(5.0) if request == "typed" else b"bytes" if request == "bytes" else {"at": 1})
        return None

    some_sides.server.serve(SERVICE, handler)
    for request, type, expected in (
        ("typed", Force, Force(5.0)),
        ("bytes", bytes, b"bytes"),
        ("json", None, {"at": 1}),
    ):
        future = some_sides.client.call(SERVICE, request, deadline=AMPLE_S)
        assert future.result() is None
        assert future.feedback(type) == expected and future.feedback(type) is None


def test_a_context_does_nothing_after_its_handler(some_sides: Sides) -> None:
    kept = []
    some_sides.server.serve(SERVICE, lambda request, context: kept.append(context))
    future = some_sides.client.call(SERVICE, 1, deadline=AMPLE_S)
    assert future.result() is None
    wait_until(kept[0].cancelled)
    assert not kept[0].feedback(1)
    kept[0].fail(1, "late")
    with pytest.raises(some_sides.orc.BadArgument):
        kept[0].fail(1 << 31, "out of range")


def test_services_are_found_by_their_interfaces(some_sides: Sides, broker: BrokerProcess) -> None:
    orc = some_sides.orc
    some_sides.server.serve("left/gripper", abs, interfaces=["gripper", "tool"])
    some_sides.server.serve("right/gripper", abs, interfaces=("gripper",), request=Force, reply=bytes)
    some_sides.server.serve("camera", abs)
    some_sides.server.register_topic("of/a/liar", type=orc.TypeDescription("orc.Service", "jsonschema", "json", b"[]"))
    directory = orc.Directory()

    def names(*interface: str) -> Any:
        return [each.name for each in orc.find_services(directory, *interface)]

    wait_until(lambda: len(names()) == 3)
    assert names("gripper") == ["left/gripper", "right/gripper"]
    assert names("tool") == ["left/gripper"]
    assert names("arm") == []
    left, right = orc.find_services(directory, "gripper")
    assert left.server.name == "server" and left.interfaces == ["gripper", "tool"]
    assert (left.request.message_encoding, left.request.name, left.request.schema_size) == ("json", "", 0)
    assert right.request.name == "test.Force" and right.reply is None


def test_a_service_publishes_its_figures(some_sides: Sides) -> None:
    some_sides.server.serve("figures", abs)
    figures = some_sides.client.request_topic("figures", type=dict)
    for _ in range(3):
        some_sides.client.call("figures", 1, deadline=AMPLE_S).result()

    def are_there() -> bool:
        message = figures.recv_msg(100)
        return message is not None and message.value()["calls"] == 3

    wait_until(are_there)


def test_errors_can_be_pickled_and_shown(native: ModuleType) -> None:
    import pickle

    error = native.CallError(native.CallErrc.exception, "bad width", 0, "ValueError")
    again = pickle.loads(pickle.dumps(error))
    assert (again.code, again.text, again.exception_type, str(again)) == (
        error.code,
        "bad width",
        "ValueError",
        "ValueError: bad width",
    )
    assert str(native.CallError(native.CallErrc.busy)) == "too many requests wait for the service"
    assert isinstance(error, native.Error) and json.dumps(error.code) == "1"
