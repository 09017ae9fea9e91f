"""The connection to the address broker: finds it, finds it again, asks until it answers (schemas/PROTOCOL.md)."""

from __future__ import annotations

import functools
import itertools
import math
import os
import threading
import time
from typing import Any, Dict, List, Optional

from .._errors import Closed, Error, Forked, Refused
from . import endpoints, messages, wire
from .connection import Connection, connect
from .link import Frame
from .reactor import Log, Reactor

_PATIENCE_S, _MAX_PATIENCE_S = 0.3, 1.0  # for one endpoint; it doubles in each further round
# More for a broker that has taken the connection, and may be behind a slow network, when there is no other. When there
# are others: the greatest patience.
_SILENCE_S = 3.0
_TICK_S = _AGAIN_S = 0.1
_LOOK_UP_S = 1.0
_LOOK_BACK_S = 1.0  # between two attempts at an earlier candidate


class Question:
    """What the broker is asked, from `due` on, every `again_s`, until it answers."""

    due = math.inf
    again_s = 1.0
    request = 0  # the last one
    leaves = False  # a withdrawal: it goes first, and always under the same request id

    def compose(self) -> messages.Body:
        """Called when it is sent."""
        raise NotImplementedError

    def answered(self, body: Any) -> None:
        raise NotImplementedError

    def failed(self, error: Exception) -> None:
        """It cannot be encoded, or the broker cannot be spoken with."""


