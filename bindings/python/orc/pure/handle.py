"""Reaches a connection by libzmq's descriptor. libzmq may close it at any moment; the next file gets its number."""

from __future__ import annotations

import os
import socket
import weakref
from typing import Callable, Optional, TypeVar

T = TypeVar("T")


def file_of(descriptor: int) -> Optional[int]:
    """Returns the inode of the file that has this number now; None when none has. Sockets never share an inode."""
    try:
        return os.fstat(descriptor).st_ino
    except OSError:
        return None


class Handle:
    """Copies libzmq's descriptor for as long as a connection is asked, so that its number cannot change meaning.

    Keeps the place of the copy in between, because connections must also end when no descriptor is left. Not
    thread-safe.
    """

    def __init__(self, rest: int) -> None:
        """`rest` is what the place holds in between. It must stay open until `close`. Raises OSError."""
        self._rest, self._place = rest, os.dup(rest)
        self._finalizer = weakref.finalize(self, os.close, self._place)
        self._finalizer.atexit = False  # the I/O thread still runs then

    def close(self) -> None:
        self._finalizer()

    def ask(self, descriptor: int, inode: int, what: Callable[[socket.socket], T]) -> Optional[T]:
        """Returns `what` of the connection; None when the number is another file's by now, or when `what` fails."""
        if file_of(descriptor) != inode:  # before the copy too: closing a copy releases fcntl's locks on a file
            return None
        its = None
        try:
            os.dup2(descriptor, self._place, inheritable=False)
            if file_of(self._place) != inode:
                return None
            its = socket.socket(fileno=self._place)
            return what(its)
        except OSError:
            return None
        finally:
            if its is not None:
                its.detach()
            os.dup2(self._rest, self._place, inheritable=False)
