"""The receiving end of a topic: which publication, which link, and the queue (schemas/PROTOCOL.md, "Order of events").

Users' threads take samples out of the queue. Everything else happens on the I/O thread.
"""

from __future__ import annotations

import collections
import dataclasses
import time
from typing import Any, Deque, Dict, List, NamedTuple, Optional, Tuple

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
from .session import Declared, escaped, nap, wait_for

_NAMES = {IPC: "ipc", TCP: "tcp"}
_ATTEMPT_S = 1.0
_YOUNG_S = 0.5
_GRACE_S = 1.0
_HELLO_EVERY_S = 1.0
_SILENCE_S = 5.0
_NEWS_S = 1.0
_ATTEMPTS_AT_ONCE, _ATTEMPTS_PER_SECOND = 8, 2
_FRAMES_AT_ONCE, _FRAMES_PER_SECOND = 200, 20  # that are no samples


class _Arrived(NamedTuple):
    publication: Id
    joined: int  # sequence before the first sample of this publication for us
    sequence: int
    stamp_ns: int
    frame: Frame


class _Link:
    """One attempt at a link to one endpoint of a publication."""

    def __init__(self, owner: Subscription, publication: Id, endpoint: messages.Body) -> None:
        self.publication, self.endpoint = publication, endpoint
        self.welcome = False
        self.newest = 0  # sequence of the publication at its welcome
        self._said = time.monotonic()
        self._owner = owner
        self._frames = Allowance(_FRAMES_AT_ONCE, _FRAMES_PER_SECOND)
        self.connection = connect(owner.reactor, endpoint.address, link.MAX_FROM_SUBSCRIBER)
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
        if now - self.connection.heard > _SILENCE_S:
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
                self.welcome, self.newest = True, said.newest
                self.connection.largest = link.MAX_PAYLOAD + link.HEADER.size
                self._owner._welcomed(self)
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
        self._returned: Tuple[Optional[Id], int] = (None, 0)
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
        self._failed = self._failed_coarsely = ""  # the last attempt, for the program and for the broker
        self._last: Tuple[Optional[Id], int] = (None, 0)
        self._joined: Tuple[Optional[Id], int] = (None, 0)
        self._news: Optional[messages.Body] = None  # the mismatch, for the publisher
        self._news_at = 0.0

    # Users' threads.

    def receive(self, seconds: Optional[float], codec: Optional[Typed[Any]]) -> Optional[Message[Any]]:
        """Returns the next sample that is young enough; None when there is none in time. Raises Closed."""
        deadline = None if seconds is None else time.monotonic() + seconds
        taken: Optional[_Arrived] = None
        before = (self._returned, self._missed)
        try:
            with self.changed:
                while not self._drop_stale():
                    if self.closed:
                        raise errors.Closed()
                    left = None if deadline is None else deadline - time.monotonic()
                    if left is not None and left <= 0:
                        self._bell.quieten(lambda: bool(self._queue) or self.closed)
                        return None
                    self.changed.wait(nap(left))
                if self.closed:
                    raise errors.Closed()
                before, taken = (self._returned, self._missed), self._queue[0]
                last = self._returned[1] if self._returned[0] == taken.publication else taken.joined
                missed = max(0, taken.sequence - 1 - last)
                payload = memoryview(taken.frame)[link.HEADER.size :]
                made: Message[Any] = Message.make(payload, taken.sequence, taken.stamp_ns, missed, codec)
                self._returned, self._missed = (taken.publication, taken.sequence), self._missed + missed
                self._queue.popleft()
                return made
        except BaseException:
            self._give_back(taken, before)
            raise

    def _drop_stale(self) -> bool:
        """Returns whether one is left. `missed` of the next one counts the others, because they were not returned."""
        oldest_ns = time.time_ns() - self._max_age_ms * 1_000_000
        while self._max_age_ms > 0 and self._queue and self._queue[0].stamp_ns < oldest_ns:
            self._queue.popleft()
            self._stale += 1
        return bool(self._queue)

    def _give_back(self, taken: Optional[_Arrived], before: Tuple[Tuple[Optional[Id], int], int]) -> None:
        """Puts a sample back after Ctrl-C. Neither it nor the wake-up of another waiting thread is lost."""
        with self.changed:
            if taken is not None and self._returned == (taken.publication, taken.sequence):
                self._returned, self._missed = before
                if not self._queue or (self._depth > 0 and self._queue[0] is not taken):
                    self._queue.appendleft(taken)
                self._bell.ring()
            if self._queue:
                self.changed.notify_all()

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
            self.closed = True
            self._info = LinkInfo(False, None, "released")
            self._queue.clear()
            self._bell.ring()
            self.changed.notify_all()

    # I/O thread.

    def counters(self) -> messages.Body:
        with self.changed:
            used = next((number for number, name in _NAMES.items() if name == self._info.transport), 0)
            counted = (time.monotonic_ns(), self._received, self._bytes, self._missed, self._malformed, self._age_ns)
            return messages.SubscriptionCounters(self.id, *counted, used, self._told, self._stale)

    def news(self) -> Optional[messages.Body]:
        if self._news is None or time.monotonic() < self._news_at:
            return None
        news, self._news, self._news_at = self._news, None, time.monotonic() + _NEWS_S
        return news

    def part(self) -> None:
        if self._link is not None:
            self._link.leave()
        self._link = self._publication = None

    def tick(self, now: float) -> None:
        current = self._link
        if current is not None and not current.welcome and now - current.connection.since > _ATTEMPT_S:
            current.connection.end("no answer")
        elif current is not None:
            current.tick(now)
        elif self._publication is not None and not self.closed and not self._mismatch:
            self._connect()

    def apply(self, state: messages.Body, pushed: bool) -> None:
        """Follows the state at the broker. Only an event ends a link: a broker that just started knows no topics."""
        found = state.publication
        if self.closed or (found is None and not pushed and not self._mismatch):
            return
        known, self._publication = self._publication, found
        is_new = found is not None and (known is None or found.publication != known.publication)
        if is_new:
            self._attempt, self._secret = 0, draw_id().hi
            self._failed = self._failed_coarsely = ""
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
        published, expected = found.type, self.type if self.options["checks"] else None
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

    def compose(self) -> messages.Body:
        if self.leaves:
            return messages.ReleaseTopic(self.topic, self.id)
        return messages.RequestTopic(self.topic, self.id, self._max_age_ms, self.type_reference())

    def confirmed(self, body: Any) -> None:
        if not self.leaves:
            self.apply(body, pushed=False)
        super().confirmed(body)

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
            local, broker = endpoint.transport == IPC, self.session.offered_for
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
        self._failed = f"{name} {endpoints.shown_address(endpoint.address)}: {what}"
        self._failed_coarsely = f"{name}: not reachable"
        self._disconnected(self._failed, self._failed_coarsely)

    def _welcomed(self, current: _Link) -> None:
        if current is not self._link:
            return
        if self._joined[0] != current.publication:
            self._joined = (current.publication, max(0, current.newest - 1))
        used = _NAMES[current.endpoint.transport]
        answered = f"{used}: the publication answered; inproc, shm, multicast: not in orc.pure"
        with self.changed:
            self._info = LinkInfo(True, used, "; ".join(filter(None, [self._failed, answered])))
            self._told = "; ".join(filter(None, [self._failed_coarsely, answered]))
            self.changed.notify_all()

    def _ended(self, its: _Link, why: str) -> None:
        if its is not self._link:
            return
        self._link = None
        if not its.welcome:
            self._note(its.endpoint, why)
            return
        self._attempt, self._failed, self._failed_coarsely = 0, "", ""
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
        is_former = its is not self._link and self._info.connected
        if is_former or (self._last[0] == its.publication and sequence <= self._last[1]):
            return
        self._last = (its.publication, sequence)
        with self.changed:
            if self.closed:
                return
            self._received += 1
            self._bytes += len(frame) - link.HEADER.size
            self._age_ns = max(-(2**63), min(time.time_ns() - stamp_ns, 2**63 - 1))  # for any stamp
            while self._queue and len(self._queue) >= max(1, self._depth):
                self._queue.popleft()
            self._queue.append(_Arrived(its.publication, self._joined[1], sequence, stamp_ns, frame))
            self._bell.ring()
            self.changed.notify_all()  # also wakes threads that wait for the link
