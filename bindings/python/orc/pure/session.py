"""The control plane: what a participant declares to the address broker (schemas/PROTOCOL.md, "Requests and answers").

A declaration is sent to every broker that welcomes the participant, after every reconnection, until it is withdrawn.
"""

from __future__ import annotations

import math
import os
import threading
import time
from typing import Any, Callable, Dict, List, Optional, Type

from .._errors import Error, NameTaken, NoBroker, Refused, kept
from .._type_description import TypeDescription
from .._typed import Typed
from . import endpoints, identity, messages, wire
from .broker import BrokerLink, Question
from .reactor import Log

_WITHDRAWAL_S = 0.2
_CLOSE_S = 0.9
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


class Declared(Question):
    """A publication or a subscription, as its declaration to the broker. When it `leaves`, as its withdrawal."""

    def __init__(self, session: Session, topic: str, options: Dict[str, Any], type: Any, codec: Any) -> None:
        self.topic, self.options = topic, options
        self.type: Optional[TypeDescription] = type
        self.codec: Optional[Typed[Any]] = codec
        self.id = identity.draw_id()
        self.session, self.reactor, self.log = session, session.reactor, session.log
        self.changed = threading.Condition()  # notified of all that users' threads wait for
        self.closed = False  # for the program
        self.state = "unsent"  # until the broker's answer: confirmed, refused
        self.is_told = False  # a broker may know of it
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
                wait_for(self.changed, lambda: self.state != "unsent" or self.session.refusal, seconds)
            finally:
                self._waiting -= 1
            return None if self.state == "confirmed" else self._error or self.session.refusal or NoBroker()

    def become(self, state: str, error: Optional[Error] = None) -> None:
        with self.changed:
            self.state, self._error = state, error or (self._error if state == "unsent" else None)
            self.changed.notify_all()

    def compose(self) -> messages.Body:
        self.is_told = True
        if self.state != "unsent":
            self.become("unsent")
        return self.withdrawal() if self.leaves else self.declaration()

    def answered(self, body: Any) -> None:
        """A name that another participant has is asked for again, unless a user's thread waits, and learns of it."""
        if not isinstance(body, messages.Error):
            self._lost_to = ""
            self.become("confirmed")
            return
        text = body.text
        with self.changed:
            is_news, has_asker = text != self._lost_to, self._waiting > 0
            self.become("refused", NameTaken(text) if body.code == _NAME_TAKEN else Refused(text))
        if is_news and not self.leaves:
            self.log("warning", text)
        if body.code == _NAME_TAKEN:
            self._lost_to = text
            self.due = math.inf if has_asker else time.monotonic() + _ASK_AGAIN_S

    def failed(self, error: Exception) -> None:
        self.become("refused", error if isinstance(error, Error) else Refused(f"{error}"))

    def close(self) -> None:
        """From now on calls raise Closed. Any thread."""
        self.closed = True
        with self.changed:
            self.changed.notify_all()

    def type_reference(self) -> Optional[messages.Body]:
        """Returns what stands for the type on the wire; None: untyped."""
        of = self.type
        return of and messages.Type(of.name, of.schema_encoding, of.message_encoding, of.hash, len(of.schema))

    # What a publication or a subscription does.

    def declaration(self) -> messages.Body:
        raise NotImplementedError

    def withdrawal(self) -> messages.Body:
        raise NotImplementedError

    def counters(self) -> messages.Body:
        raise NotImplementedError

    def tick(self, now: float) -> None:
        """Runs about ten times a second."""

    def part(self) -> None:
        """Ends what belongs to it."""

    def apply(self, state: messages.Body, pushed: bool) -> None:
        """The broker says what the topic is."""


class _Upload(Question):
    """Sends the schema of a type, part by part."""

    def __init__(self, session: Session, type: TypeDescription) -> None:
        self.type, self._session = type, session
        self._offset = 0
        self._pause_s = _UPLOAD_AGAIN_S

    def compose(self) -> messages.Body:
        part = self.type.schema[self._offset : self._offset + wire.MAX_SCHEMA_PART]
        return messages.SchemaPart(self.type.hash, self._offset, part)

    def answered(self, body: Any) -> None:
        others = self._session.questions
        others.remove(self)
        if isinstance(body, messages.Ack):
            self._offset += wire.MAX_SCHEMA_PART
            if self._offset < len(self.type.schema):
                others.insert(0, self)
                self.due = 0.0
        elif isinstance(body, messages.Error) and (body.code == _LIMIT or self._offset > 0):
            others.append(self)  # no room now, or the broker has forgotten the parts before
            self._offset, self.due = 0, time.monotonic() + self._pause_s
            self._pause_s = min(2 * self._pause_s, _MAX_UPLOAD_AGAIN_S)
        elif isinstance(body, messages.Error):
            said = f"the broker does not take the schema of type {self.type.name}: {escaped(body.text)}"
            self._session.log("warning", said)


