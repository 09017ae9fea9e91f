"""Handlers on the threads of C++: what they keep, who may use their calls, and how a service ends around them."""

from __future__ import annotations

import gc
import signal
import threading
import weakref
from typing import Any, List

import pytest

from calls_fixtures import AMPLE_S, SERVICE, Sides
from support import BrokerProcess, start_python, wait_until


@pytest.mark.parametrize("threads", [0, 1])
def test_a_thread_of_the_handler_may_use_its_call(sides: Sides, threads: int) -> None:
    def work(call: Any, seen: List[Any]) -> None:
        for number in range(100):
            seen.append((call.cancelled(), call.feedback(number)))
        call.fail(5, "by the other thread")

    def handler(request: Any, call: Any) -> Any:
        seen: List[Any] = []
        other = threading.Thread(target=work, args=(call, seen))
        other.start()
        while other.is_alive():
            call.cancelled()
        assert seen == [(False, True)] * 100

    sides.server.serve(SERVICE, handler, threads=threads)
    for _ in range(20):
        future = sides.call()
        with pytest.raises(sides.orc.CallError, match="by the other thread") as failed:
            future.result()
        assert failed.value.number == 5 and future.feedback() == 99


def test_a_call_that_outlives_its_handler_is_used_at_any_time(some_sides: Sides) -> None:
    used: List[Any] = []
    ends = threading.Event()

    def use(call: Any) -> None:
        while not ends.is_set():
            used[:] = [(call.cancelled(), call.feedback(b"f"), call.client.name, call.deadline)]

    def handler(request: Any, call: Any) -> Any:
        threading.Thread(target=use, args=(call,)).start()

    some_sides.server.serve(SERVICE, handler)
    try:
        for _ in range(4):
            assert some_sides.call().result() is None
        some_sides.server.close()
        wait_until(lambda: used and used[-1][:3] == (True, False, "client"))
    finally:
        ends.set()


@pytest.mark.parametrize("threads", [0, 1])
def test_what_is_local_to_a_thread_lasts_from_call_to_call(some_sides: Sides, threads: int) -> None:
    local = threading.local()

    def count(request: Any) -> int:
        local.calls = getattr(local, "calls", 0) + 1
        return int(local.calls)

    some_sides.server.serve(SERVICE, count, threads=threads)
    assert [some_sides.call().result() for _ in range(5)] == [1, 2, 3, 4, 5]


def test_a_handler_that_refers_to_its_participant_does_not_keep_it(some_sides: Sides) -> None:
    class Server:
        def __init__(self) -> None:
            self.participant = some_sides.orc.Participant(name="dropped", transports="ipc")
            self.service = self.participant.serve("of/the/dropped", self.handle)

        def handle(self, request: Any) -> Any:
            return request

    server = Server()
    assert some_sides.client.call("of/the/dropped", 1, deadline=AMPLE_S).result() == 1
    known = weakref.ref(server)
    del server

    def is_gone() -> bool:
        gc.collect()
        return known() is None

    wait_until(is_gone)
    wait_until(lambda: all(not each.publication for each in some_sides.orc.Directory().topics("of/the/dropped")))


def test_what_a_handler_refers_to_goes_with_its_service(some_sides: Sides) -> None:
    class Kept:
        pass

    kept = Kept()
    known = weakref.ref(kept)
    service = some_sides.server.serve(SERVICE, lambda request, kept=kept: request)
    assert some_sides.call().result()
    del kept
    service.close()
    gc.collect()
    assert known() is None


def test_a_handler_that_was_let_go_returns_later(some_sides: Sides) -> None:
    started, returned = threading.Event(), threading.Event()

    def block(request: Any, call: Any) -> Any:
        started.set()
        some_sides.orders.released.wait()
        assert call.cancelled() and not call.feedback(1)
        returned.set()

    some_sides.server.serve(SERVICE, block, recorded=True)
    held = some_sides.call()
    assert started.wait(AMPLE_S)
    some_sides.server.close()
    assert some_sides.code_of(held) is some_sides.orc.CallErrc.server_died
    some_sides.orders.released.set()
    assert returned.wait(AMPLE_S)
    some_sides.server = some_sides.participant("successor")
    some_sides.serve()
    assert some_sides.call().result()


CLOSE = """
    import signal, threading, orc
    signal.signal(signal.SIGINT, signal.default_int_handler)
    started, released = threading.Event(), threading.Event()
    def handle(request):
        started.set()
        released.wait()
    with orc.Participant(transports="ipc") as participant:
        service = participant.serve("s", handle)
        future = participant.call("s", 1, deadline=60)
        started.wait()
        try:
            print("ready", flush=True)
            service.close()
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        released.set()
        service.close()
        print(service.figures.calls)
"""


def test_ctrl_c_ends_the_wait_for_a_handler(native: Any, broker: BrokerProcess) -> None:
    process = start_python(CLOSE)
    try:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    finally:
        process.kill()
        process.wait()
    assert out == "interrupted\n1\n", err
