"""Receives from Zenoh, and publishes here: the newest sample of each key, of its type.

Zenoh's thread only sorts out what is malformed or old. One thread sends, others register topics and ask for schemas.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Dict, List, Optional

import zenoh
import zenoh.ext as ext

from orc import Error, NoBroker, TypeDescription, UnknownTopic

from .._shared.counters import Counters
from .._shared.local_topics import LocalPublications, NotBridged
from .._shared.patterns import is_topic
from .attachment import NO_PUBLICATION, SampleHead
from .formats import End, Format, Source, end_numbers
from .log import logger
from .order import Order
from .schemas import Schemas
from .sessions import direct
from .settings import Settings, TopicRule, local_name, rule_for

_TRY_AGAIN_S = 0.5
_LOOK_AGAIN_S = 0.05
_IDLE_S = 10.0
_REGISTERING_THREADS = 4


@dataclass
class _Arrival:
    head: Optional[SampleHead]  # None: it came without one
    payload: Any


class _InTopic:
    """A key, and the topic that it is here."""

    def __init__(self, source: Source, rule: TopicRule, name: str) -> None:
        self.source, self.rule, self.name = source, rule, name
        self.order = Order()
        self.arrived = time.monotonic()
        self.pending: Optional[_Arrival] = None
        self.publisher: Any = None
        self.type_hash = 0  # of the publisher
        self.keep_last = True
        self.is_preparing = False
        self.prepare_at = 0.0


class Inbound:
    """Any thread may call."""

    def __init__(
        self, settings: Settings, participant: Any, directory: Any, session: Any, format: Format,
        local: LocalPublications, schemas: Schemas, counters: Counters,
    ) -> None:  # fmt: skip
        self._settings, self._session = settings, session
        self._participant, self._directory = participant, directory
        self._format, self._local, self._schemas, self._counters = format, local, schemas, counters
        self._news = threading.Condition()  # guards the topics
        self._topics: OrderedDict[str, _InTopic] = OrderedDict()  # the longest idle first
        self._fresh: Dict[str, _InTopic] = {}  # with pending samples
        self._subscribers: List[Any] = []
        self._tokens: List[Any] = []
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
        for each in [*self._subscribers, *self._tokens]:
            each.undeclare()
        with self._news:
            self._is_closing = True
            self._news.notify()
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
            topic.pending = _Arrival(head, sample.payload)
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
        if len(self._topics) >= self._settings.max_topics and not self._forget_idle():
            self._counters.drop("too many topics", f"{key}: {self._settings.max_topics} come in (max_topics)")
            return None
        made = self._topics[key] = _InTopic(source, rule, name)
        return made

    def _is_foreign(self, source: Source) -> bool:
        """Samples of this robot's own keys are this bridge's, unless a rule names the robot. Keys of ROS name none."""
        if not source.robot:
            return not self._local.has_topic(source.topic)
        named = any(each.robot == source.robot for each in self._settings.topics)
        return source.robot != self._settings.robot or named

    def _forget_idle(self) -> bool:
        key, idle = next(iter(self._topics.items()))
        if idle.is_preparing or time.monotonic() - idle.arrived < _IDLE_S:
            return False
        del self._topics[key]
        self._fresh.pop(key, None)
        if idle.publisher is not None:
            self._pool.submit(self._unregister, idle.name)
        return True

    def _is_wanted(self, topic: _InTopic, head: Optional[SampleHead]) -> bool:
        if head is None:
            if topic.type_hash:
                self._counters.drop("wrong type", f"{topic.name}: a sample without a type, of a typed topic")
            return not topic.type_hash
        limit = topic.rule.max_age_ms
        if limit and time.time_ns() - head.stamp_ns > limit * 1_000_000:
            self._counters.count("too old")
            return False
        if not topic.order.accept(head, time.monotonic()):
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
            waiting = {key: topic for key, topic in fresh.items() if not self._forward(topic)}
            if waiting:
                with self._news:
                    self._fresh = {**waiting, **self._fresh}
                    if all(key in waiting for key in self._fresh):
                        self._news.wait(_LOOK_AGAIN_S)

    def _forward(self, topic: _InTopic) -> bool:
        """Returns False when the sample must wait for the topic."""
        with self._news:
            arrival = topic.pending
        if arrival is None:
            return True
        head = arrival.head
        type_hash = head.type_hash if head is not None else 0
        keep_last = head.keep_last if head is not None else True
        if topic.publisher is None or (topic.type_hash, topic.keep_last) != (type_hash, keep_last):
            if not topic.is_preparing and time.monotonic() >= topic.prepare_at:
                topic.is_preparing = True
                self._pool.submit(self._prepare, topic, type_hash, keep_last)
            return False
        with self._news:
            if topic.pending is arrival:
                topic.pending = None
        try:
            topic.publisher.send_msg(arrival.payload.to_bytes())
            self._counters.count("received")
        except (Error, MemoryError) as error:
            self._counters.drop("not forwarded", f"{topic.name}: {error}")
        return True

    # Threads that register.

    def _prepare(self, topic: _InTopic, type_hash: int, keep_last: bool) -> None:
        try:
            if topic.publisher is None and self._came_from_here(topic):
                return
            self._register(topic, type_hash, keep_last)
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

    def _register(self, topic: _InTopic, type_hash: int, keep_last: bool) -> None:
        type = self._type_of(topic, type_hash)
        if topic.publisher is not None:
            topic.publisher = None
            self._unregister(topic.name)
        try:
            made = self._participant.register_topic(topic.name, type=type or None, keep_last=keep_last)
        except NoBroker:  # it stays registered: a broker that answers later learns of it
            made = self._participant.publisher(topic.name)
        topic.type_hash, topic.keep_last = type_hash, keep_last
        topic.publisher = made
        source, zid = topic.source, str(self._session.info.zid())
        end = End(zid, "MS", next(end_numbers), topic.name, source.type_name, source.type_digest, keep_last)
        for key in self._format.tokens(end):
            self._tokens.append(self._session.liveliness().declare_token(key))

    def _type_of(self, topic: _InTopic, type_hash: int) -> TypeDescription:
        """Raises NotBridged."""
        if not type_hash:
            return self._format.type_of(topic.source, topic.rule)
        found = self._schemas.find(topic.source.robot, type_hash)
        if found is None:
            raise NotBridged(f"robot {topic.source.robot} did not send the type with the hash {type_hash:016x}")
        return found

    def _unregister(self, name: str) -> None:
        try:
            self._participant.unregister_topic(name)
        except Error as error:
            self._counters.drop("not registered", f"{name}: {error}")
