"""Reports the connections of a ZeroMQ socket that were accepted and that ended: libzmq reconnects without a word."""

from __future__ import annotations

import struct
from typing import Callable, Optional

import zmq

from .reactor import Reactor

# Plain ints, and neither recv_multipart nor parse_monitor_message: strangers can cause thousands of events per second.
_ACCEPTED, _DISCONNECTED = int(zmq.EVENT_ACCEPTED), int(zmq.EVENT_DISCONNECTED)
_ENDED = _DISCONNECTED | int(zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL) | int(zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL)
_EVENT = struct.Struct("=Hi")


class Monitor:
    """Calls `accepted` and `ended` on the I/O thread, where this object belongs as well, with the connection's
    descriptor. It is libzmq's, and may be that of another file when it has ended. A connection whose handshake failed
    may end twice, once with -1.
    """

    def __init__(
        self,
        reactor: Reactor,
        socket: zmq.Socket[bytes],
        ended: Callable[[int], None],
        accepted: Optional[Callable[[int], None]] = None,
    ) -> None:
        self._reactor = reactor
        self._ended, self._accepted = ended, accepted
        self._watched = socket
        address = f"inproc://monitor-{id(self)}-{int(socket.getsockopt(zmq.FD))}"
        socket.monitor(address, _ENDED if accepted is None else _ENDED | _ACCEPTED)
        self._events = reactor.socket(zmq.PAIR)
        self._events.setsockopt(zmq.RCVHWM, 0)  # libzmq's thread waits for room, with a lock that close() needs
        self._events.connect(address)
        reactor.watch(self._events, self.serve)

    def close(self) -> None:
        """Before the socket that is watched is closed."""
        if not self._events.closed:
            self._watched.disable_monitor()
            self._reactor.close(self._events)

    def serve(self) -> None:
        """Reports what has happened up to now."""
        while not self._events.closed:
            try:
                event, value = _EVENT.unpack(self._events.recv(zmq.NOBLOCK))
                self._events.recv(zmq.NOBLOCK)  # the second part, which names the endpoint
            except zmq.Again:
                return
            if event == _ACCEPTED and self._accepted is not None:
                self._accepted(value)
            elif event & _ENDED:
                self._ended(value if event == _DISCONNECTED else -1)
