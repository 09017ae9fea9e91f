"""A ZeroMQ DEALER of bytes and sockets, which does what libzmq's does not."""

from __future__ import annotations

import socket
import struct
from typing import Optional

_GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x00" + b"NULL".ljust(20, b"\0") + bytes(32)


class RawPeer:
    """Connects at once, unless told otherwise. Waits for what it reads at most 20 s."""

    def __init__(self, endpoint: str, connect: bool = True) -> None:
        kind, _, self._where = endpoint.partition("://")
        self._socket = socket.socket(socket.AF_UNIX if kind == "ipc" else socket.AF_INET)
        self._socket.settimeout(20)
        if connect:
            self.connect()

    def connect(self) -> None:
        if self._socket.family == socket.AF_UNIX:
            self._socket.connect(self._where)
        else:
            host, _, port = self._where.rpartition(":")
            self._socket.connect((host, int(port)))

    def shake_hands(self, routing_id: bytes = b"", seconds: float = 20) -> bool:
        """Claims the routing id; empty: leaves it to the other side. False: the other side did not end it in time."""
        self._socket.sendall(_GREETING)
        body = b"\5READY"
        for name, value in ((b"Socket-Type", b"DEALER"), (b"Identity", routing_id)):
            body += bytes([len(name)]) + name + struct.pack(">I", len(value)) + value
        self._socket.sendall(bytes([4, len(body)]) + body)
        self._socket.settimeout(seconds)
        try:
            self._take(64)
            return self.frame() is not None
        except (OSError, EOFError):
            return False
        finally:
            self._socket.settimeout(20)

    def send(self, frame: bytes, more: bool = False) -> None:
        """One part of a message, of at most 255 bytes."""
        self._socket.sendall(bytes([int(more), len(frame)]) + frame)

    def send_parts(self, count: int, seconds: float) -> int:
        """So many parts of a message that does not end: their bytes. TimeoutError: the other side takes no more."""
        parts = (bytes([1, 250]) + bytes(250)) * count
        self._socket.settimeout(seconds)
        self._socket.sendall(parts)
        self._socket.settimeout(20)
        return len(parts)

    def frame(self) -> Optional[bytes]:
        """The next frame or command; None: the other side has ended the connection."""
        try:
            flags, size = self._take(2)
            if flags & 2:
                size = int.from_bytes(bytes([size]) + self._take(7), "big")
            return self._take(size)
        except (EOFError, ConnectionError):
            return None

    def ended(self) -> bool:
        """Waits until the other side ends the connection, 20 s for whatever it still sends."""
        try:
            while self._socket.recv(65536):
                pass
        except ConnectionError:
            pass
        return True

    def hang_up(self) -> None:
        """Ends the connection, and keeps the descriptor until `close`."""
        self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._socket.close()

    def _take(self, size: int) -> bytes:
        taken = b""
        while len(taken) < size:
            part = self._socket.recv(size - len(taken))
            if not part:
                raise EOFError
            taken += part
        return taken
