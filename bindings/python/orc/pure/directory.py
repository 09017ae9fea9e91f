"""What the address broker knows, for orc.Directory and orc.Watch: without being a participant."""

from __future__ import annotations

import collections
import os
import threading
import time
import weakref
from dataclasses import replace
from typing import Any, Callable, Deque, Dict, List, Tuple, Union

from .. import _directory as facade
from .. import _errors as errors
from .._bell import Bell
from .._log import log_to_logging
from .._type_description import MAX_SCHEMA_BYTES, TypeDescription
from . import messages, options, wire
from .broker import BrokerLink
from .identity import Id
from .reactor import Reactor
from .session import wait_for

_TICK_S = 0.1
_ANSWER_S = 1.0
_SILENCE_S = 3.0
_MAX_PATTERNS = 16
_BROKER_WAITS_MS = 1_000
_AFTER_REFUSAL_S = 1.0
_UNKNOWN_TOPIC, _UNKNOWN_SCHEMA = 5, 8
_TRANSPORTS = ("none", "inproc", "ipc", "tcp", "shm", "multicast")
State = Tuple[Any, ...]


class _Asker:
    """Asks one question at a time, and repeats it until the broker answers. `answered` runs on its I/O thread."""

    def __init__(self, named: str, what: str) -> None:
        self.answered: Callable[[Any], None] = lambda answer: None
        self.lost: Callable[[], None] = lambda: None
        self.changed = threading.Condition()
        self.version = ""
        self.closed = False
        self._what, self._pid = what, os.getpid()
        self._question: Any = None
        self._again_s = self._send_at = self._asked_at = 0.0
        self._request = 0
        self._reactor = Reactor("orc directory", log_to_logging)
        self.link = BrokerLink(self._reactor, named, log_to_logging)
        self.link.received, self.link.lost = self._received, self._was_lost
        self._reactor.post(self._tick)

    def usable(self) -> None:
        if os.getpid() != self._pid:
            raise errors.Forked()
        if self.closed:
            raise errors.Closed(f"the {self._what} is closed")

    def ask(self, question: Any, again_s: float, after_s: float = 0.0) -> None:
        """Asks instead of what was asked before. Any thread."""

        def begin() -> None:
            self._question, self._again_s, self._asked_at = question, again_s, time.monotonic()
            self._send_at = self._asked_at + after_s
            self._send(self._asked_at)

        self._reactor.post(begin)

    def close(self) -> None:
        if os.getpid() == self._pid:
            self.closed = True
            self._reactor.post(self.link.close)
            self._reactor.stop(_ANSWER_S)

    def refusal(self, error: Any) -> errors.Error:
        """Returns the error for an answer that is none."""
        if isinstance(error, messages.Error) and error.code in (_UNKNOWN_TOPIC, _UNKNOWN_SCHEMA):
            return (errors.UnknownTopic if error.code == _UNKNOWN_TOPIC else errors.UnknownType)(error.text)
        said = error.text if isinstance(error, messages.Error) else "it sent another kind of answer"
        return errors.Refused(f"the broker at {self.link.endpoint} ({self.version}) refused: {said}")

    def _tick(self) -> None:
        self._reactor.after(_TICK_S, self._tick)
        now = time.monotonic()
        silent_s = now - max(self.link.heard, self._asked_at)
        if self.link.up and self._question is not None and silent_s > self._again_s + _SILENCE_S:
            self.link.lose()
        self.link.tick(now)
        self._send(now)

    def _send(self, now: float) -> None:
        if self._question is not None and now >= self._send_at and (request := self.link.send(self._question)):
            self._request, self._send_at = request, now + self._again_s

    def _was_lost(self) -> None:
        self._send_at = 0.0
        self.lost()

    def _received(self, envelope: messages.Envelope) -> None:
        if isinstance(envelope.body, messages.Welcome):
            self.version = envelope.body.version
            self._send(time.monotonic())
        elif self._question is not None and envelope.request == self._request:
            self._question = None
            self.answered(envelope.body)


