"""Services when one of the ends, or the broker, dies, and when a participant ends during calls."""

from __future__ import annotations

import gc
import pathlib
import threading
import time
from typing import Any, Callable

import pytest

from calls_fixtures import AMPLE_S, SERVICE, Sides
from support import BrokerProcess, run_python, start_python, wait_until

SERVE = """
    import importlib, os, sys, time
    orc = importlib.import_module(sys.argv[1])
    participant = orc.Participant(name="server", transports=sys.argv[2].split(","))
    def obey(request, context):
        do = request.get("do")
        if do == "hold":
            while not context.cancelled():
                time.sleep(0.01)
        if do == "hold anyway":
            sys.stdin.read()
        if do == "exit":
            os._exit(3)
        if do == "sys.exit":
            sys.exit(3)
        if do == "fork":
            if os.fork() == 0:
                return "of the child"
        return request
    participant.serve("arm/service", obey)
    print("ready", flush=True)
    sys.stdin.read()
"""
HOLD = """
    import importlib, sys
    orc = importlib.import_module(sys.argv[1])
    participant = orc.Participant(name="client", transports=sys.argv[2].split(","))
    future = participant.call("arm/service", {"do": "hold"}, deadline=60)
    print("called", flush=True)
    future.wait(60)
"""


@pytest.fixture
def peer() -> Any:
    """peer(code, sides): starts the code in a process of its own and waits for its first line."""
    running = []

    def start(code: str, sides: Sides) -> Any:
        process = start_python(code, sides.orc.__name__, sides.transport, stderr=None)
        running.append(process)
        assert process.stdout.readline()
        return process

    yield start
    for process in running:
        process.kill()
        process.wait(20)
        for pipe in (process.stdin, process.stdout):
            pipe.close()


def test_a_killed_server_ends_its_calls_at_once_and_its_successor_serves(far_sides: Sides, peer: Any) -> None:
    sides = far_sides
    server = peer(SERVE, sides)
    assert sides.call().result()
    first, second, called = sides.call("hold"), sides.call("hold"), []
    second.add_done_callback(lambda future: called.append(sides.code_of(future)))
    assert not first.wait(0.05)
    server.kill()
    died = sides.orc.CallErrc.server_died
    assert sides.code_of(first) is died
    wait_until(lambda: called == [died])
    peer(SERVE, sides)
    assert sides.call().result() == {"do": "echo"}


def test_a_handler_that_ends_its_process_ends_the_call(some_sides: Sides, peer: Any) -> None:
    server = peer(SERVE, some_sides)
    assert some_sides.code_of(some_sides.call("exit")) is some_sides.orc.CallErrc.server_died
    assert server.wait(20) == 3


def test_sys_exit_in_a_handler_ends_the_call_only(some_sides: Sides, peer: Any) -> None:
    peer(SERVE, some_sides)
    with pytest.raises(some_sides.orc.CallError) as caught:
        some_sides.call("sys.exit").result()
    assert caught.value.exception_type == "SystemExit"
    assert some_sides.call().result() == {"do": "echo"}


def test_a_handler_that_forks_serves_on_and_its_child_sends_nothing(some_sides: Sides, peer: Any) -> None:
    peer(SERVE, some_sides)
    for _ in range(5):
        assert some_sides.call("fork").result() == {"do": "fork"}
    assert some_sides.call().result() == {"do": "echo"}


@pytest.mark.parametrize("threads", [0, 1])
def test_the_handler_hears_that_its_client_was_killed(far_sides: Sides, peer: Any, threads: int) -> None:
    sides = far_sides
    sides.serve(threads=threads)
    client = peer(HOLD, sides)
    sides.orders.has_started(1)
    client.kill()
    wait_until(lambda: sides.orders.cancelled == 1)
    wait_until(lambda: sides.service.figures.clients == 0)


def test_a_broker_that_is_killed_and_comes_back_disturbs_no_call(some_sides: Sides, broker: BrokerProcess) -> None:
    sides = some_sides
    sides.serve()
    assert sides.call().result()
    broker.kill()
    held = sides.call("hold anyway")
    sides.orders.has_started(2)
    broker.start()
    newcomer = sides.participant("newcomer")
    late = newcomer.call(SERVICE, {"late": True}, deadline=AMPLE_S)
    assert not late.wait(0.05), "the handler is busy"
    sides.orders.released.set()
    assert held.result() and late.result() == {"late": True}
    for _ in range(20):
        assert sides.call().result()


