"""Links over tcp: each packet after its length."""

from __future__ import annotations

import errno
import socket
import struct
import time
from collections import Counter
from typing import List, Optional, Tuple

from .._shared.counters import Counters
from . import frames
from .frames import MAX_BATCH
from .hosts import host_of
from .link import Found, Hub, Link, LinkOptions, OwnAddress, Resolve, name_of
from .loop import READ, WRITE, Loop
from .packets import (
    BATCH,
    HELLO_BYTES,
    NO_SESSION,
    OVERHEAD,
    Report,
    Seal,
    decode_hello,
    encode_hello,
    new_session,
    why_no_hello,
)

_LENGTH = struct.Struct("<I")
_NUMBER = struct.Struct("<Q")
_MAX_PACKET = MAX_BATCH + _NUMBER.size + OVERHEAD
_READ_BYTES = 65536
_READS_A_TURN = 16
_SEND_BUFFER = 128 << 10
_HANDSHAKE_S = 3.0
_MAX_STRANGERS = 64
_BACKLOG = 128
_ACCEPTS_A_TURN = 16
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.1, 2.0


class TcpLink(Link):
    """A link after its handshake. Not thread-safe."""

    def __init__(self, connection: Connection, options: LinkOptions, hub: Hub, seal: Seal, counters: Counters) -> None:
        now = time.monotonic()
        super().__init__(f"tcp://{connection.name}", options, hub, seal, counters, now)
        self._connection = connection
        self._received_number, self._received_at = 0, now

    def begin(self) -> bool:
        """Works from now on. Returns False when there are too many links."""
        return self._begin()

    def take(self, packet: bytes, now: float) -> bool:
        """Takes a packet. Returns False when the other end did not make it."""
        opened = self._seal.open(packet)
        if opened is None:
            return False
        kind, body = opened
        self._take_packet(kind, body, now)
        if kind == BATCH:
            if len(body) < _NUMBER.size or _NUMBER.unpack_from(body)[0] != self._received_number + 1:
                return False
            self._received_number, self._received_at = self._received_number + 1, now
            self._report_soon(now)
            try:
                self._incoming.take(body[_NUMBER.size :], now)
            except frames.Malformed as error:
                self._counters.drop("malformed packet", f"{self.peer}: {error}")
        return True

    def _may_send(self) -> bool:
        return self._connection.is_idle

    def _send(self, kind: int, body: bytes) -> None:
        self._connection.send(self._seal.seal(kind, body))

    def _send_batch(self, number: int, batch: bytes, now: float) -> None:
        self._send(BATCH, _NUMBER.pack(number) + batch)

    def _received(self) -> Tuple[int, int, float]:
        return self._received_number + 1, self._received_number, self._received_at

    def _reported(self, report: Report, now: float) -> None:
        """Nothing is sent again: tcp has done that."""