class _Engine:
    """What orc._native.Directory does."""

    def __init__(self, named: str, timeout_ms: int) -> None:
        self._named = options.text("broker", named)
        self._patience = options.seconds("broker_timeout_ms", timeout_ms)
        self._lock = threading.Lock()
        self._asker: Union[_Asker, None] = None
        self._closed = False

    def broker(self) -> State:
        page = self._ask(messages.ListTopics("", 1), messages.TopicList)
        asker = self._opened()
        return asker.link.endpoint, asker.version, page.epoch, page.uptime_ms, page.participants, page.rejected

    def topics(self, pattern: str) -> List[State]:
        wanted = options.name_pattern(pattern)
        found: List[State] = []
        after = ""
        while True:
            page = self._ask(messages.ListTopics(after), messages.TopicList)
            found += [_topic(each) for each in page.topics if wanted.fullmatch(each.topic)]
            last = page.topics[-1].topic if page.topics else ""
            if not page.more or last <= after:  # names must grow, or a broken broker would never end
                return found
            after = last

    def describe(self, topic: str) -> State:
        question = messages.DescribeTopic(options.topic_name(options.without_slash(topic)))
        found = page = self._ask(question, messages.TopicState)
        while page.more and page.subscriptions and page.subscriptions[-1].subscription > question.after:
            question = replace(question, after=page.subscriptions[-1].subscription)
            page = self._ask(question, messages.TopicState)
            found = replace(found, subscriptions=found.subscriptions + page.subscriptions)
        return _topic(found)

    def find_type(self, name: str, schema_encoding: str, message_encoding: str, hash: int, size: int) -> State:
        options.number("a schema's size in bytes", size, 0, MAX_SCHEMA_BYTES)
        schema = b""
        while len(schema) < size:
            part = self._ask(messages.GetSchema(hash, len(schema)), messages.SchemaPart)
            fits = len(part.bytes) == min(size - len(schema), wire.MAX_SCHEMA_PART)
            if (part.hash, part.offset) != (hash, len(schema)) or not fits:
                raise self._opened().refusal(None)
            schema += part.bytes
        found = (name, schema_encoding, message_encoding, schema)
        if TypeDescription(*found).hash != hash:
            raise errors.UnknownType("the broker has another type with this hash")
        return found

    def participants(self) -> List[State]:
        found: Dict[Id, State] = {}
        question, is_last = messages.Watch([], True), False
        while not is_last:
            page = self._ask(question, messages.Changes)
            if page.reset:
                found.clear()
            for each in page.participants:
                found.pop(each.participant, None)
                if not each.gone:
                    found[each.participant] = _participant(each)
            asked, question = question, _after(question, page)
            is_last = not page.more or asked == question
        return [found[id] for id in sorted(found)]

    def hosts(self) -> List[State]:
        return sorted(collections.Counter(each[2] for each in self.participants()).items())

    def watch(self, topics: List[str], participants: bool, hosts: bool) -> _Watch:
        if self._closed:
            raise errors.Closed("the directory is closed")
        return _Watch(self._named, [options.without_slash(each) for each in topics], participants, hosts)

    def close(self) -> None:
        self._closed = True
        if self._asker is not None:
            self._asker.close()

    def _opened(self) -> _Asker:
        if self._closed:
            raise errors.Closed("the directory is closed")
        if self._asker is None:
            self._asker = _Asker(self._named, "directory")
            weakref.finalize(self, self._asker.close)
        self._asker.usable()
        return self._asker

    def _ask(self, question: Any, expected: Any) -> Any:
        with self._lock:
            asker = self._opened()
            answers: List[Any] = []

            def answered(answer: Any) -> None:
                with asker.changed:
                    answers.append(answer)
                    asker.changed.notify_all()

            asker.answered = answered
            asker.ask(question, _ANSWER_S)
            with asker.changed:
                wait_for(asker.changed, lambda: answers or asker.closed, self._patience)
            asker.usable()
        if not answers and asker.link.up:
            raise errors.NoBroker(f"the broker at {asker.link.endpoint} did not answer in time")
        if not answers:
            places = ", ".join(asker.link.candidates)
            raise errors.NoBroker(f"no broker answers at {places}: start one with orc-broker, or set ORC_BROKER")
        if not isinstance(answers[0], expected):
            raise asker.refusal(answers[0])
        return answers[0]


