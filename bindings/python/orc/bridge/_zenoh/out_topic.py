"""A topic that goes out: its subscription here, and its publishers in Zenoh."""

from __future__ import annotations

import contextlib
import time
from typing import Any, Dict, List, Optional, Tuple

import zenoh
import zenoh.ext as ext

from orc import Error, TypeDescription

from .._shared.peer_clock import clock_ns
from .attachment import NO_PUBLICATION, SampleHead
from .clocks import OWN_CLOCK
from .formats import End, Format, end_numbers
from .settings import TopicRule

_ENCODINGS = {
    "cdr": "application/cdr",
    "json": "application/json",
    "protobuf": "application/protobuf",
}
# When a topic pauses, its last sample goes once more after each of these times: Zenoh does not say what it dropped.
_REPEAT_AFTER_S = (0.25, 1.0, 4.0, 16.0)
_HEARTBEAT_S = 1.0


class OutTopic:
    """Belongs to one lane at a time, whose thread alone calls it."""

    def __init__(self, name: str, rule: TopicRule, key: str, subscriber: Any, type: TypeDescription, keep_last: bool):
        self.name, self.rule, self.key, self.subscriber = name, rule, key, subscriber
        self.type, self.keep_last = type, keep_last
        self.publication = NO_PUBLICATION  # set by the thread that watches the directory
        self._priority = getattr(zenoh.Priority, rule.priority.upper())
        self._encoding = _ENCODINGS.get(type.message_encoding, "application/octet-stream")
        self.descriptor: int = subscriber.fileno()
        self.due = 0.0
        self.held: Any = None  # a message that another lane took
        self._publishers: Dict[bool, Any] = {}
        self._tokens: List[Any] = []
        self._sent: Optional[Tuple[bytes, Optional[bytes]]] = None
        self._repeats = 0
        self.repeat_at = float("inf")

    def announce(self, session: Any, format: Format) -> None:
        """Declares its liveliness tokens."""
        zid, digest = str(session.info.zid()), format.digest(self.type)
        end = End(zid, "MP", next(end_numbers), self.name, self.type.name, digest, self.keep_last)
        for key in format.tokens(end):
            self._tokens.append(session.liveliness().declare_token(key))

    def put(self, message: Any, session: Any, format: Format, large: bool) -> None:
        """Sends a sample. Large ones block while another one is on its way."""
        now_ns, now_clock_ns = time.time_ns(), clock_ns()  # first: ages must not be too small
        age_ns = max(0, message.age_ns)
        head = SampleHead(
            message.sequence,
            max(0, now_ns - age_ns),
            self._publication_of(message),
            self.type.hash,
            self.type.name,
            self.keep_last,
            OWN_CLOCK,
            now_clock_ns - age_ns,
        )
        self._sent = None
        payload, attachment = bytes(message), format.encode(head)
        message.release()
        self._put(payload, attachment, session, large)
        self._repeats, self.repeat_at = 0, float("inf")
        if self.keep_last and not large:
            self._sent, self.repeat_at = (payload, attachment), time.monotonic() + _REPEAT_AFTER_S[0]

    def repeat(self, session: Any) -> None:
        """Sends the last sample once more. Waits for a place in Zenoh's queue: this one must not be dropped."""
        if self._sent is None:
            return
        payload, attachment = self._sent
        session.put(
            self.key,
            payload,
            encoding=self._encoding,
            congestion_control=zenoh.CongestionControl.BLOCK,
            priority=self._priority,
            express=True,
            attachment=attachment,
        )
        self._repeats += 1
        if self._repeats < len(_REPEAT_AFTER_S):
            self.repeat_at = time.monotonic() + _REPEAT_AFTER_S[self._repeats]
        else:
            self._sent, self.repeat_at = None, float("inf")

    def close(self) -> None:
        """Withdraws it from Zenoh."""
        for each in [*self._publishers.values(), *self._tokens]:
            with contextlib.suppress(zenoh.ZError):  # the session has ended
                each.undeclare()
        self._publishers.clear()
        self._tokens.clear()

    def _put(self, payload: bytes, attachment: Optional[bytes], session: Any, large: bool) -> None:
        if large not in self._publishers:
            self._publishers[large] = self._declare(session, large)
        self._publishers[large].put(payload, attachment=attachment)

    def _declare(self, session: Any, large: bool) -> Any:
        congestion = zenoh.CongestionControl.BLOCK if large else zenoh.CongestionControl.DROP
        priority = self._priority
        common = {
            "encoding": self._encoding,
            "congestion_control": congestion,
            "priority": priority,
            "express": not large,
        }
        if not self.keep_last:  # an old command must reach nobody
            return session.declare_publisher(self.key, **common)
        return ext.declare_advanced_publisher(
            session,
            self.key,
            cache=ext.CacheConfig(1, replies_config=ext.RepliesConfig(priority=priority, express=not large)),
            sample_miss_detection=ext.MissDetectionConfig(heartbeat=None, sporadic_heartbeat=_HEARTBEAT_S),
            publisher_detection=True,
            **common,
        )

    def _publication_of(self, message: Any) -> bytes:
        if message.publisher:  # a shared topic has several
            try:
                return bytes.fromhex(self.subscriber.publisher_of(message).id).ljust(16, b"\0")[:16]
            except (Error, ValueError):
                pass
        return self.publication
