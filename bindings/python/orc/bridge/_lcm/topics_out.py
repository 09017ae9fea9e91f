"""ORC topics that go out: their newest samples, when they come."""

from __future__ import annotations

from typing import Any, Callable, Dict, Optional

from orc import Error, TypeDescription

from .._shared.counters import Counters
from .._shared.peer_clock import clock_ns
from .._shared.rules import first_rule
from .._shared.type_bytes import encode_type
from .loop import READ, Loop
from .outgoing import Pace
from .settings import Settings
from .topic_bytes import TopicHead, encode

NO_PUBLICATION = bytes(16)


class OutTopic:
    """A topic that goes out."""

    def __init__(self, name: str, subscriber: Any, type: TypeDescription, keep_last: bool, pace: Pace) -> None:
        self.name, self.subscriber, self.type, self.keep_last, self.pace = name, subscriber, type, keep_last, pace
        self.publication = NO_PUBLICATION
        self.last: Optional[bytes] = None
        """The message that went out last, for links that come later."""


class TopicsOut:
    """The TopicSink of this bridge. send: called on the thread of the loop, with a name, a message and its pace."""

    def __init__(
        self, settings: Settings, loop: Loop, send: Callable[[str, bytes, Pace], None], counters: Counters
    ) -> None:
        self._settings, self._loop, self._send, self._counters = settings, loop, send, counters
        self._topics: Dict[str, OutTopic] = {}  # the thread of the loop uses it

    def goes_out(self, name: str) -> bool:
        """Returns whether a rule lets the topic out. Any thread may call."""
        return first_rule(self._settings.topics, "out", name) is not None

    def begin(self, name: str, subscriber: Any, type: TypeDescription, keep_last: bool) -> OutTopic:
        """See TopicSink."""
        rule = first_rule(self._settings.topics, "out", name)
        assert rule is not None
        return OutTopic(name, subscriber, type, keep_last, Pace(1 / rule.max_rate if rule.max_rate else 0.0, True))

    def added(self, topic: OutTopic) -> None:
        """See TopicSink."""
        self._loop.soon(lambda: self._add(topic))

    def end(self, topic: OutTopic, then: Callable[[OutTopic], None]) -> None:
        """See TopicSink."""
        self._loop.soon(lambda: self._remove(topic, then))

    # The thread of the loop.

    def send_last(self, send: Callable[[str, bytes, Pace], None]) -> None:
        """Sends the last samples again, to a link that is new."""
        for each in self._topics.values():
            if each.last is not None:
                send(each.name, each.last, each.pace)

    def type_bytes(self, hash: int) -> Optional[bytes]:
        """Returns the type of a topic that goes out. None: none has this hash."""
        return next((encode_type(each.type) for each in self._topics.values() if each.type.hash == hash), None)

    def _add(self, topic: OutTopic) -> None:
        self._topics[topic.name] = topic
        self._loop.watch(topic.subscriber, READ, lambda _: self._take(topic))

    def _remove(self, topic: OutTopic, then: Callable[[OutTopic], None]) -> None:
        if self._topics.get(topic.name) is topic:
            del self._topics[topic.name]
            self._loop.forget(topic.subscriber)
        then(topic)

    def _take(self, topic: OutTopic) -> None:
        try:
            message = topic.subscriber.recv_msg(0)
        except Error as error:
            self._counters.drop("not received", f"{topic.name}: {error}")
            return
        if message is None:
            return
        stamp_ns = max(0, clock_ns() - max(0, message.age_ns))
        head = TopicHead(topic.type.hash, topic.keep_last, stamp_ns, topic.publication)
        made = encode(head, bytes(message))
        message.release()
        if len(made) > self._settings.max_bytes:
            self._counters.drop("too large", f"{topic.name} has {len(made)} bytes")
            return
        topic.last = made if topic.keep_last else None
        self._counters.count("samples sent")
        self._send(topic.name, made, topic.pace)
