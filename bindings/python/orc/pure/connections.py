"""Bounds the connections of a publication's ROUTER, as libzmq allows (PROTOCOL.md, "Newest wins with a ROUTER").

libzmq gives a peer without a routing id of its own the next number. It ends the process when a peer has claimed that
number: `Assertion failed: ok`. Nothing prevents that, but these measures make it unlikely:

- The first number is drawn from the kernel's randomness. libzmq takes it from rand(), which it never seeds.
- A peer that sends anything under a number that libzmq has not given out yet is disconnected, and its address waits.
  libzmq does not answer when a number is in use. So a search for such numbers costs 5 s for each free one.
- A peer that says no hello is disconnected after a second, and sooner when there are more than 64 of them. One that
  says anything else first is disconnected at once.
- An address connects 256 times, and then 100 times a second (admission.py).
- A peer over tcp that sends more bytes than its frames could have is disconnected within a quarter of a second: libzmq
  keeps the parts of an unfinished message without limit. Over ipc the kernel does not count them.

So at most 64 numbers of 2^32 are claimed when one is given out. At 100 connections a second, that is one abort in a
week of attack from one address, on average.

libzmq ends no connection on request. Its monitor reports the descriptors, and shutdown(2) on one ends its connection.
The next connection may already have the same number. So the inode of each is remembered and compared (handle.py).
"""

from __future__ import annotations

import collections
import ctypes
import itertools
import os
import socket
import struct
import time
from typing import Callable, Deque, Dict, List, NamedTuple, Optional, Set, TypeVar, Union

import zmq

from .admission import Admission, client_of
from .handle import Handle, file_of
from .monitor import Monitor
from .reactor import Reactor, receive

_HELLO_WITHIN_S = 1.0
_MAX_STRANGERS = 64
_CHECK_S = 0.25
_BYTES_AT_ONCE, _BYTES_PER_SECOND = 1_000_000, 100_000
_BYTES_RECEIVED = struct.Struct("=128xQ")  # tcpi_bytes_received in Linux's struct tcp_info
_MAX_REMEMBERED = 64
_DRAINED_AT_ONCE, _MAX_DRAINS = 65_536, 64
_NUMBERS = 2**32
_names = itertools.count()
T = TypeVar("T")


class _Connection(NamedTuple):
    inode: int
    since: float  # when it was accepted


