"""How long calls, their futures and their callbacks live, and what they keep."""

from __future__ import annotations

import gc
import logging
import threading
import weakref
from types import ModuleType
from typing import Any, List

import pytest

from calls_fixtures import AMPLE_S, SERVICE, Sides
from support import BrokerProcess, run_python, wait_until


def test_dropping_a_future_cancels_its_call(sides: Sides) -> None:
    sides.serve(threads=1)
    future = sides.call("hold")
    sides.orders.has_started(1)
    del future
    gc.collect()
    wait_until(lambda: sides.orders.cancelled == 1)


def test_a_call_with_a_callback_goes_on_without_its_future(sides: Sides) -> None:
    sides.serve(threads=1)
    ended: List[Any] = []
    future = sides.call("hold anyway", number=7)
    future.add_done_callback(lambda of: ended.append(of.result()["number"]))
    sides.orders.has_started(1)
    del future
    gc.collect()
    sides.orders.released.set()
    wait_until(lambda: ended == [7])


def test_all_callbacks_of_a_call_run_once_also_when_one_raises(
    some_sides: Sides, caplog: pytest.LogCaptureFixture
) -> None:
    some_sides.serve(threads=1)
    future = some_sides.call("hold anyway")
    ended: List[int] = []
    for number in range(20):
        future.add_done_callback(lambda _, number=number: ended.append(number))  # type: ignore[misc]
        future.add_done_callback(lambda _: 1 // 0)
    assert not ended
    with caplog.at_level(logging.ERROR, "orc"):
        some_sides.orders.released.set()
        wait_until(lambda: len(ended) == 20)
        future.add_done_callback(lambda _: ended.append(20))
    assert ended == list(range(21))
    assert "ZeroDivisionError" in caplog.text


def test_threads_that_wait_for_one_call_all_get_its_reply(sides: Sides) -> None:
    sides.serve(threads=1)
    future = sides.call("hold anyway", number=5)
    got: List[Any] = []
    waiting = [threading.Thread(target=lambda: got.append(future.result()["number"])) for _ in range(5)]
    for each in waiting:
        each.start()
    sides.orders.has_started(1)
    assert not future.wait(0.05) and not got
    sides.orders.released.set()
    for each in waiting:
        each.join(AMPLE_S)
    assert got == [5] * 5
    assert future.result() == future.result() == {"do": "hold anyway", "number": 5}


def test_close_does_not_wait_for_a_callback_that_blocks(some_sides: Sides) -> None:
    some_sides.serve()
    started = threading.Event()

    def block(future: Any) -> None:
        started.set()
        some_sides.orders.released.wait()

    held = some_sides.call("hold")
    held.add_done_callback(block)
    some_sides.orders.has_started(1)
    held.cancel()
    assert started.wait(AMPLE_S)
    others = some_sides.client.call("nobody", 1, deadline=AMPLE_S)
    some_sides.client.close()  # a call that hangs fails by the limit of the whole test
    assert not some_sides.orders.released.is_set()
    assert some_sides.code_of(others) is some_sides.orc.CallErrc.closed


def test_a_callback_closes_its_participant(some_sides: Sides) -> None:
    some_sides.serve()
    closed: List[Any] = []

    def close(future: Any) -> None:
        some_sides.client.close()
        closed.append(future.result())

    some_sides.call("echo").add_done_callback(close)
    wait_until(lambda: closed == [{"do": "echo"}])


def test_a_participant_is_kept_by_its_open_call_and_by_nothing_afterwards(some_sides: Sides) -> None:
    some_sides.serve()
    before = threading.active_count()
    participant = some_sides.orc.Participant(name="dropped", transports=[some_sides.transport])
    known = weakref.ref(participant)
    future = participant.call(SERVICE, {"do": "hold"}, deadline=AMPLE_S)
    codes: List[Any] = []
    future.add_done_callback(lambda of: codes.append(some_sides.code_of(of)))
    some_sides.orders.has_started(1)
    del participant
    gc.collect()
    assert known() is not None and not future.ready()
    future.cancel()
    wait_until(lambda: codes == [some_sides.orc.CallErrc.cancelled])
    del future

    def is_gone() -> bool:
        gc.collect()
        return known() is None and threading.active_count() <= before

    wait_until(is_gone)
    wait_until(lambda: some_sides.service.figures.clients == 0)


def test_a_future_outlives_its_participant(sides: Sides) -> None:
    sides.serve()
    data = "x" * 100_000  # over shm it is in the server's memory
    future = sides.call("echo", data=data)
    assert future.wait(AMPLE_S)
    sides.client.close()
    sides.server.close()
    assert future.result()["data"] == data
    assert future.feedback() is None and future.ready()
    future.cancel()


def test_a_late_deadline_does_not_delay_a_near_one(some_sides: Sides) -> None:
    some_sides.serve(threads=1)
    assert some_sides.call().result()
    late = some_sides.call("hold anyway", deadline=AMPLE_S)
    near = some_sides.call("echo", deadline=0.05)
    codes: List[Any] = []
    near.add_done_callback(lambda of: codes.append(some_sides.code_of(of)))
    wait_until(lambda: codes == [some_sides.orc.CallErrc.deadline_exceeded])
    some_sides.orders.released.set()
    assert late.result()


GROWTH = """
    import gc, importlib, sys
    orc = importlib.import_module(sys.argv[1])
    participant = orc.Participant(transports="ipc")
    def handle(request, context):
        context.feedback(request)
        if request[:1] == b"e":
            raise ValueError("as asked")
        return request
    participant.serve("echo", handle, request=bytes, reply=bytes)

    def resident():
        gc.collect()
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096

    def call(count):
        for number in range(count):
            future = participant.call("echo", (b"e" if number % 10 == 0 else b"o") * 4000, deadline=60)
            if number % 3 == 0:
                future.add_done_callback(lambda of: of.feedback())
            if number % 7 == 0:
                continue  # dropped while it is open
            try:
                future.result()
            except orc.CallError:
                pass

    calls = int(sys.argv[2])
    call(calls // 5)
    before = resident()
    call(calls)
    print(resident() - before)
"""


def test_thousands_of_calls_leave_no_memory(broker: BrokerProcess, native: ModuleType) -> None:
    calls = 10_000
    grown = int(run_python(GROWTH, native.__name__, str(calls), timeout=110).stdout)
    assert grown < calls * 1000, "each call may leave nothing: its request alone has 4,000 bytes"


AT_EXIT = """
    import importlib, sys, threading
    orc = importlib.import_module(sys.argv[1])
    participant = orc.Participant(transports="ipc")
    started = threading.Event()
    def handle(request):
        if request == "block":
            started.set()
            threading.Event().wait()
        return request
    participant.serve("echo", handle, threads=2)
    blocked = participant.call("echo", "block", deadline=60)
    def again(future):
        try:
            participant.call("echo", 1, deadline=60).add_done_callback(again)
        except Exception:
            pass
    def forever():
        while True:
            participant.call("echo", 1, deadline=60).wait(60)
    again(None)
    waiting = threading.Thread(target=blocked.result, daemon=True)
    waiting.start()
    threading.Thread(target=forever, daemon=True).start()
    assert started.wait(60)
    for _ in range(int(sys.argv[2])):
        participant.call("echo", 1, deadline=60).wait(60)
    print("end")
"""


@pytest.mark.parametrize("more", [0, 20, 300])
def test_a_process_ends_in_the_midst_of_calls(some_sides: Sides, more: int) -> None:
    for _ in range(3):
        done = run_python(AT_EXIT, some_sides.orc.__name__, str(more))
        assert done.stdout.endswith("end\n")