class Connection:
    """A tcp connection, from its handshake on. The thread of the loop alone calls it."""

    def __init__(
        self, made: socket.socket, name: str, asks: bool, options: LinkOptions, hub: Hub, loop: Loop,
        counters: Counters, host: str = "",
    ) -> None:  # fmt: skip
        self.name, self.host = name, host
        self.is_open = True
        self.link: Optional[TcpLink] = None
        self.socket, self._asks, self._options, self._hub = made, asks, options, hub
        self._loop, self._counters = loop, counters
        self._session, self._peer = new_session(), NO_SESSION
        self._in, self._out = bytearray(), bytearray()
        self._until = time.monotonic() + _HANDSHAKE_S
        made.setblocking(False)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER)
        loop.watch(made, READ, self._on_ready)
        if asks:
            self._send_hello()

    @property
    def is_silent(self) -> bool:
        """Returns whether the other end has not introduced itself."""
        return self._peer == NO_SESSION

    @property
    def is_idle(self) -> bool:
        """Returns whether the kernel took everything."""
        return self.is_open and not self._out

    def advance(self, now: float) -> float:
        """Returns when to call again."""
        if not self.is_open:
            return float("inf")
        link = self.link  # sending may lose it
        if link is not None:
            again_at = link.advance(now)
            if not link.is_up:
                self.close()
            return again_at
        if now >= self._until:
            self._refuse("no handshake in time")
        return self._until

    def send(self, packet: bytes) -> None:
        """Sends a packet. What the kernel does not take waits; see is_idle."""
        if not self.is_open:
            return
        if len(self._out) > 2 * _MAX_PACKET:  # reports, to an end that does not read
            return
        self._out += _LENGTH.pack(len(packet)) + packet
        self._flush()

    def close(self) -> None:
        """Ends the connection, and the link."""
        if not self.is_open:
            return
        if self.link is not None:
            self.link.end("closed")  # which may find that the socket failed, and close it
        if not self.is_open:
            return
        self.is_open = False
        self._loop.forget(self.socket)
        self.socket.close()

    def _on_ready(self, events: int) -> None:
        if events & WRITE:
            self._flush()
        if events & READ:
            self._read()

    def _flush(self) -> None:
        try:
            while self._out:
                del self._out[: self.socket.send(self._out)]
        except (BlockingIOError, InterruptedError):
            pass
        except OSError as error:
            self._lose(str(error))
            return
        self._loop.change(self.socket, READ | WRITE if self._out else READ)

    def _read(self) -> None:
        for _ in range(_READS_A_TURN):
            try:
                data = self.socket.recv(_READ_BYTES)
            except (BlockingIOError, InterruptedError):
                return
            except OSError as error:
                self._lose(str(error))
                return
            if not data and self.link is None:
                self._refuse("an end without a handshake")
                return
            if not data:
                self._lose("the other end closed the connection")
                return
            self._in += data
            if not self._take_packets() or len(data) < _READ_BYTES:
                return

    def _take_packets(self) -> bool:
        """Returns whether the connection goes on."""
        now, at = time.monotonic(), 0
        while self.is_open and len(self._in) - at >= _LENGTH.size:
            (size,) = _LENGTH.unpack_from(self._in, at)
            if size > (_MAX_PACKET if self.link is not None else HELLO_BYTES):
                self._refuse(f"a packet of {size} bytes")
                break
            end = at + _LENGTH.size + size
            if len(self._in) < end:
                break
            packet, link = bytes(self._in[at + _LENGTH.size : end]), self.link
            at = end
            if link is None:
                self._shake(packet)
            elif not link.take(packet, now):
                self._refuse("a packet that the other end did not make")
            elif not link.is_up:
                self.close()
        del self._in[:at]
        return self.is_open

    def _shake(self, packet: bytes) -> None:
        hello = decode_hello(self._options.shared_key, packet)
        if hello is None:
            self._refuse(why_no_hello(packet))
        elif self._asks:
            if hello.peer != self._session:
                self._refuse("a hello that answers none of ours")
                return
            self._peer = hello.session
            self._send_hello()
            self._begin()
        elif self._peer == NO_SESSION:
            self._peer = hello.session
            self._send_hello()
        elif hello == (self._peer, self._session):
            self._begin()
        else:
            self._refuse("a hello that answers none of ours")

    def _send_hello(self) -> None:
        self.send(encode_hello(self._options.shared_key, self._session, self._peer))

    def _begin(self) -> None:
        seal = Seal(self._options.shared_key, self._session, self._peer)
        self.link = TcpLink(self, self._options, self._hub, seal, self._counters)
        if not self.link.begin():
            self.close()

    def _refuse(self, why: str) -> None:
        self._counters.drop("stranger", f"{why} from {self.name}")
        self._lose(why)

    def _lose(self, why: str) -> None:
        if self.link is not None:
            link, self.link = self.link, None
            self._out.clear()
            link.end(why)
        self.close()


