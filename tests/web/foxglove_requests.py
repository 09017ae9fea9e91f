"""A Foxglove client made of Foxglove's own npm package, which does what a test asks it for."""

from __future__ import annotations

import json
import queue
import shutil
import subprocess
import threading
import time
from typing import Any, Callable

from cases import Skipped
from foxglove_test import NODE_MODULES
from system import HERE, PATIENCE_S, System


class Requests:
    """See foxglove_requests.js. Use it as a context manager."""

    def __init__(self, system: System, protocol: str) -> None:
        if not (NODE_MODULES / "@foxglove/ws-protocol").exists() or not shutil.which("node"):
            raise Skipped(f"no @foxglove/ws-protocol in {NODE_MODULES}: tools/dev setup installs it where npm is")
        command = ["node", str(HERE / "foxglove_requests.js"), str(NODE_MODULES), system.address.replace("http", "ws"), protocol]
        self._node = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._events: queue.Queue[dict[str, Any] | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def __enter__(self) -> Requests:
        self.info = self.until("serverInfo")
        return self

    def __exit__(self, *error: object) -> None:
        assert self._node.stdin
        self._node.stdin.close()
        try:
            self._node.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._node.kill()
            self._node.wait()

    def call(self, method: str, *arguments: Any) -> None:
        assert self._node.stdin
        self._node.stdin.write(json.dumps({"call": method, "with": arguments}) + "\n")
        self._node.stdin.flush()

    def until(self, event: str, good: Callable[[Any], bool] = lambda value: True) -> Any:
        """The value of the next event of this kind that is good."""
        end = time.monotonic() + PATIENCE_S
        while True:
            found = self._events.get(timeout=max(0.01, end - time.monotonic()))
            assert found is not None, "the viewer has ended"
            assert found["event"] not in ("error", "status"), found
            if found["event"] == event and good(found["value"]):
                return found["value"]

    def _read(self) -> None:
        assert self._node.stdout
        for line in self._node.stdout:
            self._events.put(json.loads(line))
        self._events.put(None)
