"""What services do over every transport."""

from __future__ import annotations

import dataclasses
import select
import threading
from typing import Annotated, Any, List

import numpy
import pytest
from numpy.typing import NDArray

from calls_fixtures import AMPLE_S, SERVICE, Orders, Sides
from support import wait_until


@dataclasses.dataclass
class Position:
    __orc_name__ = "test.Position"
    x: float
    q: Annotated[NDArray[numpy.float64], 2]


@dataclasses.dataclass
class Distance:
    __orc_name__ = "test.Distance"
    meters: float


VALUES: List[Any] = [
    None,
    True,
    7,
    -1.5,
    "Grüße",
    [],
    [1, [2, {"three": None}]],
    {},
    {"force": 20, "nested": {"a": []}},
]


def test_json_values_go_and_come(sides: Sides) -> None:
    sides.server.serve("echo", lambda value: value)
    for value in [*VALUES, ["x" * 1000] * 1000]:
        got = sides.client.call("echo", value, deadline=AMPLE_S).result()
        assert got == value and type(got) is type(value)


@pytest.mark.parametrize("threads", [0, 2])
def test_bytes_of_any_size_go_and_come(sides: Sides, threads: int) -> None:
    sides.server.serve("echo", lambda request: request, request=bytes, reply=bytes, threads=threads)
    for size in (0, 17, 5_000, 3_000_000):
        data = b"\7" * size
        got = sides.client.call("echo", data, deadline=AMPLE_S).result()
        assert isinstance(got, bytes) and got == data


def test_typed_values_go_and_come(sides: Sides) -> None:
    def norm(position: Position) -> Distance:
        return Distance(position.x + float(position.q.sum()))

    sides.server.serve("norm", norm, request=Position, reply=Distance)
    for number in range(50):
        sent = Position(number, numpy.array([1.0, 2.0]))
        got = sides.client.call("norm", sent, deadline=AMPLE_S, reply=Distance).result()
        assert got == Distance(number + 3.0)


def test_what_the_handler_raises_or_reports_arrives(sides: Sides) -> None:
    sides.serve()
    with pytest.raises(sides.orc.CallError, match="IndexError: as ordered") as raised:
        sides.call("raise").result()
    assert raised.value.code is sides.orc.CallErrc.exception
    assert (raised.value.exception_type, raised.value.text) == ("IndexError", "as ordered")
    with pytest.raises(sides.orc.CallError, match="as ordered") as failed:
        sides.call("fail", number=-42).result()
    assert (failed.value.code, failed.value.number) == (sides.orc.CallErrc.failed, -42)
    assert sides.call().result() == {"do": "echo"}
    wait_until(lambda: sides.service.figures.calls == 3)
    assert sides.service.figures.failed == 2


def test_other_types_are_refused_with_the_difference(sides: Sides) -> None:
    service = sides.server.serve("norm", lambda position: Distance(0), request=Position, reply=Distance)
    position = Position(0, numpy.zeros(2))
    with pytest.raises(sides.orc.CallError, match="test.Distance at publisher `norm`, test.Position here") as reply:
        sides.client.call("norm", position, deadline=AMPLE_S, reply=Position).result()
    assert reply.value.code is sides.orc.CallErrc.type_mismatch
    with pytest.raises(sides.orc.CallError, match="test.Distance at publisher `client") as request:
        sides.client.call("norm", Distance(0), deadline=AMPLE_S, reply=Distance).result()
    assert request.value.code is sides.orc.CallErrc.type_mismatch
    assert sides.client.call("norm", position, deadline=AMPLE_S, reply=Distance).result() == Distance(0)
    wait_until(lambda: service.figures.calls == 1)


@pytest.mark.parametrize("threads", [0, 1])
def test_the_last_feedback_comes_before_the_reply(sides: Sides, threads: int) -> None:
    sides.serve(threads=threads)
    count = 2000
    future = sides.call("count", to=count)
    seen = []
    while not future.wait(0.001):
        seen.append(future.feedback())
    seen.append(future.feedback())
    numbers = [each for each in seen if each is not None]
    assert numbers == sorted(set(numbers)) and numbers[-1] == count - 1
    assert future.feedback() is None
    assert future.result() == {"do": "count", "to": count}


@pytest.mark.parametrize("threads", [0, 1])
def test_a_cancelled_call_ends_at_once_and_its_handler_hears_of_it(sides: Sides, threads: int) -> None:
    sides.serve(threads=threads)
    running = sides.call("hold")
    wait_until(lambda: running.ready() or sides.orders.started)
    waiting, dropped = sides.call(), sides.call()
    waiting.cancel()
    assert sides.code_of(waiting) is sides.orc.CallErrc.cancelled
    del dropped
    running.cancel()
    assert sides.code_of(running) is sides.orc.CallErrc.cancelled
    wait_until(lambda: sides.orders.cancelled == 1)
    assert sides.call().result() == {"do": "echo"}
    assert len(sides.orders.started) == 2


