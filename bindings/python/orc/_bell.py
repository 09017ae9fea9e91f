"""A descriptor that is readable while a sample may be there, and at the end."""

from __future__ import annotations

import contextlib
import socket
from typing import Callable, Optional, Tuple


def socket_pair() -> Tuple[socket.socket, socket.socket]:
    """Returns the end to read, and the end to write: select() of Windows knows no pipes."""
    pair = socket.socketpair()
    for each in pair:
        each.setblocking(False)
    return pair


class Bell:
    """Use it under the lock of its subscription. An exception (Ctrl-C) leaves a byte too many, never none."""

    def __init__(self) -> None:
        self._pair: Optional[Tuple[socket.socket, socket.socket]] = None  # made when a program asks for the descriptor
        self._rung = False

    def fileno(self, rings: Callable[[], bool]) -> int:
        """Returns the descriptor. `rings`: whether it must be readable at first."""
        if self._pair is None:
            self._pair = socket_pair()
            if rings():
                self.ring()
        return self._pair[0].fileno()

    def ring(self) -> None:
        """Writes the byte before the flag; quieten() in reverse."""
        if self._pair is not None and not self._rung:
            with contextlib.suppress(BlockingIOError):
                self._pair[1].send(b"!")
            self._rung = True

    def quieten(self, rings: Callable[[], bool]) -> None:
        """Makes it unreadable. `rings`: whether a signal handler or a finalizer has just set what must be told."""
        if self._rung and self._pair is not None:
            self._rung = False
            with contextlib.suppress(BlockingIOError):
                while self._pair[0].recv(16):
                    pass
            if rings():
                self._rung = False
                self.ring()

    def __del__(self) -> None:
        if self._pair is not None:  # no thread can poll it any more
            for each in self._pair:
                each.close()
