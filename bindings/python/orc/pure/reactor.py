"""The one I/O thread of a participant. It owns every ZeroMQ socket, because they are not thread-safe.

It watches a ZeroMQ socket through its ZMQ_FD, which reports *changes* only. So `serve` must go on until the socket has
nothing more, and code that used a socket must have it served again (`post(serve)`).
"""

from __future__ import annotations

import collections
import contextlib
import heapq
import itertools
import os
import resource
import select
import threading
import time
from typing import Callable, Deque, Dict, List, Optional, Tuple

import zmq

from .._errors import Error, NoDescriptors
from .realtime import Placement

Work = Callable[[], None]
_RESERVE = 32  # libzmq ends the process when it runs out of descriptors while it makes a socket


class Reactor:
    """Starts its thread at once. `failed` gets each exception of the work: our bugs, for the log.

    libzmq starts its threads with the first socket, which the I/O thread makes. So they inherit its placement.
    """

    def __init__(self, name: str, placement: Placement, failed: Callable[[Exception], object]) -> None:
        _room_for_descriptors()
        self._failed = failed
        self._context = zmq.Context(1)
        self._context.set(zmq.MAX_SOCKETS, 65_535)
        self._epoll = select.epoll()
        self._bell_out, self._bell_in = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._epoll.register(self._bell_out, select.EPOLLIN)
        self._posted: Deque[Work] = collections.deque()
        self._asleep = False  # only the I/O thread sets it: after an exception, a sender would leave it wrong for ever
        self._watched: Dict[int, Tuple[zmq.Socket[bytes], Work]] = {}
        self._timers: List[Tuple[float, int, Work]] = []
        self._order = itertools.count()
        self._stopping = False
        self._placement = placement
        self._misplaced: Optional[Error] = None
        self._placed = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()
        if placement.changes:
            self._placed.wait()

    # Any thread.

    def check_placement(self) -> None:
        """Raises what prevented the placement of the thread."""
        if self._misplaced is not None:
            raise type(self._misplaced)(str(self._misplaced))

    def post(self, work: Work) -> None:
        """Runs `work` on the I/O thread soon, in order. Never blocks; signal handlers and finalizers may call it."""
        self._posted.append(work)
        if self._asleep:
            with contextlib.suppress(OSError):  # full: the thread will look anyway; closed: it has ended
                os.write(self._bell_in, b"!")

    def inside(self) -> bool:
        return threading.current_thread() is self._thread

    def stop(self, seconds: float) -> None:
        """Ends the thread after all posted work. What sockets still hold gets their linger."""
        self.post(self._stop)
        if not self.inside():
            self._thread.join(seconds)

    # I/O thread.

    def socket(self, kind: int) -> zmq.Socket[bytes]:
        _room_for_descriptors()
        made: zmq.Socket[bytes] = self._context.socket(kind)
        made.linger = 0
        return made

    def watch(self, socket: zmq.Socket[bytes], serve: Work) -> None:
        fd = int(socket.getsockopt(zmq.FD))
        self._watched[fd] = (socket, serve)
        self._epoll.register(fd, select.EPOLLIN)
        self.post(serve)

    def close(self, socket: zmq.Socket[bytes], linger_ms: int = 0) -> None:
        fd = int(socket.getsockopt(zmq.FD))
        if self._watched.pop(fd, None) is not None:
            self._epoll.unregister(fd)
        socket.close(linger_ms)

    def after(self, seconds: float, work: Work) -> None:
        """Runs `work` once. It cannot be cancelled: `work` checks whether it is still wanted."""
        heapq.heappush(self._timers, (time.monotonic() + seconds, next(self._order), work))

    def _run(self) -> None:
        self._misplaced = self._placement.apply()
        self._placed.set()
        try:
            while not self._stopping:
                self._turn()
        finally:
            self._end()

    def _turn(self) -> None:
        self._asleep = True  # before it looks for work, so that later posts ring
        ready = self._epoll.poll(self._pause())
        self._asleep = False
        for fd, _ in ready:
            if fd == self._bell_out:
                self._quieten()
            elif fd in self._watched:
                self._do(self._watched[fd][1])
        while self._timers and self._timers[0][0] <= time.monotonic():
            self._do(heapq.heappop(self._timers)[2])
        for _ in range(len(self._posted)):
            self._do(self._posted.popleft())

    def _pause(self) -> Optional[float]:
        if self._posted:
            return 0
        return max(0.0, self._timers[0][0] - time.monotonic()) if self._timers else None

    def _quieten(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(self._bell_out, 4096)

    def _do(self, work: Work) -> None:
        try:
            work()
        except Exception as error:
            self._failed(error)

    def _stop(self) -> None:
        self._stopping = True

    def _end(self) -> None:
        for socket, _ in list(self._watched.values()):
            socket.close(0)
        self._watched.clear()
        self._epoll.close()
        self._context.destroy(0)
        bell, self._bell_in = self._bell_in, -1
        os.close(bell)
        os.close(self._bell_out)


def _room_for_descriptors() -> None:
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if limit != resource.RLIM_INFINITY and len(os.listdir("/proc/self/fd")) + _RESERVE > limit:
        raise NoDescriptors()


def receive(socket: zmq.Socket[bytes], parts: int) -> Optional[List[zmq.Frame]]:
    """Returns the next message: its first `parts` + 1 parts at most. None: nothing is there."""
    try:
        got = [socket.recv(zmq.NOBLOCK, copy=False)]
        while got[-1].more:
            part = socket.recv(zmq.NOBLOCK, copy=False)
            if len(got) > parts:
                got[-1] = part
            else:
                got.append(part)
        return got
    except zmq.Again:
        return None
