"""The control plane: what a participant declares to the address broker (schemas/PROTOCOL.md, "Requests and answers").

A declaration is sent to every broker that welcomes the participant, after every reconnection, until it is withdrawn.
"""

from __future__ import annotations

import os
import threading
import time
from typing import Any, Callable, Dict, List, Optional, Tuple

from .._errors import Error, NameTaken, NoBroker, Refused
from .._type_description import TypeDescription
from .._typed import Typed
from . import identity, messages, wire
from .broker import BrokerLink
from .reactor import Log, Reactor

_ANSWER_S, _WITHDRAWAL_S = 1.0, 0.2
_NAP_S = 0.05
_PER_HEARTBEAT = 64  # counters in one frame, which stays far below the limit with their texts
_UNKNOWN_PARTICIPANT, _NAME_TAKEN, _LIMIT, _ID_TAKEN = 3, 4, 6, 7
_HELLO_AGAIN_S, _MAX_HELLO_AGAIN_S = 1.0, 5.0
_ASK_AGAIN_S = 2.0  # for a name that another participant has
_UPLOAD_AGAIN_S, _MAX_UPLOAD_AGAIN_S = 1.0, 30.0


def nap(left: Optional[float]) -> Optional[float]:
    """Returns how long to sleep at a time. A signal just before the main thread sleeps would not wake it."""
    if threading.current_thread() is not threading.main_thread():
        return left
    return _NAP_S if left is None else min(left, _NAP_S)


def wait_for(changed: threading.Condition, true: Callable[[], object], seconds: Optional[float]) -> bool:
    """Same as Condition.wait_for, and Ctrl-C ends it."""
    deadline = None if seconds is None else time.monotonic() + seconds
    while not true():
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left <= 0:
            return False
        changed.wait(nap(left))
    return True


def escaped(text: str) -> str:
    """Returns text of a stranger without control characters."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


class Declared:
    """A publication or a subscription, as its declaration to the broker: repeated until the broker answers."""

    def __init__(
        self,
        session: Session,
        topic: str,
        options: Dict[str, Any],
        type: Optional[TypeDescription],
        codec: Optional[Typed[Any]],
    ) -> None:
        self.topic, self.options, self.type, self.codec = topic, options, type, codec
        self.id = identity.draw_id()
        self.session, self.reactor, self.log = session, session.reactor, session.log
        self.changed = threading.Condition()  # notified of all that users' threads wait for
        self.closed = False  # for the program
        self.state = "unsent"  # sent, confirmed, refused, leaving; then the same of the withdrawal
        self.leaves = False
        self.request = 0  # of the withdrawal
        self.told = False  # a broker may know of it
        self._error: Optional[Error] = None  # why it was refused, or why there is no answer yet
        self._lost_to = ""  # what the broker said when it last refused the name; empty after it was ours
        self._waiting = 0

    def wait(self, seconds: Optional[float]) -> Optional[Error]:
        """Waits for the broker's answer. Returns None for yes, NoBroker when none came in time. Any user's thread.

        Ends early when the broker cannot be asked, because it refused the participant.
        """
        with self.changed:
            self._waiting += 1
            try:
                settled = ("confirmed", "refused")
                wait_for(self.changed, lambda: self.state in settled or self.session.refusal, seconds)
            finally:
                self._waiting -= 1
            return None if self.state == "confirmed" else self._error or self.session.refusal or NoBroker()

    def become(self, state: str, error: Optional[Error] = None) -> None:
        with self.changed:
            self.state, self._error = state, error or (self._error if state == "unsent" else None)
            self.changed.notify_all()

    def refused(self, error: Error, text: str) -> None:
        """A name that another participant has is asked for again, unless a user's thread waits, and learns of it."""
        with self.changed:
            self.become("refused", error)
            is_news, has_asker = text != self._lost_to, self._waiting > 0
        if is_news and not self.leaves:
            self.log("warning", text)
        if isinstance(error, NameTaken):
            self._lost_to = text
            if not has_asker:
                self.reactor.after(_ASK_AGAIN_S, lambda: self.become("unsent") if self._error is error else None)

    def confirmed(self, body: Any) -> None:
        self._lost_to = ""
        self.become("confirmed")

    def close(self) -> None:
        """From now on calls raise Closed. Any thread."""
        self.closed = True
        with self.changed:
            self.changed.notify_all()

    def type_reference(self) -> Optional[messages.Body]:
        """Returns what stands for the type on the wire; None: untyped."""
        of = self.type
        return of and messages.Type(of.name, of.schema_encoding, of.message_encoding, of.hash, len(of.schema))

    def compose(self) -> messages.Body:
        """Returns the declaration; when it leaves, the withdrawal."""
        raise NotImplementedError

    def counters(self) -> messages.Body:
        raise NotImplementedError

    def tick(self, now: float) -> None:
        """Runs about ten times a second."""

    def part(self) -> None:
        """Ends what belongs to it."""

    def apply(self, state: messages.Body, pushed: bool) -> None:
        """The broker says what the topic is."""

    def news(self) -> Optional[messages.Body]:
        """Returns what the broker should learn once."""


