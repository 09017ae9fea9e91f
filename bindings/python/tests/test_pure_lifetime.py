"""What keeps what alive in the pure backend: a participant by its log function, a directory by a cycle."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import List

import orc.pure as orc
from support import BrokerProcess, run_python, wait_until


class Node:
    def __init__(self, heard: List[str]) -> None:
        self.heard = heard
        self.broker = orc.Participant(log=self.on_log)

    def on_log(self, level: str, text: str) -> None:
        self.heard.append(text)


def test_a_method_as_log_function_does_not_keep_the_participant(broker: BrokerProcess) -> None:
    """Threads and sockets of a node that logs by itself were there for ever."""
    heard: List[str] = []
    node = Node(heard)
    wait_until(lambda: any("broker at" in text for text in heard))
    thread = node.broker._core.reactor._thread
    gone = weakref.ref(node)
    del node
    wait_until(lambda: (gc.collect(), gone())[1] is None)
    thread.join(20)
    assert not thread.is_alive()


def test_other_log_functions_are_kept(broker: BrokerProcess) -> None:
    heard = threading.Event()

    class Slotted:
        __slots__ = ()

        def on_log(self, level: str, text: str) -> None:
            heard.set()

    for log in (lambda level, text: heard.set(), Slotted().on_log):
        heard.clear()
        with orc.Participant(log=log):
            del log
            assert heard.wait(20)


def test_a_directory_that_is_dropped_in_a_cycle_is_collected(broker: BrokerProcess) -> None:
    code = """
    import gc
    import orc.pure as orc
    for _ in range(5):
        loop = [orc.Directory()]
        loop.append(loop)
        loop[0].topics()
        del loop
        gc.collect()
    print("collected")
    """
    assert run_python(code).stdout == "collected\n"
