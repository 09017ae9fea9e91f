"""The receiving end of a topic: which publication, which link, and the queue (schemas/PROTOCOL.md, "Order of events").

Users' threads take samples out of the queue. Everything else happens on the I/O thread.
"""

from __future__ import annotations

import collections
import dataclasses
import time
from typing import Any, Deque, Dict, List, Optional, Tuple

from .. import _errors as errors
from .._bell import Bell
from .._typed import Typed
from .._types import LinkInfo
from . import endpoints, link, messages
from .connection import connect
from .identity import Id, draw_id
from .link import Allowance, Frame
from .message import Message
from .publication import IPC, TCP
from .session import Declared, escaped, wait_for

_NAMES = {IPC: "ipc", TCP: "tcp"}
_ATTEMPT_S = 1.0
_YOUNG_S = 0.5
_GRACE_S = 1.0
_HELLO_EVERY_S = 1.0
_SILENCE_S = 5.0
_NEWS_S = 1.0
_ATTEMPTS_AT_ONCE, _ATTEMPTS_PER_SECOND = 8, 2
_FRAMES_AT_ONCE, _FRAMES_PER_SECOND = 200, 20  # that are no samples


class _Arrived:
    """A sample in the queue."""

    __slots__ = "publication", "sequence", "stamp_ns", "frame", "missed"

    def __init__(self, publication: Id, sequence: int, stamp_ns: int, frame: Frame, missed: int) -> None:
        self.publication, self.sequence, self.stamp_ns, self.frame = publication, sequence, stamp_ns, frame
        self.missed = missed  # samples of the publication since the one before it in the queue, or the last returned


class _Link:
    """One attempt at a link to one endpoint of a publication."""

    def __init__(self, owner: Subscription, publication: Id, endpoint: messages.Body) -> None:
        self.publication, self.endpoint = publication, endpoint
        self.welcome = False
        self._said = time.monotonic()
        self._owner = owner
        self._frames = Allowance(_FRAMES_AT_ONCE, _FRAMES_PER_SECOND)
        self.connection = connect(owner.reactor, endpoint.address, link.MAX_FROM_SUBSCRIBER, endpoints.may_publish_at)
        self.connection.ready, self.connection.frame = self.hello, self._received
        self.connection.ended = lambda why: owner._ended(self, why)

    def hello(self) -> None:
        self._said = time.monotonic()
        self._say(link.HELLO, *self._owner._hello_of(self.publication))

    def leave(self) -> None:
        self._say(link.GOODBYE, 0, 0, 0)
        self.connection.close()

    def tick(self, now: float) -> None:
        """Repeats the hello about once a second while nothing arrives, and leaves a publication that never answers."""
        if not self.welcome and now - self.connection.since > _ATTEMPT_S:
            self.connection.end("no answer")
        elif self.welcome and now - self.connection.heard > _SILENCE_S:
            self.connection.end("it is silent")
        elif now - max(self.connection.heard, self._said) >= _HELLO_EVERY_S:
            self.hello()

    def _say(self, kind: int, depth: int, newest: int, secret: int) -> None:
        if self.connection.is_ready:
            message = link.LinkMessage(kind, self.publication, self._owner.id, depth, newest, secret)
            self.connection.send(link.pack_link(message))

    def _received(self, frame: Optional[Frame]) -> None:
        if frame is not None and len(frame) >= link.HEADER.size and self.welcome:
            sequence, stamp_ns = link.HEADER.unpack_from(frame)
            if sequence > 0:
                self._owner._arrived(self, sequence, stamp_ns, frame)
                return
        said = None if frame is None else link.unpack_link(frame)
        kind = 0 if said is None or said[1:3] != (self.publication, self._owner.id) else said.kind
        if said is not None and kind == link.WELCOME:
            if not self.welcome:
                self.welcome = True
                self.connection.largest = link.MAX_PAYLOAD + link.HEADER.size
                self._owner._welcomed(self, said.newest)
        elif kind in (link.REFUSED, link.GOODBYE):
            self.connection.end("refused" if kind == link.REFUSED else "the publication ended")
        else:
            self._owner._malformed += 1
        if not self._frames.take():
            self.connection.end("too many frames that are no samples")


