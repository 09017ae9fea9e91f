"""One attempt at a link from a subscription to one endpoint of its publication: a DEALER and its one connection."""

from __future__ import annotations

import time
from typing import Callable, Optional

import zmq

from . import link
from .identity import Id
from .monitor import Monitor
from .reactor import Reactor, receive

_HELLO_EVERY_S = 1.0
_BATCH = 256
LARGEST_FRAME = 1 << 30  # libzmq's limit is set before the connection is made, for all of its frames


class SubscriberLink:
    """Lives on the I/O thread. Calls its owner's `welcomed()`, `refused()`, `ended()`, and `sample(frame, header)`.

    At `ended()` the connection is gone, all samples that arrived over it have been passed on, and the link is closed.
    """

    def __init__(
        self,
        reactor: Reactor,
        publication: Id,
        subscription: Id,
        secret: int,
        depth: int,
        address: str,
        newest: Callable[[], int],
        welcomed: Callable[[SubscriberLink], None],
        refused: Callable[[SubscriberLink], None],
        ended: Callable[[SubscriberLink], None],
        sample: Callable[[SubscriberLink, zmq.Frame, link.SampleHeader], None],
        malformed: Callable[[], None],
    ) -> None:
        self.publication = publication
        self.since = time.monotonic()
        self.welcome = False
        self.newest = 0  # sequence of the publication at its welcome
        self._reactor, self._subscription, self._secret = reactor, subscription, secret
        self._depth, self._received_newest = depth, newest
        self._welcomed, self._refused, self._ended = welcomed, refused, ended
        self._sample, self._malformed = sample, malformed
        self._said = 0.0
        self._lost = False
        self._socket: Optional[zmq.Socket[bytes]] = reactor.socket(zmq.DEALER)
        self._socket.setsockopt(zmq.RCVHWM, 2 if depth == 0 else 64)
        self._socket.setsockopt(zmq.SNDHWM, 4)
        self._socket.setsockopt(zmq.MAXMSGSIZE, LARGEST_FRAME)
        self._socket.setsockopt(zmq.RECONNECT_IVL, 300)
        self._socket.setsockopt(zmq.TCP_KEEPALIVE, 1)
        self._socket.setsockopt(zmq.TCP_KEEPALIVE_IDLE, 5)
        self._socket.setsockopt(zmq.TCP_KEEPALIVE_INTVL, 1)
        self._socket.setsockopt(zmq.TCP_KEEPALIVE_CNT, 5)
        self._socket.setsockopt(zmq.IPV6, "[" in address)
        self._monitor = Monitor(reactor, self._socket, self._connection_ended)
        self._socket.connect(address)
        self._hello()
        reactor.watch(self._socket, self._serve)

    def close(self, goodbye: bool = False) -> None:
        socket, self._socket = self._socket, None
        if socket is None:
            return
        self._monitor.close()
        if goodbye:
            self._say(socket, link.GOODBYE)
        self._reactor.close(socket, 100 if goodbye else 0)

    def tick(self, now: float) -> None:
        """Repeats the hello while nothing arrives, about once a second."""
        if now - self._said >= _HELLO_EVERY_S:
            self._hello()

    def finish(self) -> None:
        """Passes on what has arrived, and closes the link."""
        self._serve()
        self.close(goodbye=True)

    def _hello(self) -> None:
        if self._socket is not None:
            self._said = time.monotonic()
            self._say(self._socket, link.HELLO)
            self._reactor.post(self._serve)

    def _say(self, socket: zmq.Socket[bytes], kind: int) -> None:
        said = (self._depth, self._received_newest(), self._secret) if kind == link.HELLO else (0, 0, 0)
        try:
            message = link.LinkMessage(kind, self.publication, self._subscription, *said)
            socket.send(link.pack_link(message), zmq.NOBLOCK)
        except zmq.Again:
            pass  # an earlier one is on its way

    def _connection_ended(self, _: int = -1) -> None:
        self._lost = True
        self._serve()

    def _serve(self) -> None:
        for _ in range(_BATCH):
            parts = receive(self._socket, 1) if self._socket is not None else None
            if parts is None:
                break
            self._said = time.monotonic()
            if len(parts) == 1:
                self._received(parts[0])
            else:
                self._malformed()
        else:
            self._reactor.post(self._serve)
            return
        if self._lost and self._socket is not None:
            self.close()
            self._ended(self)

    def _received(self, frame: zmq.Frame) -> None:
        header = link.unpack_header(frame.buffer)
        if header is not None and header.sequence > 0 and self.welcome:
            self._sample(self, frame, header)
            return
        message = link.unpack_link(frame.buffer) if header is not None else None
        if message is None or (message.publication, message.subscription) != (self.publication, self._subscription):
            self._malformed()
        elif message.kind == link.WELCOME:
            first, self.welcome = not self.welcome, True
            self.newest = message.newest if first else self.newest
            if first:
                self._welcomed(self)
        elif message.kind == link.REFUSED:
            self.close()
            self._refused(self)
        elif message.kind == link.GOODBYE:
            self._connection_ended()
        else:
            self._malformed()