class _Watch:
    """What orc._native.Watch does: keeps the last state that was reported, and finds what is new in the next page."""

    def __init__(self, named: str, topics: List[str], participants: bool, hosts: bool) -> None:
        self._named = named
        self._question = messages.Watch(topics, participants or hosts, wait_ms=_BROKER_WAITS_MS)
        self._participants_wanted, self._hosts_wanted = participants, hosts
        self._changes: Deque[Any] = collections.deque()  # kind and state; or an error
        self._bell = Bell()
        self._asker: Union[_Asker, None] = None
        self._asks = self._closed = self._complete = False
        self._round = 0  # grows with each full report
        self._topics: Dict[str, Tuple[Any, int]] = {}  # state, and the last round in which the broker reported it
        self._participants: Dict[Id, Tuple[Any, int]] = {}
        self._hosts: Dict[str, int] = {}

    def next_change(self, timeout_ms: int) -> Union[State, None]:
        seconds = options.seconds("timeout_ms", timeout_ms)
        asker = self._opened()
        with asker.changed:
            wait_for(asker.changed, lambda: self._changes or self._closed, seconds)
            asker.usable()
            if not self._changes:
                self._bell.quieten(lambda: bool(self._changes) or self._closed)
                return None
            change = self._changes.popleft()
            if not self._changes and not self._asks:  # so no more than a page is kept for a slow program
                self._ask(asker)
        if isinstance(change, errors.Error):
            raise change
        return change  # type: ignore[no-any-return]

    def fileno(self) -> int:
        asker = self._opened()
        with asker.changed:
            return self._bell.fileno(lambda: bool(self._changes))

    def close(self) -> None:
        self._closed = True
        if self._asker is not None:
            self._asker.closed = True
            with self._asker.changed:
                self._bell.ring()
                self._asker.changed.notify_all()
            self._asker.close()

    def _opened(self) -> _Asker:
        if self._closed:
            raise errors.Closed("the watch is closed")
        if self._asker is None:
            options.number("the number of patterns of a watch", len(self._question.topics), 0, _MAX_PATTERNS)
            for each in self._question.topics:
                options.name_pattern(each)
            self._asker = asker = _Asker(self._named, "watch")
            weakref.finalize(self, asker.close)
            watch = weakref.WeakMethod(self._heard)  # else its thread would keep it
            asker.answered = lambda answer: (watch() or _ignore)(asker, answer)
            asker.lost = lambda: (watch() or _ignore)(asker, None)
            self._ask(asker)
        self._asker.usable()
        return self._asker

    def _ask(self, asker: _Asker, after_s: float = 0.0) -> None:
        self._asks = True
        asker.ask(self._question, _BROKER_WAITS_MS / 1000 + _ANSWER_S, after_s)

    def _heard(self, asker: _Asker, page: Any) -> None:
        """Takes an answer; None: the broker was lost, and is asked again."""
        with asker.changed:
            if page is None:
                self._complete = False
                self._changes.append(("broker_lost", None))
            elif isinstance(page, messages.Changes):
                self._asks = False
                self._question = _after(self._question, page)
                self._take(page)
                if not self._changes:
                    self._ask(asker)
            else:
                self._changes.append(asker.refusal(page))
                self._ask(asker, _AFTER_REFUSAL_S)
            if self._changes:
                self._bell.ring()
                asker.changed.notify_all()

    def _take(self, page: Any) -> None:
        if page.reset:
            self._round += 1
            self._complete = False
        # A participant comes before its topics, and goes after them.
        for participant in [each for each in page.participants if not each.gone]:
            self._take_participant(participant)
        for topic in page.topics:
            self._take_topic(topic)
        for participant in [each for each in page.participants if each.gone]:
            self._take_participant(participant)
        if not page.more and not self._complete:
            for name in [name for name, (_, told) in self._topics.items() if told != self._round]:
                self._take_topic(messages.TopicState(name))  # the full report did not contain it: it is gone
            for id in [id for id, (_, told) in self._participants.items() if told != self._round]:
                self._take_participant(messages.Participant(id, True))
            self._changes.append(("complete", None))
            self._complete = True

    def _take_topic(self, now: Any) -> None:
        known = self._topics.pop(now.topic, None)
        is_gone = now.publication is None and not now.publications and now.subscription_count == 0
        if not is_gone:
            self._topics[now.topic] = (now, self._round)
        if known is not None if is_gone else known is None or known[0] != now:
            self._changes.append(("topic_gone" if is_gone else "topic", _topic(now)))

    def _take_participant(self, now: Any) -> None:
        before = self._participants.pop(now.participant, (None, 0))[0]
        if not now.gone:
            self._participants[now.participant] = (now, self._round)
        if self._participants_wanted and (before is not None if now.gone else before != now):
            kind = "participant_gone" if now.gone else "participant"
            self._changes.append((kind, _participant(before if now.gone else now)))
        left, came = before and before.host, "" if now.gone else now.host
        if left != came:
            self._count(left, -1)
            self._count(came, 1)

    def _count(self, host: str, more: int) -> None:
        if host:
            count = self._hosts[host] = self._hosts.get(host, 0) + more
            if count == 0:
                del self._hosts[host]
            if self._hosts_wanted:
                self._changes.append(("host" if count else "host_gone", (host, count)))


