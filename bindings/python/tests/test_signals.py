"""Ctrl-C ends every call that waits, and nothing is lost by it."""

from __future__ import annotations

import signal
import subprocess
from typing import Any

import pytest

from support import run_python, start_python

MODULES = {"native": "import orc", "pure": "import orc.pure as orc"}

PREPARE = """
import signal, sys
{module}
signal.signal(signal.SIGINT, signal.default_int_handler)
NOBODY = "ipc:///tmp/orc-nobody-listens-here"
with orc.Participant({where}) as participant:
    {prepare}
    try:
        print("ready", flush=True)
        {call}
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""

WITH_BROKER = {
    "recv_msg": ("subscriber = participant.request_topic('t')", "subscriber.recv_msg(-1)"),
    "recv_msg by name": ("participant.request_topic('t')", "participant.recv_msg('t', 600000)"),
    "recv_next": ("subscriber = participant.request_topic('t')", "subscriber.recv_next(600000)"),
    "wait_connected": ("subscriber = participant.request_topic('t')", "subscriber.wait_connected(-1)"),
    "result of a call": ("future = participant.call('s', 1, deadline=600)", "future.result()"),
    "wait of a call": ("future = participant.call('s', 1, deadline=600)", "future.wait(600)"),
    "wait_for_service": ("pass", "participant.wait_for_service('s', 600)"),
    "connected_within_ms": ("pass", "participant.request_topic('t', connected_within_ms=600000)"),
}
WITHOUT_BROKER = {
    "register_topic": ("pass", "participant.register_topic('t')"),
    "request_topic": ("pass", "participant.request_topic('t')"),
    "serve": ("pass", "participant.serve('s', len)"),
}


def _interrupt(module: str, where: str, prepare: str, call: str) -> None:
    process: subprocess.Popen[str] = start_python(
        PREPARE.format(module=MODULES[module], where=where, prepare=prepare, call=call)
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        # Before the call or in it: either way the block ends, and in the call nothing else could end it.
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    finally:
        process.kill()
        process.wait()
    assert out == "interrupted\n", err
    assert process.returncode == 0, err


@pytest.mark.parametrize("module", MODULES)
@pytest.mark.parametrize("call", WITH_BROKER)
def test_ends_waiting_for_a_publisher(backend_of: Any, broker: Any, module: str, call: str) -> None:
    backend_of(module)
    if module == "pure" and ("of a call" in call or "service" in call):
        pytest.skip("orc.pure has no services")
    _interrupt(module, "", *WITH_BROKER[call])


@pytest.mark.parametrize("timeout", ["600000", "-1"])
@pytest.mark.parametrize("module", MODULES)
@pytest.mark.parametrize("call", WITHOUT_BROKER)
def test_ends_waiting_for_a_broker(backend_of: Any, run_dir: Any, module: str, call: str, timeout: str) -> None:
    backend_of(module)
    if module == "pure" and call == "serve":
        pytest.skip("orc.pure has no services")
    _interrupt(module, f"NOBODY, broker_timeout_ms={timeout}", *WITHOUT_BROKER[call])


@pytest.mark.parametrize("module", MODULES)
def test_a_sample_that_came_with_the_signal_is_not_lost(backend_of: Any, broker: Any, module: str) -> None:
    backend_of(module)
    code = """
    import os, signal
    MODULE
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with orc.Participant() as participant:
        publisher = participant.register_topic("t")
        subscriber = participant.request_topic("t", conflate=0, depth=200, connected_within_ms=20000)
        seen, interrupted = [], 0
        for n in range(100):
            publisher.send_msg(b"%d" % n)
            try:
                os.kill(os.getpid(), signal.SIGINT)
                message = subscriber.recv_msg(20000)
            except KeyboardInterrupt:
                interrupted += 1
        while (message := subscriber.recv_msg(1000)) is not None:
            seen.append(int(bytes(message)))
            assert message.missed == 0
        print(interrupted, seen == list(range(100)))
    """
    assert run_python(code.replace("MODULE", MODULES[module])).stdout == "100 True\n"


@pytest.mark.parametrize("module", MODULES)
def test_a_handler_that_does_not_raise_does_not_end_the_wait(backend_of: Any, broker: Any, module: str) -> None:
    backend_of(module)
    code = """
    import signal
    MODULE
    with orc.Participant() as participant:
        publisher = participant.register_topic("t")
        subscriber = participant.request_topic("t", connected_within_ms=20000)
        signal.signal(signal.SIGALRM, lambda *_: publisher.send_msg(b"from the handler"))
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        print(bytes(subscriber.recv_msg(-1)).decode())
    """
    assert run_python(code.replace("MODULE", MODULES[module])).stdout == "from the handler\n"


LOSSES = """
import signal, sys, threading, time
import orc
conflate = int(sys.argv[1])
with orc.Participant() as sender, orc.Participant() as receiver:
    publisher = sender.register_topic("t", transports="ipc")
    depth = 0 if conflate else 60000
    subscriber = receiver.request_topic("t", conflate=conflate, depth=depth, connected_within_ms=20000)
    ended = False
    def send():
        while not ended:
            publisher.send_msg(b"x")
            time.sleep(0.001)
    thread = threading.Thread(target=send)
    thread.start()
    # A handler that raises in recv_msg alone, as Ctrl-C is handled by who calls it.
    inside = False
    def interrupt(*_):
        global inside
        if inside:
            inside = False
            raise KeyboardInterrupt
    signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.02, 0.0117)
    interrupted = lost = got = 0
    last = None
    ends = time.monotonic() + 3
    while time.monotonic() < ends:
        inside = True
        try:
            message = subscriber.recv_msg(1000)
            inside = False
        except KeyboardInterrupt:
            interrupted += 1
            continue
        if last is not None:
            assert message.sequence > last
            lost += message.sequence - last - 1 - message.missed
        last = message.sequence
        got += 1
    signal.setitimer(signal.ITIMER_REAL, 0)
    ended = True
    thread.join()
    # Not none: Python itself may handle a signal between the end of the call and the assignment.
    print(interrupted > 50, got > 500, lost <= interrupted // 20)
"""


@pytest.mark.parametrize("conflate", ["0", "1"])
def test_samples_that_end_a_wait_are_not_lost_by_a_signal(native: Any, broker: Any, conflate: str) -> None:
    assert run_python(LOSSES, conflate).stdout == "True True True\n"


def test_what_a_signal_left_is_there_for_every_handle(native: Any, broker: Any) -> None:
    code = """
    import asyncio, signal, threading, time
    import orc
    def raise_it(*_):
        publisher.send_msg(b"second")
        raise KeyboardInterrupt
    signal.signal(signal.SIGALRM, raise_it)
    def both():
        time.sleep(0.2)  # until the main thread waits
        signal.raise_signal(signal.SIGALRM)  # its handler runs when that goes on
        publisher.send_msg(b"first")
    with orc.Participant() as participant:
        for conflate in 0, 1:
            topic = f"t{conflate}"
            publisher = participant.register_topic(topic)
            subscriber = participant.request_topic(topic, conflate=conflate, connected_within_ms=20000)
            thread = threading.Thread(target=both)
            thread.start()
            try:
                subscriber.recv_msg(-1)
                raise SystemExit("not interrupted")
            except KeyboardInterrupt:
                thread.join()
            message = participant.recv_msg(topic, 0)
            print(bytes(message), message.sequence, message.missed)
            if conflate == 0:
                print(bytes(asyncio.run(asyncio.wait_for(subscriber.recv(), 9))))
            print(subscriber.recv_msg(0))
    """
    assert run_python(code).stdout == "b'first' 1 0\nb'second'\nNone\nb'second' 2 1\nNone\n"


def test_a_topic_that_ctrl_c_released_can_be_requested_again(native: Any, broker: Any) -> None:
    code = """
    import orc
    from orc import _native
    with orc.Participant() as participant:
        publisher = participant.register_topic("t")
        released = participant.request_topic("t", connected_within_ms=20000)
        _native.Participant.release_topic(participant, "t")  # as Ctrl-C in release_topic leaves it
        again = participant.request_topic("t", connected_within_ms=20000)
        publisher.send_msg(b"x")
        print(bytes(again.recv_msg(20000)), again is participant.subscriber("t"), again is not released)
    """
    assert run_python(code).stdout == "b'x' True True\n"
