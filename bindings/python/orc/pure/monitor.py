"""Reports accepted and ended connections of a ZeroMQ socket, because libzmq reconnects without a notice."""

from __future__ import annotations

import struct
from typing import Callable, Optional

import zmq

from .reactor import Reactor

# Plain ints, without recv_multipart and parse_monitor_message: strangers can cause thousands of events per second.
_ACCEPTED, _DISCONNECTED = int(zmq.EVENT_ACCEPTED), int(zmq.EVENT_DISCONNECTED)
_ENDED = _DISCONNECTED | int(zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL) | int(zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL)
_EVENT = struct.Struct("=Hi")


class Monitor:
    """Lives on the I/O thread. Calls `accepted` and `ended` there, with the connection's descriptor.

    The descriptor is libzmq's. After the end of the connection it may belong to another file. A connection whose
    handshake failed may end twice, once with -1.
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
        self._events.setsockopt(zmq.RCVHWM, 0)  # else libzmq's thread waits for room, with a lock that close() needs
        self._events.connect(address)
        reactor.watch(self._events, self.serve)

    def close(self) -> None:
        """Stops reporting. Call it before the watched socket is closed."""
        if not self._events.closed:
            self._watched.disable_monitor()
            self._reactor.close(self._events)

    def serve(self) -> None:
        """Reports all events up to now."""
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
