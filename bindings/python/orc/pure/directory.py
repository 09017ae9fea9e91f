"""Lists, describes and watches what the address broker knows, without being a participant."""

from __future__ import annotations

import collections
import threading
import time
from dataclasses import replace
from typing import Deque, Dict, Generic, Iterable, List, Optional, Type, TypeVar, Union

from .. import _directory_types as states
from .. import _errors as errors
from .._directory_types import Change
from .._type_description import MAX_SCHEMA_BYTES, TypeDescription
from .._watching import Watching, patterns
from . import messages, options, wire
from .broker_client import BrokerClient
from .directory_states import participant_state, topic_state
from .identity import Id

_MAX_PATTERNS = 16
_ANSWER_S = 1.0
_BROKER_WAITS_MS = 1_000
_AFTER_REFUSAL_S = 1.0
_UNKNOWN_TOPIC = 5
_UNKNOWN_SCHEMA = 8

B = TypeVar("B")


class Directory:
    """Lists, describes and watches the topics, participants and hosts that the address broker knows.

    broker: its endpoint, or several, separated by commas; "": as for `Participant`.
    broker_timeout_ms: a question waits this long for the broker's answer; -1: for ever.

    It is no participant and registers nothing. The constructor neither waits for a broker nor fails without one. Any
    thread may call. Questions raise NoBroker, BadArgument, Refused (by the broker), Closed, Forked.
    """

    def __init__(self, broker: str = "", *, broker_timeout_ms: int = 2000) -> None:
        self._named = options.text("broker", broker)
        self._timeout_ms = options.milliseconds("broker_timeout_ms", broker_timeout_ms)
        self._lock = threading.Lock()
        self._client: Optional[BrokerClient] = None
        self._closed = False

    def broker(self) -> states.BrokerState:
        """Returns the broker that answers."""
        with self._lock:
            page = self._ask(messages.ListTopics("", 1), messages.TopicList)
            client = self._opened()
        return states.BrokerState(
            client.endpoint, client.version, page.epoch, page.uptime_ms, page.participants, page.rejected
        )

    def topics(self, pattern: str = "**") -> List[states.TopicState]:
        """Returns the topics whose names match `pattern`, in the order of their names.

        `*` stands for any characters but `/`, `**` for any characters; both also stand for none.
        """
        wanted = options.name_pattern(pattern)
        found = []
        after = ""
        with self._lock:
            while True:
                page = self._ask(messages.ListTopics(after, 0), messages.TopicList)
                found += [topic_state(each) for each in page.topics if wanted.fullmatch(each.topic)]
                last = page.topics[-1].topic if page.topics else ""
                if not page.more or last <= after:  # names must grow, or a broken broker would never end
                    return found
                after = last

    def describe(self, topic: str) -> states.TopicState:
        """Returns one topic with its counters and all subscriptions.

        Also raises UnknownTopic (no participant publishes or requested it) and BadName.
        """
        question = messages.DescribeTopic(options.topic_name(options.without_slash(topic)))
        with self._lock:
            found = page = self._ask(question, messages.TopicState)
            while page.more and page.subscriptions and page.subscriptions[-1].subscription > question.after:
                question = replace(question, after=page.subscriptions[-1].subscription)
                page = self._ask(question, messages.TopicState)
                found = replace(found, subscriptions=found.subscriptions + page.subscriptions)
        return topic_state(found)

    def find_type(self, which: states.TopicType) -> TypeDescription:
        """Returns the description of a type with its schema.

        Also raises UnknownType: no participant has sent the schema yet, or no topic has the type any more.
        """
        if not 0 <= which.schema_size <= MAX_SCHEMA_BYTES:
            raise errors.BadArgument(f"a schema has at most {MAX_SCHEMA_BYTES} bytes, not {which.schema_size}")
        schema = bytearray()
        with self._lock:
            while len(schema) < which.schema_size:
                question = messages.GetSchema(which.hash, len(schema))
                part = self._ask(question, messages.SchemaPart)
                fits = len(part.bytes) == min(which.schema_size - len(schema), wire.MAX_SCHEMA_PART)
                if (part.hash, part.offset) != (question.hash, question.offset) or not fits:
                    raise errors.Refused(f"the broker at {self._opened().endpoint} sent a part of another schema")
                schema += part.bytes
        found = TypeDescription(which.name, which.schema_encoding, which.message_encoding, bytes(schema))
        if found.hash != which.hash:
            raise errors.UnknownType("the broker has another type with this hash")
        return found

    def participants(self) -> List[states.ParticipantState]:
        """Returns them in the order in which they came."""
        found: Dict[Id, states.ParticipantState] = {}
        question = messages.Watch([], True)
        with self._lock:
            while True:
                page = self._ask(question, messages.Changes)
                if page.reset:
                    found.clear()
                for each in page.participants:
                    if each.gone:
                        found.pop(each.participant, None)
                    else:
                        found[each.participant] = participant_state(each)
                asked = replace(question, epoch=page.epoch, snapshot=page.snapshot, until=page.until)
                if not page.more or asked == question:
                    return [found[id] for id in sorted(found)]
                question = asked

    def hosts(self) -> List[states.HostState]:
        """Returns them in the order of their ids."""
        count = collections.Counter(each.host for each in self.participants())
        return [states.HostState(host, count[host]) for host in sorted(count)]

    def watch(
        self, topics: Union[str, Iterable[str]] = "**", *, participants: bool = False, hosts: bool = False
    ) -> Watch:
        """Returns a watch of the topics that match one of the patterns, and of participants and hosts.

        topics: a pattern as in `topics()`, or at most 16 of them; (): no topics.

        The watch has a connection of its own and may outlive the directory. Its first call raises BadArgument for wrong
        arguments.
        """
        if self._closed:
            raise errors.Closed("the directory is closed")
        return Watch(self._named, patterns(topics), participants, hosts)

    def close(self) -> None:
        """Ends the directory. Later calls raise Closed; watches go on."""
        self._closed = True
        with self._lock:
            if self._client is not None:
                self._client.close()

    def __enter__(self) -> Directory:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _opened(self) -> BrokerClient:
        if self._closed:
            raise errors.Closed("the directory is closed")
        if self._client is None:
            self._client = BrokerClient(self._named)
        self._client.usable()
        return self._client

    def _ask(self, question: messages.Body, expected: Type[B]) -> B:
        client = self._opened()
        until = None if self._timeout_ms < 0 else time.monotonic() + self._timeout_ms / 1000
        client.ask(question, _ANSWER_S)
        while (answer := client.step()) is None:
            left = None if until is None else until - time.monotonic()
            if left is not None and left <= 0:
                raise errors.NoBroker(client.why_silent())
            client.wait(left)
        if isinstance(answer, messages.Error):
            raise _refusal(answer, client)
        if not isinstance(answer, expected):
            raise errors.Refused(f"the broker at {client.endpoint} sent another kind of answer")
        return answer