class Directory(facade.Directory):
    __doc__ = facade.Directory.__doc__
    _engine = _Engine


def _ignore(*_: Any) -> None:
    pass


def _after(question: Any, page: Any) -> Any:
    return replace(question, epoch=page.epoch, snapshot=page.snapshot, until=page.until)


# ---- messages as the facade takes them: the fields of orc._directory_types, in their order ----


def _participant(of: Any) -> State:
    return str(of.participant), of.name, of.host, of.pid, of.library


def _holder(of: Any) -> State:
    return str(of.participant), of.participant_name, of.host, of.pid


def _values(of: Any) -> Any:
    return None if of is None else tuple(vars(of).values())


def _topic(of: Any) -> State:
    found = [_publication(each) for each in ([] if of.publication is None else [of.publication]) + of.publications]
    subscriptions = [_subscription(each) for each in of.subscriptions]
    return of.topic, found[0] if found else None, of.subscription_count, subscriptions, bool(of.shared), found[1:]


def _publication(of: Any) -> State:
    listens = [(_TRANSPORTS[each.transport], each.address) for each in of.endpoints]
    counters, at = None, of.counters
    if at is not None:
        _, sampled_ns, sent, size, dropped, readers, last_sent_ns, jitter_ns = _values(at)
        jitter = None if jitter_ns < 0 else jitter_ns
        counters = (sampled_ns, of.received_ago_ms, sent, size, dropped, readers, last_sent_ns or None, jitter)
    return str(of.publication), _holder(of), listens, _values(of.type), bool(of.keep_last), counters


def _subscription(of: Any) -> State:
    counters, at = None, of.counters
    if at is not None:
        age_ns, transport = at.age_ns if at.age_ns >= 0 else None, _TRANSPORTS[at.transport] if at.transport else None
        counted = (of.received_ago_ms, at.received, at.bytes, at.missed, at.malformed, at.stale)
        counters = (*counted, age_ns, transport, at.reason, at.sampled_ns, _values(at.prediction))
    return str(of.subscription), _holder(of), of.max_age_ms, _values(of.type), counters