def test_many_clients_come_and_go_and_leave_nothing(some_sides: Sides, broker: BrokerProcess) -> None:
    some_sides.serve(max_clients=4)
    directory = some_sides.orc.Directory()

    def come_and_go() -> Any:
        with some_sides.orc.Participant(name="client", transports="ipc") as client:
            return client.call(SERVICE, {}, deadline=AMPLE_S).result()

    def settled() -> bool:
        return some_sides.service.figures.clients == 0 and len(directory.topics()) == 1

    assert come_and_go() == {}
    wait_until(settled)

    def held() -> Any:
        return [len(list(pathlib.Path("/proc/self", each).iterdir())) for each in ("task", "fd")]

    before = held()
    for _ in range(40):
        assert come_and_go() == {}
    wait_until(settled)

    def no_more_than_before() -> bool:
        now = held()
        return now[0] <= before[0] and now[1] <= before[1]

    wait_until(no_more_than_before)


def test_a_client_too_many_is_refused_and_served_when_there_is_a_place(some_sides: Sides) -> None:
    sides = some_sides
    sides.serve(max_clients=1)
    assert sides.call().result()
    second = sides.participant("second")
    with pytest.raises(sides.orc.CallError, match="1 clients already") as caught:
        second.call(SERVICE, {}, deadline=AMPLE_S).result()
    assert caught.value.code is sides.orc.CallErrc.refused
    sides.client.close()

    def is_served() -> bool:
        try:
            return bool(second.call(SERVICE, {}, deadline=1).result() == {})
        except sides.orc.CallError:
            return False

    wait_until(is_served)


def test_close_ends_the_calls_of_a_client(some_sides: Sides) -> None:
    some_sides.serve()
    held = some_sides.call("hold")
    called, waited = [], []
    held.add_done_callback(lambda future: called.append(some_sides.code_of(future)))
    waiting = threading.Thread(target=lambda: waited.append(some_sides.code_of(held)))
    waiting.start()
    some_sides.orders.has_started(1)
    some_sides.client.close()
    waiting.join(20)
    closed = some_sides.orc.CallErrc.closed
    assert waited == [closed]
    wait_until(lambda: called == [closed])
    assert some_sides.code_of(held) is closed
    with pytest.raises(some_sides.orc.Closed):
        some_sides.client.serve("other", lambda request: request)
    assert some_sides.code_of(some_sides.call()) is closed


def test_a_participant_that_has_ended_calls_nothing(native: Any, broker: BrokerProcess) -> None:
    participant = native.Participant()
    participant.close()
    assert _code(native, participant.call(SERVICE, {}, deadline=AMPLE_S).result) is native.CallErrc.closed
    for refused in (lambda: participant.serve("s", abs), lambda: participant.wait_for_service("s", AMPLE_S)):
        with pytest.raises(native.Closed):
            refused()


@pytest.mark.parametrize("threads", [0, 2])
def test_close_does_not_wait_for_a_handler_that_blocks(some_sides: Sides, threads: int) -> None:
    some_sides.serve(threads=threads)
    held = some_sides.call("hold anyway")
    some_sides.orders.has_started(1)
    some_sides.server.close()  # a call that hangs fails by the limit of the whole test
    assert not some_sides.orders.released.is_set()
    assert some_sides.code_of(held) is some_sides.orc.CallErrc.server_died


def test_a_handler_closes_its_service_and_its_participant(some_sides: Sides) -> None:
    closed = threading.Event()

    def close(request: Any) -> None:
        some_sides.service.close()
        some_sides.server.close()
        closed.set()

    some_sides.service = some_sides.server.serve("closing", close)
    future = some_sides.client.call("closing", 1, deadline=AMPLE_S)
    assert some_sides.code_of(future) is some_sides.orc.CallErrc.server_died
    assert closed.wait(AMPLE_S)


def test_a_participant_that_is_dropped_takes_its_threads_along(some_sides: Sides) -> None:
    orc = some_sides.orc

    def threads() -> int:
        return len(list(pathlib.Path("/proc/self/task").iterdir()))

    def come_and_go() -> int:
        server = orc.Participant(name="dropped", transports="ipc")
        server.serve("of/the/dropped", lambda request: request)
        assert server.call("of/the/dropped", 1, deadline=AMPLE_S).result() == 1
        meanwhile = threads()
        del server
        gc.collect()
        wait_until(lambda: not orc.Directory().topics("of/the/**"))
        return meanwhile

    come_and_go()  # the first one may start threads of the process
    before = threads()
    for _ in range(5):
        assert come_and_go() > before
    wait_until(lambda: threads() <= before)


def test_a_dropped_future_keeps_its_participant_only_while_it_lives(some_sides: Sides) -> None:
    some_sides.serve()
    future = some_sides.orc.Participant(transports="ipc").call(SERVICE, {"a": 1}, deadline=AMPLE_S)
    assert future.result() == {"a": 1}


