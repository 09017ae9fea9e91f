"""Helpers of the tests: waiting for a condition, a real broker, and a snippet of Python in a fresh interpreter."""

from __future__ import annotations

import os
import pathlib
import signal
import socket
import subprocess
import sys
import textwrap
import time
from typing import Any, Callable, Dict, Optional, TypeVar

T = TypeVar("T")
PACKAGE = pathlib.Path(__file__).resolve().parents[1]
REPOSITORY = PACKAGE.parents[1]


def wait_until(condition: Callable[[], T], seconds: float = 20) -> T:
    """Returns the condition's first true value; fails the test after `seconds`. For what cannot be waited on itself."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"not true within {seconds} s, last: {value!r}")
        time.sleep(0.005)


def environment(**changes: str) -> Dict[str, str]:
    """The test's environment, in which a child imports the same `orc` as the test does."""
    import orc._errors

    package = str(pathlib.Path(orc._errors.__file__).resolve().parents[1])
    path = os.pathsep.join([package, *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, "PYTHONPATH": path, "PYTHONUNBUFFERED": "1", **changes}


def run_python(
    code: str, *arguments: str, timeout: float = 60, check: bool = True, **changes: str
) -> subprocess.CompletedProcess[str]:
    """Runs `code` (indented as you like; `sys.argv[1:]` are the arguments) in a fresh interpreter until it ends.

    `changes` are environment variables. With `check`, an exit code other than 0 fails the test and shows its stderr.
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *arguments],
        env=environment(**changes),
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    if check:
        assert done.returncode == 0, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def start_python(code: str, *arguments: str, **options: Any) -> subprocess.Popen[str]:
    """The same, running, with pipes unless `options` (of Popen) say otherwise. End it yourself."""
    options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *arguments], env=environment(), text=True, **options
    )


class BrokerProcess:
    """A real orc-broker that listens on `endpoint` alone."""

    def __init__(self, bin_dir: pathlib.Path, endpoint: str, *further: str) -> None:
        self.endpoint = endpoint
        self._command = [str(bin_dir / "orc-broker"), "--log-level", "warning"]
        for listen in (endpoint, *further):
            self._command += ["--listen", listen]
        self._process: Optional[subprocess.Popen[bytes]] = None

    @property
    def pid(self) -> int:
        assert self._process is not None, "the broker does not run"
        return self._process.pid

    def start(self) -> None:
        """Returns when it accepts connections."""
        assert self._process is None
        self._process = subprocess.Popen(self._command)
        wait_until(self._accepts)

    def kill(self) -> None:
        """SIGKILL; returns when it is gone."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """SIGTERM, if it runs."""
        if self._process is not None:
            self._end(signal.SIGTERM)

    def _end(self, how: signal.Signals) -> None:
        assert self._process is not None, "the broker does not run"
        self._process.send_signal(how)
        self._process.wait(20)
        self._process = None

    def _accepts(self) -> bool:
        assert self._process is not None and self._process.poll() is None, "the broker ended at once"
        family = socket.AF_UNIX if self.endpoint.startswith("ipc://") else socket.AF_INET
        where = self.endpoint.split("://", 1)[1]
        with socket.socket(family) as probe:
            try:
                if family == socket.AF_UNIX:
                    probe.connect(where)
                else:
                    host, port = where.rsplit(":", 1)
                    probe.connect((host, int(port)))
            except OSError:
                return False
        return True


def free_tcp_endpoint() -> str:
    """An endpoint on this host that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"tcp://127.0.0.1:{probe.getsockname()[1]}"
