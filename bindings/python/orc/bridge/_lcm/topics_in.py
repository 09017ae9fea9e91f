"""ORC topics that come in: the newest sample of each, published under its name and with its type."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Callable, List, NamedTuple, Optional, Set

from orc import Error, NameTaken, NoBroker, TypeDescription

from .._shared.counters import Counters
from .._shared.local_topics import LocalPublications
from .._shared.patterns import is_topic
from .._shared.peer_clock import PeerClock, clock_ns
from .._shared.rules import first_rule
from .._shared.type_bytes import decode_type, encode_type
from .log import logger
from .settings import Settings, TopicRule
from .topic_bytes import TopicHead, decode

_MAX_TYPES, _MAX_TYPE_BYTES = 1024, 16 << 20
_IDLE_S = 10.0
_TRY_AGAIN_S = 0.5
_LOOK_AGAIN_S = 0.05
_UNKNOWN_S = 5.0
"""A sample waits so long for its age. A link that gives none for longer is lost, and the next one sends it again."""


class _Arrival(NamedTuple):
    head: TopicHead
    payload: bytes
    clock: PeerClock
    at: float


@dataclass(eq=False)
class _InTopic:
    name: str
    rule: TopicRule
    ask: Callable[[int], None]
    arrived: float = 0.0
    pending: Optional[_Arrival] = None
    publisher: Any = None
    type_hash: int = 0
    keep_last: bool = True
    try_at: float = 0.0


class TopicsIn:
    """Has one thread, which registers topics and publishes. Any thread may call."""

    def __init__(self, settings: Settings, participant: Any, local: LocalPublications, counters: Counters) -> None:
        self._settings, self._participant, self._local, self._counters = settings, participant, local, counters
        self._news = threading.Condition()  # guards the rest
        self._topics: OrderedDict[str, _InTopic] = OrderedDict()  # by name here, the longest idle first
        self._fresh: Set[_InTopic] = set()
        self._types: OrderedDict[int, TypeDescription] = OrderedDict()
        self._type_bytes = 0
        self._leaving: List[_InTopic] = []  # the thread unregisters them
        self._is_closing = False
        self._thread = threading.Thread(target=self._run, name="bridge inbound", daemon=True)

    def start(self) -> None:
        """Begins."""
        self._thread.start()

    def close(self) -> None:
        """Waits for the thread, at most 5 s."""
        with self._news:
            self._is_closing = True
            self._news.notify()
        self._thread.join(5.0)

    def publishes(self, name: str) -> bool:
        """Returns whether a topic of this name came in."""
        with self._news:
            return name in self._topics

    def put(self, name: bytes, message: bytes, clock: PeerClock, ask: Callable[[int], None]) -> None:
        """A sample arrived. ask: sends a request for the type with a hash; any thread may call it."""
        topic_name = name.decode(errors="replace")
        read = decode(message)
        if read is None or not is_topic(topic_name):
            self._counters.drop("malformed packet", f"a sample of {topic_name!r}")
            return
        rule = first_rule(self._settings.topics, "in", topic_name)
        if rule is None:
            self._counters.count("not accepted")
            return
        head, payload = read
        if head.publication in self._local:
            self._counters.count("loop")
            return
        local = rule.local.replace("{topic}", topic_name)
        with self._news:
            topic = self._topics.get(local) or self._new_topic(local, rule, ask)
            if topic is None:
                return
            topic.arrived, topic.ask = time.monotonic(), ask
            topic.pending = _Arrival(head, payload, clock, topic.arrived)
            self._topics.move_to_end(local)
            self._fresh.add(topic)
            self._news.notify()

    def put_type(self, hash: int, data: bytes) -> None:
        """A type arrived."""
        with self._news:
            pending = [each for each in self._topics.values() if each.pending is not None]
            waiting = [each for each in pending if each.pending.head.type_hash == hash]  # type: ignore[union-attr]
            is_known = hash in self._types
        if is_known or not waiting:
            self._counters.count("types that nobody asked for")
            return
        type = decode_type(data, hash)
        if type is None:
            self._counters.drop("schema refused", f"{hash:016x}: it is malformed or has another hash")
            return
        with self._news:
            self._types[hash] = type
            self._types.move_to_end(hash)
            self._type_bytes += len(data)
            while len(self._types) > _MAX_TYPES or self._type_bytes > _MAX_TYPE_BYTES:
                self._type_bytes -= len(encode_type(self._types.popitem(last=False)[1]))
            for each in waiting:
                each.try_at = 0.0
            self._news.notify()

    def _new_topic(self, name: str, rule: TopicRule, ask: Callable[[int], None]) -> Optional[_InTopic]:
        if not is_topic(name):
            self._counters.drop("not bridged", f"{name!r} is no name of a topic")
            return None
        if len(self._topics) >= self._settings.max_topics and not self._forget_idle():
            self._counters.drop("not bridged", f"{name}: {self._settings.max_topics} topics came in (max_topics)")
            return None
        made = self._topics[name] = _InTopic(name, rule, ask)
        return made

    def _forget_idle(self) -> bool:
        name, idle = next(iter(self._topics.items()))
        if time.monotonic() - idle.arrived < _IDLE_S:
            return False
        del self._topics[name]
        self._fresh.discard(idle)
        self._leaving.append(idle)
        return True

    def _run(self) -> None:
        while True:
            with self._news:
                if not self._fresh and not self._is_closing:
                    self._news.wait()
                if self._is_closing:
                    return
                fresh, self._fresh = self._fresh, set()
                leaving, self._leaving = self._leaving, []
            for each in leaving:
                self._leave(each)
            waiting = {each for each in fresh if not self._forward(each)}
            if waiting:
                with self._news:
                    self._fresh |= {each for each in waiting if self._topics.get(each.name) is each}  # not forgotten
                    if self._fresh <= waiting:
                        self._news.wait(_LOOK_AGAIN_S)

    def _leave(self, topic: _InTopic) -> None:
        if topic.publisher is None:
            return
        topic.publisher = None
        try:
            self._participant.unregister_topic(topic.name)
        except Error as error:
            self._counters.drop("not registered", f"{topic.name}: {error}")

    def _forward(self, topic: _InTopic) -> bool:
        """Returns False when the sample must wait for the topic, or for its age."""
        while True:
            with self._news:
                arrival = topic.pending
            if arrival is None:
                return True
            head, now_ns = arrival.head, time.time_ns()
            age_ns = arrival.clock.age_ns(head.stamp_ns, clock_ns())
            if age_ns is None:
                return self._waits_too_long(topic, arrival)
            is_old = bool(topic.rule.max_age_ms) and age_ns > topic.rule.max_age_ms * 1_000_000
            try:
                if is_old:
                    self._counters.count("too old")
                elif topic.publisher is None or (topic.type_hash, topic.keep_last) != (head.type_hash, head.keep_last):
                    if time.monotonic() < topic.try_at or not self._register(topic, head):
                        return False
                    continue  # it is older by now
                with self._news:
                    if topic.pending is arrival:
                        topic.pending = None
                if not is_old:
                    topic.publisher.send_msg(arrival.payload, stamp_ns=max(1, now_ns - age_ns))
                    self._counters.count("samples received")
            except NameTaken:
                self._counters.drop("not bridged", f"{topic.name} is published in this network already")
                topic.try_at = time.monotonic() + 10 * _TRY_AGAIN_S
                return False
            except (Error, MemoryError) as error:
                self._counters.drop("not forwarded", f"{topic.name}: {error}")
                topic.try_at = time.monotonic() + _TRY_AGAIN_S
                return topic.publisher is not None
            except Exception:
                logger.exception("topic %s", topic.name)
            return True

    def _waits_too_long(self, topic: _InTopic, arrival: _Arrival) -> bool:
        """Drops it then: its age is unknown."""
        if time.monotonic() < arrival.at + _UNKNOWN_S:
            return False
        self._counters.drop("age unknown", f"a sample of {topic.name}: its link ended, or tells no time")
        with self._news:
            if topic.pending is arrival:
                topic.pending = None
        return True

    def _register(self, topic: _InTopic, head: TopicHead) -> bool:
        """Returns False when the type is not known yet."""
        type = TypeDescription()
        if head.type_hash:
            with self._news:
                known = self._types.get(head.type_hash)
            if known is None:
                topic.try_at = time.monotonic() + _TRY_AGAIN_S
                topic.ask(head.type_hash)
                return False
            type = known
        self._leave(topic)
        try:
            made = self._participant.register_topic(topic.name, type=type or None, keep_last=head.keep_last)
        except NoBroker:  # it stays registered: a broker that answers later learns of it
            made = self._participant.publisher(topic.name)
        topic.type_hash, topic.keep_last, topic.publisher = head.type_hash, head.keep_last, made
        return True
