"""The control plane: one connection to the address broker, and all declarations to it (schemas/PROTOCOL.md).

A declaration is sent to every broker that welcomes the participant, after every reconnection, until it is withdrawn.
Everything runs on the I/O thread, except `broker_endpoint`.
"""

from __future__ import annotations

import itertools
import os
import threading
import time
from typing import Callable, Dict, List, Optional, Tuple, TypeVar

import zmq

from .._errors import Error, NameTaken, Refused
from . import endpoints, identity, messages, wire
from .announcement import Announcement
from .declared import Declared, DeclaredPublication, DeclaredSubscription
from .reactor import Reactor, receive
from .type_checks import TypeChecks
from .type_exchange import TypeExchange

Log = Callable[[str, str], object]
_ANSWER_S = 1.0
_TICK_S = 0.1
_LOOK_UP_S = 1.0
_PATIENCE_S = 0.3  # for one endpoint, when there are others; it doubles in each further round
_MAX_PATIENCE_S = 1.0
_PER_HEARTBEAT = 64  # counters in one frame, which stays far below the limit with their texts
_BATCH = 256
_UNKNOWN_PARTICIPANT = 3
_NAME_TAKEN = 4
_ID_TAKEN = 7
_HELLO_AGAIN_S = 1.0
_MAX_HELLO_AGAIN_S = 5.0
_ASK_AGAIN_S = 2.0  # for a name that another participant has


D = TypeVar("D", bound=Declared)