class Session(BrokerLink):
    """What a participant and its handles share: I/O thread, topics, and what the broker knows of them.

    Its own question is Hello. Runs on the I/O thread, except for what the other methods say.
    """

    def __init__(self, broker: str, name: str, patience: Optional[float], log: Log) -> None:
        self.publications: Dict[str, Any] = {}
        self.subscriptions: Dict[str, Any] = {}
        self.patience = patience  # in seconds, for the broker's answer
        self.remote = False
        self.broker_endpoint = ""  # of the last one that answered. Any thread
        self.refusal: Optional[Error] = None  # of the last Hello. Any thread
        self._setup = threading.RLock()  # reentrant: a finalizer or a signal handler may close it at any moment
        self._parting, self._parted = False, threading.Event()
        self._name = name
        self._hello_again_s = self._beat = self._next_report = 0.0
        self._is_known = False  # Hello was accepted
        self._heartbeat_s = 1.0
        self._epoch = 0
        self._participant, self._secret = identity.draw_id(), identity.draw_id()
        super().__init__("orc", broker, log)
        endpoints.sweep(endpoints.socket_directory(self.endpoint))

    def find(self, topics: Dict[str, Any], topic: str, missing: Type[Error]) -> Any:
        """Any thread."""
        self.usable()
        found = topics.get(topic)
        if found is None:
            raise missing()
        return found

    def declare(self, topics: Dict[str, Any], make: Callable[..., Declared], topic: str, *arguments: Any) -> Any:
        """Makes the publication or subscription, unless it is there, and waits for the broker's answer. Any thread."""
        with self._setup:
            found = topics.get(topic) or topics.setdefault(topic, make(self, topic, *arguments))
            self.usable()
            self.reactor.post(lambda: self._declare(found))  # each time: Ctrl-C may have prevented the first
        error = found.wait(self.patience)
        if error is not None:
            if found.state == "refused":
                self.forget(topics, found)
            raise kept(error, found.options["stays"])
        return found

    def forget(self, topics: Dict[str, Any], thing: Declared) -> None:
        """Any thread."""
        with self._setup:
            if topics.get(thing.topic) is thing:
                del topics[thing.topic]
        thing.close()
        thing.become("unsent")
        self.reactor.post(lambda: self._withdraw(thing))
        self.reactor.post(thing.part)

    def close(self) -> None:
        """Ends everything within a second. Harmless after fork, and when called again. Any thread."""
        if os.getpid() != self._pid:
            return
        with self._setup:
            self.closed = True
            for each in self._topics():
                each.close()
            self.reactor.post(self._part)
        if not self.reactor.inside():
            self._parted.wait(_CLOSE_S)
            self.reactor.stop(_CLOSE_S)

    def _topics(self) -> List[Declared]:
        return [*self.subscriptions.values(), *self.publications.values()]

    def _part(self) -> None:
        """Says goodbye: the broker forgets the participant at once."""
        if not self._parting:
            self._parting = True
            self.send(messages.Goodbye())
            self.leave()
            for each in self._topics():
                each.part()
            self._end()

    def _end(self) -> None:
        """When the last publication has ended."""
        if all(each.ended for each in self.publications.values()):
            self._parted.set()
            self.reactor.stop(0)
        else:
            self.reactor.after(0.005, self._end)

    def _declare(self, thing: Declared) -> None:
        if not thing.leaves and (thing not in self.questions or thing.state == "refused"):
            self.ask(thing)

    def _withdraw(self, thing: Declared) -> None:
        """Repeated until a broker answers, which may take a while."""
        thing.leaves, thing.request, thing.again_s = True, 0, _WITHDRAWAL_S
        thing.become("unsent" if thing.is_told else "confirmed")
        if thing.is_told:
            self.ask(thing)
        elif thing in self.questions:
            self.questions.remove(thing)

    def tell(self, body: messages.Body) -> bool:
        """Sends what is not repeated. Returns False when the broker takes nothing now."""
        return self._is_known and self.send(body) != 0

    def tick(self, now: float) -> None:
        if self.closed:
            return
        super().tick(now)
        if self.up and now >= self._beat:
            self._beat = now + self._heartbeat_s
            self._send_heartbeat()
        for each in self._topics():
            each.tick(now)

    def lost(self) -> None:
        self.log("warning", f"the address broker at {self.broker_endpoint} does not answer; streams go on without it")

    def farewell(self, welcome: Any) -> None:
        if welcome.epoch != self._epoch:  # not the same broker at another endpoint
            self.send(messages.Goodbye())

    def failed(self, error: Exception) -> None:
        self.log("error", str(error))
        for each in self._declared():
            if each.state == "unsent" and isinstance(error, Error):
                each.become("unsent", error)

    def may_ask(self, question: Question) -> bool:
        """Hello first; of the schemas one at a time."""
        if isinstance(question, _Upload):
            return self._is_known and question is next(each for each in self.questions if isinstance(each, _Upload))
        return self._is_known or question is self

    def pushed(self, body: Any) -> None:
        if isinstance(body, messages.Welcome):
            self._welcomed(body)
            self._start_over()
        elif isinstance(body, messages.TypeMismatch):
            if time.monotonic() >= self._next_report:  # any program can report
                self._next_report = time.monotonic() + 1
                who = f"topic {body.topic}: subscriber `{escaped(f'{body.participant_name} ({body.pid})')}`"
                self.log("warning", f"{who} expects another type; it says: {escaped(body.text)}")
        elif isinstance(body, messages.TopicState):
            for each in self._declared():
                if each.topic == body.topic:
                    each.apply(body, pushed=True)

    def heard(self, asked: Optional[Question], body: Any) -> None:
        if isinstance(body, messages.Error) and body.code == _UNKNOWN_PARTICIPANT and asked is not self:
            if asked is not None:
                asked.due = 0.0
            if self._is_known:
                self.log("error", f"the broker at {self.endpoint} ended this session ({body.text}); it starts anew")
                self._start_over()
            return
        super().heard(asked, body)
        if isinstance(asked, Declared) and asked.leaves:
            self.questions.remove(asked)
        elif isinstance(asked, Declared) and asked.type and getattr(body, "lacks_schema", False):
            if not any(isinstance(each, _Upload) and each.type.hash == asked.type.hash for each in self.questions):
                self.ask(_Upload(self, asked.type))

    def compose(self) -> messages.Body:
        host, started = identity.host_identity(), identity.start_time()
        return messages.Hello(self._participant, self._name, host, os.getpid(), started, "orc.pure", self._secret)

    def answered(self, body: Any) -> None:
        """Set-up calls report a refusal at once. After the first one it says Hello again at once, then later."""
        if isinstance(body, messages.Welcome):
            self._is_known, self._hello_again_s = True, 0.0
            self._welcomed(body)
            self._hinder(None)
        elif isinstance(body, messages.Error):
            again_s = self._hello_again_s
            if body.code == _ID_TAKEN:
                self._participant, self._secret = identity.draw_id(), identity.draw_id()
            else:
                again_s = max(again_s, _HELLO_AGAIN_S)
            text = f"the broker at {self.endpoint} refused this participant: {body.text}"
            self.log("error", text)
            if again_s > 0:
                self._hinder(Refused(f"{text}; the declaration stays and takes effect when it is accepted"))
            self._hello_again_s = min(max(2 * again_s, _HELLO_AGAIN_S), _MAX_HELLO_AGAIN_S)
            self.due = time.monotonic() + again_s

    def _hinder(self, why: Optional[Error]) -> None:
        self.refusal = why
        for each in self._declared():
            with each.changed:
                each.changed.notify_all()

    def _welcomed(self, body: Any) -> None:
        if body.epoch != self._epoch:
            self.questions = [each for each in self.questions if not each.leaves]  # that broker never knew them
            self.log("info", f"broker at {self.endpoint}, {body.version or 'unnamed'}")
        self._epoch, self.remote, self.broker_endpoint = body.epoch, bool(body.remote), self.endpoint
        self._heartbeat_s = min(max(body.heartbeat_ms, 50), 60_000) / 1000
        self.lease_s = min(max(body.lease_ms, 100), 600_000) / 1000

    def _start_over(self) -> None:
        """Says Hello and declares everything again: on a new connection, to a new broker, or when one forgot us."""
        self._is_known = False
        self._beat = time.monotonic() + self._heartbeat_s / 4
        self.questions = [each for each in self.questions if not isinstance(each, _Upload)]
        self.due = 0.0
        for each in self._declared():
            if each.state != "refused":
                each.due = 0.0
                each.become("unsent")
        self.ask_all()

    def _declared(self) -> List[Declared]:
        return [each for each in self.questions if isinstance(each, Declared)]

    def _send_heartbeat(self) -> None:
        counters = [each.counters() for each in self._declared() if not each.leaves]
        publications = [each for each in counters if hasattr(each, "publication")]
        subscriptions = [each for each in counters if hasattr(each, "subscription")]
        for at in range(0, max(len(publications), len(subscriptions), 1), _PER_HEARTBEAT):
            end = at + _PER_HEARTBEAT
            try:
                self.send(messages.Heartbeat(publications[at:end], subscriptions[at:end]))
            except Exception as error:  # without a heartbeat the lease would end
                self.log("error", f"counters cannot be told: {error}")
                self.send(messages.Heartbeat())
