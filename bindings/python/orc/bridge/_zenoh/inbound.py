"""Receives from Zenoh, and publishes here: the newest sample of each key, of its type.

Zenoh's thread only sorts out what is malformed or not newer. One thread sends, others register topics and ask for
schemas. Each name that is published here has one owner (Published), whatever keys come and go.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, OrderedDict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Dict, List, Optional

import zenoh
import zenoh.ext as ext

from orc import Closed, Error, TypeDescription, UnknownTopic

from .._shared.counters import Counters
from .._shared.local_topics import LocalPublications, NotBridged
from .._shared.patterns import is_topic
from .attachment import NO_PUBLICATION, SampleHead
from .clocks import Clocks
from .formats import End, Format, Source, end_numbers
from .log import logger
from .order import Order
from .published import Kind, Published
from .schemas import Schemas
from .sessions import direct
from .settings import Settings, TopicRule, local_name, rule_for

_TRY_AGAIN_S = 0.5
_LOOK_AGAIN_S = 0.05
_IDLE_S, _BUSY_S = 10.0, 1.0
_UNKNOWN_S = 10.0
"""Samples wait so long for an age. Whoever is away longer loses its session, and sends the last sample again."""
_REGISTERING_THREADS = 4


@dataclass
class _Arrival:
    head: Optional[SampleHead]  # None: it came without one
    payload: Any
    timestamp: Any
    """Zenoh's; None: it has none."""
    arrived: float
    waits_since: float
    """When the first one arrived of those by the same clock that newer ones have replaced."""


class _InTopic:
    """A key, and the topic that it is here."""

    def __init__(self, key: str, source: Source, rule: TopicRule, published: Published) -> None:
        self.key, self.source, self.rule, self.published = key, source, rule, published
        self.name = published.name
        self.order = Order()
        self.arrived = time.monotonic()
        self.pending: Optional[_Arrival] = None
        self.is_preparing = False
        self.prepare_at = 0.0


