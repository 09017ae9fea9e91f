"""The bridge to Zenoh: services of one network for programs of another, and for programs that know Zenoh only."""

from __future__ import annotations

import dataclasses
import json
import struct
import threading
import time
from typing import Any, List

import pytest

from support import wait_until

zenoh = pytest.importorskip("zenoh", reason="eclipse-zenoh is not installed: pip install eclipse-zenoh")
np = pytest.importorskip("numpy")

from bridge_fixtures import Fleet, one_fleet  # noqa: E402

__all__ = ["one_fleet"]

OUT = '[[service]]\nname = "gripper/close"\ndirection = "out"\n'
IN = '[[service]]\nname = "gripper/close"\ndirection = "in"\nfrom = "r1"\n'
HERE = "r1/gripper/close"
AMPLE_S = 20.0


@dataclasses.dataclass
class Request:
    __orc_name__ = "gripper.close_request"
    force: np.float64


@dataclasses.dataclass
class Reply:
    __orc_name__ = "gripper.close_reply"
    width: np.float64


def bridged(one_fleet: Fleet, handler: Any, **options: Any) -> Any:
    """Serves the handler in r1, and returns a participant of r2 that reaches it."""
    one_fleet.bridge("r1", "--file", one_fleet.file(OUT))
    one_fleet.bridge("r2", "--file", one_fleet.file(IN))
    one_fleet.participant("r1").serve("gripper/close", handler, **options)
    client = one_fleet.participant("r2")
    client.wait_for_service(HERE, AMPLE_S)
    return client


def test_a_typed_service_is_called_across_two_bridges(one_fleet: Fleet) -> None:
    client = bridged(one_fleet, lambda request: Reply(1 / request.force), request=Request, reply=Reply)
    done = client.call(HERE, Request(4), deadline=AMPLE_S, reply=Reply)
    assert done.result() == Reply(0.25)
    with pytest.raises(one_fleet.orc.CallError) as wrong:
        client.call(HERE, Reply(4), deadline=AMPLE_S, reply=Reply).result()
    assert wrong.value.code is one_fleet.orc.CallErrc.type_mismatch


def test_errors_of_a_service_cross_with_code_number_and_text(one_fleet: Fleet) -> None:
    def fails(request: Any, context: Any) -> Any:
        if request == "raise":
            raise IndexError("out of range")
        if request == "fail":
            context.fail(-42, "stuck ✗")
        return request

    client = bridged(one_fleet, fails)
    code = one_fleet.orc.CallErrc
    with pytest.raises(one_fleet.orc.CallError) as raised:
        client.call(HERE, "raise", deadline=AMPLE_S).result()
    assert (raised.value.code, raised.value.exception_type) == (code.exception, "IndexError")
    assert raised.value.text == "out of range"
    with pytest.raises(one_fleet.orc.CallError) as failed:
        client.call(HERE, "fail", deadline=AMPLE_S).result()
    assert (failed.value.code, failed.value.number, failed.value.text) == (code.failed, -42, "stuck ✗")
    assert client.call(HERE, {"a": [1]}, deadline=AMPLE_S).result() == {"a": [1]}
    assert len(client.call(HERE, "x" * 1_000_000, deadline=AMPLE_S).result()) == 1_000_000


def test_the_deadline_crosses_and_a_call_runs_once(one_fleet: Fleet) -> None:
    deadlines, released = [], threading.Event()

    def slow(request: Any, context: Any) -> Any:
        deadlines.append(context.deadline - time.monotonic())
        wait_until(lambda: context.cancelled() or released.is_set())
        return request

    client = bridged(one_fleet, slow, threads=4)
    with pytest.raises(one_fleet.orc.CallError) as late:
        client.call(HERE, 1, deadline=0.5).result()
    assert late.value.code is one_fleet.orc.CallErrc.deadline_exceeded
    assert len(deadlines) == 1 and 0 < deadlines[0] <= 0.5
    released.set()
    assert client.call(HERE, 2, deadline=AMPLE_S).result() == 2
    assert len(deadlines) == 2


def test_a_service_that_ends_is_gone_on_the_other_side_and_returns(one_fleet: Fleet) -> None:
    one_fleet = one_fleet
    one_fleet.bridge("r1", "--file", one_fleet.file(OUT))
    one_fleet.bridge("r2", "--file", one_fleet.file(IN))
    server, client = one_fleet.participant("r1"), one_fleet.participant("r2")

    def names() -> Any:
        return [each.name for each in one_fleet.orc.find_services(one_fleet.orc.Directory(one_fleet.broker("r2")))]

    for number in range(2):
        with server.serve("gripper/close", lambda request, number=number: number):
            wait_until(lambda: names() == [HERE])
            assert client.call(HERE, None, deadline=AMPLE_S).result() == number
        wait_until(lambda: names() == [])