class Watch(Watching):
    """A stream of changes: first everything that exists, then "complete", then each change.

    A watch always learns the last state, however slowly the program reads, and across restarts of the broker. What
    changes several times between two reads is reported once, in its last state. What comes and goes between two reads
    may be left out.

    Iterate with `for change in watch` or `async for change in watch`; `close()` ends both. Any thread may call.
    """

    def __init__(self, named: str, topics: List[str], participants: bool, hosts: bool) -> None:
        self._named = named
        full = [options.without_slash(each) for each in topics]
        self._question = messages.Watch(full, participants or hosts, wait_ms=_BROKER_WAITS_MS)
        self._memory = _Memory(participants, hosts)
        self._lock = threading.Lock()
        self._client: Optional[BrokerClient] = None
        self._closed = False
        self._ask_at = 0.0
        self._was_up = False

    def next_change(self, timeout_ms: int) -> Optional[Change]:
        """Returns the next change, or None. Waits for it at most timeout_ms (0: not at all, -1: for ever).

        Raises Refused (the broker is too old to be watched, or too many programs watch it; the watch asks again within
        seconds), BadArgument (the directory's or the watch's arguments, or timeout_ms below -1), Closed, Forked.
        """
        timeout_ms = options.milliseconds("timeout_ms", timeout_ms)
        until = None if timeout_ms < 0 else time.monotonic() + timeout_ms / 1000
        while True:
            with self._lock:
                client = self._opened()
                if not self._memory.changes:
                    self._step(client)
                if self._memory.changes:
                    return self._memory.changes.popleft()
            left = None if until is None else until - time.monotonic()
            if left is not None and left <= 0:
                return None
            client.wait(left)

    def fileno(self) -> int:
        """Returns a descriptor for poll or asyncio that is readable when next_change(0) may return a change.

        When it is, call next_change(0) until it returns None. Call it about twice a second besides, because this
        backend notices a lost broker only in calls. Do not read, write or close the descriptor. Raises Closed, Forked.
        """
        with self._lock:
            return self._opened().fileno()

    def close(self) -> None:
        """Ends the watch. Later calls, and calls that wait in other threads, raise Closed."""
        self._closed = True
        with self._lock:
            if self._client is not None:
                self._client.close()

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _opened(self) -> BrokerClient:
        if self._closed:
            raise errors.Closed("the watch is closed")
        if self._client is None:
            if len(self._question.topics) > _MAX_PATTERNS:
                raise errors.BadArgument(f"a watch has at most {_MAX_PATTERNS} patterns")
            for each in self._question.topics:
                options.name_pattern(each)
            self._client = BrokerClient(self._named)
        self._client.usable()
        return self._client

    def _step(self, client: BrokerClient) -> None:
        now = time.monotonic()
        # Asks only when the program has read everything, so no more than a page is kept for a slow program.
        if not client.asking and now >= self._ask_at:
            client.ask(self._question, _BROKER_WAITS_MS / 1000 + _ANSWER_S)
        answer = client.step()
        if isinstance(answer, messages.Changes):
            self._question = replace(self._question, epoch=answer.epoch, snapshot=answer.snapshot, until=answer.until)
            self._memory.take(answer)
        was_up, self._was_up = self._was_up, client.up
        if was_up and not client.up:
            self._memory.lost()
        if isinstance(answer, messages.Error):
            self._ask_at = now + _AFTER_REFUSAL_S
            raise _refusal(answer, client)


