"""The one I/O thread of a participant or a directory. It owns every socket, so nothing of theirs needs a lock."""

from __future__ import annotations

import collections
import contextlib
import errno
import heapq
import itertools
import selectors
import socket
import threading
import time
from typing import Callable, Deque, List, Tuple

from .._bell import socket_pair
from .._errors import NoDescriptors, SystemFailure

READ, WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE
Work = Callable[[], None]
Log = Callable[[str, str], object]
OUT_OF_DESCRIPTORS = (errno.EMFILE, errno.ENFILE)
_MOST_OF_SELECT = 500  # select() of Windows takes 512 sockets


class Reactor:
    """Starts its thread at once. Exceptions of the work are our bugs: they go to the log."""

    def __init__(self, name: str, log: Log) -> None:
        self._log = log
        self._posted: Deque[Work] = collections.deque()
        self._asleep = False  # only the I/O thread sets it: after an exception, a sender would leave it wrong for ever
        self._timers: List[Tuple[float, int, Work]] = []
        self._order = itertools.count()
        self._stopping = False
        try:
            self._selector = selectors.DefaultSelector()
            self._rung, self._bell = socket_pair()
        except OSError as error:
            raise failure("an I/O thread", error) from None
        self.watch(self._rung, READ, self._quieten)
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def post(self, work: Work) -> None:
        """Runs `work` on the I/O thread soon, in order. Never blocks. Any thread, signal handler or finalizer."""
        self._posted.append(work)
        if self._asleep:
            with contextlib.suppress(OSError):  # full: the thread will look anyway; closed: it has ended
                self._bell.send(b"!")

    def stop(self, seconds: float) -> None:
        """Ends the thread after all posted work. Any thread."""
        self.post(self._stop)
        if not self.inside():
            self._thread.join(seconds)

    def inside(self) -> bool:
        return threading.current_thread() is self._thread

    def watch(self, its: socket.socket, events: int, serve: Callable[[int], None]) -> None:
        """Calls `serve` with those of the events that are there, until `forget`. The latest call counts."""
        known = self._selector.get_map()
        if its in known:
            self._selector.modify(its, events, serve)
        elif isinstance(self._selector, selectors.SelectSelector) and len(known) >= _MOST_OF_SELECT:
            raise NoDescriptors()
        else:
            self._selector.register(its, events, serve)

    def forget(self, its: socket.socket) -> None:
        with contextlib.suppress(KeyError, ValueError):
            self._selector.unregister(its)

    def after(self, seconds: float, work: Work) -> None:
        """Runs `work` once. It cannot be cancelled: `work` checks whether it is still wanted."""
        heapq.heappush(self._timers, (time.monotonic() + seconds, next(self._order), work))

    def _run(self) -> None:
        try:
            while not self._stopping:
                self._turn()
        finally:
            for key in list(self._selector.get_map().values()):
                key.fileobj.close()  # type: ignore[union-attr]
            self._selector.close()
            self._bell.close()

    def _turn(self) -> None:
        self._asleep = True  # before it looks for work, so that later posts ring
        left = self._timers[0][0] - time.monotonic() if self._timers else None
        ready = self._selector.select(0 if self._posted else left)
        self._asleep = False
        for key, events in ready:
            self._do(key.data, events)
        while self._timers and self._timers[0][0] <= time.monotonic():
            self._do(heapq.heappop(self._timers)[2])
        for _ in range(len(self._posted)):
            self._do(self._posted.popleft())

    def _do(self, work: Callable[..., None], *arguments: int) -> None:
        try:
            work(*arguments)
        except Exception as error:
            self._log("error", f"orc.pure: {type(error).__name__}: {error}")

    def _quieten(self, _: int) -> None:
        with contextlib.suppress(OSError):
            while self._rung.recv(16):
                pass

    def _stop(self) -> None:
        self._stopping = True


def failure(what: str, error: OSError) -> Exception:
    """Returns the error of ORC for a system call that failed."""
    if error.errno in OUT_OF_DESCRIPTORS:
        return NoDescriptors()
    return SystemFailure(f"{what}: {error.strerror or error}")