class TcpListener:
    """Accepts links at a port. The thread of the loop alone calls it."""

    def __init__(self, bound: socket.socket, options: LinkOptions, hub: Hub, loop: Loop, counters: Counters) -> None:
        self._socket, self._options, self._hub = bound, options, hub
        self._loop, self._counters = loop, counters
        self._connections: List[Connection] = []
        bound.setblocking(False)
        bound.listen(_BACKLOG)
        loop.watch(bound, READ, lambda _: self._accept())
        loop.advance_also(self._advance)

    def close(self) -> None:
        """Ends all links."""
        for each in self._connections:
            each.close()
        self._loop.forget(self._socket)
        self._socket.close()

    def _advance(self, now: float) -> float:
        again_at = min((each.advance(now) for each in self._connections), default=float("inf"))
        self._connections = [each for each in self._connections if each.is_open]
        return again_at

    def _accept(self) -> None:
        for _ in range(_ACCEPTS_A_TURN):
            try:
                made, from_ = self._socket.accept()
            except (BlockingIOError, InterruptedError):
                return
            except OSError as error:
                self._counters.drop("connections failed", str(error))
                return
            self._accepted(made, from_)

    def _accepted(self, made: socket.socket, from_: Tuple[str, int]) -> None:
        name = name_of(from_)
        if not self._options.allows(from_[0]):
            self._counters.drop("not allowed", f"a connection from {name}")
            made.close()
            return
        strangers = [each for each in self._connections if each.is_open and each.link is None]
        if len(strangers) >= _MAX_STRANGERS:
            hosts = Counter(each.host for each in strangers)
            gone = max(strangers, key=lambda each: (hosts[each.host], each.is_silent))  # the first, so the oldest
            self._counters.drop("too many strangers", f"{name} takes the place of {gone.name}")
            gone.close()
        made_of = (self._options, self._hub, self._loop, self._counters)
        self._connections.append(Connection(made, name, False, *made_of, host=host_of(from_[0])))


class TcpConnector:
    """Keeps one link to a listening end. The thread of the loop alone calls it."""

    def __init__(
        self, name: str, resolve: Resolve, options: LinkOptions, hub: Hub, loop: Loop, counters: Counters
    ) -> None:
        self._name, self._resolve, self._options, self._hub = name, resolve, options, hub
        self._loop, self._counters = loop, counters
        self._connection: Optional[Connection] = None
        self._opening: Optional[socket.socket] = None
        self._own_address = OwnAddress()
        self._is_resolving = False
        self._again_at, self._pause = 0.0, _FIRST_PAUSE_S
        loop.advance_also(self._advance)

    def close(self) -> None:
        """Ends the link."""
        if self._connection is not None:
            self._connection.close()
        self._give_up_opening()

    def _advance(self, now: float) -> float:
        if self._connection is not None:
            if self._own_address.is_gone(self._connection.socket, now):
                self._connection.close()
            again_at = self._connection.advance(now)
            if self._connection.is_open:
                if self._connection.link is not None and now >= self._again_at:
                    self._pause = _FIRST_PAUSE_S  # it has lasted
                return again_at
            self._connection = None
            self._rest(now)
        if now >= self._again_at and not self._is_resolving:
            self._give_up_opening()
            self._is_resolving = True
            self._rest(now)
            self._resolve(self._resolved)
        return self._again_at if not self._is_resolving else now + 0.05

    def _rest(self, now: float) -> None:
        self._again_at = now + self._pause
        self._pause = min(2 * self._pause, _LONGEST_PAUSE_S)

    def _resolved(self, found: Optional[Found]) -> None:
        self._is_resolving = False
        if found is None:
            return
        family, address = found
        made = socket.socket(family, socket.SOCK_STREAM)
        made.setblocking(False)
        status = made.connect_ex(address)
        if status not in (0, errno.EINPROGRESS):
            made.close()
            self._counters.count("not connected")
            return
        self._opening = made
        self._again_at = time.monotonic() + max(self._pause, _HANDSHAKE_S)
        self._loop.watch(made, WRITE, lambda _: self._opened())

    def _opened(self) -> None:
        made, self._opening = self._opening, None
        assert made is not None
        self._loop.forget(made)
        if made.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            made.close()
            self._counters.count("not connected")
            self._again_at = time.monotonic() + self._pause
            return
        name = self._name.partition("://")[2]
        self._connection = Connection(made, name, True, self._options, self._hub, self._loop, self._counters)

    def _give_up_opening(self) -> None:
        if self._opening is not None:
            self._loop.forget(self._opening)
            self._opening.close()
            self._opening = None
