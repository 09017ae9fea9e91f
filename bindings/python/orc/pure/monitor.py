"""Tells when connections of a ZeroMQ socket end: libzmq reconnects without a word otherwise."""

from __future__ import annotations

from typing import Callable

import zmq
from zmq.utils.monitor import parse_monitor_message

from .reactor import Reactor

_ENDED = zmq.EVENT_DISCONNECTED | zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL


class Monitor:
    """Calls `ended` on the I/O thread, where this object belongs as well, once for each connection that ended."""

    def __init__(self, reactor: Reactor, socket: zmq.Socket[bytes], ended: Callable[[], None]) -> None:
        self._reactor = reactor
        self._ended = ended
        self._watched = socket
        address = f"inproc://monitor-{id(self)}-{int(socket.getsockopt(zmq.FD))}"
        socket.monitor(address, _ENDED)
        self._events = reactor.socket(zmq.PAIR)
        self._events.connect(address)
        reactor.watch(self._events, self._serve)

    def close(self) -> None:
        """Before the socket that is watched is closed."""
        if not self._events.closed:
            self._watched.disable_monitor()
            self._reactor.close(self._events)

    def _serve(self) -> None:
        while not self._events.closed:
            try:
                event = parse_monitor_message(self._events.recv_multipart(zmq.NOBLOCK))
            except zmq.Again:
                return
            if event["event"] & _ENDED:
                self._ended()
