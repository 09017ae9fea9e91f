"""A descriptor that is readable while a sample may be there, and at the end."""

from __future__ import annotations

import contextlib
import os
from typing import Callable, Optional, Tuple


class Bell:
    """Use it under the lock of its subscription. An exception (Ctrl-C) leaves a byte too many, never none."""

    def __init__(self) -> None:
        self._pipe: Optional[Tuple[int, int]] = None  # made when a program asks for the descriptor
        self._rung = False

    def fileno(self, rings: Callable[[], bool]) -> int:
        """Returns the descriptor. `rings`: whether it must be readable at first."""
        if self._pipe is None:
            self._pipe = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
            if rings():
                self.ring()
        return self._pipe[0]

    def ring(self) -> None:
        """Writes the byte before the flag; quieten() in reverse."""
        if self._pipe is not None and not self._rung:
            with contextlib.suppress(BlockingIOError):
                os.write(self._pipe[1], b"!")
            self._rung = True

    def quieten(self, rings: Callable[[], bool]) -> None:
        """Makes it unreadable. `rings`: whether a signal handler or a finalizer has just set what must be told."""
        if self._rung and self._pipe is not None:
            self._rung = False
            with contextlib.suppress(BlockingIOError):
                os.read(self._pipe[0], 4096)
            if rings():
                self._rung = False
                self.ring()

    def __del__(self) -> None:
        for fd in self._pipe or ():  # no thread can poll it any more
            os.close(fd)
