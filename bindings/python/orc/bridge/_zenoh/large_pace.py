"""Keeps large samples from filling the queue of a slow network link, as bulk topics do (design/bulk-topics.md).

The connections of the large session are this process's tcp sockets with the send buffer that only they were given.
Where the user's configuration of Zenoh sets the buffer, and over other transports than tcp and tls, nothing is done.
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import threading
import time
from typing import Dict, Iterator, Optional, Tuple

_LOOK_S = 0.05
_WINDOW_S = 0.1  # over which the delivered rate is measured
_FIND_S = 1.0
_MAX_PACING_RATE = 47  # SO_MAX_PACING_RATE
_TCP_INFO_BYTES = 168
_LEAST_RATE = 6_000.0  # bytes/s
_MOST_RATE = 4e9
_LEAST_BUFFER, _MOST_BUFFER = 2_304, 8 << 20  # Linux has no smaller one
_QUEUE_S = 0.04  # this much delay of our own is allowed
_BUFFERED_S = 0.06  # of what the link carries


class _Connection:
    """One socket of the large session. It is Zenoh's: a copy that stays would keep it open."""

    def __init__(self, descriptor: int, inode: int, buffer: int) -> None:
        self.descriptor, self.inode = descriptor, inode
        self.buffer = buffer
        self.rate = _MOST_RATE
        self.since: Optional[Tuple[float, int]] = None  # when, and how many bytes were acknowledged then

    def look(self, now: float) -> None:
        """Compares the round trip with the shortest one, and sets rate and buffer. Raises OSError."""
        with _copy_of(self.descriptor, self.inode) as copy:
            self._look(copy, now)

    def _look(self, copy: socket.socket, now: float) -> None:
        info = copy.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO_BYTES)
        if len(info) < _TCP_INFO_BYTES:
            return
        (in_flight,), (unsent,) = struct.unpack_from("=I", info, 24), struct.unpack_from("=I", info, 144)
        (round_trip_us,), (shortest_us,) = struct.unpack_from("=I", info, 68), struct.unpack_from("=I", info, 148)
        (acknowledged,) = struct.unpack_from("=Q", info, 120)
        round_trip, shortest = round_trip_us / 1e6, shortest_us / 1e6
        if not in_flight and not unsent:
            self.since = None
            return
        if self.since is None:
            self.since = (now, acknowledged)
        took = now - self.since[0]
        if took < max(_WINDOW_S, round_trip):
            return
        delivered = (acknowledged - self.since[1]) / took
        self.since = (now, acknowledged)
        if delivered <= 0:  # the path is broken
            return
        # One packet of ours takes a while on a slow link, and is no queue.
        packet = struct.unpack_from("=I", info, 16)[0] / delivered
        if round_trip > 1.25 * shortest + packet + _QUEUE_S:
            self.rate = max(_LEAST_RATE, 0.7 * min(self.rate, delivered))
        else:
            self.rate = min(_MOST_RATE, max(1.05 * self.rate, 1.2 * delivered))
        self._set(copy, int(min(self.rate, 2.0 * delivered) * (shortest + _BUFFERED_S)))

    def _set(self, copy: socket.socket, buffer: int) -> None:
        copy.setsockopt(socket.SOL_SOCKET, _MAX_PACING_RATE, struct.pack("=Q", int(self.rate)))
        wanted = min(_MOST_BUFFER, max(_LEAST_BUFFER, buffer))
        if not 0.8 < wanted / self.buffer < 1.25:
            copy.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, wanted)
            self.buffer = wanted


class LargePace:
    """Has a thread, from start() to close()."""

    def __init__(self, buffer: int) -> None:
        self._buffer = buffer
        self._connections: Dict[int, _Connection] = {}  # by inode
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="zenoh pace", daemon=True)

    def start(self) -> None:
        """Begins."""
        self._thread.start()

    def close(self) -> None:
        """Waits for the thread."""
        self._closing.set()
        self._thread.join(2.0)

    def _run(self) -> None:
        find_at = 0.0
        while not self._closing.wait(_LOOK_S if self._connections else _FIND_S):
            now = time.monotonic()
            if now >= find_at:
                find_at = now + _FIND_S
                self._find()
            for each in self._connections.values():
                with contextlib.suppress(OSError):  # Zenoh has closed it: the next _find() forgets it
                    each.look(now)

    def _find(self) -> None:
        present = dict(_sockets())
        self._connections = {inode: each for inode, each in self._connections.items() if inode in present}
        for inode, descriptor in present.items():
            if inode not in self._connections:
                with contextlib.suppress(OSError), _copy_of(descriptor, inode) as copy:
                    if self._is_ours(copy):
                        self._connections[inode] = _Connection(descriptor, inode, self._buffer)

    def _is_ours(self, copy: socket.socket) -> bool:
        if copy.family not in (socket.AF_INET, socket.AF_INET6) or copy.type != socket.SOCK_STREAM:
            return False
        doubled = copy.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)  # as Linux does
        return doubled == 2 * self._buffer and copy.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) == 0


def _copy_of(descriptor: int, inode: int) -> socket.socket:
    """Raises OSError: the descriptor belongs to something else by now."""
    copy = os.dup(descriptor)
    try:
        if os.fstat(copy).st_ino != inode:
            raise OSError("another socket")
        return socket.socket(fileno=copy)
    except OSError:
        os.close(copy)
        raise


def _sockets() -> Iterator[Tuple[int, int]]:
    """Inode and descriptor of each socket of this process."""
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError, ValueError):
            target = os.readlink(f"/proc/self/fd/{name}")
            if target.startswith("socket:["):
                yield int(target[8:-1]), int(name)
