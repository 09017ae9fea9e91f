"""Follows the topics of this network, and subscribes to those that may go out."""

from __future__ import annotations

import threading
import time
from typing import Any, Callable, Dict, Generic, List, Protocol, Set, TypeVar

from orc import Directory, Error, TopicState, TypeDescription, TypeMismatch, UnknownType

from .counters import Counters
from .patterns import is_topic

BRIDGES = "orc-bridge-"
"""Names of the participants of all bridges begin with this. Their topics do not go out: they came in."""
_SERVICE_TYPE = "orc.Service"
_GONE_S = 5.0  # a publisher that restarts keeps its topic
_SOON_S = 0.1  # its publisher sends a schema within moments
_TRY_AGAIN_S = 1.0


class NotBridged(Exception):
    """The bridge cannot carry this topic. The text says why."""


class NotYet(Exception):
    """The bridge cannot carry this topic now, and tries again. The text says why."""


class LocalPublications:
    """The ids of the publications in this network: what comes back from elsewhere with one of them is dropped."""

    def __init__(self) -> None:
        self._of: Dict[str, List[bytes]] = {}
        self._all: frozenset[bytes] = frozenset()

    def set(self, topic: str, ids: List[bytes]) -> None:
        """The publications of a topic, from now on. One thread calls."""
        if ids:
            self._of[topic] = ids
        else:
            self._of.pop(topic, None)
        self._all = frozenset(each for ids in self._of.values() for each in ids)

    def has_topic(self, name: str) -> bool:
        """Returns whether a topic of this name is published here."""
        return name in self._of

    def __contains__(self, id: bytes) -> bool:
        return id in self._all


class LocalTopic(Protocol):
    """A topic that goes out."""

    name: str
    type: TypeDescription
    keep_last: bool
    publication: bytes
    """Its id. The thread of LocalTopics sets it."""


T = TypeVar("T", bound=LocalTopic)


class TopicSink(Protocol[T]):
    """What carries the topics. The thread of LocalTopics calls it."""

    def begin(self, name: str, subscriber: Any, type: TypeDescription, keep_last: bool) -> T:
        """Returns the topic. Raises NotBridged, NotYet."""

    def added(self, topic: T) -> None:
        """Sends its samples from now on: `publication` is set."""

    def end(self, topic: T, then: Callable[[T], None]) -> None:
        """Calls `then` when the subscriber is used no more, on any thread."""


class LocalTopics(Generic[T]):
    """Has one thread, which waits for the broker."""

    def __init__(
        self, broker: str, participant: Any, sink: TopicSink[T], goes_out: Callable[[str], bool], max_topics: int,
        counters: Counters,
    ) -> None:  # fmt: skip
        self.publications = LocalPublications()
        self._participant, self._sink, self._goes_out = participant, sink, goes_out
        self._max_topics, self._counters = max_topics, counters
        self._directory = Directory(broker)
        self._watch = self._directory.watch("**")
        self._topics: Dict[str, T] = {}
        self._waiting: Dict[str, TopicState] = {}  # to be tried again
        self._ending: Set[str] = set()  # their last sample is sent still
        self._gone: Dict[str, float] = {}  # when a topic without a publisher is given up
        self._is_closing = False
        self._on_change: List[Callable[[TopicState, bool], None]] = []
        self._thread = threading.Thread(target=self._run, name="bridge topics", daemon=True)

    def watch_also(self, on_change: Callable[[TopicState, bool], None]) -> None:
        """Calls this, too, with each topic that changes, and whether it is still there. Before start()."""
        self._on_change.append(on_change)

    def start(self) -> None:
        """Begins."""
        self._thread.start()

    def close(self) -> None:
        """Waits for the thread, at most 5 s."""
        self._is_closing = True
        self._watch.close()
        self._thread.join(5.0)
        self._directory.close()

    def _run(self) -> None:
        again_at = 0.0
        while not self._is_closing:
            try:
                change = self._watch.next_change(int((_SOON_S if self._waiting else _TRY_AGAIN_S) * 1000))
                if change is not None and change.topic is not None:
                    self._changed(change.topic, change.kind == "topic")
                if time.monotonic() >= again_at:
                    self._look_after()
                    again_at = time.monotonic() + _SOON_S
            except Exception as error:
                if self._is_closing:
                    return
                self._counters.drop("no directory", str(error))
                time.sleep(_TRY_AGAIN_S)

    def _changed(self, topic: TopicState, exists: bool) -> None:
        publications = [each for each in [topic.publication, *topic.others] if each is not None] if exists else []
        foreign = [each for each in publications if not each.participant.name.startswith(BRIDGES)]
        self.publications.set(topic.name, [bytes.fromhex(each.id) for each in foreign])
        for each in self._on_change:
            each(topic, bool(foreign))
        self._waiting.pop(topic.name, None)
        if not foreign:
            if topic.name in self._topics:
                self._gone.setdefault(topic.name, time.monotonic() + _GONE_S)
            return
        self._gone.pop(topic.name, None)
        if len(foreign) == len(publications) and is_topic(topic.name) and self._goes_out(topic.name):
            self._waiting[topic.name] = topic
            self._try(topic)

    def _look_after(self) -> None:
        now = time.monotonic()
        for topic in list(self._waiting.values()):
            self._try(topic)
        for name in [name for name, when in self._gone.items() if when <= now]:
            del self._gone[name]
            self._end(name)

    def _try(self, topic: TopicState) -> None:
        """Sends the topic as it is now, or leaves it in _waiting."""
        publication = topic.publication
        if publication is None or (publication.type is not None and publication.type.name == _SERVICE_TYPE):
            del self._waiting[topic.name]
            return
        try:
            type = TypeDescription() if publication.type is None else self._directory.find_type(publication.type)
            if not self._send(topic.name, type, bytes.fromhex(publication.id), publication.keep_last):
                return
        except UnknownType:
            return  # its publisher has not sent it yet
        except NotBridged as error:
            self._counters.drop("not bridged", f"{topic.name}: {error}")
        except (Error, NotYet) as error:
            self._counters.drop("not bridged", f"{topic.name}: {error}")
            return
        self._waiting.pop(topic.name, None)

    def _send(self, name: str, type: TypeDescription, id: bytes, keep_last: bool) -> bool:
        """Returns whether it is sent; False: try again. Raises NotBridged, NotYet, Error."""
        known = self._topics.get(name)
        if known is not None and (known.type, known.keep_last) == (type, keep_last):
            known.publication = id
            return True
        if known is not None:
            self._end(name)
        if name in self._ending:
            return False
        if len(self._topics) >= self._max_topics:
            raise NotBridged(f"{self._max_topics} topics go out already (max_topics)")
        made = self._sink.begin(name, self._subscriber(name, type), type, keep_last)
        made.publication = id
        self._topics[name] = made
        self._sink.added(made)
        return True

    def _subscriber(self, name: str, type: TypeDescription) -> Any:
        """Its samples have this type, also when another publisher takes the name."""
        try:
            return self._participant.request_topic(name, type=type or None)
        except TypeMismatch:  # it stays requested
            return self._participant.subscriber(name)

    def _end(self, name: str) -> None:
        topic = self._topics.pop(name, None)
        if topic is not None:
            self._ending.add(name)
            self._sink.end(topic, self._release)

    def _release(self, topic: T) -> None:
        try:
            self._participant.release_topic(topic.name)
        finally:  # else the name would never go out again
            self._ending.discard(topic.name)