class Inbound:
    """Any thread may call."""

    def __init__(
        self, settings: Settings, participant: Any, directory: Any, session: Any, format: Format,
        local: LocalPublications, schemas: Schemas, clocks: Clocks, counters: Counters,
    ) -> None:  # fmt: skip
        self._settings, self._session = settings, session
        self._participant, self._directory = participant, directory
        self._format, self._local, self._schemas, self._counters = format, local, schemas, counters
        self._clocks = clocks
        self._news = threading.Condition()  # guards the topics
        self._topics: OrderedDict[str, _InTopic] = OrderedDict()  # the longest idle first
        self._robots: Counter[str] = Counter()  # topics of each
        self._fresh: Dict[str, _InTopic] = {}  # with pending samples
        self._published: Dict[str, Published] = {}  # by name here
        self._subscribers: List[Any] = []
        self._is_closing = False
        self._pool = ThreadPoolExecutor(_REGISTERING_THREADS, "zenoh register")
        self._thread = threading.Thread(target=self._run, name="zenoh inbound", daemon=True)

    def start(self) -> None:
        """Begins."""
        self._thread.start()
        rules = [each for each in self._settings.topics if each.is_for("in")]
        selectors = {str(zenoh.KeyExpr.autocanonize(self._format.selector(each))) for each in rules}
        for selector in sorted(selectors):
            self._subscribers.append(
                ext.declare_advanced_subscriber(
                    self._session,
                    selector,
                    direct(self._receive),
                    allowed_origin=zenoh.Locality.REMOTE,
                    history=ext.HistoryConfig(detect_late_publishers=True, max_samples=1),
                )
            )

    def close(self) -> None:
        """Waits for the threads, at most 5 s."""
        for each in self._subscribers:
            each.undeclare()
        with self._news:
            self._is_closing = True
            self._news.notify()
            published = list(self._published.values())
        for topic in published:
            topic.close()
        self._thread.join(5.0)
        self._pool.shutdown(wait=False)

    # Zenoh's thread.

    def _receive(self, sample: Any) -> None:
        try:
            self._sort(sample)
        except Exception:  # Zenoh would print it, and go on
            logger.exception("a sample from Zenoh")

    def _sort(self, sample: Any) -> None:
        key = str(sample.key_expr)
        if sample.kind != zenoh.SampleKind.PUT:
            return
        if len(sample.payload) > self._settings.max_bytes:
            self._counters.drop("too large", f"{key} has {len(sample.payload)} bytes")
            return
        head = None
        if sample.attachment is not None:
            head = self._format.decode(sample.attachment.to_bytes()) if len(sample.attachment) <= 512 else None
            if head is None:
                self._counters.drop("malformed", f"{key} has a malformed attachment")
                return
        if head is not None and head.publication != NO_PUBLICATION and head.publication in self._local:
            self._counters.count("loop")
            return
        with self._news:
            topic = self._topics.get(key) or self._new_topic(key)
            if topic is None or not self._is_wanted(topic, head):
                return
            topic.arrived = time.monotonic()
            self._topics.move_to_end(key)
            before, since = topic.pending, topic.arrived
            if before is not None and head is not None and before.head is not None and before.head.clock == head.clock:
                since = before.waits_since
            topic.pending = _Arrival(head, sample.payload, sample.timestamp, topic.arrived, since)
            self._fresh[key] = topic
            self._news.notify()

    def _new_topic(self, key: str) -> Optional[_InTopic]:
        source = self._format.source(key)
        if source is None or not self._is_foreign(source):
            return None
        rule = rule_for(self._settings.topics, "in", source.topic, source.robot)
        if rule is None:
            return None
        name = local_name(rule, source.robot, source.topic)
        if not is_topic(name):
            self._counters.drop("malformed", f"{key} would be the topic {name[:60]!r}")
            return None
        if len(self._topics) >= self._settings.max_topics and not self._make_room(source.robot):
            self._counters.drop("too many topics", f"{key}: {self._settings.max_topics} come in (max_topics)")
            return None
        published = self._published.setdefault(name, Published(name, self._participant))
        published.keys += 1
        self._robots[source.robot] += 1
        made = self._topics[key] = _InTopic(key, source, rule, published)
        return made

    def _is_foreign(self, source: Source) -> bool:
        """Samples of this robot's own keys are this bridge's, unless a rule names the robot. Keys of ROS name none."""
        if not source.robot:
            return not self._local.has_topic(source.topic)
        named = any(each.robot == source.robot for each in self._settings.topics)
        return source.robot != self._settings.robot or named

    def _make_room(self, robot: str) -> bool:
        """Forgets the topic that is idle for longest: after 10 s, or of a robot that has more topics than this one."""
        now, own = time.monotonic(), self._robots[robot]
        for key, topic in self._topics.items():
            idle_s = now - topic.arrived
            # Robots that are made up, of one topic each, do not push out what is busy.
            least = own if idle_s >= _BUSY_S else max(own + 1, self._settings.max_topics // 4)
            if not topic.is_preparing and (idle_s >= _IDLE_S or self._robots[topic.source.robot] > least):
                self._forget(key, topic)
                return True
        return False

    def _forget(self, key: str, topic: _InTopic) -> None:
        del self._topics[key]
        self._robots[topic.source.robot] -= 1
        if not self._robots[topic.source.robot]:
            del self._robots[topic.source.robot]
        self._fresh.pop(key, None)
        topic.published.keys -= 1
        self._pool.submit(self._leave, topic.published)

    def _is_wanted(self, topic: _InTopic, head: Optional[SampleHead]) -> bool:
        if head is None:
            if topic.published.type_hash:
                self._counters.drop("wrong type", f"{topic.name}: a sample without a type, of a typed topic")
            return not topic.published.type_hash
        if not topic.order.accept(head, time.monotonic(), time.time_ns()):
            self._counters.count("not newer")
            return False
        return True

    # The thread that sends.

    def _run(self) -> None:
        while True:
            with self._news:
                if not self._fresh and not self._is_closing:
                    self._news.wait()
                if self._is_closing:
                    return
                fresh, self._fresh = self._fresh, {}
            waiting = {key: topic for key, topic in fresh.items() if not self._guarded(topic)}
            if waiting:
                with self._news:
                    self._fresh = {**waiting, **self._fresh}
                    if all(key in waiting for key in self._fresh):
                        self._news.wait(_LOOK_AGAIN_S)

    def _guarded(self, topic: _InTopic) -> bool:
        """One topic must not end the others."""
        try:
            return self._forward(topic)
        except Exception:
            logger.exception("topic %s", topic.name)
            return True

    def _forward(self, topic: _InTopic) -> bool:
        """Returns False when the sample must wait for the topic, or for its age."""
        with self._news:
            arrival = topic.pending
            if arrival is None or self._topics.get(topic.key) is not topic:  # forgotten
                return True
        head, now_ns = arrival.head, time.time_ns()
        age_ns = self._age_ns(topic, arrival, now_ns)
        if age_ns is None:
            return self._waits_too_long(topic, arrival)
        if topic.rule.max_age_ms and age_ns > topic.rule.max_age_ms * 1_000_000:
            self._counters.drop("too old", f"a sample of {topic.name} has {age_ns // 1_000_000} ms")
            self._done(topic, arrival)
            return True
        digest = topic.source.type_digest
        kind = Kind(0, digest, True) if head is None else Kind(head.type_hash, digest, head.keep_last)
        publisher = topic.published.publisher(kind)
        if publisher is None:
            if self._is_anothers(topic):
                self._counters.drop("not bridged", f"{topic.name} has another type at {topic.published.key}")
                self._done(topic, arrival)
                return True
            self._prepare_soon(topic, kind)
            return False
        try:
            publisher.send_msg(arrival.payload.to_bytes(), stamp_ns=max(1, now_ns - age_ns))
            self._counters.count("received")
        except Closed:  # it is registered anew at this moment
            return False
        except (Error, MemoryError) as error:
            self._counters.drop("not forwarded", f"{topic.name}: {error}")
        self._done(topic, arrival)
        return True

    def _is_anothers(self, topic: _InTopic) -> bool:
        """Of several keys with one name here, the first has it until it is idle."""
        with self._news:
            owner = self._topics.get(topic.published.key)
            return owner not in (None, topic) and time.monotonic() - owner.arrived < _IDLE_S

    def _waits_too_long(self, topic: _InTopic, arrival: _Arrival) -> bool:
        """Drops it then: its age is unknown."""
        if time.monotonic() < arrival.waits_since + _UNKNOWN_S:
            return False
        self._counters.drop("age unknown", f"a sample of {topic.name}: no clock answers at {topic.source.robot}")
        self._done(topic, arrival)
        return True

    def _done(self, topic: _InTopic, arrival: _Arrival) -> None:
        with self._news:
            if topic.pending is arrival:
                topic.pending = None

    def _age_ns(self, topic: _InTopic, arrival: _Arrival, now_ns: int) -> Optional[int]:
        """None: not known yet. Stamps of senders without a clock count as they are."""
        head = arrival.head
        if head is not None and head.clock:
            return self._clocks.age_ns(topic.source.robot, head.clock, head.clock_ns)
        stamp_ns = head.stamp_ns if head is not None else 0
        if not stamp_ns and arrival.timestamp is not None:
            stamp_ns = int(arrival.timestamp.get_time().timestamp() * 1e9)
        return max(now_ns - (stamp_ns or now_ns), int((time.monotonic() - arrival.arrived) * 1e9))

    def _prepare_soon(self, topic: _InTopic, kind: Kind) -> None:
        with self._news:
            if topic.is_preparing or time.monotonic() < topic.prepare_at or self._topics.get(topic.key) is not topic:
                return
            topic.is_preparing = True  # and is not forgotten meanwhile
        self._pool.submit(self._prepare, topic, kind)

    # Threads that register.

    def _prepare(self, topic: _InTopic, kind: Kind) -> None:
        try:
            if topic.published.publisher(kind) is None and self._came_from_here(topic):
                return
            self._register(topic, kind)
        except NotBridged as error:
            self._counters.drop("not bridged", f"{topic.name}: {error}")
        except Error as error:
            self._counters.drop("not registered", f"{topic.name}: {error}")
        except Exception:
            logger.exception("topic %s", topic.name)
        finally:
            topic.prepare_at = time.monotonic() + _TRY_AGAIN_S
            topic.is_preparing = False
            with self._news:
                self._news.notify()

    def _came_from_here(self, topic: _InTopic) -> bool:
        """Asks the broker: another bridge may know a publication of this network a moment earlier."""
        with self._news:
            arrival = topic.pending
        if arrival is None or arrival.head is None:
            return False
        try:
            origin = self._directory.describe(topic.source.topic)
        except UnknownTopic:
            return False
        publications = [each for each in [origin.publication, *origin.others] if each is not None]
        if arrival.head.publication.hex() not in [each.id for each in publications]:
            return False
        self._counters.count("loop")
        with self._news:
            if topic.pending is arrival:
                topic.pending = None
        return True

    def _register(self, topic: _InTopic, kind: Kind) -> None:
        type, source = self._type_of(topic, kind.type_hash), topic.source

        def tokens() -> List[Any]:
            zid = str(self._session.info.zid())
            end = End(zid, "MS", next(end_numbers), topic.name, source.type_name, source.type_digest, kind.keep_last)
            return [self._session.liveliness().declare_token(key) for key in self._format.tokens(end)]

        topic.published.register(topic.key, type, kind, tokens)

    def _type_of(self, topic: _InTopic, type_hash: int) -> TypeDescription:
        """Raises NotBridged."""
        if not type_hash:
            return self._format.type_of(topic.source, topic.rule)
        found = self._schemas.find(topic.source.robot, type_hash)
        if found is None:
            raise NotBridged(f"robot {topic.source.robot} did not send the type with the hash {type_hash:016x}")
        return found

    def _leave(self, published: Published) -> None:
        def is_unused() -> bool:
            with self._news:
                return published.keys == 0

        try:
            published.leave(is_unused)
        except Error as error:
            self._counters.drop("not registered", f"{published.name}: {error}")
        with self._news:
            if published.keys == 0 and self._published.get(published.name) is published:
                del self._published[published.name]