FORKED = """
    import importlib, os, sys, warnings
    warnings.simplefilter("ignore", DeprecationWarning)
    orc = importlib.import_module(sys.argv[1])
    participant, client = orc.Participant(transports="ipc"), orc.Participant(transports="ipc")
    service = participant.serve("echo", lambda request, context: request)
    future = client.call("echo", 1, deadline=60)
    assert future.result() == 1
    held = client.call("nobody", 1, deadline=60)
    unused = orc.Participant(transports="ipc")
    child = os.fork()
    if child == 0:
        def code(of):
            try:
                of()
            except orc.CallError as error:
                return error.code.name
            except orc.Forked as error:
                return "forked"
        assert code(held.result) == "forked", code(held.result)
        assert code(lambda: client.call("echo", 1, deadline=1).result()) == "forked"
        assert code(lambda: client.wait_for_service("echo", 1)) == "forked"
        assert code(lambda: client.serve("other", len)) == "forked"
        assert code(held.fileno) == "forked"
        assert code(lambda: unused.call("echo", 1, deadline=60).result()) == "forked"
        assert code(lambda: unused.serve("other", len)) == "forked"
        assert service.figures.calls == 0 and held.feedback() is None
        held.cancel()
        service.close()
        participant.close()
        client.close()
        del held, future
        with orc.Participant(transports="ipc") as own:
            assert own.call("echo", 2, deadline=60).result() == 2
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert status == 0, status
    assert not held.ready()
    assert client.call("echo", 3, deadline=60).result() == 3
    print("both worked")
"""


def test_a_child_of_fork_gets_an_error_from_everything_that_it_inherits(some_sides: Sides) -> None:
    assert run_python(FORKED, some_sides.orc.__name__).stdout == "both worked\n"


EXIT = """
    import importlib, sys, threading
    orc = importlib.import_module(sys.argv[1])
    participant, client = orc.Participant(transports="ipc"), orc.Participant(transports="ipc")
    started = threading.Event()
    def block(request):
        started.set()
        threading.Event().wait()
    participant.serve("block", block)
    future = client.call("block", 1, deadline=60)
    future.add_done_callback(print)
    started.wait()
    print("end")
"""


def test_a_process_ends_while_handlers_and_calls_run(some_sides: Sides) -> None:
    assert run_python(EXIT, some_sides.orc.__name__).stdout.startswith("end\n")


def test_a_call_ends_at_its_deadline_also_without_a_broker(native: Any, run_dir: pathlib.Path) -> None:
    client = native.Participant(broker_timeout_ms=20_000)
    codes = []
    try:
        future = client.call(SERVICE, {}, deadline=0.05)
        future.add_done_callback(lambda ended: codes.append(_code(native, ended.result)))
        wait_until(lambda: codes == [native.CallErrc.no_service])
        assert _code(native, client.call(SERVICE, {}, deadline=0.05).result) is native.CallErrc.no_service
        assert _code(native, client.call("not a name", {}, deadline=20).result) is native.CallErrc.bad_argument
        begun = time.monotonic()
    finally:
        client.close()
    assert time.monotonic() - begun < AMPLE_S


def _code(native: Any, of: Callable[[], Any]) -> Any:
    with pytest.raises(native.CallError) as caught:
        of()
    return caught.value.code


def test_the_error_says_when_a_server_can_be_reached_and_cannot_reach_back(native: Any, broker: BrokerProcess) -> None:
    with native.Participant(transports=["tcp"]) as server, native.Participant() as client:
        server.serve(SERVICE, lambda request: request)
        text = ""

        def is_half_reached() -> bool:
            nonlocal text
            with pytest.raises(native.TimedOut) as failed:
                client.wait_for_service(SERVICE, 0.2)
            text = str(failed.value)
            return "reached over tcp" in text

        wait_until(is_half_reached)
        assert "no transport that this participant offers" in text


def test_a_service_without_a_broker_is_offered_when_one_answers(
    native: Any, run_dir: pathlib.Path, bin_dir: pathlib.Path
) -> None:
    with native.Participant(broker_timeout_ms=50) as server, native.Participant(broker_timeout_ms=50) as client:
        service = server.serve("echo", lambda request: request)
        assert isinstance(service.error, native.NoBroker)
        future = client.call("echo", 5, deadline=AMPLE_S)
        broker = BrokerProcess(bin_dir, f"ipc://{run_dir}/orc/broker")
        broker.start()
        try:
            assert future.result() == 5
        finally:
            broker.stop()
