"""Connections that speak ZMTP 3 with mechanism NULL (https://rfc.zeromq.org/spec/23/), and listening sockets.

orc.pure has its own, as liborc has: a ZeroMQ library ends no connection of a peer that breaks a limit, and libzmq ends
the process when a peer claims the routing id of another (liborc/doc/design/orc-pure.md).
"""

from __future__ import annotations

import collections
import contextlib
import errno
import ipaddress
import os
import socket
import struct
import time
from typing import Any, Callable, Deque, Optional

from . import endpoints
from .link import Allowance, Frame
from .reactor import OUT_OF_DESCRIPTORS, READ, WRITE, Reactor, failure

_MORE, _LONG, _COMMAND = 1, 2, 4
_GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x00" + b"NULL".ljust(20, b"\0") + bytes(32)
_LONG_HEADER = struct.Struct(">BQ")
HEADER_BYTES = _LONG_HEADER.size
_CHUNK = 65_536
_MAX_CHUNK = 1 << 20  # of a long frame, which takes memory only for what has arrived
_NOISE_AT_ONCE, _NOISE_PER_SECOND, _NOISE_UNIT = 200, 100, 4096
_MAX_PENDING = 32  # frames that wait to be sent: a peer that asks for more does not read
_IN_A_ROW = 16
_REST_S = 0.02
_BACKLOG = 512
_KEEPALIVE = (("TCP_KEEPIDLE", 5), ("TCP_KEEPALIVE", 5), ("TCP_KEEPINTVL", 1), ("TCP_KEEPCNT", 5))


