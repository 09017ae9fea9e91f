"""One trial: a process that sends and one that sends back, each on a core of its own."""

from __future__ import annotations

import importlib
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from ends import OrcEnd, PyzmqEnd
from support.processes import Cores, other_process, pinned
from support.round_trips import MARK, STOP, warm_up_and_measure

TIMEOUT_MS = 10_000


@dataclass(frozen=True)
class Trial:
    """What is measured: `implementation` is orc, orc.pure or pyzmq."""

    implementation: str
    transport: str
    size: int
    in_place: bool = False
    seconds: float = 0.5
    endpoint: str = ""  # pyzmq's
    name: str = ""  # of the topics


def make_end(trial: Trial, serves: bool) -> Any:
    if trial.implementation == "pyzmq":
        return PyzmqEnd(trial.endpoint, serves, trial.size, TIMEOUT_MS)
    out, into = f"{trial.name}/pong", f"{trial.name}/ping"
    if not serves:
        out, into = into, out
    module = importlib.import_module(trial.implementation)
    return OrcEnd(module, trial.transport, out, into, trial.size, TIMEOUT_MS)


def serve(line: Connection, trial: Trial) -> None:
    """The process that sends back."""
    end = make_end(trial, serves=True)
    line.send("ready")
    end.wait_for_peer()
    while len(message := end.receive()) != len(STOP):
        if trial.in_place:
            end.send_in_place(memoryview(message)[:MARK], len(message))
        else:
            end.send(message)
    end.close()


def round_trip(end: Any, payload: Any, counter: int, in_place: bool) -> int:
    """Nanoseconds until the sample with this counter is back. Samples are arrays: as cameras have them."""
    mark = counter.to_bytes(MARK, "little")
    view = memoryview(payload)
    view[:MARK] = mark
    start = time.perf_counter_ns()
    if in_place:
        end.send_in_place(mark, len(payload))
    else:
        end.send(payload)
    while True:
        message = end.receive()
        if memoryview(message)[:MARK] == mark:
            return time.perf_counter_ns() - start


def ping(end: Any, trial: Trial) -> list[int]:
    import numpy

    end.wait_for_peer()
    payload = numpy.zeros(max(trial.size, MARK), numpy.uint8)
    return warm_up_and_measure(lambda counter: round_trip(end, payload, counter, trial.in_place), trial.seconds)


def run(trial: Trial, cores: Cores) -> list[int]:
    """Round trips in nanoseconds, as many as fit into the trial's time."""
    with other_process(serve, cores[1], trial) as other:
        other.receive(30)
        with pinned(cores[0]):
            end = make_end(trial, serves=False)
            times = ping(end, trial)
            while other.process.is_alive():
                end.send(STOP)
                other.process.join(0.05)
            end.close()
        return times