class BrokerLink(Question):
    """An I/O thread and its connection to the broker, with a question of its own. Other threads take `usable`.

    The I/O thread begins in the constructor: a subclass sets its members before.
    """

    closed_text: Optional[str] = None

    def __init__(self, name: str, named: str, log: Log) -> None:
        self.candidates = endpoints.broker_candidates(named)
        self.questions: List[Question] = [self]
        self.up = False
        self.endpoint = self.candidates[0]  # of the broker, or the one that is tried
        self.lease_s = 3.0  # a broker that answers nothing for so long is lost
        self.closed = False  # for the program
        self.log = log
        self._unanswered_since = math.inf
        self._is_searched = not endpoints.named_brokers(named)
        self._numbers: Dict[str, List[str]] = {each: [each] for each in self.candidates if not endpoints.is_name(each)}
        self._has_names = len(self._numbers) < len(set(self.candidates))
        self._looking_up = self._has_left = False
        self._look_up_at = self._again_at = self._until = 0.0
        self._next = 0
        self._patience_s = _PATIENCE_S
        self._requests = itertools.count(1)
        self._connection: Optional[Connection] = None
        self._earlier: Optional[Connection] = None  # to a candidate before the one that answers
        self._look_back_at, self._next_earlier = 0.0, 0
        self._pid = os.getpid()
        self.reactor = Reactor(name, log)
        self.reactor.post(self._tick)

    def not_forked(self) -> None:
        if os.getpid() != self._pid:
            raise Forked()

    def usable(self) -> None:
        self.not_forked()
        if self.closed:
            raise Closed(self.closed_text)

    def pushed(self, body: Any) -> None:
        """The broker says this unasked: a Welcome first."""

    def heard(self, asked: Optional[Question], body: Any) -> None:
        """The broker answers. None: a question that is not asked any more."""
        if asked is not None:
            asked.answered(body)

    def lost(self) -> None:
        """The connection has ended after a Welcome."""

    def farewell(self, welcome: Any) -> None:
        """An earlier candidate answers with this Welcome: the present broker is left."""

    def may_ask(self, question: Question) -> bool:
        return True

    def _tick(self) -> None:
        self.reactor.after(_TICK_S, self._tick)
        self.tick(time.monotonic())

    def tick(self, now: float) -> None:
        its = self._connection
        if self.up and now - self._unanswered_since > self.lease_s:
            self.lose()
        elif its is not None and not self.up:
            more_s = _MAX_PATIENCE_S if len(self._addresses()) > 1 else _SILENCE_S
            if now >= self._until + (more_s if its.is_reached else 0):
                self.lose()
        if self._connection is None and not self._has_left and now >= self._again_at:
            self._again_at = now + _AGAIN_S
            self._connect(now)
        elif self.up and now >= self._look_back_at:
            self._look_back_at = now + _LOOK_BACK_S
            self._look_back()
        self.ask_all()

    def ask(self, question: Question, after_s: float = 0.0) -> None:
        question.due = time.monotonic() + after_s
        if question not in self.questions:
            self.questions.append(question)
        self.ask_all()

    def ask_all(self) -> None:
        """Sends what is due. Stops when the connection takes no more."""
        now = time.monotonic()
        for asked in sorted(self.questions, key=lambda each: not each.leaves):
            if now < asked.due or not self.may_ask(asked):
                continue
            if not self._can_send():
                return
            try:
                asked.request = self.send(asked.compose(), asked.request if asked.leaves else 0)
                asked.due = now + asked.again_s
            except Exception as error:  # the others are sent
                asked.due = math.inf
                self.log("error", f"the broker cannot be told: {error}")
                asked.failed(error)

    def send(self, body: messages.Body, request: int = 0) -> int:
        """Sends a message. Returns its request id; 0: the broker takes none now. Raises Malformed."""
        request = request or next(self._requests)
        frame = wire.encode(messages.Envelope(request, body))
        if self._connection is None or not self._can_send():
            return 0
        self._connection.send(frame)
        self._unanswered_since = min(self._unanswered_since, time.monotonic())
        return request

    def lose(self, why: str = "") -> None:
        """Leaves the broker, which is silent or gone, and looks for another."""
        self._drop_earlier()
        its, self._connection = self._connection, None
        if its is not None:
            its.close()
        self._unanswered_since = math.inf
        if self.up:
            self.up, self._next, self._patience_s, self._again_at = False, 0, _PATIENCE_S, 0.0
            for each in self.questions:
                each.due = 0.0 if each.due < math.inf else math.inf
            self.lost()

    def leave(self) -> None:
        self._has_left, self.up = True, False
        self._drop_earlier()
        if self._connection is not None:
            self._connection.close()

    def _can_send(self) -> bool:
        return self._connection is not None and self.up and self._connection.idle

    def _addresses(self) -> List[str]:
        return [address for each in self.candidates for address in self._numbers.get(each, [])]

    def _connect(self, now: float) -> None:
        if self._has_names and not self._looking_up and now >= self._look_up_at:
            self._looking_up, self._look_up_at = True, now + _LOOK_UP_S
            threading.Thread(target=self._look_up, name="orc names", daemon=True).start()
        addresses = self._addresses()
        for _ in addresses:
            address = addresses[self._next % len(addresses)]
            self._next = (self._next + 1) % len(addresses)
            if self._next == 0:
                self._patience_s = min(2 * self._patience_s, _MAX_PATIENCE_S)
            made = self._open(address)
            if made is not None:
                made.frame, made.ended = self._received, self.lose
                self._connection, self.endpoint, self._until = made, address, now + self._patience_s
                return

    def _open(self, address: str) -> Optional[Connection]:
        """Begins a connection. Returns None where no broker can be, or none that may be trusted."""
        is_found = self._is_searched and address.startswith("ipc://")
        if is_found and not endpoints.trusted(os.path.dirname(address[len("ipc://") :])):
            return None
        try:
            made = connect(self.reactor, address, wire.MAX_FRAME, endpoints.trusted_peer if is_found else None)
        except (Error, ValueError):
            return None
        made.ready = functools.partial(made.send, b"")  # the probe, which the broker answers with a Welcome
        return made

    def _look_back(self) -> None:
        """Tries the candidates before the one that answers, one at a time: other programs are there."""
        self._drop_earlier()
        earlier: List[str] = []
        for each in self.candidates:
            numbers = self._numbers.get(each, [])
            if self.endpoint in numbers:
                break
            earlier += numbers
        if earlier:
            address = earlier[self._next_earlier % len(earlier)]
            self._next_earlier += 1
            self._earlier = self._open(address)
            if self._earlier is not None:
                self._earlier.frame = functools.partial(self._go_back, self._earlier, address)

    def _drop_earlier(self) -> None:
        its, self._earlier = self._earlier, None
        if its is not None:
            its.close()

    def _go_back(self, its: Connection, address: str, frame: Optional[Frame]) -> None:
        try:
            body = wire.decode(bytes(frame or b"")).body
        except (wire.WrongVersion, wire.Malformed):
            return
        if its is not self._earlier or not isinstance(body, messages.Welcome):
            return
        self.farewell(body)
        left, self._connection, self._earlier = self._connection, its, None
        if left is not None:
            left.close()
        self.endpoint, its.frame, its.ended = address, self._received, self.lose
        self._received(frame)

    def _look_up(self) -> None:
        """Looks the names up, repeatedly, because addresses change. On a thread, because it may take seconds."""
        found = {each: endpoints.numeric_endpoints(each) for each in self.candidates}
        self.reactor.post(lambda: self._looked_up(found))

    def _looked_up(self, found: Dict[str, List[str]]) -> None:
        # A name server may be away for longer than the broker: keep the known addresses.
        self._numbers.update({name: addresses for name, addresses in found.items() if addresses})
        self._looking_up, self._again_at = False, 0.0

    def _received(self, frame: Optional[Frame]) -> None:
        try:
            envelope = wire.decode(bytes(frame or b""))
        except wire.WrongVersion as error:
            self.failed(Refused(f"the broker at {self.endpoint} speaks another version: {error}"))
            return
        except wire.Malformed as error:
            self.log("debug", f"a frame of the broker at {self.endpoint} was dropped: {error}")
            return
        body, request = envelope.body, envelope.request
        self._unanswered_since = math.inf
        self.up = self.up or isinstance(body, messages.Welcome)
        if not self.up:
            return
        if isinstance(body, messages.Probe):
            self.send(messages.Alive(), request)
        elif request == 0:
            self.pushed(body)
        else:
            asked = next((each for each in self.questions if each.request == request), None)
            if asked is not None:
                asked.request, asked.due = 0, math.inf
            self.heard(asked, body)
        self.ask_all()
