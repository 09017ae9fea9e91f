"""fork() gives a clear error, spawn works, and a process ends whatever its threads do."""

from __future__ import annotations

import multiprocessing
from typing import Any

import pytest

from support import run_python

MODULES = {"native": "import orc", "pure": "import orc.pure as orc"}


@pytest.mark.parametrize("module", MODULES)
def test_after_fork_every_call_says_so_and_a_new_participant_works(backend_of: Any, broker: Any, module: str) -> None:
    backend_of(module)
    code = """
    import os
    import warnings
    MODULE
    from orc._errors import Forked
    warnings.simplefilter("ignore", DeprecationWarning)
    participant = orc.Participant()
    publisher = participant.register_topic("t")
    subscriber = participant.request_topic("t", connected_within_ms=20000)
    publisher.send_msg(b"kept")
    message = subscriber.recv_msg(20000)
    child = os.fork()
    if child == 0:
        calls = [
            lambda: publisher.send_msg(b"x"), lambda: subscriber.recv_msg(0), lambda: subscriber.recv_msg(-1),
            lambda: subscriber.recv_next(0), lambda: subscriber.wait_connected(-1),
            lambda: participant.send_msg("t", b"x"), lambda: participant.recv_msg("t", 0),
            lambda: participant.register_topic("u"), lambda: participant.request_topic("u"),
            lambda: participant.publisher("t"), lambda: participant.subscriber("t"),
        ]
        for n, call in enumerate(calls):
            try:
                call()
            except Forked as error:
                assert error.code == "forked" and "fork" in str(error)
            else:
                raise SystemExit(f"call {n} did not raise")
        own = orc.Participant()
        own_publisher = own.register_topic("of/the/child")
        own_subscriber = own.request_topic("of/the/child", connected_within_ms=20000)
        own_publisher.send_msg(b"child")
        assert bytes(own_subscriber.recv_msg(20000)) == b"child"
        raise SystemExit(0)  # an ordinary end, with atexit
    _, status = os.waitpid(child, 0)
    assert status == 0, status
    publisher.send_msg(b"parent")
    assert bytes(subscriber.recv_msg(20000)) == b"parent"
    assert bytes(message) == b"kept"
    print("both worked")
    """
    assert run_python(code.replace("MODULE", MODULES[module])).stdout == "both worked\n"


def _echo(module: str) -> None:
    import importlib

    orc = importlib.import_module(module)
    with orc.Participant() as participant:
        pong = participant.register_topic("pong")
        ping = participant.request_topic("ping", connected_within_ms=20000)
        pong.send_msg(bytes(ping.recv_msg(20000)) + b" back")
        ping.recv_msg(20000)  # until the parent has it


def test_spawn(backend: Any, broker: Any) -> None:
    with backend.Participant() as participant:
        ping = participant.register_topic("ping")
        pong = participant.request_topic("pong")
        process = multiprocessing.get_context("spawn").Process(target=_echo, args=(backend.__name__,))
        process.start()
        ping.send_msg(b"there")
        assert bytes(pong.recv_msg(20000)) == b"there back"
        ping.send_msg(b"done")
        process.join(20)
    assert process.exitcode == 0


@pytest.mark.parametrize("what", ["recv_msg(-1)", "recv_msg(100000)", "wait_connected(-1)"])
@pytest.mark.parametrize("module", MODULES)
def test_the_process_ends_with_a_daemon_thread_that_waits(backend_of: Any, broker: Any, module: str, what: str) -> None:
    backend_of(module)
    code = f"""
    import threading
    {MODULES[module]}
    participant = orc.Participant()
    subscriber = participant.request_topic("nobody/sends")
    begun = threading.Event()
    def wait():
        begun.set()
        while True:
            try:
                subscriber.{what}
            except orc.Closed:
                return
    for _ in range(4):
        threading.Thread(target=wait, daemon=True).start()
    begun.wait()
    print("end")
    """
    for _ in range(5):
        done = run_python(code)
        assert (done.stdout, done.stderr) == ("end\n", "")


