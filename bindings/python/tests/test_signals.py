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
with orc.Broker({where}) as participant:
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
    "connected_within_ms": ("pass", "participant.request_topic('t', connected_within_ms=600000)"),
}
WITHOUT_BROKER = {
    "register_topic": ("pass", "participant.register_topic('t')"),
    "request_topic": ("pass", "participant.request_topic('t')"),
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
    _interrupt(module, "", *WITH_BROKER[call])


@pytest.mark.parametrize("timeout", ["600000", "-1"])
@pytest.mark.parametrize("module", MODULES)
@pytest.mark.parametrize("call", WITHOUT_BROKER)
def test_ends_waiting_for_a_broker(backend_of: Any, run_dir: Any, module: str, call: str, timeout: str) -> None:
    backend_of(module)
    _interrupt(module, f"NOBODY, broker_timeout_ms={timeout}", *WITHOUT_BROKER[call])


@pytest.mark.parametrize("module", MODULES)
def test_a_sample_that_came_with_the_signal_is_not_lost(backend_of: Any, broker: Any, module: str) -> None:
    backend_of(module)
    code = """
    import os, signal
    MODULE
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with orc.Broker() as participant:
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
    with orc.Broker() as participant:
        publisher = participant.register_topic("t")
        subscriber = participant.request_topic("t", connected_within_ms=20000)
        signal.signal(signal.SIGALRM, lambda *_: publisher.send_msg(b"from the handler"))
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        print(bytes(subscriber.recv_msg(-1)).decode())
    """
    assert run_python(code.replace("MODULE", MODULES[module])).stdout == "from the handler\n"
