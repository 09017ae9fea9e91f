"""One trial: a process that sends and one that sends back, each on a core of its own."""

from __future__ import annotations

import contextlib
import importlib
import multiprocessing
import os
import time
from collections.abc import Iterator
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


@contextlib.contextmanager
def pinned(core: int | None) -> Iterator[None]:
    """On that core alone, for as long as it lasts: what is started later must not inherit it."""
    allowed = os.sched_getaffinity(0)
    if core is not None:
        os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def make_end(trial: Trial, serves: bool) -> Any:
    if trial.implementation == "pyzmq":
        return PyzmqEnd(trial.endpoint, serves, trial.size, TIMEOUT_MS)
    out, into = f"{trial.name}/pong", f"{trial.name}/ping"
    if not serves:
        out, into = into, out
    module = importlib.import_module(trial.implementation)
    return OrcEnd(module, trial.transport, out, into, trial.size, TIMEOUT_MS)


def serve(trial: Trial, core: int | None, line: Connection) -> None:
    """The process that sends back."""
    with pinned(core):
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
    until = time.monotonic() + trial.seconds / 4
    warm = [round_trip(end, payload, 1, trial.in_place) for _ in range(3)]
    while time.monotonic() < until:
        warm.append(round_trip(end, payload, len(warm), trial.in_place))
    typical = sorted(warm)[len(warm) // 2]
    count = max(LEAST, min(MOST, int(trial.seconds * 1e9 / typical)))
    return [round_trip(end, payload, len(warm) + i, trial.in_place) for i in range(count)]


def run(trial: Trial, cores: tuple[int | None, int | None]) -> list[int]:
    """Round trips in nanoseconds, as many as fit into the trial's time."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=serve, args=(trial, cores[1], there))
    process.start()
    try:
        if not here.poll(30) or here.recv() != "ready":
            raise TimeoutError("the other end did not start")
        with pinned(cores[0]):
            end = make_end(trial, serves=False)
            times = ping(end, trial)
            while process.is_alive():
                end.send(STOP)
                process.join(0.05)
            end.close()
        return times
    finally:
        if process.is_alive():
            process.kill()
        process.join()
