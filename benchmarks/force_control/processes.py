"""The processes of the experiment: a broker of its own, the robot, the controller, and others that only take time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .run_config import RunConfig

PATIENCE_S = 60.0
_BUSY = "import os; parent = os.getppid()\nwhile os.getppid() == parent: sum(range(100000))"


def environment() -> dict[str, str]:
    """For a process of the experiment: finds the modules, and computes in one thread."""
    parent = str(Path(__file__).resolve().parent.parent)
    path = os.pathsep.join(filter(None, (parent, os.environ.get("PYTHONPATH"))))
    return {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def command(module: str, config: RunConfig) -> list[str]:
    """The command line of a process of the experiment."""
    return [sys.executable, "-m", f"force_control.{module}", config.to_json()]


def _start(
    module: str, config: RunConfig, variables: dict[str, str] | None = None, **options: Any
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command(module, config), env={**environment(), **(variables or {})}, text=True, **options
    )


def _end(process: subprocess.Popen[Any], how: signal.Signals = signal.SIGINT) -> None:
    if process.poll() is None:
        process.send_signal(how)
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def start_broker(program: Path, socket: Path) -> subprocess.Popen[bytes]:
    """An address broker on `socket`, as soon as it listens."""
    socket.unlink(missing_ok=True)  # of one that was killed
    process = subprocess.Popen([str(program), "--listen", f"ipc://{socket}", "--log-level", "warning"])
    give_up = time.monotonic() + PATIENCE_S
    while not socket.exists():
        if process.poll() is not None or time.monotonic() > give_up:
            _end(process, signal.SIGKILL)
            raise RuntimeError(f"{program} does not listen on {socket}")
        time.sleep(0.01)
    return process


@contextmanager
def broker(program: Path) -> Iterator[str]:
    """An address broker on a run directory of its own; its endpoint."""
    with tempfile.TemporaryDirectory(prefix="orc-force-") as folder:
        socket = Path(folder) / "broker"
        process = start_broker(program, socket)
        try:
            yield f"ipc://{socket}"
        finally:
            _end(process, signal.SIGTERM)


@contextmanager
def controller(config: RunConfig, variables: dict[str, str] | None = None) -> Iterator[subprocess.Popen[str]]:
    """The controller's process, for a run over ORC; `variables` are added to its environment."""
    process = _start("node", config, variables)
    try:
        yield process
    finally:
        _end(process)


class RobotRun:
    """The robot's process, from its start to its record."""

    def __init__(self, config: RunConfig) -> None:
        self._config = config
        self._process = _start("robot", config, stdout=subprocess.PIPE)
        self._watch = threading.Timer(PATIENCE_S, self._process.kill)
        self._watch.start()

    def close(self) -> None:
        """Ends it, if it has not ended."""
        _end(self._process, signal.SIGKILL)
        self._watch.cancel()

    def wait_moving(self) -> None:
        """Until the brakes are open."""
        assert self._process.stdout is not None
        if self._process.stdout.readline().strip() != "moving":
            raise RuntimeError("the robot did not start")

    def record(self) -> npt.NDArray[Any]:
        """What the robot saw, when it has ended."""
        if self._process.wait() != 0:
            raise RuntimeError(f"the robot failed ({self._process.returncode})")
        return np.asarray(np.load(self._config.out)["record"])


@contextmanager
def robot(config: RunConfig) -> Iterator[RobotRun]:
    """The robot's process."""
    run = RobotRun(config)
    try:
        yield run
    finally:
        run.close()


@contextmanager
def cpu_load() -> Iterator[None]:
    """A process on each core that never rests."""
    cores = len(os.sched_getaffinity(0))
    busy = [subprocess.Popen([sys.executable, "-c", _BUSY]) for _ in range(cores)]
    try:
        yield
    finally:
        for process in busy:
            _end(process, signal.SIGKILL)
