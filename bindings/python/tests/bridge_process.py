"""A bridge as a process of a test, and what tests of all bridges need."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from typing import Any, Dict, List, Sequence

from support import environment, wait_until


class Bridge:
    """`python3 -m orc.bridge.NAME` in a process of its own. before: words before the command."""

    def __init__(self, name: str, *arguments: str, before: Sequence[str] = ()) -> None:
        command = [*before, sys.executable, "-m", f"orc.bridge.{name}", "--verbose", *arguments]
        self.process = subprocess.Popen(
            command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.errors: List[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def wait_ready(self) -> None:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line.startswith("bridging"), "".join(self.errors)

    def end(self) -> Dict[str, int]:
        """SIGTERM; returns what it counted."""
        self.process.terminate()
        assert self.process.wait(20) == 0, "".join(self.errors)
        self._reader.join(20)
        counts = [line[line.index("{") :] for line in self.errors if line.rstrip().endswith("}")]
        read: Dict[str, int] = json.loads(counts[-1].replace("'", '"'))
        return read

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(20)
        self._reader.join(20)
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()

    def wrote(self, text: str) -> bool:
        return any(text in line for line in self.errors)

    def _read(self) -> None:
        assert self.process.stderr is not None
        self.errors.extend(iter(self.process.stderr.readline, ""))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def receive(subscriber: Any, wanted: bytes, seconds: float = 20) -> Any:
    """Receives until the sample is the wanted one."""
    got: List[bytes] = []

    def is_there() -> bool:
        message = subscriber.recv_msg(100)
        if message is None:
            return False
        got.append(bytes(message))
        return got[-1] == wanted

    wait_until(is_there, seconds)
    return got
