"""What the address broker knows, for orc.Directory and orc.Watch: without being a participant."""

from __future__ import annotations

import collections
import os
import threading
import weakref
from dataclasses import replace
from typing import Any, Deque, Dict, List, Tuple, Union

from .. import _directory as facade
from .. import _errors as errors
from .._bell import Bell
from .._log import log_to_logging
from .._type_description import MAX_SCHEMA_BYTES, TypeDescription
from . import messages, options, wire
from .broker import BrokerLink
from .identity import Id
from .session import wait_for

_ANSWER_S = 1.0
_MAX_PATTERNS = 16
_BROKER_WAITS_MS = 1_000
_AFTER_REFUSAL_S = 1.0
_UNKNOWN_TOPIC, _UNKNOWN_SCHEMA = 5, 8
_TRANSPORTS = ("none", "inproc", "ipc", "tcp", "shm", "multicast")
State = Tuple[Any, ...]


class _Asker(BrokerLink):
    """Asks one question at a time, on an I/O thread of its own. `take` gets the answers there; None: it was lost."""

    def __init__(self, named: str) -> None:
        self.version = ""
        self._changed, self._bell = threading.Condition(), Bell()
        self._question: Any = None
        super().__init__("orc directory", options.text("broker", named), log_to_logging)

    def take(self, answer: Any) -> None:
        raise NotImplementedError

    def close(self) -> None:
        if os.getpid() == self._pid:
            with self._changed:
                self.closed = True
                self._bell.ring()
                self._changed.notify_all()
            self.reactor.post(self.leave)
            self.reactor.stop(_ANSWER_S)

    def compose(self) -> Any:
        return self._question

    def answered(self, body: Any) -> None:
        with self._changed:
            self.take(body)
            self._changed.notify_all()

    def lost(self) -> None:
        self.answered(None)

    def pushed(self, body: Any) -> None:
        if isinstance(body, messages.Welcome):
            self.version = body.version

    def _refusal(self, error: Any) -> errors.Error:
        """Returns the error for an answer that is none."""
        if isinstance(error, messages.Error) and error.code in (_UNKNOWN_TOPIC, _UNKNOWN_SCHEMA):
            return (errors.UnknownTopic if error.code == _UNKNOWN_TOPIC else errors.UnknownType)(error.text)
        said = error.text if isinstance(error, messages.Error) else "it sent another kind of answer"
        return errors.Refused(f"the broker at {self.endpoint} ({self.version}) refused: {said}")


class _Engine(_Asker):
    """What orc._native.Directory does."""

    closed_text = "the directory is closed"

    def __init__(self, named: str, timeout_ms: int) -> None:
        self._patience = options.seconds("broker_timeout_ms", timeout_ms)
        self._named, self._one_at_a_time = named, threading.Lock()
        self._answers: List[Any] = []
        super().__init__(named)

    def take(self, answer: Any) -> None:
        if answer is not None:
            self._answers.append(answer)

    def broker(self) -> State:
        page = self._answer(messages.ListTopics("", 1), messages.TopicList)
        return self.endpoint, self.version, page.epoch, page.uptime_ms, page.participants, page.rejected

    def topics(self, pattern: str) -> List[State]:
        wanted = options.name_pattern(pattern)
        found: List[State] = []
        after = ""
        while True:
            page = self._answer(messages.ListTopics(after), messages.TopicList)
            found += [_topic(each) for each in page.topics if wanted.fullmatch(each.topic)]
            last = page.topics[-1].topic if page.topics else ""
            if not page.more or last <= after:  # names must grow, or a broken broker would never end
                return found
            after = last

    def describe(self, topic: str) -> State:
        question = messages.DescribeTopic(options.topic_name(options.without_slash(topic)))
        found = page = self._answer(question, messages.TopicState)
        while page.more and page.subscriptions and page.subscriptions[-1].subscription > question.after:
            question = replace(question, after=page.subscriptions[-1].subscription)
            page = self._answer(question, messages.TopicState)
            found = replace(found, subscriptions=found.subscriptions + page.subscriptions)
        return _topic(found)

    def find_type(self, name: str, schema_encoding: str, message_encoding: str, hash: int, size: int) -> State:
        options.number("a schema's size in bytes", size, 0, MAX_SCHEMA_BYTES)
        schema = b""
        while len(schema) < size:
            part = self._answer(messages.GetSchema(hash, len(schema)), messages.SchemaPart)
            fits = len(part.bytes) == min(size - len(schema), wire.MAX_SCHEMA_PART)
            if (part.hash, part.offset) != (hash, len(schema)) or not fits:
                raise self._refusal(None)
            schema += part.bytes
        found = (name, schema_encoding, message_encoding, schema)
        if TypeDescription(*found).hash != hash:
            raise errors.UnknownType("the broker has another type with this hash")
        return found

    def participants(self) -> List[State]:
        found: Dict[Id, State] = {}
        question, is_last = messages.Watch([], True), False
        while not is_last:
            page = self._answer(question, messages.Changes)
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
        self.usable()
        return _Watch(self._named, [options.without_slash(each) for each in topics], participants, hosts)

    def _answer(self, question: Any, expected: Any) -> Any:
        answers: List[Any] = []

        def begin() -> None:  # instead of what was asked before
            self._question, self._answers, self.request = question, answers, 0
            self.ask(self)

        with self._one_at_a_time:
            self.usable()
            self.reactor.post(begin)
            with self._changed:
                wait_for(self._changed, lambda: answers or self.closed, self._patience)
            self.usable()
        if not answers and self.up:
            raise errors.NoBroker(f"the broker at {self.endpoint} did not answer in time")
        if not answers:
            places = ", ".join(self.candidates)
            raise errors.NoBroker(f"no broker answers at {places}: start one with orc-broker, or set ORC_BROKER")
        if not isinstance(answers[0], expected):
            raise self._refusal(answers[0])
        return answers[0]


