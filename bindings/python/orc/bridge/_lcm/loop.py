"""One thread that waits for sockets and for times."""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading
import time
from collections import deque
from typing import Any, Callable, Deque, List

from .log import logger

READ, WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE
_LONGEST_S = 1.0


class Loop:
    """The thread of run() alone calls, but soon() and stop()."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._soon: Deque[Callable[[], object]] = deque()
        self._advancing: List[Callable[[float], float]] = []
        self._is_stopping = threading.Event()
        self._bell, self._ring = socket.socketpair()
        self._bell.setblocking(False)
        self._ring.setblocking(False)
        self.watch(self._bell, READ, lambda _: self._silence())

    def watch(self, what: Any, events: int, on_ready: Callable[[int], object]) -> None:
        """Calls on_ready with the events when there are some. what: has a fileno()."""
        self._selector.register(what, events, on_ready)

    def change(self, what: Any, events: int) -> None:
        """Waits for other events from now on."""
        key = self._selector.get_key(what)
        if key.events != events:
            self._selector.modify(what, events, key.data)

    def forget(self, what: Any) -> None:
        """Waits for it no more. Before it is closed."""
        self._selector.unregister(what)

    def advance_also(self, advance: Callable[[float], float]) -> None:
        """Calls this after each wait, with the time; it returns when it wants to be called again."""
        self._advancing.append(advance)

    def soon(self, work: Callable[[], object]) -> None:
        """Calls this on the thread of the loop. Any thread may call."""
        self._soon.append(work)
        with contextlib.suppress(OSError):  # full: the loop wakes anyway; or closed
            self._ring.send(b"!")

    def stop(self) -> None:
        """Ends run(). Signal handlers and any thread may call it."""
        self._is_stopping.set()
        with contextlib.suppress(OSError):
            self._ring.send(b"!")

    def run(self) -> None:
        """Returns after stop()."""
        while not self._is_stopping.is_set():
            now = time.monotonic()
            again_at = min((_guarded(each, now, now + 1.0) for each in self._advancing), default=now + _LONGEST_S)
            pause = min(_LONGEST_S, max(0.0, again_at - time.monotonic()))
            for key, events in self._selector.select(pause):
                known = self._selector.get_map().get(key.fd)
                if known is not None and known.fileobj is key.fileobj:  # not forgotten meanwhile
                    _guarded(key.data, events, None)
            while self._soon:
                _guarded(lambda work: work(), self._soon.popleft(), None)

    def close(self) -> None:
        """After run()."""
        self._selector.close()
        self._bell.close()
        self._ring.close()

    def _silence(self) -> None:
        with contextlib.suppress(OSError):
            self._bell.recv(4096)


def _guarded(work: Callable[[Any], Any], argument: Any, otherwise: Any) -> Any:
    """One part must not end the others."""
    try:
        return work(argument)
    except Exception:
        logger.exception("a part of the tunnel failed")
        return otherwise