@pytest.mark.parametrize("threads", [0, 1])
def test_a_call_ends_at_its_deadline_and_its_late_reply_is_dropped(sides: Sides, threads: int) -> None:
    sides.serve(threads=threads)
    sides.call().result()
    late = sides.call("hold anyway", deadline=0.1)
    sides.orders.has_started(2)
    never = sides.call(deadline=0.05)
    assert sides.code_of(late) is sides.orc.CallErrc.deadline_exceeded
    assert sides.code_of(never) is sides.orc.CallErrc.deadline_exceeded
    sides.orders.released.set()
    assert sides.call(number=3).result() == {"do": "echo", "number": 3}
    assert [each["do"] for each in sides.orders.started] == ["echo", "hold anyway", "echo"]


@pytest.mark.parametrize("replaces", [False, True])
def test_a_full_queue_is_busy_and_a_newer_call_replaces_a_waiting_one(sides: Sides, replaces: bool) -> None:
    sides.serve(threads=1, queue=1, replace_waiting=replaces)
    running = sides.call("hold anyway")
    sides.orders.has_started(1)
    older, newer = sides.call(), sides.call()
    ends_early, stays = (older, newer) if replaces else (newer, older)
    code = sides.orc.CallErrc.replaced if replaces else sides.orc.CallErrc.busy
    assert sides.code_of(ends_early) is code
    sides.orders.released.set()
    assert running.result() and stays.result()


@pytest.mark.parametrize("pool", [0, 3])
def test_many_threads_share_a_client_and_each_gets_its_own_reply(sides: Sides, pool: int) -> None:
    sides.serve(threads=pool, queue=1000)
    each, right, called = 60, [], []

    def work(thread: int) -> None:
        for number in range(each):
            request = {"thread": thread, "number": number}
            right.append(sides.client.call(SERVICE, request, deadline=AMPLE_S).result() == request)

    threads = [threading.Thread(target=work, args=(thread,)) for thread in range(4)]
    for thread in threads:
        thread.start()
    for number in range(each):
        sides.call(number=number).add_done_callback(lambda future: called.append(future.result()["number"]))
    for thread in threads:
        thread.join()
    assert right == [True] * 4 * each
    wait_until(lambda: len(called) == each)
    assert sorted(called) == list(range(each))


def test_a_descriptor_is_readable_for_feedback_and_reply(sides: Sides) -> None:
    sides.serve()
    future = sides.call("count", to=3)
    while not future.ready():
        assert select.select([future], [], [], AMPLE_S)[0]
        future.feedback()
    assert select.select([future], [], [], 0)[0]
    assert future.result()


def test_a_handler_calls_another_service_through_its_own_participant(sides: Sides) -> None:
    sides.serve()
    sides.server.serve("outer", lambda request: sides.server.call(SERVICE, request, deadline=AMPLE_S).result())
    assert sides.client.call("outer", {"number": 5}, deadline=AMPLE_S).result() == {"number": 5}


def test_a_withdrawn_service_ends_its_calls_and_another_takes_its_name(sides: Sides) -> None:
    orc = sides.orc
    with pytest.raises(orc.TimedOut, match="no service arm/service was reached"):
        sides.client.wait_for_service(SERVICE, 0)
    sides.serve()
    sides.client.wait_for_service(SERVICE, AMPLE_S)
    held = sides.call("hold")
    sides.orders.has_started(1)
    sides.service.close()
    assert sides.code_of(held) in (orc.CallErrc.server_died, orc.CallErrc.failed)

    def is_gone() -> bool:
        try:
            sides.client.wait_for_service(SERVICE, 0)
        except orc.TimedOut:
            return True
        return False

    wait_until(is_gone)
    sides.serve()
    sides.client.wait_for_service(SERVICE, AMPLE_S)
    sides.service.close()
    wait_until(is_gone)  # without a call that tells the client
    sides.serve()
    assert sides.call().result() == {"do": "echo"}
    for participant in (sides.client, sides.server):
        with pytest.raises(orc.NameTaken):
            participant.serve(SERVICE, Orders())


def test_the_number_of_open_calls_is_bounded(sides: Sides) -> None:
    sides.serve(threads=1, queue=65_536)
    futures = [sides.call("hold anyway"), *(sides.call() for _ in range(1023))]
    assert sides.code_of(sides.call()) is sides.orc.CallErrc.too_many_calls
    sides.orders.released.set()
    assert all(each.result() for each in futures)
    assert sides.call().result()