class Session:
    """Runs on the I/O thread, except `broker_endpoint` and `refusal`."""

    def __init__(self, reactor: Reactor, broker: str, name: str, log: Log) -> None:
        self.reactor, self.log = reactor, log
        self.remote = False
        self.broker_endpoint = ""
        self.refusal: Optional[Error] = None  # of the last Hello
        self._name = name
        self._broker = BrokerLink(reactor, broker, log)
        self._broker.received, self._broker.lost, self._broker.failed = self._received, self._lost, self._failed
        self._declared: List[Declared] = []
        self._open: Dict[int, Tuple[float, Declared]] = {}  # until when an answer counts
        self._uploads: List[Tuple[TypeDescription, int]] = []  # and the offset of the next part; the first is under way
        self._upload_request = self._last_heartbeat = self._epoch = 0
        self._upload_at = self._beat = self._next_report = 0.0
        self._upload_pause_s = _UPLOAD_AGAIN_S
        self._participant, self._secret = identity.draw_id(), identity.draw_id()
        self._hello = "unsent"
        self._hello_request = 0
        self._hello_again_s = self._hello_until = 0.0
        self._heartbeat_s, self._lease_s = 1.0, 3.0
        self._closed = False

    @property
    def offered_for(self) -> str:
        """The current broker, else the one that is tried."""
        return self._broker.endpoint

    def declare(self, thing: Declared) -> None:
        if thing not in self._declared and not thing.leaves:
            self._declared.append(thing)
        self._send_all()

    def withdraw(self, thing: Declared) -> None:
        """Repeated until a broker answers, which may take a while."""
        thing.leaves = True
        self._open = {n: entry for n, entry in self._open.items() if entry[1] is not thing}
        if thing in self._declared and not thing.told:
            self._declared.remove(thing)
        thing.become("unsent" if thing.told else "confirmed")
        self._send_all()

    def close(self) -> None:
        """Says goodbye: the broker forgets the participant at once."""
        self._closed = True
        self._broker.send(messages.Goodbye())
        self._broker.close()

    def tick(self) -> None:
        """Call it about ten times a second."""
        if self._closed:
            return
        now = time.monotonic()
        self._broker.tick(now)
        if self._broker.up and now - self._broker.heard > self._lease_s:
            self._broker.lose()
        for request, (deadline, asked) in list(self._open.items()):
            if now > deadline:
                del self._open[request]
                if asked.state == "sent":
                    asked.become("unsent")
        if self._hello == "sent" and now > self._hello_until:
            self._hello = "unsent"
        if self._broker.up and now >= self._beat:
            self._beat = now + self._heartbeat_s
            self._send_heartbeat()
        self._send_all()

    def _lost(self) -> None:
        self.log("warning", f"the address broker at {self.broker_endpoint} does not answer; streams go on without it")
        self._open.clear()

    def _failed(self, error: Error) -> None:
        self.log("error", str(error))
        for each in self._declared:
            if each.state in ("unsent", "sent"):
                each.become("unsent", error)

    # What the broker says

    def _received(self, envelope: messages.Envelope) -> None:
        body = envelope.body
        if isinstance(body, messages.Probe):
            self._broker.send(messages.Alive(), envelope.request)
        elif envelope.request != 0:
            self._answered(envelope.request, body)
        elif isinstance(body, messages.Welcome):
            self._welcomed(body)
            self._start_over()
        elif isinstance(body, messages.TypeMismatch):
            if time.monotonic() >= self._next_report:  # any program can report
                self._next_report = time.monotonic() + 1
                who = f"topic {body.topic}: subscriber `{escaped(f'{body.participant_name} ({body.pid})')}`"
                self.log("warning", f"{who} expects another type; it says: {escaped(body.text)}")
        elif isinstance(body, messages.TopicState):
            for each in [each for each in self._declared if each.topic == body.topic]:
                each.apply(body, pushed=True)
        self._send_all()

    def _answered(self, request: int, body: Any) -> None:
        asked = self._open.pop(request, (0.0, None))[1]
        if request == self._hello_request:
            self._hello_answered(body)
        elif isinstance(body, messages.Error) and body.code == _UNKNOWN_PARTICIPANT:
            if self._hello == "confirmed" and (asked is not None or request == self._last_heartbeat):
                said = f"the broker at {self._broker.endpoint} ended this session ({body.text}); it starts anew"
                self.log("error", said)
                self._start_over()
        elif request == self._upload_request:
            self._upload_answered(body)
        elif asked is not None and isinstance(body, messages.Error):
            asked.refused(NameTaken(body.text) if body.code == _NAME_TAKEN else Refused(body.text), body.text)
        elif asked is not None:
            known = [each.hash for each, _ in self._uploads]
            if getattr(body, "lacks_schema", False) and asked.type and asked.type.hash not in known:
                self._uploads.append((asked.type, 0))
            asked.confirmed(body)
            self._declared = [each for each in self._declared if not (each is asked and each.leaves)]

    def _hello_answered(self, body: Any) -> None:
        """Set-up calls report a refusal at once. After the first one it says Hello again at once, then later."""
        self._hello_request = 0
        if isinstance(body, messages.Welcome):
            self._hello, self._hello_again_s = "confirmed", 0.0
            self._welcomed(body)
        elif isinstance(body, messages.Error):
            self._hello = "refused"
            again_s = self._hello_again_s if body.code == _ID_TAKEN else max(self._hello_again_s, _HELLO_AGAIN_S)
            if body.code == _ID_TAKEN:
                self._participant, self._secret = identity.draw_id(), identity.draw_id()
            text = f"the broker at {self._broker.endpoint} refused this participant: {body.text}"
            self.log("error", text)
            if again_s > 0:
                self._hinder(Refused(f"{text}; the declaration stays and takes effect when it is accepted"))
            self._hello_again_s = min(max(2 * again_s, _HELLO_AGAIN_S), _MAX_HELLO_AGAIN_S)
            refusal = self.refusal
            self.reactor.after(again_s, lambda: self._start_over() if self.refusal is refusal else None)

    def _hinder(self, why: Optional[Error]) -> None:
        self.refusal = why
        for each in self._declared:
            with each.changed:
                each.changed.notify_all()

    def _welcomed(self, body: Any) -> None:
        if body.epoch != self._epoch:
            self._declared = [each for each in self._declared if not each.leaves]  # that broker never knew them
            self.log("info", f"broker at {self._broker.endpoint}, {body.version or 'unnamed'}")
        self._epoch, self.remote, self.broker_endpoint = body.epoch, bool(body.remote), self._broker.endpoint
        self._heartbeat_s = min(max(body.heartbeat_ms, 50), 60_000) / 1000
        self._lease_s = min(max(body.lease_ms, 100), 600_000) / 1000

    def _start_over(self) -> None:
        """Says Hello and declares everything again: on a new connection, to a new broker, or when one forgot us."""
        self._beat = time.monotonic() + self._heartbeat_s / 4
        self._open.clear()
        self._uploads.clear()
        self._hello = "unsent"
        self._hinder(None)
        for each in self._declared:
            if each.state != "refused":
                each.become("unsent")
        self._send_all()

    # What it is told

    def _send_all(self) -> None:
        """Sends Hello; after its answer, all declarations. Stops when the connection takes no more."""
        if self._closed or not self._broker.up:
            return
        if self._hello == "unsent":
            host, started = identity.host_identity(), identity.start_time()
            me = (self._participant, self._name, host, os.getpid(), started, "orc.pure", self._secret)
            self._hello_request = self._broker.send(messages.Hello(*me))
            self._hello = "sent" if self._hello_request else "unsent"
            self._hello_until = time.monotonic() + _ANSWER_S
        if self._hello != "confirmed":
            return
        unsent = [each for each in self._declared if each.state == "unsent"]
        for asked in sorted(unsent, key=lambda each: not each.leaves):
            try:
                request = self._broker.send(asked.compose(), asked.request)
            except Exception as error:  # it cannot be encoded; the others are sent
                self.log("error", f"the broker cannot be told: {error}")
                asked.become("refused", error if isinstance(error, Error) else Refused(f"{error}"))
                continue
            if request == 0:
                return
            asked.request = request if asked.leaves else 0
            self._open[request] = (time.monotonic() + (_WITHDRAWAL_S if asked.leaves else _ANSWER_S), asked)
            asked.told = True
            asked.become("sent")
        if self._uploads and time.monotonic() >= self._upload_at:
            type, offset = self._uploads[0]
            part = type.schema[offset : offset + wire.MAX_SCHEMA_PART]
            self._upload_request = self._broker.send(messages.SchemaPart(type.hash, offset, part))
            self._upload_at = time.monotonic() + _UPLOAD_AGAIN_S
        for news in filter(None, [each.news() for each in self._declared]):
            self._broker.send(news)

    def _upload_answered(self, body: Any) -> None:
        self._upload_request, self._upload_at = 0, 0.0
        if not self._uploads:
            return
        type, offset = self._uploads.pop(0)
        if isinstance(body, messages.Ack) and offset + wire.MAX_SCHEMA_PART < len(type.schema):
            self._uploads.insert(0, (type, offset + wire.MAX_SCHEMA_PART))
        elif isinstance(body, messages.Ack):
            self._upload_pause_s = _UPLOAD_AGAIN_S
        elif isinstance(body, messages.Error) and (body.code == _LIMIT or offset > 0):
            self._uploads.append((type, 0))  # no room now, or it has forgotten the parts before
            self._upload_at = time.monotonic() + self._upload_pause_s
            self._upload_pause_s = min(2 * self._upload_pause_s, _MAX_UPLOAD_AGAIN_S)
        elif isinstance(body, messages.Error):
            self.log("warning", f"the broker does not take the schema of type {type.name}: {escaped(body.text)}")

    def _send_heartbeat(self) -> None:
        counters = [each.counters() for each in self._declared if not each.leaves]
        publications = [each for each in counters if hasattr(each, "publication")]
        subscriptions = [each for each in counters if hasattr(each, "subscription")]
        for at in range(0, max(len(publications), len(subscriptions), 1), _PER_HEARTBEAT):
            end = at + _PER_HEARTBEAT
            try:
                part = messages.Heartbeat(publications[at:end], subscriptions[at:end])
                self._last_heartbeat = self._broker.send(part)
            except Exception as error:  # without a heartbeat the lease would end
                self.log("error", f"counters cannot be told: {error}")
                self._last_heartbeat = self._broker.send(messages.Heartbeat())
