"""The two topics between a client and a service."""

from __future__ import annotations

import contextlib
import secrets
from typing import Any, Optional

from .._errors import BadName, Error, NoBroker
from . import message
from .message import Kind
from .platform import Participant

MAX_OPEN_CALLS = 1024
# Requests, cancellations and acknowledgements of as many calls as can be open; and replies with two feedbacks each.
DEPTH = 4 * MAX_OPEN_CALLS
HELD_MESSAGES = 60  # over shm


class ClientTopics:
    """A client's ends. `set_up` waits for the broker; the lock of the channel guards the rest."""

    def __init__(self, service: str) -> None:
        self._service = service
        self._id = 0
        self.requests: Any = None  # the publisher
        self.replies: Any = None  # the subscriber
        self.problem: Optional[Error] = None  # why there are none yet
        self.is_hopeless = False  # with this name there never will be

    @staticmethod
    def draw_id() -> int:
        return secrets.randbits(64)

    def set_up(self, participant: Participant, id: int) -> Any:
        """Returns publisher and subscriber. Without a broker they work when one answers. Raises Error."""
        replies = self._requested(participant, message.reply_topic(self._service, id))
        try:
            requests = self._registered(participant, message.call_topic(self._service, id))
        except BaseException:
            with contextlib.suppress(Error):
                participant.release_topic(message.reply_topic(self._service, id))
            raise
        return requests, replies

    def take(self, id: int, made: Any) -> None:
        self._id, self.problem = id, None
        self.requests, self.replies = made

    def fail(self, why: Error) -> None:
        self.problem = why
        self.is_hopeless = isinstance(why, BadName)

    def drop(self) -> int:
        """Lets the handles go. Returns the id, for `withdraw`."""
        self.requests = self.replies = None
        return self._id

    def withdraw(self, participant: Participant, id: int) -> None:
        """Waits for the broker, at most a second."""
        with contextlib.suppress(Error):
            participant.unregister_topic(message.call_topic(self._service, id))
        with contextlib.suppress(Error):
            participant.release_topic(message.reply_topic(self._service, id))

    def send(self, kind: Kind, id: int, payload: bytes = b"", time_ns: int = 0) -> None:
        """Never waits. A message that cannot be sent counts as lost."""
        with contextlib.suppress(Error):
            if self.requests is not None:
                self.requests.send_msg(message.encode(kind, id, payload, time_ns))

    @staticmethod
    def _requested(participant: Participant, topic: str) -> Any:
        try:
            return participant.request_topic(topic, conflate=0, depth=DEPTH, max_messages=HELD_MESSAGES)
        except NoBroker:
            return participant.subscriber(topic)

    @staticmethod
    def _registered(participant: Participant, topic: str) -> Any:
        try:
            return participant.register_topic(topic, keep_last=False)
        except NoBroker:
            return participant.publisher(topic)
