"""One trial: the processes of one peer, each on its core, from their start to their figures."""

from __future__ import annotations

import json
import os
import select
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from field import THREADS, Peer
from support.processes import Cores, EndFailed

START_S, STOP_S, LEAVE_S = 30.0, 15.0, 3.0
Figures = dict[str, float]


class Process:
    """A peer's program in one role. When the block ends it leaves, or is killed."""

    def __init__(self, program: Path, core: int | None, arguments: dict[str, Any], directory: Path) -> None:
        # a file and no pipe: a library that logs much must not stall
        self._errors = (directory / f"{arguments['role']}-{time.monotonic_ns()}.log").open("w+")
        self._process = subprocess.Popen(
            [program, *(f"{name}={value}" for name, value in arguments.items())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            bufsize=0,
            preexec_fn=None if core is None else lambda: os.sched_setaffinity(0, {core}),
        )
        self._buffer = b""

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        try:
            self._process.wait(LEAVE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream
            stream.close()
        self._errors.close()

    def _line(self, timeout: float) -> str:
        """Raises EndFailed: it ended, or says nothing for `timeout` seconds."""
        assert self._process.stdout
        deadline = time.monotonic() + timeout
        while b"\n" not in self._buffer:
            if not select.select([self._process.stdout], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise EndFailed(f"says nothing for {timeout:.0f} s")
            if not (got := os.read(self._process.stdout.fileno(), 65536)):
                raise EndFailed(self._last_words())
            self._buffer += got
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line.decode(errors="replace")

    def _last_words(self) -> str:
        status = self._process.wait(STOP_S)
        self._errors.seek(0)
        lines = [line for line in self._errors.read().splitlines() if line.strip()]
        return lines[-1][:200] if lines else f"ended with status {status}"

    def expect(self, word: str) -> None:
        """Waits until it says the word; libraries may say other things. Raises EndFailed."""
        deadline = time.monotonic() + START_S
        while self._line(max(0.1, deadline - time.monotonic())) != word:
            pass

    def go(self) -> None:
        assert self._process.stdin
        try:
            self._process.stdin.write(b"go\n")
        except BrokenPipeError:
            raise EndFailed(self._last_words()) from None

    def stop(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()

    def figures(self, timeout: float) -> Figures:
        """Returns what it measured. Raises EndFailed."""
        deadline = time.monotonic() + timeout
        while not (line := self._line(max(0.1, deadline - time.monotonic()))).startswith("{"):
            pass
        found: Figures = json.loads(line)
        return found


class Trial:
    """Runs one peer. `seconds` are those of the measured part."""

    def __init__(self, peer: Peer, binaries: Path, cores: Cores, seconds: float) -> None:
        self.peer = peer
        self._program = binaries / f"peer_{peer.program}"
        self._cores = cores
        self._seconds = seconds

    @contextmanager
    def _started(self) -> Iterator[Any]:
        """Gives a function that starts a process, on the first or the second core."""
        processes: list[Process] = []
        with tempfile.TemporaryDirectory(prefix="orc_peers_") as name, ExitStack() as stack:

            def start(core: int, **arguments: Any) -> Process:
                common = {
                    "transport": self.peer.transport,
                    "directory": name,
                    "seconds": self._seconds,
                    "spin": int(self.peer.spins),
                }
                made = Process(self._program, self._cores[core % 2], common | arguments, Path(name))
                processes.append(stack.enter_context(made))
                return made

            try:
                yield start
            finally:
                for each in processes:  # all at once, before the stack waits for each
                    each.stop()

    def echo(self, size: int) -> Figures:
        """The one-way time of a sample that comes back: half the round trip."""
        with self._started() as start:
            threads = self.peer.kind == THREADS
            if threads:
                processes = []
                client = start(0, role="threads", out="ping", **{"in": "pong"}, size=size)
            else:
                processes = [start(1, role="relay", out="pong", **{"in": "ping"}, size=size)]
                client = start(0, role="client", out="ping", **{"in": "pong"}, size=size)
            client.expect("met")
            figures = client.figures(10 * self._seconds + START_S)
            for each in processes:
                each.stop()
            return figures

    def stream(self, size: int, hz: float, subscribers: int, relays: int = 0, queue: int = 0) -> Figures:
        """One publisher, `relays` processes in a row, `subscribers` of the last of them."""
        with self._started() as start:
            at_least_one = max(self._seconds, 1.5 / hz)
            common = {"size": size, "hz": hz, "queue": queue, "seconds": at_least_one}
            publisher = start(0, role="publisher", out="hop0", **common)
            chain = [
                start(1 + i, role="relay", out=f"hop{i + 1}", **{"in": f"hop{i}"}, **common) for i in range(relays)
            ]
            readers = [
                start(1 + relays, role="subscriber", **{"in": f"hop{relays}"}, **common) for _ in range(subscribers)
            ]
            for each in [publisher, *chain, *readers]:
                each.expect("ready")
            for each in readers:
                each.expect("met")
            publisher.go()
            figures = publisher.figures(4 * at_least_one + START_S)
            time.sleep(0.2)  # what is under way arrives, or counts as lost
            for each in readers:
                each.stop()
            received = [each.figures(STOP_S) for each in readers]
            publisher.stop()
            for name in ("age_p50_us", "age_p99_us", "age_max_us"):
                figures[name] = max(each[name] for each in received)
            figures["delivered"] = sum(each["received"] for each in received) / len(received) / figures["sent"]
            figures["disordered"] = sum(each["disordered"] for each in received)
            return figures
