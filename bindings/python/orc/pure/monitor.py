"""Reports the connections of a ZeroMQ socket that were accepted and that ended: libzmq reconnects without a word."""

from __future__ import annotations

from typing import Callable, Optional

import zmq
from zmq.utils.monitor import parse_monitor_message

from .reactor import Reactor

_ENDED = zmq.EVENT_DISCONNECTED | zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL


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
        socket.monitor(address, _ENDED if accepted is None else _ENDED | zmq.EVENT_ACCEPTED)
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
                event = parse_monitor_message(self._events.recv_multipart(zmq.NOBLOCK))
            except zmq.Again:
                return
            if event["event"] == zmq.EVENT_ACCEPTED and self._accepted is not None:
                self._accepted(event["value"])
            elif event["event"] & _ENDED:
                self._ended(event["value"] if event["event"] == zmq.EVENT_DISCONNECTED else -1)
