"""One trial: a process that calls and one that serves, each on a core of its own."""

from __future__ import annotations

import contextlib
import importlib
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, Protocol

from support.processes import Cores, other_process
from support.round_trips import MARK, warm_up_and_measure

START_S, STOP_S = 30.0, 10.0


@dataclass(frozen=True)
class Trial:
    """What is measured. The module `ends` has the class of each end."""

    ends: str
    library: str
    transport: str
    size: int
    seconds: float
    name: str  # of the service, different in each trial
    directory: str  # for files; what is shared memory has its last part as prefix


class Server(Protocol):
    """Replies to each request with its bytes."""

    address: str  # for the client

    def __init__(self, trial: Trial) -> None: ...

    def serve(self) -> None:
        """Returns after the request STOP."""

    def close(self) -> None: ...


class Client(Protocol):
    def __init__(self, trial: Trial, address: str) -> None:
        """Returns when the server can be called."""

    def call(self, request: bytearray) -> Any:
        """Returns the bytes of the reply, with the buffer protocol, until the next call. Raises when none comes."""

    def stop(self) -> None:
        """Sends the request STOP."""

    def close(self) -> None: ...


def serve(line: Connection, trial: Trial) -> None:
    """The process that serves."""
    with contextlib.closing(importlib.import_module(trial.ends).Server(trial)) as server:
        line.send(server.address)
        server.serve()


def call(line: Connection, trial: Trial, address: str) -> None:
    """The process that calls."""
    with contextlib.closing(importlib.import_module(trial.ends).Client(trial, address)) as client:
        request = bytearray(trial.size)
        times = warm_up_and_measure(lambda number: round_trip(client, request, number), trial.seconds)
        client.stop()
    line.send(times)


def round_trip(client: Client, request: bytearray, number: int) -> int:
    """Returns the nanoseconds of a call. Raises ValueError: this is not the reply."""
    request[:MARK] = number.to_bytes(MARK, "little")
    start = time.perf_counter_ns()
    reply = client.call(request)
    taken = time.perf_counter_ns() - start
    view = memoryview(reply)
    if view.nbytes != len(request) or view[:MARK] != request[:MARK]:
        raise ValueError(f"the reply has {view.nbytes} bytes and is not that of request {number}")
    return taken


def run(trial: Trial, cores: Cores) -> list[int]:
    """Returns round trips in nanoseconds, as many as fit into the trial's time. Raises EndFailed."""
    with other_process(serve, cores[1], trial) as server:
        address = server.receive(START_S)
        with other_process(call, cores[0], trial, address) as client:
            times: list[int] = client.receive(START_S + 4 * trial.seconds)
            client.finish(STOP_S)
        server.finish(STOP_S)
        return times
