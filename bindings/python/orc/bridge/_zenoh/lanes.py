"""Threads that send: one per priority for small samples, one for all large samples.

A lane takes the newest sample of a topic only when it can send it, so nothing older waits in a queue of the bridge.
"""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading
import time
from collections import deque
from typing import Any, Callable, Deque, Dict, List, Set, Tuple

import zenoh

from orc import Error

from .._shared.counters import Counters
from .formats import Format
from .log import logger
from .out_topic import OutTopic

_AFTER_ERROR_S = 1.0


class Lanes:
    """The lanes of a bridge. Any thread may call."""

    def __init__(self, small: Any, large: Any, format: Format, large_bytes: int, counters: Counters) -> None:
        self.small, self.large, self.format, self.large_bytes, self.counters = (
            small,
            large,
            format,
            large_bytes,
            counters,
        )
        self._lock = threading.Lock()
        self._lanes: Dict[str, Lane] = {}

    def add(self, topic: OutTopic) -> None:
        """Sends what this topic has from now on."""
        self.of(topic, topic.rule.size == "large").add(topic)

    def remove(self, topic: OutTopic, then: Callable[[OutTopic], None]) -> None:
        """Calls `then`, on a lane's thread, when the topic is sent no more. Once for each topic."""
        self.of(topic, topic.rule.size == "large").remove(topic, then)

    def of(self, topic: OutTopic, large: bool) -> Lane:
        """Returns the lane of the topic's samples of this size."""
        name = "large" if large else topic.rule.priority
        with self._lock:
            if name not in self._lanes:
                self._lanes[name] = Lane(self, name)
            return self._lanes[name]

    def close(self) -> None:
        """Ends the threads."""
        for each in list(self._lanes.values()):
            each.close()


class Lane:
    """add, remove and close may be called by any thread."""

    def __init__(self, lanes: Lanes, name: str) -> None:
        self._lanes = lanes
        self._is_large = name == "large"
        self._session = lanes.large if self._is_large else lanes.small
        self._orders: Deque[Tuple[Callable[[OutTopic], None], OutTopic]] = deque()
        self._selector = selectors.DefaultSelector()
        self._topics: Set[OutTopic] = set()
        self._resting: List[OutTopic] = []  # not polled until they are due
        self._is_closing = False
        self._bell, self._ring = socket.socketpair()
        self._bell.setblocking(False)
        self._ring.setblocking(False)
        self._selector.register(self._bell, selectors.EVENT_READ)
        self._thread = threading.Thread(target=self._run, name=f"zenoh {name}", daemon=True)
        self._thread.start()

    def add(self, topic: OutTopic) -> None:
        """See Lanes. No other lane has the topic."""
        self._order(self._add, topic)

    def remove(self, topic: OutTopic, then: Callable[[OutTopic], None]) -> None:
        """See Lanes. The order follows a topic that was handed on."""
        self._order(lambda leaving: self._remove(leaving, then), topic)

    def close(self) -> None:
        """Waits for the thread, at most 2 s: a large sample may be on its way."""
        self._is_closing = True
        self._wake()
        self._thread.join(2.0)

    def _order(self, what: Callable[[OutTopic], None], topic: OutTopic) -> None:
        self._orders.append((what, topic))
        self._wake()

    def _wake(self) -> None:
        with contextlib.suppress(OSError):  # it is full: the lane wakes anyway
            self._ring.send(b"!")

    def _run(self) -> None:
        while not self._is_closing:
            try:
                self._step()
            except Exception:
                logger.exception("sending")
                time.sleep(_AFTER_ERROR_S)

    def _step(self) -> None:
        while self._orders:
            order, topic = self._orders.popleft()
            self._guarded(order, topic)
        for key, _ in self._selector.select(self._advance()):
            if key.data is None:
                with contextlib.suppress(OSError):
                    self._bell.recv(4096)
            elif not self._is_closing:
                self._guarded(self._take, key.data)

    def _advance(self) -> float:
        """Does what is due. Returns in how many seconds the next thing is."""
        now = time.monotonic()
        for topic in [each for each in self._resting if each.due <= now]:
            self._resting.remove(topic)
            self._selector.register(topic.descriptor, selectors.EVENT_READ, topic)
            if topic.held is not None:
                self._guarded(self._take, topic)
        for topic in [each for each in self._topics if each.repeat_at <= now]:
            self._guarded(lambda quiet: quiet.repeat(self._session), topic)
        times = [each.repeat_at for each in self._topics] + [each.due for each in self._resting]
        return min(60.0, max(0.0, min(times, default=60.0) - time.monotonic()))

    def _add(self, topic: OutTopic) -> None:
        self._topics.add(topic)
        self._resting.append(topic)

    def _remove(self, topic: OutTopic, then: Callable[[OutTopic], None]) -> None:
        if topic in self._topics:
            self._forget(topic)
            then(topic)
        else:
            self._lanes.of(topic, not self._is_large).remove(topic, then)

    def _forget(self, topic: OutTopic) -> None:
        self._topics.discard(topic)
        if topic in self._resting:
            self._resting.remove(topic)
        else:
            self._selector.unregister(topic.descriptor)

    def _guarded(self, work: Callable[[OutTopic], None], topic: OutTopic) -> None:
        """One topic must not end the others."""
        try:
            work(topic)
        except (zenoh.ZError, Error) as error:
            self._lanes.counters.drop("not sent", f"{topic.name}: {error}")
            self._rest(topic, time.monotonic() + _AFTER_ERROR_S)
        except Exception:
            logger.exception("topic %s", topic.name)
            self._rest(topic, time.monotonic() + _AFTER_ERROR_S)

    def _take(self, topic: OutTopic) -> None:
        held, topic.held = topic.held, None
        message = topic.subscriber.recv_msg(0) or held
        if message is None:
            return
        is_large = len(message) > self._lanes.large_bytes
        if topic.rule.size == "auto" and is_large != self._is_large:
            self._hand_on(topic, message)
            return
        topic.put(message, self._session, self._lanes.format, self._is_large)
        self._lanes.counters.count("sent")
        if topic.rule.max_rate:
            now, period = time.monotonic(), 1.0 / topic.rule.max_rate
            self._rest(topic, (topic.due if now - topic.due < period else now) + period)

    def _hand_on(self, topic: OutTopic, message: Any) -> None:
        """A sample of the other size: its lane goes on with the topic."""
        self._forget(topic)
        topic.held, topic.repeat_at = message, float("inf")
        self._lanes.of(topic, not self._is_large).add(topic)

    def _rest(self, topic: OutTopic, until: float) -> None:
        topic.due = until
        if topic in self._topics and topic not in self._resting:
            self._selector.unregister(topic.descriptor)
            self._resting.append(topic)