class Subscription(Declared):
    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.arrivals: Dict[Any, Any] = {}  # asyncio tasks of all handles share the descriptor
        self._depth, self._max_age_ms = self.options["queue"], self.options["max_age_ms"]
        # Shared with users' threads, under the lock of `changed`.
        self._queue: Deque[_Arrived] = collections.deque()
        self._skipped: Tuple[Optional[Id], int] = (None, 0)  # dropped, and none of the publication is in the queue
        self._info = LinkInfo(False, None, "no publisher")
        self._told = self._info.reason  # the reason for the broker
        self._mismatch = ""
        self._bell = Bell()
        self._received = self._bytes = self._missed = self._malformed = self._stale = 0
        self._age_ns = -1
        # I/O thread only.
        self._publication: Optional[messages.Body] = None
        self._link: Optional[_Link] = None
        self._secret = 0  # of this subscription at this publication
        self._attempts = Allowance(_ATTEMPTS_AT_ONCE, _ATTEMPTS_PER_SECOND)
        self._attempt = 0
        self._failed = ("", "")  # the last attempt, for the program and for the broker
        self._last: Tuple[Optional[Id], int] = (None, 0)  # the newest sample here, or the one before the first
        self._news: Optional[messages.Body] = None  # the mismatch, for the publisher
        self._news_at = 0.0

    # Users' threads.

    def receive(self, seconds: Optional[float], codec: Optional[Typed[Any]]) -> Optional[Message[Any]]:
        """Returns the next sample that is young enough; None when there is none in time. Raises Closed."""
        taken: Optional[_Arrived] = None
        try:
            with self.changed:
                is_there = wait_for(self.changed, lambda: self._drop_stale() or self.closed, seconds)
                if self.closed:
                    raise errors.Closed()
                if not is_there:
                    self._bell.quieten(lambda: bool(self._queue) or self.closed)
                    return None
                taken = self._queue[0]
                payload = memoryview(taken.frame)[link.HEADER.size :]
                made: Message[Any] = Message.make(payload, taken.sequence, taken.stamp_ns, taken.missed, codec)
                self._queue.popleft()
                self._missed += taken.missed
                return made
        except BaseException:  # such as Ctrl-C: neither the sample nor the wake-up of another thread is lost
            with self.changed:
                if taken is not None and taken not in self._queue and not self.closed:
                    self._queue.appendleft(taken)
                    self._keep_depth()
                    self._bell.ring()
                self.changed.notify_all()
            raise

    def _drop_stale(self) -> bool:
        """Returns whether one is left."""
        oldest_ns = time.time_ns() - self._max_age_ms * 1_000_000
        while self._max_age_ms > 0 and self._queue and self._queue[0].stamp_ns < oldest_ns:
            self._skip()
            self._stale += 1
        return bool(self._queue)

    def _keep_depth(self) -> None:
        while len(self._queue) > max(1, self._depth):
            self._skip()

    def _skip(self) -> None:
        """Drops the oldest sample. It counts as missed in the next one of its publication."""
        gone = self._queue.popleft()
        if self._queue and self._queue[0].publication == gone.publication:
            self._queue[0].missed += gone.missed + 1
        else:
            self._skipped = (gone.publication, gone.missed + 1)

    def wait_connected(self, seconds: Optional[float]) -> bool:
        with self.changed:
            wait_for(self.changed, lambda: self._info.connected or self.closed or self._mismatch, seconds)
            if self.closed:
                raise errors.Closed()
            if self._mismatch:
                raise errors.TypeMismatch(self._mismatch)
            return self._info.connected

    @property
    def link(self) -> LinkInfo:
        with self.changed:
            return dataclasses.replace(self._info, stale=self._stale)

    def fileno(self) -> int:
        """Returns a descriptor that is readable while a sample may be there, and at the end. Raises Closed."""
        with self.changed:
            if self.closed:
                raise errors.Closed()
            return self._bell.fileno(lambda: bool(self._queue))

    def close(self) -> None:
        """Wakes every waiting thread: they raise Closed."""
        with self.changed:
            self._info = LinkInfo(False, None, "released")
            self.closed = True
            self._queue.clear()
            self._bell.ring()
            self.changed.notify_all()

    # I/O thread.

    def counters(self) -> messages.Body:
        with self.changed:
            used = next((number for number, name in _NAMES.items() if name == self._info.transport), 0)
            counted = (time.monotonic_ns(), self._received, self._bytes, self._missed, self._malformed, self._age_ns)
            return messages.SubscriptionCounters(self.id, *counted, used, self._told, self._stale)

    def declaration(self) -> messages.Body:
        return messages.RequestTopic(self.topic, self.id, self._max_age_ms, self.type_reference())

    def withdrawal(self) -> messages.Body:
        return messages.ReleaseTopic(self.topic, self.id)

    def part(self) -> None:
        if self._link is not None:
            self._link.leave()
        self._link = self._publication = None

    def tick(self, now: float) -> None:
        if self._news is not None and now >= self._news_at and self.session.tell(self._news):
            self._news, self._news_at = None, now + _NEWS_S
        if self._link is not None:
            self._link.tick(now)
        elif self._publication is not None and not self.closed and not self._mismatch:
            self._connect()

    def answered(self, body: Any) -> None:
        if isinstance(body, messages.TopicState) and not self.leaves:
            self.apply(body, pushed=False)
        super().answered(body)

    def apply(self, state: messages.Body, pushed: bool) -> None:
        """Follows the state at the broker. Only an event ends a link: a broker that just started knows no topics."""
        found = state.publication
        if self.closed or (found is None and not pushed and not self._mismatch):
            return
        known, self._publication = self._publication, found
        is_new = found is not None and (known is None or found.publication != known.publication)
        if is_new:
            self._attempt, self._secret, self._failed = 0, draw_id().hi, ("", "")
        had, mismatch = self._mismatch, "" if found is None else self._compare(found)
        with self.changed:
            self._mismatch = mismatch
            self.changed.notify_all()
        if mismatch and (is_new or mismatch != had):
            said = mismatch.partition(": ")[2]
            self._news = messages.TypeMismatch(self.topic, self.id, said, publication=found.publication)
            self.log("warning", mismatch)
        if found is None or mismatch:
            alone = "the topic is shared, which needs the native backend" if state.shared else "no publisher"
            self._leave(mismatch or alone)
        elif is_new:
            self._leave("connecting to another publication")
            self._connect()
        elif had or (known is not None and found.endpoints != known.endpoints and not self._info.connected):
            self._connect()

    def _compare(self, found: messages.Body) -> str:
        """Returns why the type of a publication is another one than is expected. Empty: it is not."""
        published, expected = found.type, self.type if self.options["type_check"] == "on" else None
        if not expected or published is None or published.hash in (0, expected.hash):
            return ""
        there = escaped(published.name) or "an unnamed type"
        publisher = escaped(f"{found.participant_name} ({found.pid})")
        return (
            f"topic {self.topic}: type mismatch between {there} at publisher `{publisher}` and "
            f"{expected.name or 'an unnamed type'} here: their hashes are {published.hash:016x} and "
            f"{expected.hash:016x}. orc.pure compares nothing else: take the same definition at both ends, or "
            'type_check="off"'
        )

    def _hello_of(self, publication: Id) -> Tuple[int, int, int]:
        """Returns depth, the newest sequence that is here, and the secret."""
        return self._depth, self._last[1] if self._last[0] == publication else 0, self._secret

    def _candidates(self, found: messages.Body) -> List[messages.Body]:
        named = self.options["transports"]
        allowed = [t for t in (IPC, TCP) if not named or _NAMES[t] in named]
        return [each for t in allowed for each in found.endpoints if each.transport == t]

    def _connect(self) -> None:
        """Begins the next attempt, at the first endpoint that is not hopeless."""
        if self._link is not None:
            self._link.connection.close()
            self._link = None
        found = self._publication
        candidates = [] if found is None else self._candidates(found)
        if not candidates:
            self._disconnected("the publication offers none of the transports that are wanted")
        for _ in candidates:
            assert found is not None
            endpoint = candidates[self._attempt % len(candidates)]
            local, broker = endpoint.transport == IPC, self.session.endpoint
            missing = endpoints.obstacle(endpoint.address, local, found.publication.hi, broker)
            try:
                if not missing and self._attempts.take():
                    self._link = _Link(self, found.publication, endpoint)
                if not missing:
                    return
            except (errors.Error, OSError, ValueError) as error:
                missing = str(error)
            self._note(endpoint, missing)

    def _note(self, endpoint: messages.Body, what: str) -> None:
        """An attempt ended. The broker shows its reason to anyone, so it hears no address and no cause."""
        self._attempt += 1
        name = _NAMES[endpoint.transport]
        self._failed = (f"{name} {endpoints.shown_address(endpoint.address)}: {what}", f"{name}: not reachable")
        self._disconnected(*self._failed)

    def _welcomed(self, current: _Link, newest: int) -> None:
        if current is not self._link:
            return
        if self._last[0] != current.publication:
            self._last = (current.publication, max(0, newest - 1))
        used = _NAMES[current.endpoint.transport]
        answered = f"{used}: the publication answered; inproc, shm, multicast: not in orc.pure"
        with self.changed:
            reason, self._told = ("; ".join(filter(None, [each, answered])) for each in self._failed)
            self._info = LinkInfo(True, used, reason)
            self.changed.notify_all()

    def _ended(self, its: _Link, why: str) -> None:
        if its is not self._link:
            return
        self._link = None
        if not its.welcome:
            self._note(its.endpoint, why)
            return
        self._attempt, self._failed = 0, ("", "")
        self._disconnected(why)
        if time.monotonic() - its.connection.since > _YOUNG_S:
            self.reactor.post(lambda: self.tick(time.monotonic()))

    def _leave(self, why: str) -> None:
        """Takes samples of the old link until the new one is up, at most a second."""
        leaving, self._link = self._link, None
        if leaving is not None and leaving.welcome:
            self.reactor.after(_GRACE_S, leaving.leave)
        elif leaving is not None:
            leaving.connection.close()
        self._disconnected(why)

    def _disconnected(self, why: str, told: str = "") -> None:
        with self.changed:
            if not self.closed:
                self._info, self._told = LinkInfo(False, None, why), told or why

    def _arrived(self, its: Any, sequence: int, stamp_ns: int, frame: Frame) -> None:
        is_known = self._last[0] == its.publication
        if (its is not self._link and self._info.connected) or (is_known and sequence <= self._last[1]):
            return
        missed = sequence - 1 - self._last[1] if is_known else 0
        self._last = (its.publication, sequence)
        with self.changed:
            if self.closed:
                return
            self._received += 1
            self._bytes += len(frame) - link.HEADER.size
            self._age_ns = max(-(2**63), min(time.time_ns() - stamp_ns, 2**63 - 1))  # for any stamp
            if self._skipped[0] == its.publication:
                missed += self._skipped[1]
            self._skipped = (None, 0)
            self._queue.append(_Arrived(its.publication, sequence, stamp_ns, frame, missed))
            self._keep_depth()
            self._bell.ring()
            self.changed.notify_all()  # also wakes threads that wait for the link
