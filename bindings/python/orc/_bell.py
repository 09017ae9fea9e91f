"""A descriptor that is readable while a sample may be there, and at the end."""

from __future__ import annotations

import contextlib
import socket
from typing import Callable, Optional


def loopback() -> socket.socket:
    """Returns a UDP socket that is connected to itself: what is sent comes back to it.

    select() of every system waits for it. That of Windows knows no pipes, and a pair of sockets needs AF_UNIX.
    """
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        made.setblocking(False)
        made.bind(("127.0.0.1", 0))
        made.connect(made.getsockname())
    except BaseException:
        made.close()
        raise
    return made


class Bell:
    """Use it under the lock of its subscription. An exception (Ctrl-C) leaves a byte too many, never none."""

    def __init__(self) -> None:
        self._socket: Optional[socket.socket] = None  # made when a program asks for the descriptor
        self._rung = False

    def fileno(self, rings: Callable[[], bool]) -> int:
        """Returns the descriptor. `rings`: whether it must be readable at first."""
        if self._socket is None:
            self._socket = loopback()
            if rings():
                self.ring()
        return self._socket.fileno()

    def ring(self) -> None:
        """Writes the byte before the flag; quieten() in reverse."""
        if self._socket is not None and not self._rung:
            with contextlib.suppress(BlockingIOError):
                self._socket.send(b"!")
            self._rung = True

    def quieten(self, rings: Callable[[], bool]) -> None:
        """Makes it unreadable. `rings`: whether a signal handler or a finalizer has just set what must be told."""
        if self._rung and self._socket is not None:
            self._rung = False
            with contextlib.suppress(BlockingIOError):
                while self._socket.recv(16):
                    pass
            if rings():
                self._rung = False
                self.ring()

    def __del__(self) -> None:
        if self._socket is not None:  # no thread can poll it any more
            self._socket.close()
