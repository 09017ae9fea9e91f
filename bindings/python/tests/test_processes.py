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
    participant = orc.Broker()
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
        own = orc.Broker()
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
    with orc.Broker() as participant:
        pong = participant.register_topic("pong")
        ping = participant.request_topic("ping", connected_within_ms=20000)
        pong.send_msg(bytes(ping.recv_msg(20000)) + b" back")
        ping.recv_msg(20000)  # until the parent has it


def test_spawn(backend: Any, broker: Any) -> None:
    with backend.Broker() as participant:
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
    participant = orc.Broker()
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
    kept = [orc.Broker(log=lambda level, text: [None for _ in range(10000)], broker_timeout_ms=20) for _ in range(5)]
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
    participant = orc.Broker()
    publisher = participant.register_topic("t", transports="shm")
    subscriber = participant.request_topic("t", connected_within_ms=20000)
    publisher.send_msg(b"abcd")
    view = memoryview(subscriber.recv_msg(20000))
    loan = publisher.loan(10)
    print(bytes(view))
    """
    done = run_python(code)
    assert (done.stdout, done.stderr) == ("b'abcd'\n", "")