def test_the_process_ends_while_the_log_is_busy(native: Any, run_dir: Any) -> None:
    code = """
    import orc
    slow = lambda level, text: [None for _ in range(10000)]
    kept = [orc.Participant(log=slow, broker_timeout_ms=20) for _ in range(5)]
    for participant in kept:
        try:
            participant.register_topic("t")
        except orc.NoBroker:
            pass
    kept.append(kept)
    print("end")
    """
    done = run_python(code)
    assert (done.stdout, done.stderr) == ("end\n", "")


def test_messages_and_views_may_live_until_the_end(native: Any, broker: Any) -> None:
    code = """
    import orc
    participant = orc.Participant()
    publisher = participant.register_topic("t", transports="shm")
    subscriber = participant.request_topic("t", connected_within_ms=20000)
    publisher.send_msg(b"abcd")
    view = memoryview(subscriber.recv_msg(20000))
    loan = publisher.loan(10)
    print(bytes(view))
    """
    done = run_python(code)
    assert (done.stdout, done.stderr) == ("b'abcd'\n", "")


def test_what_ends_after_orc_may_wait_for_threads_that_use_it(native: Any, broker: Any) -> None:
    """Handlers of atexit that were registered before orc was imported run after its own."""
    code = """
    import atexit, threading
    running, sent = [], threading.Semaphore(0)
    atexit.register(lambda: print("ended", [thread.join(20) for thread in running]))
    lock = threading.Lock()
    atexit.register(lambda: lock.acquire() and lock.release())
    import orc
    participant = orc.Participant()
    publisher = participant.register_topic("t")
    subscriber = participant.request_topic("u")
    def wait():
        try:
            subscriber.recv_msg(-1)
        except orc.Closed:
            pass
    def send():
        while True:
            with lock:
                try:
                    publisher.send_msg(b"x")
                except orc.Closed:
                    return
            sent.release()
    for what in wait, send, send:
        running.append(threading.Thread(target=what, daemon=True))
        running[-1].start()
    for _ in range(200):
        sent.acquire()
    """
    for _ in range(3):
        done = run_python(code, timeout=30)
        assert (done.stdout, done.stderr) == ("ended [None, None, None]\n", "")


@pytest.mark.parametrize("what", ["publisher.send_msg(b'x')", "subscriber.recv_msg(0)", "participant.publisher('t')"])
def test_the_process_ends_while_daemon_threads_go_on(native: Any, broker: Any, what: str) -> None:
    code = f"""
    import itertools, threading
    import orc
    participant = orc.Participant()
    publisher = participant.register_topic("t")
    subscriber = participant.request_topic("t")
    at_it = threading.Barrier(5)
    def go_on():
        for n in itertools.count():
            if n == 100:
                at_it.wait()
            try:
                {what}
            except orc.Closed:
                pass
    for _ in range(4):
        threading.Thread(target=go_on, daemon=True).start()
    at_it.wait()
    print("end")
    """
    for _ in range(5):
        done = run_python(code, timeout=30)
        assert (done.stdout, done.stderr) == ("end\n", "")


def test_participants_may_be_dropped_while_the_process_ends(native: Any, broker: Any) -> None:
    code = """
    import atexit, threading, time
    import orc
    closed, kept = [], []
    for _ in range(20):
        kept.append(orc.Participant(log=lambda *_: None))
        for _ in range(20):
            closed.append(orc.Participant(log=lambda *_: None))
            closed[-1].close()
    go = threading.Event()
    def drop():
        go.wait()
        time.sleep(0.003)
        while closed:
            closed.pop()
    threading.Thread(target=drop, daemon=True).start()
    atexit.register(go.set)
    print("end")
    """
    for _ in range(3):
        done = run_python(code, MALLOC_PERTURB_="165", PYTHONMALLOC="malloc")
        assert (done.stdout, done.stderr) == ("end\n", "")
