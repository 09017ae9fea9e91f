"""What a subscription to a shared topic receives from: one part for each publication (design/shared-topics.md)."""

from __future__ import annotations

import collections
import dataclasses
import threading
import time
from typing import TYPE_CHECKING, Callable, Deque, List, Optional

from .._types import LinkInfo, PublisherInfo
from . import messages
from .identity import Id

if TYPE_CHECKING:
    from .subscription import Subscription

_MAX_PARTS = 128  # publications that left and have unread samples count too; a broker names 64
_REMEMBERED = 64  # publishers that are gone


class Part:
    """A publication of the shared topic, and the subscription to it alone."""

    def __init__(self, number: int, publication: Id, subscription: Subscription) -> None:
        self.number, self.publication, self.subscription = number, publication, subscription
        self.listed = True  # the broker names it
        self.newest_ns = -(2**63)  # stamp of the newest sample taken
        self.skipped = 0  # samples that a newer one of another publisher replaced
        self.name, self.host, self.pid = "", "", 0

    def info(self) -> PublisherInfo:
        connected = self.subscription.link.connected
        return PublisherInfo(self.number, str(self.publication), self.name, self.host, self.pid, connected)


class SharedParts:
    """The I/O thread changes the list, with the lock of the subscription. Types are compared without it."""

    def __init__(self, lock: threading.Condition, make: Callable[[], Subscription], newest_of_all: bool) -> None:
        self._lock, self._make, self._newest_of_all = lock, make, newest_of_all
        self.parts: List[Part] = []
        self._last_number = self._last_turn = 0
        self._gone: Deque[PublisherInfo] = collections.deque(maxlen=_REMEMBERED)
        self._newest_of_gone_ns = -(2**63)
        self.counted_of_gone = [0, 0, 0, 0, 0]  # received, bytes, missed, malformed, stale

    # Users' threads, under the lock.

    def has_any(self) -> bool:
        return any(part.subscription.has_queued() for part in self.parts)

    def pick(self) -> Optional[Part]:
        """Returns the part whose next sample is to be returned. Drops samples that a newer one replaces."""
        ready = [part for part in self.parts if part.subscription.drop_stale()]
        if not ready:
            return None
        if not self._newest_of_all:  # they take turns, so that none keeps the others out
            return next((part for part in ready if part.number > self._last_turn), ready[0])
        newest = max(ready, key=lambda part: (part.subscription.first_stamp_ns(), part.publication))
        for part in ready:
            if part is not newest or self._is_overtaken(part):
                part.newest_ns = part.subscription.first_stamp_ns()
                part.skipped += part.subscription.skip()
        return newest if newest.subscription.has_queued() else None

    def returned(self, part: Part, stamp_ns: int) -> None:
        part.newest_ns, part.skipped, self._last_turn = stamp_ns, 0, part.number

    def _is_overtaken(self, by: Part) -> bool:
        """A stamp ahead of this host's clock counts for nothing: a clock that was set back must not silence others."""
        mine, now_ns = (by.subscription.first_stamp_ns(), by.publication), time.time_ns()
        others = ((part.newest_ns, part.publication) for part in self.parts if part is not by)
        if any(other > mine and other[0] <= now_ns for other in others):
            return True
        return mine[0] < self._newest_of_gone_ns <= now_ns

    def infos(self) -> List[PublisherInfo]:
        return [part.info() for part in self.parts if part.listed]

    def info(self, number: int) -> PublisherInfo:
        live = (part.info() for part in self.parts if part.number == number)
        gone = (info for info in self._gone if info.number == number)
        return next(live, next(gone, PublisherInfo()))

    def link(self, stale: int) -> LinkInfo:
        links = [(part, part.subscription.link) for part in self.parts]
        up = [link.transport for _, link in links if link.connected]
        listed = [f"{part.name} ({part.pid}): {link.reason}" for part, link in links if part.listed]
        counted = f"{len(up)} of {len(listed)} publishers linked"
        reason = "; ".join([counted, *listed]) if listed or up else "no publisher"
        stale += self.counted_of_gone[4] + sum(link.stale for _, link in links)
        return LinkInfo(bool(up), up[0] if up else None, reason, stale)

    # I/O thread.

    def follow(self, state: messages.TopicState, pushed: bool) -> None:
        """Takes over the publications that the broker reports."""
        for each in state.publications:
            part = self._find_or_make(each.publication)
            with self._lock:
                part.listed = True
                part.name, part.host, part.pid = each.participant_name, each.host, each.pid
            part.subscription.apply(messages.TopicState(state.topic, each, [], 0), pushed=True)
        named = {each.publication for each in state.publications}
        for part in self.parts:
            if pushed and part.listed and part.publication not in named:
                part.listed = False
                part.subscription.apply(messages.TopicState(state.topic, None, [], 0), pushed=True)

    def _find_or_make(self, publication: Id) -> Part:
        known = next((part for part in self.parts if part.publication == publication), None)
        if known is not None:
            return known
        if len(self.parts) >= _MAX_PARTS:
            self._remove(next((part for part in self.parts if not part.listed), self.parts[0]))
        self._last_number += 1
        made = Part(self._last_number, publication, self._make())
        with self._lock:
            self.parts.append(made)
        return made

    def _remove(self, part: Part) -> None:
        part.subscription.part()
        last = part.subscription.counters()
        more = (last.received, last.bytes, last.missed, last.malformed, last.stale)
        with self._lock:
            self.parts.remove(part)
            self._gone.append(dataclasses.replace(part.info(), connected=False))
            self._newest_of_gone_ns = max(self._newest_of_gone_ns, part.newest_ns)
            self.counted_of_gone = [a + b for a, b in zip(self.counted_of_gone, more)]

    def tick(self, now: float) -> None:
        for part in list(self.parts):
            part.subscription.tick(now)
            if not part.listed and part.subscription.is_over():
                self._remove(part)

    def clear(self) -> None:
        for part in list(self.parts):
            self._remove(part)