S = TypeVar("S")


class _Known(Generic[S]):
    def __init__(self, state: S, reported_in: int) -> None:
        self.state = state
        self.reported_in = reported_in  # the last round in which the broker reported it


class _Memory:
    """The last state that a watch reported. Finds what is new in the next page."""

    def __init__(self, participants: bool, hosts: bool) -> None:
        self._participants_wanted, self._hosts_wanted = participants, hosts
        self._round = 0  # grows with each full report
        self._complete = False
        self._topics: Dict[str, _Known[messages.TopicState]] = {}
        self._participants: Dict[Id, _Known[messages.Participant]] = {}
        self._hosts: Dict[str, int] = {}
        self.changes: Deque[Change] = collections.deque()

    def lost(self) -> None:
        self._complete = False
        self.changes.append(Change("broker_lost"))

    def take(self, page: messages.Changes) -> None:
        if page.reset:
            self._round += 1
            self._complete = False
        # A participant comes before its topics, and goes after them.
        for participant in page.participants:
            if not participant.gone:
                self._take_participant(participant)
        for topic in page.topics:
            self._take_topic(topic)
        for participant in page.participants:
            if participant.gone:
                self._take_participant(participant)
        if not page.more and not self._complete:
            self._report_missing_as_gone()
            self.changes.append(Change("complete"))
            self._complete = True

    def _take_topic(self, now: messages.TopicState) -> None:
        known = self._topics.get(now.topic)
        if now.publication is None and not now.publications and now.subscription_count == 0:
            if known is not None:
                del self._topics[now.topic]
                self.changes.append(Change("topic_gone", topic=topic_state(now)))
            return
        self._topics[now.topic] = _Known(now, self._round)
        if known is None or known.state != now:
            self.changes.append(Change("topic", topic=topic_state(now)))

    def _take_participant(self, now: messages.Participant) -> None:
        known = self._participants.get(now.participant)
        if now.gone and known is None:
            return
        before = now if known is None else known.state
        if now.gone:
            del self._participants[now.participant]
        else:
            self._participants[now.participant] = _Known(now, self._round)
        if self._participants_wanted and (now.gone or known is None or before != now):
            kind = "participant_gone" if now.gone else "participant"
            self.changes.append(Change(kind, participant=participant_state(before if now.gone else now)))
        if known is not None and not now.gone and before.host == now.host:
            return
        if known is not None:
            self._count(before.host, -1)
        if not now.gone:
            self._count(now.host, 1)

    def _count(self, host: str, more: int) -> None:
        count = self._hosts[host] = self._hosts.get(host, 0) + more
        if count == 0:
            del self._hosts[host]
        if self._hosts_wanted:
            self.changes.append(Change("host" if count else "host_gone", host=states.HostState(host, count)))

    def _report_missing_as_gone(self) -> None:
        """Reports as gone what the full report did not contain."""
        for name in [name for name, known in self._topics.items() if known.reported_in != self._round]:
            self._take_topic(messages.TopicState(name, None, [], 0))
        for id in [id for id, known in self._participants.items() if known.reported_in != self._round]:
            self._take_participant(messages.Participant(id, True, "", "", 0, ""))


def _refusal(error: messages.Error, client: BrokerClient) -> errors.Error:
    if error.code == _UNKNOWN_TOPIC:
        return errors.UnknownTopic(error.text)
    if error.code == _UNKNOWN_SCHEMA:
        return errors.UnknownType(error.text)
    return errors.Refused(f"the broker at {client.endpoint} ({client.version}) refused: {error.text}")