class Connections:
    """Makes the router. Lives on the I/O thread. `ended` gets the descriptor of each connection that ended."""

    def __init__(self, reactor: Reactor, admission: Admission, name: str, ended: Callable[[int], None]) -> None:
        self._reactor, self._admission, self._name, self._tell = reactor, admission, name, ended
        self._open: Dict[int, _Connection] = {}  # by descriptor
        self._strangers: Dict[int, None] = {}  # the descriptors of those without a hello, oldest first
        self._refused: Set[int] = set()  # strangers whose hello was answered
        self._places: Set[Union[str, int]] = set()
        self._checking = False
        self._claimants: Deque[bytes] = collections.deque(maxlen=_MAX_REMEMBERED)
        self._put_back: Deque[List[zmq.Frame]] = collections.deque()
        _seed()
        self.router = reactor.socket(zmq.ROUTER)
        try:
            admission.guard(self.router, name)
            self._first = self._last = self._next_number()
            self._handle = Handle(int(self.router.getsockopt(zmq.FD)))
            self._monitor = Monitor(reactor, self.router, self._ended, self._accepted)
        except BaseException:
            reactor.close(self.router)
            raise

    def listen(self, where: str) -> str:
        """Listens, and returns the endpoint, with the port that the kernel chose for `tcp://…:*`.

        `tcp://*` listens on both families, or on IPv4 where the kernel has no IPv6. Raises zmq.ZMQError.
        """
        self.router.setsockopt(zmq.IPV6, where.startswith("tcp://*"))
        self.router.bind(where)
        endpoint = self.router.getsockopt_string(zmq.LAST_ENDPOINT).rstrip("\0")
        self._places.add(endpoint[6:] if endpoint.startswith("ipc://") else int(endpoint.rpartition(":")[2]))
        return endpoint

    def close(self, linger_ms: int) -> None:
        self._open.clear()
        self._strangers.clear()
        self._refused.clear()
        self._handle.close()
        self._monitor.close()
        self._reactor.close(self.router, linger_ms)

    def take(self) -> Optional[List[zmq.Frame]]:
        """Returns the next message: its first three parts at most. None: nothing is there."""
        parts = self._put_back.popleft() if self._put_back else receive(self.router, 2)
        if parts is not None:
            self._monitor.serve()  # so that the message's connection is known
        return parts

    def introduced(self, descriptor: int) -> None:
        """The connection is no stranger any more. From now on its owner cuts it."""
        self._strangers.pop(descriptor, None)

    def refused(self, descriptor: int) -> bool:
        """Refuses a stranger's hello. Returns whether to answer it: yes the first time; then the connection is cut."""
        if descriptor not in self._strangers or descriptor in self._refused:
            self.reject(descriptor)
            return False
        self._refused.add(descriptor)
        return True

    def reject(self, descriptor: int) -> None:
        """Cuts a stranger. By now the descriptor may belong to a later connection: one with a hello stays."""
        if descriptor in self._strangers:
            self.cut(descriptor)

    def claims(self, peer: bytes) -> bool:
        """Returns whether this routing id is a number that libzmq has not given out yet."""
        if len(peer) != 5 or peer[0] != 0:
            return False
        ahead = (int.from_bytes(peer[1:], "big") - self._first) % _NUMBERS
        if ahead > (self._last - self._first) % _NUMBERS and peer not in self._claimants:
            self._last = self._next_number()
            if ahead > (self._last - self._first) % _NUMBERS:
                self._claimants.append(peer)
        return peer in self._claimants

    def distrust(self, descriptor: int) -> None:
        """Cuts the connection and lets its address wait. Local peers have no address."""
        address = self._ask(descriptor, lambda its: "" if its.family == socket.AF_UNIX else str(its.getpeername()[0]))
        if address:
            self._admission.withhold(self._name, address)
        self.cut(descriptor)

    def cut(self, descriptor: int) -> None:
        """Ends the connection, if it still exists.

        Throws away what the kernel still holds of it: libzmq would pass all of it on, and that may be 70,000 frames.
        """
        self._strangers.pop(descriptor, None)
        self._refused.discard(descriptor)

        def end(its: socket.socket) -> None:
            its.shutdown(socket.SHUT_RDWR)
            for _ in range(_MAX_DRAINS):
                if not its.recv(_DRAINED_AT_ONCE, socket.MSG_DONTWAIT):
                    break

        self._ask(descriptor, end)

    def owner(self, descriptor: int) -> str:
        """Returns whose connection it is: an address or a local process. Empty when it is gone."""

        def look(its: socket.socket) -> str:
            if its.family != socket.AF_UNIX:
                return client_of(str(its.getpeername()[0]))
            pid, uid, _ = struct.unpack("3i", its.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
            return f"{uid}:{pid}"

        return self._ask(descriptor, look) or ""

    def _ask(self, descriptor: int, what: Callable[[socket.socket], T]) -> Optional[T]:
        """Returns `what` of a connection of this router; None when it has ended."""

        def ask(its: socket.socket) -> Optional[T]:
            over_tcp = its.family in (socket.AF_INET, socket.AF_INET6)
            local = its.getsockname() if over_tcp or its.family == socket.AF_UNIX else ""
            return what(its) if (local[1] if over_tcp else local) in self._places else None

        known = self._open.get(descriptor)
        return None if known is None else self._handle.ask(descriptor, known.inode, ask)

    def _next_number(self) -> int:
        """Returns the number that libzmq gives to a connection of our own."""
        where, mark = f"inproc://number-{next(_names)}", os.urandom(16)
        own = self._reactor.socket(zmq.DEALER)
        try:
            self.router.bind(where)
            own.connect(where)
            own.send(mark, zmq.NOBLOCK)
            while True:
                parts = receive(self.router, 2)
                assert parts is not None, "what was sent over inproc is there"
                if parts[-1].bytes == mark:
                    return int.from_bytes(parts[0].bytes[1:], "big")
                self._put_back.append(parts)
        finally:
            self.router.unbind(where)
            self._reactor.close(own)

    def _accepted(self, descriptor: int) -> None:
        inode = file_of(descriptor)
        if inode is None:
            return  # it has ended already
        # The inode may be that of a later file. Then one of the monitor's next events is the end of this connection.
        self._open[descriptor] = _Connection(inode, time.monotonic())
        self._strangers[descriptor] = None
        if len(self._strangers) == _MAX_STRANGERS + 1:
            self._reactor.post(self._cut_oldest)  # later: after all events up to now, each inode is right
        if not self._checking:
            self._checking = True
            self._reactor.after(_CHECK_S, self._check)

    def _cut_oldest(self) -> None:
        while len(self._strangers) > _MAX_STRANGERS:
            self.cut(next(iter(self._strangers)))

    def _ended(self, descriptor: int) -> None:
        self._open.pop(descriptor, None)
        self._strangers.pop(descriptor, None)
        self._refused.discard(descriptor)
        self._tell(descriptor)

    def _check(self) -> None:
        now = time.monotonic()
        for descriptor, (_, since) in list(self._open.items()):
            late = descriptor in self._strangers and now - since >= _HELLO_WITHIN_S
            if late or self._received(descriptor) > _BYTES_AT_ONCE + _BYTES_PER_SECOND * (now - since):
                self.cut(descriptor)
        self._checking = bool(self._open)
        if self._checking:
            self._reactor.after(_CHECK_S, self._check)

    def _received(self, descriptor: int) -> int:
        """Returns the bytes received over tcp; 0 over ipc."""

        def look(its: socket.socket) -> int:
            if its.family == socket.AF_UNIX:
                return 0
            told = its.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _BYTES_RECEIVED.size)
            return int(_BYTES_RECEIVED.unpack(told.ljust(_BYTES_RECEIVED.size, b"\0"))[0])

        return self._ask(descriptor, look) or 0


def _seed() -> None:
    """Seeds C's rand(), for the whole process. A ROUTER draws its first number when it is made."""
    ctypes.CDLL(None).srand(ctypes.c_uint(int.from_bytes(os.urandom(4), "little")))