class _Watch(_Asker):
    """What orc._native.Watch does: keeps the last state that was reported, and finds what is new in the next page."""

    closed_text = "the watch is closed"

    def __init__(self, named: str, topics: List[str], participants: bool, hosts: bool) -> None:
        self._participants_wanted, self._hosts_wanted = participants, hosts
        self._changes: Deque[Any] = collections.deque()  # kind and state; or an error
        self._is_complete = self._is_asked = False
        self._topics: Dict[str, Any] = {}
        self._participants: Dict[Id, Any] = {}
        self._hosts: Dict[str, int] = {}
        self._unconfirmed: Dict[Any, Any] = {}  # what the present full report has not contained yet, as if it were gone
        super().__init__(named)
        self._question = messages.Watch(topics, participants or hosts, wait_ms=_BROKER_WAITS_MS)

    def next_change(self, timeout_ms: int) -> Union[State, None]:
        seconds = options.seconds("timeout_ms", timeout_ms)
        with self._changed:
            self._begin()
            wait_for(self._changed, lambda: self._changes or self.closed, seconds)
            self.usable()
            if not self._changes:
                self._bell.quieten(lambda: bool(self._changes) or self.closed)
                return None
            change = self._changes.popleft()
        if isinstance(change, errors.Error):
            raise change
        return change  # type: ignore[no-any-return]

    def fileno(self) -> int:
        with self._changed:
            self._begin()
            return self._bell.fileno(lambda: bool(self._changes))

    def take(self, answer: Any) -> None:
        if answer is None:
            self._is_complete = False
            if self._is_asked or self._question.epoch:  # else the program has asked for nothing yet
                self._changes.append(("broker_lost", None))
        elif isinstance(answer, messages.Changes):
            self._question, self._is_asked = _after(self._question, answer), False
            self._take_page(answer)
            if not self._changes:
                self._ask_on()
        else:
            self._changes.append(self._refusal(answer))
            self._ask_on(_AFTER_REFUSAL_S)
        if self._changes:
            self._bell.ring()

    def _begin(self) -> None:
        """Asks when the program has taken all that was answered: so no more than a page is kept for a slow one."""
        self.usable()
        if not self._changes and not self._is_asked:
            options.number("the number of patterns of a watch", len(self._question.topics), 0, _MAX_PATTERNS)
            for each in self._question.topics:
                options.name_pattern(each)
            self._ask_on()

    def _ask_on(self, after_s: float = 0.0) -> None:
        self._is_asked = True
        self.reactor.post(lambda: self.ask(self, after_s))

    def _take_page(self, page: Any) -> None:
        if page.reset:
            self._is_complete = False
            self._unconfirmed = {name: messages.TopicState(name) for name in self._topics}
            self._unconfirmed.update({id: messages.Participant(id, True) for id in self._participants})
        # A participant comes before its topics, and goes after them.
        came, gone = ([each for each in page.participants if bool(each.gone) == is_gone] for is_gone in (False, True))
        for each in [*came, *page.topics, *gone]:
            self._note(each)
        if not page.more and not self._is_complete:
            for each in [*self._unconfirmed.values()]:
                self._note(each)
            self._changes.append(("complete", None))
            self._is_complete = True

    def _note(self, now: Any) -> None:
        if isinstance(now, messages.Participant):
            self._note_participant(now)
            return
        self._unconfirmed.pop(now.topic, None)
        known = self._topics.pop(now.topic, None)
        is_gone = now.publication is None and not now.publications and now.subscription_count == 0
        if not is_gone:
            self._topics[now.topic] = now
        if known is not None if is_gone else known != now:
            self._changes.append(("topic_gone" if is_gone else "topic", _topic(now)))

    def _note_participant(self, now: Any) -> None:
        self._unconfirmed.pop(now.participant, None)
        before = self._participants.pop(now.participant, None)
        if not now.gone:
            self._participants[now.participant] = now
        if self._participants_wanted and (before is not None if now.gone else before != now):
            kind = "participant_gone" if now.gone else "participant"
            self._changes.append((kind, _participant(before if now.gone else now)))
        left, came = before and before.host, "" if now.gone else now.host
        for host, more in ((left, -1), (came, 1)) if left != came else ():
            if host:
                count = self._hosts[host] = self._hosts.get(host, 0) + more
                if count == 0:
                    del self._hosts[host]
                if self._hosts_wanted:
                    self._changes.append(("host" if count else "host_gone", (host, count)))


class Directory(facade.Directory):
    __doc__ = facade.Directory.__doc__
    _engine = _Engine

    def __init__(self, broker: str = "", *, broker_timeout_ms: int = 2000) -> None:
        super().__init__(broker, broker_timeout_ms=broker_timeout_ms)
        weakref.finalize(self, errors.close_in_the_end, self._directory)

    def watch(self, *arguments: Any, **options: Any) -> facade.Watch:
        made = super().watch(*arguments, **options)
        weakref.finalize(made, errors.close_in_the_end, made._watch)
        return made


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
