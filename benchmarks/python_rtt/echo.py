"""One trial: a process that sends and one that sends back, each on a core of its own."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from ends import STOP, OrcEnd, PyzmqEnd

MARK = 8  # bytes that tell one round trip from the next
TIMEOUT_MS = 10_000
LEAST, MOST = 20, 200_000


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


def pin(core: int | None) -> None:
    if core is not None:
        os.sched_setaffinity(0, {core})


def make_end(trial: Trial, serves: bool) -> Any:
    if trial.implementation == "pyzmq":
        return PyzmqEnd(trial.endpoint, serves, TIMEOUT_MS)
    out, into = f"{trial.name}/pong", f"{trial.name}/ping"
    if not serves:
        out, into = into, out
    module = importlib.import_module(trial.implementation)
    return OrcEnd(module, trial.transport, out, into, trial.size, TIMEOUT_MS)


def serve(trial: Trial, core: int | None, line: Connection) -> None:
    """The process that sends back."""
    pin(core)
    end = make_end(trial, serves=True)
    line.send("ready")
    end.wait_for_peer()
    while True:
        message = end.receive()
        if len(message) == len(STOP):
            break
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


def run(trial: Trial, cores: tuple[int | None, int | None]) -> list[int]:
    """Round trips in nanoseconds, as many as fit into the trial's time."""
    import numpy

    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=serve, args=(trial, cores[1], there))
    process.start()
    try:
        if not here.poll(30) or here.recv() != "ready":
            raise TimeoutError("the other end did not start")
        pin(cores[0])
        end = make_end(trial, serves=False)
        try:
            end.wait_for_peer()
            payload = numpy.zeros(max(trial.size, MARK), numpy.uint8)
            until = time.monotonic() + trial.seconds / 4
            warm = [round_trip(end, payload, 1, trial.in_place) for _ in range(3)]
            while time.monotonic() < until:
                warm.append(round_trip(end, payload, len(warm), trial.in_place))
            typical = sorted(warm)[len(warm) // 2]
            count = max(LEAST, min(MOST, int(trial.seconds * 1e9 / typical)))
            times = [round_trip(end, payload, len(warm) + i, trial.in_place) for i in range(count)]
            while process.is_alive():
                end.send(STOP)
                process.join(0.05)
        finally:
            end.close()
        return times
    finally:
        if process.is_alive():
            process.kill()
        process.join()
