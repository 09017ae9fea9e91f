"""The processes of a benchmark in Python: its ends, each on a core of its own, and an address broker."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import subprocess
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
Cores = tuple["int | None", "int | None"]  # of the two ends; None: any


class EndFailed(Exception):
    """Another process of the benchmark could not do its part. The text says why."""


def programs() -> Path:
    """The folder of ORC's programs."""
    return Path(os.environ.get("ORC_BIN_DIR", ROOT / "build/release/bin"))


def cores_of(text: str) -> Cores:
    """Reads `--cpu`: A,B, none, or nothing for the first two allowed ones."""
    if text == "none":
        return None, None
    if text:
        first, second = text.split(",")
        return int(first), int(second)
    allowed = sorted(os.sched_getaffinity(0))
    return allowed[0], allowed[-1 if len(allowed) < 2 else 1]


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


class OtherProcess:
    """A running process that was given the other end of a line."""

    def __init__(self, process: Any, line: Connection) -> None:
        self.process = process
        self._line = line

    @property
    def pid(self) -> int:
        number: int = self.process.pid
        return number

    def send(self, what: Any) -> None:
        """Raises EndFailed: it ended."""
        try:
            self._line.send(what)
        except OSError:
            self.process.join(1)
            raise EndFailed(f"its process ended with status {self.process.exitcode}") from None

    def receive(self, timeout: float) -> Any:
        """Returns what it sends next. Raises EndFailed: it failed, ended or sends nothing for `timeout` seconds."""
        if not self._line.poll(timeout):
            raise EndFailed(f"its process did not answer within {timeout:.0f} s")
        try:
            got = self._line.recv()
        except EOFError:
            self.process.join(1)
            raise EndFailed(f"its process ended with status {self.process.exitcode}") from None
        if isinstance(got, EndFailed):
            raise got
        return got

    def finish(self, timeout: float) -> None:
        """Waits for its end. Raises EndFailed: it does not end, or not with status 0."""
        self.process.join(timeout)
        if self.process.is_alive():
            raise EndFailed(f"its process did not end within {timeout:.0f} s")
        if self.process.exitcode != 0:
            raise EndFailed(f"its process ended with status {self.process.exitcode}")


def _run(target: Callable[..., None], core: int | None, line: Connection, arguments: tuple[Any, ...]) -> None:
    try:
        with pinned(core):
            target(line, *arguments)
    except Exception as error:
        line.send(EndFailed(f"{type(error).__name__}: {error}"))


@contextlib.contextmanager
def other_process(target: Callable[..., None], core: int | None, *arguments: Any) -> Iterator[OtherProcess]:
    """Runs `target(line, *arguments)` on that core in a new process, which is killed if it outlives the block."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_run, args=(target, core, there, arguments))
    process.start()
    there.close()
    try:
        yield OtherProcess(process, here)
    finally:
        if process.is_alive():
            process.kill()
        process.join()
        here.close()


@contextlib.contextmanager
def broker(endpoint: str) -> Iterator[subprocess.Popen[bytes]]:
    """An address broker of the benchmark's own."""
    process = subprocess.Popen([programs() / "orc-broker", "--listen", endpoint, "--log-level", "warning"])
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


@contextlib.contextmanager
def private_broker(directory: Path) -> Iterator[None]:
    """An address broker that the programs of this benchmark use, and no others."""
    os.environ["ORC_BROKER"] = f"ipc://{directory}/broker"
    with broker(os.environ["ORC_BROKER"]):
        yield
