"""How much the kernel holds for a socket."""

from __future__ import annotations

import contextlib
import socket

_SO_RCVBUFFORCE = 33


def set_receive_buffer(of: socket.socket, size: int) -> None:
    """Asks for a receive buffer: as large as the kernel allows, and beyond its limit with the right to do so."""
    of.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, size)
    with contextlib.suppress(PermissionError):
        of.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, size)
