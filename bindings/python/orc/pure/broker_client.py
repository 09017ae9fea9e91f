"""Asks the address broker without being a participant: one question at a time.

It repeats the question until the broker answers, over a new connection or at another endpoint when the first is lost.
"""

from __future__ import annotations

import contextlib
import os
import select
import time
import weakref
from typing import List, Optional

import zmq

from .._errors import BadArgument, Closed, Forked
from . import endpoints, messages, wire
from .reactor import receive

_PATIENCE_S = 0.3  # for one candidate, when there are others; twice as long in each further round
_MAX_PATIENCE_S = 1.0
_SILENCE_S = 3.0  # a broker with an open question that is silent for longer is lost
_MAX_MESSAGES = 256  # of one step: a broker that floods must not keep the caller
_NAP_S = 0.05


class BrokerClient:
    """Not thread-safe, except `wait`. `step` looks up host names, which may take as long as the resolver needs."""

    def __init__(self, broker: str) -> None:
        if (broker or os.environ.get("ORC_BROKER")) == "none":
            raise BadArgument('only a broker knows that, and "none" (ORC_BROKER) means to do without one')
        for endpoint in endpoints.named_brokers(broker):
            if problem := endpoints.endpoint_problem(endpoint):
                raise BadArgument(f"the broker's endpoint {problem}")
        self._pid = os.getpid()
        self._candidates = endpoints.broker_candidates(broker)
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context(1)
        self._epoll = select.epoll()
        self._socket: Optional[zmq.Socket[bytes]] = None
        # The collector forgets a context's sockets before it ends the context, which then waits for them for ever.
        self._held: List[zmq.Socket[bytes]] = []  # the socket, if there is one
        weakref.finalize(self, _end, self._pid, self._context, self._held).atexit = False
        self._ways: List[str] = []  # to try in this round
        self._alone = False
        self._patience_s = _PATIENCE_S
        self._until = 0.0  # the current candidate has time until then
        self._question: Optional[messages.Body] = None
        self._again_s = 1.0
        self._request = 0
        self._send_at = 0.0
        self._heard = 0.0
        self._trying = ""
        self._unread = False  # the broker sent more than a step receives
        self.up = False
        self.endpoint = ""
        self.version = ""

    def usable(self) -> None:
        if os.getpid() != self._pid:
            raise Forked()
        if self._context.closed:
            raise Closed()

    @property
    def asking(self) -> bool:
        return self._question is not None

    def ask(self, question: messages.Body, again_s: float) -> None:
        """Replaces a question without an answer. Repeats this one whenever it has no answer after `again_s`."""
        self._question, self._again_s = question, again_s
        self._request += 1
        self._send_at = 0.0
        self._heard = max(self._heard, time.monotonic())

    def step(self) -> Optional[messages.Body]:
        """Receives and sends what is due. Returns the answer to the question, once."""
        now = time.monotonic()
        if self.up and not self._connected():
            self._lose()
        if not self.up and now >= self._until:
            self._connect(now)
        answer = self._receive(now)
        while self._send(now):  # a send may swallow the event of a message that came
            answer = self._receive(now) or answer
        if self.up and self.asking and now - self._heard > self._again_s + _SILENCE_S:
            self._lose()
        return answer

    def why_silent(self) -> str:
        if self.up:
            return f"the broker at {self.endpoint} did not answer in time"
        return f"no broker answers at {', '.join(self._candidates)}: start one with orc-broker, or set ORC_BROKER"

    def fileno(self) -> int:
        return self._epoll.fileno()

    def wait(self, seconds: Optional[float]) -> None:
        """Waits until `step` may have something to do; never for long, because each candidate has a time."""
        with contextlib.suppress(ValueError, OSError):  # closed by another thread
            longest = 0 if self._unread else _NAP_S
            self._epoll.poll(longest if seconds is None else min(max(seconds, 0), longest))

    def close(self) -> None:
        if os.getpid() == self._pid and not self._context.closed:
            self._epoll.close()
            _end(self._pid, self._context, self._held)
            self.up = False

    def _connected(self) -> bool:
        assert self._socket is not None
        return bool(int(self._socket.getsockopt(zmq.EVENTS)) & zmq.POLLOUT)

    def _lose(self) -> None:
        self.up = False
        self._ways, self._patience_s, self._until = [], _PATIENCE_S, 0.0
        self._disconnect()

    def _disconnect(self) -> None:
        if self._socket is not None:
            self._epoll.unregister(int(self._socket.getsockopt(zmq.FD)))
            self._socket.close(0)
            self._socket = None
            self._held.clear()

    def _connect(self, now: float) -> None:
        """Connects to the next candidate. Stays at the only one, where libzmq goes on trying."""
        if not self._ways:
            self._ways = [way for each in self._candidates for way in endpoints.numeric_endpoints(each)]
            self._alone = len(self._ways) == 1
            if self._alone and self._socket is not None and self._trying == self._ways[0]:
                self._ways, self._until = [], now + _MAX_PATIENCE_S
                return
            self._patience_s = min(2 * self._patience_s, _MAX_PATIENCE_S)
        self._until = now + _NAP_S
        while self._ways:
            way = self._ways.pop(0)
            if self._alone or not endpoints.is_near(way) or endpoints.answers(way):
                self._until = now + self._patience_s
                self._try(way)
                return

    def _try(self, way: str) -> None:
        self._disconnect()
        made: zmq.Socket[bytes] = self._context.socket(zmq.DEALER)
        made.linger = 0
        made.setsockopt(zmq.PROBE_ROUTER, 1)
        made.setsockopt(zmq.IMMEDIATE, 1)
        made.setsockopt(zmq.MAXMSGSIZE, wire.MAX_FRAME)
        made.setsockopt(zmq.RECONNECT_IVL, 50)
        made.setsockopt(zmq.RECONNECT_IVL_MAX, 500)
        made.setsockopt(zmq.HEARTBEAT_IVL, 1_000)
        made.setsockopt(zmq.HEARTBEAT_TIMEOUT, 3_000)
        made.setsockopt(zmq.IPV6, "[" in way)
        try:
            made.connect(way)
        except zmq.ZMQError as error:
            made.close(0)
            raise BadArgument(f"{way} is no endpoint of a broker: {error}") from None
        self._epoll.register(int(made.getsockopt(zmq.FD)), select.EPOLLIN)
        self._socket, self._trying = made, way
        self._held.append(made)

    def _receive(self, now: float) -> Optional[messages.Body]:
        answer: Optional[messages.Body] = None
        self._unread = True
        for _ in range(_MAX_MESSAGES):
            parts = receive(self._socket, 1) if self._socket is not None else None
            if parts is None:
                self._unread = False
                break
            try:
                envelope = wire.decode(parts[0].bytes)
            except wire.Malformed:
                continue
            self._heard = now
            if isinstance(envelope.body, messages.Welcome):
                self.up, self.endpoint, self.version = True, self._trying, envelope.body.version
                self._send_at = 0.0
            elif self.asking and envelope.request == self._request:
                self._question, answer = None, envelope.body
        return answer

    def _send(self, now: float) -> bool:
        """Returns True if it sent something."""
        if not self.up or self._question is None or self._socket is None or now < self._send_at:
            return False
        self._request += 1
        try:
            self._socket.send(wire.encode(messages.Envelope(self._request, self._question)), zmq.NOBLOCK)
        except zmq.Again:
            self._send_at = now + _NAP_S
            return False
        self._send_at = now + self._again_s
        return True


def _end(process: int, context: zmq.Context[zmq.Socket[bytes]], sockets: List[zmq.Socket[bytes]]) -> None:
    if os.getpid() == process and not context.closed:
        for socket in sockets:
            socket.close(0)
        context.destroy(0)
