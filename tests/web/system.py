"""A broker, publishers and orc-web, as processes of their own, on addresses of their own."""

from __future__ import annotations

import contextlib
import os
import queue
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from types import TracebackType
from typing import Iterator

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
BIN = Path(os.environ.get("ORC_BIN_DIR", SOURCE / "build/release/bin"))
INSTALLED = SOURCE / f"build/python-venv/lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
#: Where the package orc is: with its extension, if `tools/dev test` has installed it for this Python.
PACKAGE = str(INSTALLED if list(INSTALLED.glob("orc/_native*.so")) else SOURCE / "bindings/python")
PATIENCE_S = 20.0
MANY_TOPICS = 10_000 if os.environ.get("ORC_TEST_LONG") == "1" else 2_000


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Process:
    """A program whose standard output is read line by line."""

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        threading.Thread(target=self._read, daemon=True).start()

    def line(self) -> str:
        """The next line; an error when the program ended, or is silent."""
        try:
            line = self._lines.get(timeout=PATIENCE_S)
        except queue.Empty:
            line = None
        assert line is not None, f"{self._process.args} wrote no line"
        return line.strip()

    def kill(self) -> None:
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """It does nothing any more, but has not ended."""
        self._process.send_signal(signal.SIGSTOP)

    def close(self) -> None:
        self._end(signal.SIGTERM)

    def _end(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(number)
        try:
            self._process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _read(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put(None)


class System:
    """Use it as a context manager: it ends all that it started."""

    def __init__(self) -> None:
        self._directory = tempfile.mkdtemp(prefix="orc_web_")
        self._processes: list[Process] = []
        self.environment = {**os.environ, "XDG_RUNTIME_DIR": self._directory, "ORC_BROKER": f"ipc://{self._directory}/broker",
                            "PYTHONPATH": PACKAGE, "PYTHONDONTWRITEBYTECODE": "1"}
        self.broker = self.start_broker()
        self.address = ""

    def __enter__(self) -> System:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for process in reversed(self._processes):
            process.kill()
        shutil.rmtree(self._directory, ignore_errors=True)

    def path(self, name: str) -> str:
        return str(Path(self._directory, name))

    def start(self, program: str, *arguments: str) -> Process:
        return self._start([str(BIN / program), *arguments])

    def start_broker(self) -> Process:
        return self.start("orc-broker", "--listen", self.environment["ORC_BROKER"], "--log-level", "error")

    def start_web(self, *arguments: str) -> Process:
        """Starts orc-web; at the same address as before when there was one."""
        # Not port 0: its connections would keep the port from the next one for a minute.
        listen = self.address.removeprefix("http://").rstrip("/") or f"127.0.0.1:{free_port()}"
        process = self.start("orc-web", "--listen", listen, *arguments)
        self.address = process.line()
        assert self.address.startswith("http://127.0.0.1:"), self.address
        return process

    def publish(self, *arguments: str) -> Process:
        process = self._start([sys.executable, str(HERE / "publisher.py"), *arguments])
        assert process.line() == "ready"
        return process

    def publish_natively(self, *arguments: str) -> Process:
        """What Python cannot publish; see web_peer.cpp."""
        process = self._start([str(BIN.parent / "tests/bin/orc_test_web_peer"), *arguments])
        assert process.line() == "ready"
        return process

    def record(self, seconds: float) -> str:
        """A recording of everything, of this length."""
        file = self.path("run.mcap")
        done = subprocess.run([str(BIN / "orc"), "record", "-o", file, "--duration", f"{seconds}s"], env=self.environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=seconds + PATIENCE_S, check=False)
        assert done.returncode == 0, done.stdout
        return file

    def _start(self, command: list[str]) -> Process:
        process = Process(command, self.environment)
        self._processes.append(process)
        return process


@contextlib.contextmanager
def serving(*arguments: str) -> Iterator[System]:
    """A system with an orc-web."""
    with System() as system:
        system.start_web(*arguments)
        yield system


def port_of(system: System) -> int:
    return int(system.address.rstrip("/").rsplit(":", 1)[1])
