"""Sends the topics of this network that may go out."""

from __future__ import annotations

from typing import Any, Callable

import zenoh

from orc import TypeDescription

from .._shared.local_topics import NotBridged, NotYet
from .formats import Format
from .lanes import Lanes
from .out_topic import OutTopic
from .schemas import Schemas
from .settings import Settings, rule_for


class Outbound:
    """The TopicSink of this bridge."""

    def __init__(self, settings: Settings, session: Any, format: Format, lanes: Lanes, schemas: Schemas) -> None:
        self._settings, self._session = settings, session
        self._format, self._lanes, self._schemas = format, lanes, schemas

    def goes_out(self, name: str) -> bool:
        """Returns whether a rule lets the topic out. Any thread may call."""
        return rule_for(self._settings.topics, "out", name) is not None

    def begin(self, name: str, subscriber: Any, type: TypeDescription, keep_last: bool) -> OutTopic:
        """See TopicSink."""
        rule = rule_for(self._settings.topics, "out", name)
        assert rule is not None
        if self._format.only_cdr and type.message_encoding != "cdr":
            raise NotBridged(f"ROS 2 reads cdr, and the topic has {type.message_encoding or 'no type'}")
        made = OutTopic(name, rule, self._format.key(name, type), subscriber, type, keep_last)
        if type:
            self._schemas.add(type)
        try:
            made.announce(self._session, self._format)
        except zenoh.ZError as error:
            raise NotYet(str(error)) from None
        return made

    def added(self, topic: OutTopic) -> None:
        """See TopicSink."""
        self._lanes.add(topic)

    def end(self, topic: OutTopic, then: Callable[[OutTopic], None]) -> None:
        """See TopicSink."""

        def release(ended: OutTopic) -> None:
            try:
                ended.close()
            finally:
                then(ended)

        self._lanes.remove(topic, release)
