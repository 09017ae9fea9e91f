"""Signals end a bridge in order, however many come."""

from __future__ import annotations

import signal
import subprocess
import time
from typing import Sequence

import pytest

from support import start_python

BRIDGE = """
import logging, signal, sys, threading, time
from orc.bridge._shared.running import RunnableBridge, run

signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

class Bridge(RunnableBridge):
    def __init__(self):
        super().__init__(logging.getLogger("test"))
        self.ended = threading.Event()

    def start(self):
        return True

    def wait(self):
        self.ended.wait()

    def stop(self):
        self.ended.set()

    def close(self):
        print("closing", flush=True)
        time.sleep({seconds})
        print("closed", flush=True)

sys.exit(run("test", Bridge, logging.getLogger("test")))
"""


def _signal_until_it_ends(process: subprocess.Popen[str], numbers: Sequence[signal.Signals]) -> int:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        for number in numbers:
            process.send_signal(number)
        try:
            return process.wait(0.001)
        except subprocess.TimeoutExpired:
            continue
    process.kill()
    return process.wait()


@pytest.mark.parametrize("first", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_closing_goes_on_under_further_signals(first: signal.Signals) -> None:
    with start_python(BRIDGE.format(seconds=0.05)) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("bridging")
        process.send_signal(first)
        assert _signal_until_it_ends(process, (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)) == 0
        assert process.stdout.read().splitlines() == ["closing", "closed"]


def test_a_later_ctrl_c_ends_what_does_not_close() -> None:
    with start_python(BRIDGE.format(seconds=1000)) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("bridging")
        begin = time.monotonic()
        assert _signal_until_it_ends(process, (signal.SIGTERM, signal.SIGINT)) == -signal.SIGINT
        assert time.monotonic() - begin >= 1