class Connection:
    """Lives on the I/O thread. Its owner sets the callbacks, and calls `end` when the peer breaks a rule.

    `frame` gets each message; None: one of several parts, which was dropped. `ended` gets the reason, once, unless the
    owner calls close().
    """

    def __init__(self, reactor: Reactor, its: socket.socket, kind: str, largest: int, connecting: bool = False) -> None:
        """kind: "DEALER" or "ROUTER". `largest`: a longer frame ends the connection."""
        self.is_ready = False  # the peer has introduced itself
        self.largest = largest
        self.since = self.taken = self.heard = time.monotonic()  # of the connection; of bytes to and from the peer
        self.ready: Callable[[], None] = lambda: None
        self.frame: Callable[[Optional[Frame]], None] = lambda frame: None
        self.drained: Callable[[], None] = lambda: None
        self.ended: Callable[[str], None] = lambda why: None
        self._reactor = reactor
        self.socket: Optional[socket.socket] = its  # None: it has ended
        self._connecting = connecting
        self._writes = True  # the reactor watches for room, too
        self._greeted = self._in_parts = False
        self._unread = bytearray()
        self._wanted = 0  # bytes of the frame that is coming
        self._noise = Allowance(_NOISE_AT_ONCE, _NOISE_PER_SECOND)
        ready = b"\x05READY\x0bSocket-Type" + struct.pack(">I", len(kind)) + kind.encode()
        self._pending: Deque[memoryview] = collections.deque()
        self._pending.append(memoryview(_GREETING + bytes([_COMMAND, len(ready)]) + ready))
        if its.family in (socket.AF_INET, socket.AF_INET6):
            with contextlib.suppress(OSError):
                its.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                its.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
                for option, value in [(getattr(socket, name, None), value) for name, value in _KEEPALIVE]:
                    if option is not None:
                        its.setsockopt(socket.IPPROTO_TCP, option, value)
        reactor.watch(its, READ | WRITE, self._serve)

    @property
    def is_reached(self) -> bool:
        """The other host has accepted the connection."""
        return not self._connecting

    @property
    def idle(self) -> bool:
        """Nothing waits to be sent."""
        return not self._pending

    def send(self, frame: bytes, flags: int = 0) -> None:
        """Sends a frame, after those before it."""
        size = len(frame)
        header = bytes([flags, size]) if size < 256 else _LONG_HEADER.pack(flags | _LONG, size)
        self.send_framed(memoryview(header + frame))

    def send_framed(self, bytes_of_frame: memoryview) -> None:
        """Sends a frame that has its header already. Its memory must not change."""
        if self.socket is None:
            return
        self._pending.append(bytes_of_frame)
        if len(self._pending) > _MAX_PENDING:
            self.end("it does not read")
        elif len(self._pending) == 1 and not self._connecting:
            self._flush(self.socket)

    def end(self, why: str) -> None:
        """Ends it, and calls `ended`."""
        if self.socket is not None:
            self.close()
            self.ended(why)

    def close(self) -> None:
        """Ends it. What the kernel has taken still reaches the peer."""
        its, self.socket = self.socket, None
        if its is None:
            return
        self._reactor.forget(its)
        with contextlib.suppress(OSError):  # with unread bytes, tcp would reset it, and the peer would lose the last
            its.shutdown(socket.SHUT_WR)
            for _ in range(_IN_A_ROW):
                if not its.recv(_CHUNK):
                    break
        its.close()
        self._pending.clear()

    def _serve(self, events: int) -> None:
        if self._connecting and self.socket is not None:
            problem = self.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            if problem:
                self.end(os.strerror(problem))
            self._connecting = False
        if events & WRITE and self._pending and self.socket is not None:
            self._flush(self.socket)
            if not self._pending:
                self.drained()
        if events & READ and self.socket is not None:
            self._receive(self.socket)

    def _flush(self, its: socket.socket) -> None:
        try:
            while self._pending:
                first = self._pending[0]
                sent = its.send(first)
                self.taken = time.monotonic()
                if sent < len(first):
                    self._pending[0] = first[sent:]
                else:
                    self._pending.popleft()
        except BlockingIOError:
            pass
        except OSError as error:
            self.end(error.strerror or str(error))
            return
        if self._writes != bool(self._pending):
            self._writes = bool(self._pending)
            self._reactor.watch(its, READ | WRITE if self._writes else READ, self._serve)

    def _receive(self, its: socket.socket) -> None:
        try:
            data = its.recv(min(max(self._wanted - len(self._unread), _CHUNK), _MAX_CHUNK))
        except BlockingIOError:
            return
        except OSError as error:
            self.end(error.strerror or str(error))
            return
        if not data:
            self.end("the connection ended")
            return
        self.heard = time.monotonic()
        self._unread += data
        while self.socket is not None and self._parse(self._unread):
            pass

    def _parse(self, buffer: bytearray) -> bool:
        """Takes the next frame out of the buffer. Returns False when it needs more bytes."""
        if not self._greeted:
            if buffer[:1] != _GREETING[:1]:
                self.end("it speaks no ZMTP")
            if len(buffer) < len(_GREETING):
                return False
            if buffer[9] != 0x7F or buffer[10] < 3 or buffer[12:32] != _GREETING[12:32]:
                self.end("it speaks no ZMTP 3 with mechanism NULL")
            del buffer[: len(_GREETING)]
            self._greeted = True
            return True
        if len(buffer) < 2 or (buffer[0] & _LONG and len(buffer) < HEADER_BYTES):
            return False
        flags, size, start = buffer[0], buffer[1], 2
        if flags & _LONG:
            size, start = _LONG_HEADER.unpack_from(buffer)[1], HEADER_BYTES
        is_command = bool(flags & _COMMAND)
        is_noise = is_command or bool(flags & _MORE) or self._in_parts
        self._wanted = start + size
        if flags > 7 or (is_command and flags & _MORE) or size > (_CHUNK if is_noise else self.largest):
            self.end("a frame that is too long, or of no known kind")
        elif not is_command and not self.is_ready:
            self.end("a message before the handshake")
        elif len(buffer) < self._wanted:
            return False
        else:
            frame: Frame
            if len(buffer) == self._wanted and size > _CHUNK:  # without a copy
                frame, self._unread = memoryview(buffer)[start:], bytearray()
            else:
                frame = buffer[start : self._wanted]
                del buffer[: self._wanted]
            self._take(frame, is_command, is_noise, bool(flags & _MORE))
        return True

    def _take(self, frame: Frame, is_command: bool, is_noise: bool, in_parts: bool) -> None:
        if is_noise and not self._noise.take(1 + len(frame) // _NOISE_UNIT):
            self.end("too many commands or parts of messages")
        elif is_command:
            self._command(bytes(frame))
        else:
            was_in_parts, self._in_parts = self._in_parts, in_parts
            if not in_parts:
                self.frame(None if was_in_parts else frame)

    def _command(self, body: bytes) -> None:
        if not self.is_ready:
            self.is_ready = body.startswith(b"\x05READY")
            self.ready() if self.is_ready else self.end("it does not introduce itself")
        elif body.startswith(b"\x04PING") and len(body) <= 23:
            self.send(b"\x04PONG" + body[7:], _COMMAND)
        elif body.startswith(b"\x05ERROR"):
            self.end("it reported an error")


def put_header(frame: bytearray) -> memoryview:
    """Writes the header of a frame into its first HEADER_BYTES, which are free. Returns what is to be sent."""
    size = len(frame) - HEADER_BYTES
    if size < 256:
        frame[HEADER_BYTES - 2 : HEADER_BYTES] = bytes([0, size])
        return memoryview(frame)[HEADER_BYTES - 2 :]
    _LONG_HEADER.pack_into(frame, 0, _LONG, size)
    return memoryview(frame)


def connect(
    reactor: Reactor, endpoint: str, largest: int, trusts: Optional[Callable[[socket.socket, str], bool]] = None
) -> Connection:
    """Begins a connection to ipc:///path or tcp://number:port. Raises an error of ORC when that cannot be.

    `trusts`: whether the program that listens at this path may be there.
    """
    kind, _, where = endpoint.partition("://")
    local = kind == "ipc"
    at: Any = where if local else endpoints.split_tcp(where)
    try:
        its = socket.socket(socket.AF_UNIX if local else socket.AF_INET6 if where.startswith("[") else socket.AF_INET)
    except OSError as error:
        raise failure(endpoint, error) from None
    try:
        its.setblocking(False)
        code = its.connect_ex(at)
        if code not in (0, errno.EINPROGRESS) and (local or code != errno.EWOULDBLOCK):
            raise OSError(code, os.strerror(code))
        if local and trusts is not None and not trusts(its, where):
            raise OSError(errno.EPERM, "another user listens there")
        return Connection(reactor, its, "DEALER", largest, connecting=code != 0)
    except BaseException as error:
        its.close()
        raise (failure(endpoint, error) if isinstance(error, OSError) else error) from None


class Listener:
    """A listening socket. Calls `accepted` with each new connection. While `has_room` returns False, others wait."""

    def __init__(
        self, reactor: Reactor, endpoint: str, has_room: Callable[[], bool], accepted: Callable[[socket.socket], None]
    ) -> None:
        """endpoint: ipc:///path, tcp://number:port, or tcp://*:port for both families. Port 0: any. Raises OSError."""
        kind, _, where = endpoint.partition("://")
        host, port = ("", 0) if kind == "ipc" else endpoints.split_tcp(where)
        self._reactor, self._has_room, self._accepted = reactor, has_room, accepted
        self._closed = False
        its = self._socket = socket.socket(socket.AF_UNIX) if kind == "ipc" else _tcp_socket(host)
        try:
            if kind != "ipc" and os.name == "posix":  # elsewhere it would let others take the port
                its.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            its.setblocking(False)
            at: Any = where if kind == "ipc" else ("" if host == "*" else host, port)
            its.bind(at)
            its.listen(_BACKLOG)
            self.endpoint = endpoint if kind == "ipc" else f"tcp://{host}:{its.getsockname()[1]}"
            if kind == "ipc":
                os.chmod(where, 0o660)
            self._watch()
        except BaseException:
            its.close()
            raise

    def mark(self, tos: int) -> None:
        """Sets the DSCP of the packets of the connections to come, where the system allows it."""
        with contextlib.suppress(OSError, AttributeError):
            self._socket.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, tos)
            if self._socket.family == socket.AF_INET6:
                self._socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_TCLASS, tos)

    def close(self) -> None:
        self._closed = True
        self._reactor.forget(self._socket)
        self._socket.close()
        if self.endpoint.startswith("ipc://"):
            with contextlib.suppress(OSError):
                os.unlink(self.endpoint[len("ipc://") :])

    def _watch(self) -> None:
        if not self._closed:
            self._reactor.watch(self._socket, READ, self._accept)

    def _rest(self) -> None:
        """Lets newcomers wait in the kernel for a moment."""
        self._reactor.forget(self._socket)
        self._reactor.after(_REST_S, self._watch)

    def _accept(self, _: int) -> None:
        if not self._has_room():
            self._rest()
            return
        try:
            its = self._socket.accept()[0]
        except OSError as error:
            if error.errno in (*OUT_OF_DESCRIPTORS, errno.ENOMEM, errno.ENOBUFS):
                self._rest()
            return  # else it has ended already
        its.setblocking(False)
        self._accepted(its)


def _tcp_socket(host: str) -> socket.socket:
    """Of both families for "*", or of IPv4 where the kernel has no IPv6."""
    if host == "*":
        with contextlib.suppress(OSError, AttributeError):
            made = socket.socket(socket.AF_INET6)
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            return made
    return socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)


def owner_of(its: socket.socket) -> str:
    """Returns whose connection it is: an IPv4 address (also over IPv6), an IPv6 /64 network, or a local process."""
    if its.family not in (socket.AF_INET, socket.AF_INET6):
        return endpoints.peer_process(its)
    with contextlib.suppress(OSError, ValueError):
        number = ipaddress.ip_address(its.getpeername()[0].partition("%")[0])
        if isinstance(number, ipaddress.IPv6Address):
            return str(number.ipv4_mapped or ipaddress.IPv6Network((number, 64), strict=False))
        return str(number)
    return ""
