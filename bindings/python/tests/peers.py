"""A publisher or a subscriber in a process of its own: "native" and "pure" run this file, "c++" is the `orc` tool.

All publishers read one sample per line in hexadecimal digits and end with their input; all subscribers print one JSON
object per sample, as `orc topic echo --json` does.
"""

from __future__ import annotations

import json
import pathlib
import queue
import signal
import subprocess
import sys
import threading
import time
from typing import Any, Callable, Dict, List, Optional


class Peer:
    """A running process. `kill()` is SIGKILL."""

    def __init__(self, command: List[str], **changes: str) -> None:
        from support import environment

        self.process = subprocess.Popen(
            command, env=environment(**changes), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self._lines: "queue.Queue[str]" = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        return self.process.pid

    def kill(self) -> None:
        self.process.kill()
        self.end()

    def end(self) -> None:
        """Ends it, if it runs still, and takes its pipes down."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.process.wait(10)
        self._reader.join(10)
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            try:
                pipe.close()
            except BrokenPipeError:
                pass

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)


class PublisherPeer(Peer):
    def send(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data.hex() + "\n")
        self.process.stdin.flush()


class SubscriberPeer(Peer):
    def next(self, seconds: float = 20) -> Dict[str, Any]:
        """The next sample: sequence, missed, data (bytes), as it was received."""
        try:
            sample: Dict[str, Any] = json.loads(self._lines.get(timeout=seconds))
        except queue.Empty:
            raise AssertionError(f"no sample within {seconds} s (exit code {self.process.poll()})") from None
        sample["data"] = bytes.fromhex(sample["hex"]) if "hex" in sample else sample["text"].encode()
        return sample

    def until(self, wanted: Callable[[Dict[str, Any]], bool], seconds: float = 20) -> List[Dict[str, Any]]:
        """All samples up to the first one that is wanted."""
        deadline = time.monotonic() + seconds
        got = [self.next(seconds)]
        while not wanted(got[-1]):
            got.append(self.next(max(0.0, deadline - time.monotonic())))
        return got


class Pair:
    """Makes publishers of one kind and subscribers of one kind, and ends them."""

    def __init__(self, bin_dir: pathlib.Path, publisher: str, subscriber: str) -> None:
        self.kinds = (publisher, subscriber)
        self._orc = str(bin_dir / "orc")
        self._peers: List[Peer] = []

    def publisher(self, topic: str, transports: str = "ipc,tcp") -> PublisherPeer:
        command = [self._orc, "topic", "pub", topic, "--hex", "--wait", "0"]
        return self._keep(PublisherPeer(self._command("pub", 0, topic, command), ORC_TRANSPORTS=transports))

    def subscriber(self, topic: str, transports: str = "ipc,tcp", queue: Optional[int] = None) -> SubscriberPeer:
        depth = [] if queue is None else ["--queue", str(queue)]
        command = [self._orc, "topic", "echo", topic, "--json", *depth]
        return self._keep(
            SubscriberPeer(self._command("echo", 1, topic, command, *depth[1:]), ORC_TRANSPORTS=transports)
        )

    def end(self) -> None:
        for peer in self._peers:
            peer.end()

    def _command(self, verb: str, side: int, topic: str, cpp: List[str], *depth: str) -> List[str]:
        return cpp if self.kinds[side] == "c++" else [sys.executable, __file__, verb, self.kinds[side], topic, *depth]

    def _keep(self, peer: Any) -> Any:
        self._peers.append(peer)
        return peer


def _publish(orc: Any, topic: str) -> None:
    with orc.Participant() as participant:
        publisher = participant.register_topic(topic)
        for line in sys.stdin:
            publisher.send_msg(bytes.fromhex(line))


def _echo(orc: Any, topic: str, depth: Optional[int]) -> None:
    options = {} if depth is None else {"conflate": 0, "depth": depth}
    with orc.Participant() as participant:
        subscriber = participant.request_topic(topic, **options)
        while True:
            message = subscriber.recv_msg(-1)
            sample = {"sequence": message.sequence, "stamp_ns": message.stamp_ns, "age_ns": message.age_ns}
            print(json.dumps({**sample, "missed": message.missed, "hex": bytes(message).hex()}), flush=True)


def _main(verb: str, backend: str, topic: str, depth: Optional[str] = None) -> None:
    import importlib

    orc = importlib.import_module("orc" if backend == "native" else "orc.pure")
    try:
        _publish(orc, topic) if verb == "pub" else _echo(orc, topic, None if depth is None else int(depth))
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    _main(*sys.argv[1:])