class Session:
    def __init__(self, reactor: Reactor, broker: str, name: str, log: Log) -> None:
        self._reactor = reactor
        self._log = log
        self._name = name
        self._candidates = endpoints.broker_candidates(broker)
        self._has_names = any(endpoints.is_name(each) for each in self._candidates)
        self._ways = [each for each in self._candidates if not endpoints.is_name(each)]  # numeric endpoints
        self._next = 0  # index into them
        self._patience_s = _PATIENCE_S
        self._numbers: Dict[str, List[str]] = {}  # the numeric endpoints of each candidate
        self._looking_up = False
        self._look_up_at = 0.0
        self._participant, self._secret = identity.draw_id(), identity.draw_id()
        self._requests = itertools.count(1)
        self._open: Dict[int, Tuple[float, Announcement]] = {}
        self._publications: Dict[str, DeclaredPublication] = {}
        self._subscriptions: Dict[str, DeclaredSubscription] = {}
        self._withdrawals: List[Announcement] = []
        self._types = TypeExchange()
        self._will_compare = False  # before the next tick
        self._hello = Announcement(self._compose_hello)
        self._refusal: Optional[Error] = None  # of the last Hello
        self._hello_again_s = 0.0
        self._socket: Optional[zmq.Socket[bytes]] = None
        self._trying = ""
        self._greeted = False
        self._epoch = 0
        self._heard = 0.0
        self._beat = 0.0
        self._heartbeat_s = 1.0
        self._lease_s = 3.0
        self._last_heartbeat = 0
        self._closed = False
        self.broker_endpoint = ""
        self.remote = False

    @property
    def checks(self) -> TypeChecks:
        return self._types.checks

    def start(self) -> None:
        self._tick()

    @property
    def offered_for(self) -> str:
        """The current broker, else the one that will be tried first."""
        return self._trying or self._candidates[0]

    def publish(self, publication: DeclaredPublication) -> None:
        self._publications[publication.topic] = publication
        publication.announcement.hinder(self._refusal)
        self._send_all()

    def subscribe(self, subscription: DeclaredSubscription) -> None:
        self._subscriptions[subscription.topic] = subscription
        subscription.announcement.hinder(self._refusal)
        self._send_all()

    def unpublish(self, publication: DeclaredPublication, withdrawal: Announcement) -> None:
        self._withdraw(self._publications, publication, withdrawal)

    def unsubscribe(self, subscription: DeclaredSubscription, withdrawal: Announcement) -> None:
        self._withdraw(self._subscriptions, subscription, withdrawal)

    def close(self) -> None:
        """Says goodbye: the broker forgets the participant at once."""
        self._closed = True
        if self._socket is not None:
            if self._greeted:
                self._send(messages.Goodbye())
            self._reactor.close(self._socket, 200)
            self._socket = None

    def _withdraw(self, declared: Dict[str, D], thing: D, withdrawal: Announcement) -> None:
        if declared.get(thing.topic) is thing:
            del declared[thing.topic]
        self._open = {n: entry for n, entry in self._open.items() if entry[1] is not thing.announcement}
        if thing.announcement.told:  # repeated until a broker answers, which may take a while
            self._withdrawals.append(withdrawal)
            self._send_all()

    # Connection

    def _tick(self) -> None:
        if self._closed:
            return
        self._reactor.after(_TICK_S, self._tick)
        now = time.monotonic()
        self._expire(now)
        if self._socket is None:
            self._look_for_broker(now)
        elif now - self._heard > self._lease_s + _ANSWER_S:
            self._disconnect()
        elif not self._greeted and not self._is_alone() and now - self._heard > self._patience_s:
            self._disconnect()
            self._look_for_broker(now)
        elif self._greeted and now >= self._beat:
            self._beat = now + self._heartbeat_s
            self._send_heartbeat()
        self._send_all()

    def _look_for_broker(self, now: float) -> None:
        self._look_up(now)
        found = self._next_way()
        if found is None:
            return
        socket = self._reactor.socket(zmq.DEALER)
        socket.setsockopt(zmq.PROBE_ROUTER, 1)
        socket.setsockopt(zmq.IMMEDIATE, 1)
        socket.setsockopt(zmq.MAXMSGSIZE, wire.MAX_FRAME)
        socket.setsockopt(zmq.RECONNECT_IVL, 50)
        socket.setsockopt(zmq.RECONNECT_IVL_MAX, 500)
        socket.setsockopt(zmq.IPV6, "[" in found)
        try:
            socket.connect(found)
        except zmq.ZMQError as error:
            self._reactor.close(socket)
            self._explain(Refused(f"{found} is no endpoint of a broker: {error}"))
            return
        self._socket, self._trying, self._heard = socket, found, now
        self._reactor.watch(socket, self._serve)

    def _is_alone(self) -> bool:
        return len(self._ways) == 1 and not self._has_names

    def _next_way(self) -> Optional[str]:
        """Returns the next endpoint. Other hosts are not probed, because that would delay streams: each gets a time."""
        if self._is_alone():
            return self._ways[0]
        for _ in self._ways:
            way = self._ways[self._next]
            self._next = (self._next + 1) % len(self._ways)
            if self._next == 0:
                self._patience_s = min(2 * self._patience_s, _MAX_PATIENCE_S)
            if not endpoints.is_near(way) or endpoints.answers(way):
                return way
        return None

    def _look_up(self, now: float) -> None:
        """Looks the names up, repeatedly, because addresses change. On a thread, because it may take seconds."""
        if not self._has_names or self._looking_up or now < self._look_up_at:
            return
        self._looking_up, self._look_up_at = True, now + _LOOK_UP_S

        def look_up() -> None:
            found = {each: endpoints.numeric_endpoints(each) for each in self._candidates}
            self._reactor.post(lambda: self._looked_up(found))

        try:
            threading.Thread(target=look_up, name="orc names", daemon=True).start()
        except RuntimeError:  # no thread can be started
            self._looking_up = False

    def _looked_up(self, found: Dict[str, List[str]]) -> None:
        self._looking_up = False
        # A name server may be away for longer than the broker: keep the known addresses.
        self._numbers.update({name: ways for name, ways in found.items() if ways})
        ways = [way for each in self._candidates for way in self._numbers.get(each, [])]
        if ways != self._ways:
            self._ways, self._next = ways, 0
        if not self._closed and self._socket is None:
            self._look_for_broker(time.monotonic())

    def _disconnect(self) -> None:
        assert self._socket is not None
        if self._greeted:
            self._log("warning", f"the address broker at {self._trying} does not answer; streams go on without it")
            self._next, self._patience_s = 0, _PATIENCE_S
        self._reactor.close(self._socket)
        self._socket, self._greeted, self._open = None, False, {}

    def _serve(self) -> None:
        for _ in range(_BATCH):
            parts = receive(self._socket, 1) if self._socket is not None else None
            if parts is None:
                self._send_all()
                return
            if len(parts) == 1:
                self._received(parts[0].bytes)
        self._reactor.post(self._serve)

    def _received(self, frame: bytes) -> None:
        try:
            envelope = wire.decode(frame)
        except wire.WrongVersion as error:
            self._explain(Refused(f"the broker at {self._trying} speaks another version: {error}"))
            return
        except wire.Malformed as error:
            self._log("debug", f"a frame of the broker at {self._trying} was dropped: {error}")
            return
        self._heard = time.monotonic()
        body = envelope.body
        if isinstance(body, messages.Probe):
            self._send(messages.Alive(), envelope.request)
        elif envelope.request != 0:
            self._answered(envelope.request, body)
        elif isinstance(body, messages.Welcome):
            self._welcomed(body)
            self._start_over()
        elif isinstance(body, messages.TypeMismatch):
            publication = self._publications.get(body.topic)
            if publication is not None and publication.described and (said := self._types.news_for_publisher(body)):
                self._log("warning", said)
        elif isinstance(body, messages.TopicState) and body.topic in self._subscriptions:
            self._subscriptions[body.topic].apply(body, pushed=True)

    def _answered(self, request: int, body: messages.Body) -> None:
        _, asked = self._open.pop(request, (0.0, None))
        if asked is None and (said := self._types.answered(request, body)):
            self._log("warning", said)
        if isinstance(body, messages.Error):
            if body.code == _UNKNOWN_PARTICIPANT:
                if not self._hello.settled_badly and (asked is not None or request == self._last_heartbeat):
                    self._log("error", f"the broker at {self._trying} ended this session ({body.text}); it starts anew")
                    self._start_over()
            elif asked is not None:
                self._refused(asked, body)
        elif asked is not None:
            if isinstance(body, messages.Welcome):
                self._welcomed(body)
                self._hello_again_s = 0.0
            elif self._is_too_old(asked, body):
                asked.refused(Refused(f"the broker at {self._trying} is too old for shared topics: update it"))
                return
            elif isinstance(body, messages.TopicState) and body.lacks_schema:
                self._types.lacks_schema(next(each for each in self._topics() if each.announcement is asked))
            asked.confirmed(body)

    def _is_too_old(self, asked: Announcement, body: messages.Body) -> bool:
        """Whether the broker took a shared topic for an exclusive one."""
        if not isinstance(body, messages.TopicState) or body.shared:
            return False
        return any(each.shared and each.announcement is asked for each in self._publications.values())

    def _refused(self, asked: Announcement, body: messages.Error) -> None:
        error: Error = NameTaken(body.text) if body.code == _NAME_TAKEN else Refused(body.text)
        if body.code == _NAME_TAKEN and asked is not self._hello and asked not in self._withdrawals:
            known = asked.lost_to == body.text
            if asked.taken(error):
                self._reactor.after(_ASK_AGAIN_S, lambda: asked.reopen(error))
            if known:
                return
        else:
            asked.refused(error)
        if asked is self._hello:
            self._hello_refused(error, body.code)
        elif asked not in self._withdrawals:
            self._log("warning", body.text)

    def _hello_refused(self, error: Error, code: int) -> None:
        """Set-up calls report it at once. The first time it says Hello again at once under a new id, else later."""
        again_s = self._hello_again_s
        if code == _ID_TAKEN:
            self._participant, self._secret = identity.draw_id(), identity.draw_id()
        else:
            again_s = max(again_s, _HELLO_AGAIN_S)
        text = f"the broker at {self._trying} refused this participant: {error}"
        self._log("error", text)
        if again_s > 0:
            self._hinder(Refused(f"{text}; the declaration stays and takes effect when it is accepted"))
        self._hello_again_s = min(max(2 * again_s, _HELLO_AGAIN_S), _MAX_HELLO_AGAIN_S)
        refused = self._hello
        self._reactor.after(again_s, lambda: self._start_over() if self._hello is refused else None)

    def _hinder(self, why: Optional[Error]) -> None:
        self._refusal = why
        for thing in self._declared():
            thing.hinder(why)

    def _explain(self, error: Error) -> None:
        self._log("error", str(error))
        for thing in self._declared():
            thing.explain(error)

    def _welcomed(self, body: messages.Welcome) -> None:
        if body.epoch != self._epoch:
            self._withdrawals.clear()
            self._log("info", f"broker at {self._trying}, {body.version or 'unnamed'}")
        self._epoch, self.remote, self.broker_endpoint = body.epoch, body.remote, self._trying
        self._heartbeat_s = min(max(body.heartbeat_ms, 50), 60_000) / 1000
        self._lease_s = min(max(body.lease_ms, 100), 600_000) / 1000

    def _start_over(self) -> None:
        """Says Hello and declares everything again: on a new connection, to a new broker, or when one forgot us."""
        if self._closed or self._socket is None:
            return
        self._greeted = True
        self._beat = time.monotonic() + self._heartbeat_s / 4
        self._open.clear()
        self._types.begin_again()
        self._hello = Announcement(self._compose_hello)
        self._hinder(None)
        for thing in self._declared():
            thing.again()
        self._send_all()

    # Sending

    def _declared(self) -> List[Announcement]:
        return [thing.announcement for thing in self._topics()] + self._withdrawals

    def _topics(self) -> List[Declared]:
        return [*self._publications.values(), *self._subscriptions.values()]

    def _expire(self, now: float) -> None:
        for request, (deadline, asked) in list(self._open.items()):
            if now > deadline:
                del self._open[request]
                asked.expired()
        self._withdrawals = [w for w in self._withdrawals if not w.settled]

    def _send_all(self) -> None:
        """Sends Hello, withdrawals, declarations, in this order. Stops when the connection takes no more."""
        if not self._greeted or self._closed or self._hello.settled_badly:
            return
        declared = self._declared()
        for asked in [self._hello, *self._withdrawals, *declared]:
            if asked.unsent:
                try:
                    request = self._send(asked.compose())
                except Exception as error:
                    self._unspeakable(asked, error)
                    continue
                if request == 0:
                    return
                self._open[request] = (time.monotonic() + _ANSWER_S, asked)
                asked.sent()
        parts = [part for each in self._subscriptions.values() for part in (each, *each.parts)]
        has_more = self._types.step(self._topics(), parts, self._send, self._log)
        if has_more and not self._will_compare and (rest_s := self._types.rest_s) < _TICK_S:
            self._will_compare = True
            self._reactor.after(rest_s, self._go_on_comparing)

    def _go_on_comparing(self) -> None:
        self._will_compare = False
        self._send_all()

    def _unspeakable(self, asked: Announcement, error: Exception) -> None:
        """Refuses one declaration that cannot be encoded. The others are sent."""
        asked.refused(error if isinstance(error, Error) else Refused(f"{type(error).__name__}: {error}"))
        self._log("error", f"the broker cannot be told: {error}")

    def _send(self, body: messages.Body, request: int = 0) -> int:
        """Sends a message. Returns its request id; 0 when it could not be sent."""
        if self._socket is None:
            return 0
        request = request or next(self._requests)
        try:
            self._socket.send(wire.encode(messages.Envelope(request, body)), zmq.NOBLOCK)
        except zmq.Again:
            return 0
        self._reactor.post(self._serve)
        return request

    def _send_heartbeat(self) -> None:
        publications = [p.counters() for p in list(self._publications.values())]
        subscriptions = [s.counters() for s in list(self._subscriptions.values())]
        while True:
            part = messages.Heartbeat(publications[:_PER_HEARTBEAT], subscriptions[:_PER_HEARTBEAT])
            try:
                self._last_heartbeat = self._send(part)
            except Exception as error:  # without a heartbeat the lease would end
                self._log("error", f"counters cannot be told: {error}")
                self._last_heartbeat = self._send(messages.Heartbeat([], []))
            publications, subscriptions = publications[_PER_HEARTBEAT:], subscriptions[_PER_HEARTBEAT:]
            if not publications and not subscriptions:
                return

    def _compose_hello(self) -> messages.Hello:
        return messages.Hello(
            self._participant,
            self._name,
            identity.host_identity(),
            os.getpid(),
            identity.start_time(),
            "orc.pure",
            self._secret,
        )