def test_programs_of_zenoh_call_a_service_and_serve_one(one_fleet: Fleet) -> None:
    one_fleet = one_fleet
    stock = '[[service]]\nname = "planner"\ndirection = "in"\nfrom = "desk"\nas = "planner"\nstock = true\n'
    one_fleet.bridge("r1", "--file", one_fleet.file(OUT + stock))
    session = one_fleet.session()
    local = one_fleet.participant("r1")
    local.serve("gripper/close", lambda request: {"width": 1 / request["force"]})

    def called(payload: bytes) -> Any:
        return next(iter(session.get("orc/r1/gripper/close", payload=payload, timeout=AMPLE_S)), None)

    reply = wait_until(lambda: called(b'{"force": 8}'))
    assert json.loads(reply.ok.payload.to_bytes()) == {"width": 0.125}
    error = json.loads(called(b'{"force": 0}').err.payload.to_bytes())
    assert (error["code"], error["exception_type"]) == ("exception", "ZeroDivisionError")

    def plan(query: Any) -> None:
        with query:
            if query.payload.to_bytes() == b"bad":
                query.reply_err(b"no way")
            else:
                query.reply("orc/desk/planner", query.payload.to_bytes()[::-1])

    session.declare_queryable("orc/desk/planner", plan)
    local.wait_for_service("planner", AMPLE_S)

    def planned() -> Any:
        try:
            return local.call("planner", b"abc", deadline=AMPLE_S).result()
        except one_fleet.orc.CallError:  # the router may not know the queryable yet
            return None

    assert wait_until(planned) == b"cba"
    with pytest.raises(one_fleet.orc.CallError, match="no way"):
        local.call("planner", b"bad", deadline=AMPLE_S).result()


def test_hostile_queries_and_answers_do_no_harm(one_fleet: Fleet) -> None:
    one_fleet = one_fleet
    calls: List[bytes] = []

    def handle(request: bytes) -> bytes:
        calls.append(request)
        return b"ok"

    one_fleet.bridge("r1", "--file", one_fleet.file("max_bytes = 100000\n" + OUT))
    session = one_fleet.session()
    one_fleet.participant("r1").serve("gripper/close", handle, request=bytes, reply=bytes)

    def ask(payload: bytes, attachment: Any, timeout: float = AMPLE_S) -> Any:
        found = session.get("orc/r1/gripper/close", payload=payload, attachment=attachment, timeout=timeout)
        return next(iter(found), None)

    wait_until(lambda: ask(b"first", None))
    good = struct.pack("<2sBB16sQQqB", b"OQ", 2, 0, bytes(range(16)), 10**10, 0, 0, 0)
    assert ask(b"once", good).ok is not None
    assert ask(b"once", good) is None  # the same call again
    no_time, too_long = (good[:20] + each * 8 + good[28:] for each in (b"\0", b"\xff"))
    for bad in (b"OQ", good[:-1], good + b"x", b"XX" + good[2:], no_time, too_long, good * 99):
        assert json.loads(ask(b"bad", bad).err.payload.to_bytes())["code"] == "bad_request"
    too_large = ask(bytes(100_001), None, timeout=0.5)
    assert too_large is None or too_large.ok is None
    assert calls.count(b"once") == 1 and b"bad" not in calls and ask(b"still there", None).ok is not None


def test_a_service_that_ends_while_it_is_asked_for_its_types_is_not_left_behind(one_fleet: Fleet) -> None:
    """A robot that dies between its token and its description."""
    other = IN.replace("gripper/close", "gripper/open")
    one_fleet.bridge("r2", "--file", one_fleet.file(IN + other))
    session = one_fleet.session()
    asked, answers = threading.Event(), threading.Event()

    def describe(query: Any) -> None:
        with query:
            if str(query.key_expr).endswith("close"):
                asked.set()
                answers.wait(AMPLE_S)
            query.reply(query.key_expr, b"{}")

    for name in ("close", "open"):
        key = f"orc/r1/@service/gripper/{name}"
        session.declare_queryable(key, zenoh.handlers.Callback(describe, indirect=True))
    dead = session.liveliness().declare_token("orc/r1/@service/gripper/close")
    assert asked.wait(AMPLE_S)
    dead.undeclare()
    watch = one_fleet.session()
    wait_until(lambda: not list(watch.liveliness().get("orc/r1/@service/gripper/close", timeout=1.0)))
    answers.set()
    token = session.liveliness().declare_token("orc/r1/@service/gripper/open")
    directory = one_fleet.orc.Directory(one_fleet.broker("r2"))

    def names() -> Any:
        return {each.name for each in one_fleet.orc.find_services(directory)}

    wait_until(lambda: "r1/gripper/open" in names())
    wait_until(lambda: names() == {"r1/gripper/open"})
    token.undeclare()
    wait_until(lambda: not names())
