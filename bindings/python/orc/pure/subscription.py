"""The receiving end of a topic: which publication, which link, and the queue (schemas/PROTOCOL.md, "Order of events").

Users' threads take samples out of the queue. Everything else happens on the I/O thread.
"""

from __future__ import annotations

import collections
import dataclasses
import threading
import time
from typing import Any, Deque, Dict, List, NamedTuple, Optional, Tuple

import zmq

from .. import _errors as errors
from .._bell import Bell
from .._type_description import TypeDescription
from .._typed import Typed
from .._types import LinkInfo, PublisherInfo
from . import endpoints, messages
from . import link as frames
from .allowance import Allowance
from .announcement import Announcement
from .described_type import DescribedType
from .identity import NOBODY, Id, draw_id, draw_secret
from .link_notes import NAMES, LinkNotes
from .message import Message
from .patience import nap, wait_for
from .publication import IPC, TCP
from .reactor import Reactor
from .session import Log, Session
from .shared_parts import Part, SharedParts
from .subscriber_link import SubscriberLink
from .type_gate import Obstacle, TypeGate

_ATTEMPT_S = 1.0
_YOUNG_S = 0.5
_GRACE_S = 1.0
_ATTEMPTS_AT_ONCE, _ATTEMPTS_PER_SECOND = 8, 2


class _Arrived(NamedTuple):
    publication: Id
    joined: int  # sequence before the first sample of this publication for us
    header: frames.SampleHeader
    frame: zmq.Frame


class Subscription:
    def __init__(
        self,
        reactor: Reactor,
        session: Session,
        topic: str,
        transports: Tuple[str, ...],
        depth: int,
        max_age_ms: int,
        described: Optional[DescribedType],
        checks_type: bool,
        codec: Optional[Typed[Any]],
        log: Log,
        of_each: bool = False,
        whole: Optional[Subscription] = None,
    ) -> None:
        """`whole`: this is a part of that subscription, for one publication of a shared topic."""
        self.topic = topic
        self.described = described
        self.codec = codec  # of the first request that named one: for those that name none
        self.arrivals: Dict[Any, Any] = {}  # asyncio tasks of all handles share the descriptor
        self.id: Id = draw_id() if whole is None else whole.id
        self.announcement = Announcement(self._compose, self._answered)
        self.withdrawal = Announcement(lambda: messages.ReleaseTopic(topic, self.id))
        self._reactor, self._session, self._log = reactor, session, log
        self._transports, self._depth, self._max_age_ms = transports, depth, max_age_ms
        # Shared with users' threads, under the lock of the condition.
        self._changed: threading.Condition = threading.Condition() if whole is None else whole._changed
        self._queue: Deque[_Arrived] = collections.deque()
        self._returned: Tuple[Optional[Id], int] = (None, 0)
        self._info = LinkInfo(False, None, "no publisher")
        self._told = self._info.reason  # the reason for the broker
        self._obstacle: Optional[Obstacle] = None
        self._closed = False
        self._bell: Bell = Bell() if whole is None else whole._bell
        self._received = self._bytes = self._missed = self._malformed = self._stale = 0
        self._age_ns = -1
        self._shared: Optional[SharedParts] = None
        self._make_part = lambda: Subscription(
            reactor, session, topic, transports, depth, max_age_ms, described, checks_type, codec, log, of_each, self
        )
        self._newest_of_all = depth == 0 and not of_each
        # I/O thread only.
        self.gate = TypeGate(topic, described if checks_type else None)
        self._publication: Optional[messages.Publication] = None
        self._link: Optional[SubscriberLink] = None
        self._former: Optional[SubscriberLink] = None
        self._secret = 0  # of this subscription at this publication
        self._attempts = Allowance(_ATTEMPTS_AT_ONCE, _ATTEMPTS_PER_SECOND)
        self._attempt = 0
        self._notes = LinkNotes()
        self._last: Tuple[Optional[Id], int] = (None, 0)
        self._joined: Tuple[Optional[Id], int] = (None, 0)

    # Users' threads.

    def receive(self, timeout_ms: int, codec: Optional[Typed[Any]]) -> Optional[Message[Any]]:
        """Returns the next sample that is young enough; None when there is none in time. Raises Closed.

        codec: makes the value of the message; None: it is bytes.
        """
        deadline = None if timeout_ms < 0 else time.monotonic() + timeout_ms / 1000
        taken: Optional[_Arrived] = None
        source = self
        before = (self._returned, self._missed)
        try:
            with self._changed:
                while (part := self._next_part()) is None and not self.drop_stale():
                    if self._closed:
                        raise errors.Closed()
                    left = None if deadline is None else deadline - time.monotonic()
                    if left is not None and left <= 0:
                        self._bell.quieten(lambda: self._has_any() or self._closed)
                        return None
                    self._changed.wait(nap(left))
                if self._closed:
                    raise errors.Closed()
                source = self if part is None else part.subscription
                before = (source._returned, source._missed)
                taken = source._queue[0]
                message = source._message(taken, codec, part)
                source._queue.popleft()
                if part is not None and self._shared is not None:
                    self._shared.returned(part, taken.header.stamp_ns)
                return message
        except BaseException:
            source._give_back(taken, before)
            raise

    def _next_part(self) -> Optional[Part]:
        return None if self._shared is None or self._queue else self._shared.pick()

    def _has_any(self) -> bool:
        return bool(self._queue) or (self._shared is not None and self._shared.has_any())

    def has_queued(self) -> bool:
        """Under the lock, as the next three."""
        return bool(self._queue)

    def first_stamp_ns(self) -> int:
        return self._queue[0].header.stamp_ns

    def skip(self) -> int:
        """Drops the next sample. Returns how many samples that and the gap before it are."""
        skipped = self._queue.popleft()
        missed = self._missed_before(skipped)
        self._returned = (skipped.publication, skipped.header.sequence)
        self._missed += missed + 1
        return missed + 1

    def drop_stale(self) -> bool:
        """Returns whether one is left. `missed` of the next one counts the others, because they were not returned."""
        oldest_ns = time.time_ns() - self._max_age_ms * 1_000_000
        while self._max_age_ms > 0 and self._queue and self._queue[0].header.stamp_ns < oldest_ns:
            self._queue.popleft()
            self._stale += 1
        return bool(self._queue)

    def _missed_before(self, taken: _Arrived) -> int:
        publication, last = self._returned
        return max(0, taken.header.sequence - 1 - (last if publication == taken.publication else taken.joined))

    def _message(self, taken: _Arrived, codec: Optional[Typed[Any]], part: Optional[Part]) -> Message[Any]:
        header = taken.header
        missed = self._missed_before(taken)
        self._returned = (taken.publication, header.sequence)
        self._missed += missed
        number, skipped = (0, 0) if part is None else (part.number, part.skipped)
        return Message.make(taken.frame, header.sequence, header.stamp_ns, missed + skipped, codec, number)

    def _give_back(self, taken: Optional[_Arrived], before: Tuple[Tuple[Optional[Id], int], int]) -> None:
        """Puts a sample back after Ctrl-C. Neither it nor the wake-up of another waiting thread is lost."""
        with self._changed:
            if taken is not None and self._returned == (taken.publication, taken.header.sequence):
                self._returned, self._missed = before
                if not self._queue or (self._depth > 0 and self._queue[0] is not taken):
                    self._queue.appendleft(taken)
                self._bell.ring()
            if self._queue:
                self._changed.notify_all()

    def wait_connected(self, timeout_ms: int) -> bool:
        with self._changed:
            seconds = None if timeout_ms < 0 else timeout_ms / 1000
            wait_for(self._changed, lambda: self.link.connected or self._closed or self._mismatches, seconds)
            if self._closed:
                raise errors.Closed()
            self._raise_mismatch()
            return self.link.connected

    def wait_checked(self, seconds: float) -> None:
        """Waits until it is known whether the types match, if there is a publication. Raises TypeMismatch."""
        with self._changed:
            wait_for(self._changed, lambda: not self._compares or self._closed or self._mismatches, seconds)
            self._raise_mismatch()

    @property
    def _mismatches(self) -> bool:
        return self._mismatch() is not None

    def _mismatch(self) -> Optional[Obstacle]:
        """Of a shared topic: the first one, if no publication matches."""
        if self._shared is None or not self._shared.parts:
            return self._obstacle if self._obstacle is not None and self._obstacle.is_mismatch else None
        found = [part.subscription._mismatch() for part in self._shared.parts if part.listed]
        return found[0] if found and None not in found else None

    @property
    def _compares(self) -> bool:
        """It is not known yet whether the types match."""
        obstacles = [self._obstacle] + [part._obstacle for part in self.parts]
        return any(each is not None and not each.is_mismatch for each in obstacles)

    def _raise_mismatch(self) -> None:
        if (found := self._mismatch()) is not None:
            raise found.error()

    @property
    def parts(self) -> List[Subscription]:
        return [] if self._shared is None else [part.subscription for part in self._shared.parts]

    @property
    def of(self) -> Id:
        return NOBODY if self._publication is None else self._publication.publication

    @property
    def publishers(self) -> List[PublisherInfo]:
        with self._changed:
            return [] if self._shared is None else self._shared.infos()

    def publisher(self, number: int) -> PublisherInfo:
        with self._changed:
            return PublisherInfo() if self._shared is None else self._shared.info(number)

    @property
    def link(self) -> LinkInfo:
        with self._changed:
            if self._shared is not None and self._shared.parts:
                return self._shared.link(self._stale)
            return dataclasses.replace(self._info, stale=self._stale)

    def fileno(self) -> int:
        """Returns a descriptor that is readable while a sample may be there, and at the end. Raises Closed."""
        with self._changed:
            if self._closed:
                raise errors.Closed()
            return self._bell.fileno(self._has_any)

    def close(self) -> None:
        """Wakes every waiting thread: they raise Closed."""
        with self._changed:
            self._closed = True
            for each in self.parts:
                each._closed = True
                each._queue.clear()
            self._info = LinkInfo(False, None, "released")
            self._queue.clear()
            self._bell.ring()
            self._changed.notify_all()

    # I/O thread.

    def counters(self) -> messages.SubscriptionCounters:
        with self._changed:
            used = next((number for number, name in NAMES.items() if name == self._info.transport), 0)
            own = messages.SubscriptionCounters(
                self.id,
                time.monotonic_ns(),
                self._received,
                self._bytes,
                self._missed,
                self._malformed,
                self._age_ns,
                used,
                self._told,
                self._stale,
            )
            return own if self._shared is None else self._sum(own, self._shared)

    def _sum(self, own: messages.SubscriptionCounters, shared: SharedParts) -> messages.SubscriptionCounters:
        all = [own] + [part.counters() for part in self.parts]
        received, size, missed, malformed, stale = shared.counted_of_gone
        up = [each.transport for each in all if each.transport]
        listed = sum(part.listed for part in shared.parts)
        return dataclasses.replace(
            own,
            received=received + sum(each.received for each in all),
            bytes=size + sum(each.bytes for each in all),
            missed=missed + sum(each.missed for each in all),
            malformed=malformed + sum(each.malformed for each in all),
            stale=stale + sum(each.stale for each in all),
            age_ns=max(each.age_ns for each in all),
            transport=up[0] if up else 0,
            reason=f"{len(up)} of {listed} publishers linked" if shared.parts else own.reason,
        )

    def is_over(self) -> bool:
        """No link is left, and no sample."""
        return self._link is None and self._former is None and not self._queue

    def part(self) -> None:
        for each in self.parts:
            each.part()
        for connection in (self._link, self._former):
            if connection is not None:
                connection.close(goodbye=True)
        self._link = self._former = self._publication = None

    def tick(self, now: float) -> None:
        """Runs about ten times a second."""
        if self._shared is not None:
            self._shared.tick(now)
        current = self._link
        if current is not None and not current.welcome and now - current.since > _ATTEMPT_S:
            self._try_next(current, "no answer")
        elif current is not None:
            current.tick(now)
        elif self._publication is not None and not self._closed and self._obstacle is None:
            self._connect()

    def apply(self, state: messages.TopicState, pushed: bool) -> None:
        """Follows the state at the broker. Only an event ends a link: a broker that just started knows no topics.

        An obstacle ends with any answer, because there is no link that would be more reliable.
        Changes that come too often are followed later, because each of them costs a connection to some address.
        """
        if not self._closed and (state.shared or self.parts):
            self._follow_parts(state, pushed)
        found = state.publication
        if self._closed or state.shared or (found is None and not pushed and self._obstacle is None):
            return
        if found is None:
            self.gate.look_away()
        else:
            self.gate.look_at(found, self._session.checks)
        before, obstacle = self._obstacle, None if found is None else self.gate.closed_by()
        self._set_obstacle(obstacle)
        known = self._publication
        self._publication = found
        is_new = found is not None and (known is None or found.publication != known.publication)
        if is_new:
            self._attempt, self._secret = 0, draw_secret()
            self._notes.clear()
        if found is None:
            self._leave("no publisher")
        elif obstacle is not None:
            self._leave(obstacle.reason)
        elif is_new or known is None:
            self._leave("connecting to another publication")
            self._connect()
        elif before is not None:
            self._connect()
        elif found.endpoints != known.endpoints and (self._link is None or not self._link.welcome):
            self._connect()

    def _follow_parts(self, state: messages.TopicState, pushed: bool) -> None:
        if self._shared is None:
            self._shared = SharedParts(self._changed, self._make_part, self._newest_of_all)
        if state.shared and self._publication is not None:
            self.gate.look_away()
            self._publication = None
            self._set_obstacle(None)
            self._leave("the topic is shared")
        if state.publication is not None:
            self._shared.clear()
        else:
            self._shared.follow(state, pushed)
        with self._changed:
            self._changed.notify_all()

    def check_type(self, published: TypeDescription) -> None:
        """Decides with the description of the type that the gate awaits."""
        self.gate.compare(published, self._session.checks)
        obstacle = self.gate.closed_by()
        self._set_obstacle(obstacle)
        if obstacle is not None:
            self._disconnected(obstacle.reason)
        elif self._publication is not None and not self._closed:
            self._connect()

    def _set_obstacle(self, obstacle: Optional[Obstacle]) -> None:
        with self._changed:
            self._obstacle = obstacle
            self._changed.notify_all()

    def _compose(self) -> messages.RequestTopic:
        type = None if self.described is None else self.described.reference
        return messages.RequestTopic(self.topic, self.id, self._max_age_ms, type)

    def _answered(self, body: messages.Body) -> None:
        if isinstance(body, messages.TopicState):
            self.apply(body, pushed=False)

    def _candidates(self) -> List[messages.Endpoint]:
        assert self._publication is not None
        allowed = [t for t in (IPC, TCP) if not self._transports or NAMES[t] in self._transports]
        return [e for t in allowed for e in self._publication.endpoints if e.transport == t]

    def _connect(self) -> None:
        if self._link is not None:
            self._link.close()
            self._link = None
        candidates = self._candidates()
        if not candidates:
            self._disconnected("the publication offers neither ipc nor tcp" if not self._transports else "not offered")
            return
        endpoint = candidates[self._attempt % len(candidates)]
        assert self._publication is not None
        publication = self._publication.publication
        missing = endpoints.obstacle(
            endpoint.address, endpoint.transport == IPC, publication.hi, self._session.offered_for
        )
        if missing:
            self._note(endpoint, missing)
            self._attempt += 1
            return
        if not self._attempts.take():
            return  # `tick` tries again
        try:
            self._link = SubscriberLink(
                self._reactor,
                publication,
                self.id,
                self._secret,
                self._depth,
                endpoint.address,
                lambda: self._last[1] if self._last[0] == publication else 0,
                self._welcomed,
                lambda refused: self._try_next(refused, "refused"),
                self._ended,
                self._arrived,
                self._count_malformed,
            )
        except (zmq.ZMQError, errors.Error) as error:
            self._note(endpoint, str(error))
            self._attempt += 1

    def _endpoint(self) -> messages.Endpoint:
        candidates = self._candidates()
        return candidates[self._attempt % len(candidates)]

    def _note(self, endpoint: messages.Endpoint, what: str) -> None:
        self._notes.add(endpoint, what)
        self._disconnected(self._notes.text(), self._notes.coarse_text())

    def _try_next(self, given_up: SubscriberLink, why: str) -> None:
        given_up.close()
        if given_up is self._link:
            self._link = None
            if self._publication is not None and self._candidates():
                self._note(self._endpoint(), why)
            self._attempt += 1

    def _welcomed(self, connection: SubscriberLink) -> None:
        if connection is not self._link:
            return
        former, self._former = self._former, None
        if former is not None:
            former.finish()
        if self._joined[0] != connection.publication:
            self._joined = (connection.publication, max(0, connection.newest - 1))
        used = NAMES[self._endpoint().transport]
        answered = f"{used}: the publication answered; inproc, shm, multicast: not in orc.pure"
        with self._changed:
            self._info = LinkInfo(True, used, "; ".join(filter(None, [self._notes.text(), answered])))
            self._told = "; ".join(filter(None, [self._notes.coarse_text(), answered]))
            self._changed.notify_all()

    def _ended(self, connection: SubscriberLink) -> None:
        if connection is self._former:
            self._former = None
        if connection is not self._link:
            return
        self._link = None
        self._disconnected("the connection ended")
        self._attempt = 0
        self._notes.clear()
        if time.monotonic() - connection.since > _YOUNG_S:
            self._reactor.post(lambda: self.tick(time.monotonic()))

    def _leave(self, why: str) -> None:
        """Takes samples of the old link until the new one is up, at most a second."""
        leaving, self._link = self._link, None
        if leaving is not None and leaving.welcome:
            if self._former is not None:
                self._former.close()
            self._former = leaving
            self._reactor.after(_GRACE_S, lambda: self._drop_former(leaving))
        elif leaving is not None:
            leaving.close()
        self._disconnected(why)

    def _drop_former(self, former: SubscriberLink) -> None:
        if self._former is former:
            self._former = None
            former.close(goodbye=True)

    def _disconnected(self, why: str, told: str = "") -> None:
        with self._changed:
            if not self._closed:
                self._info = LinkInfo(False, None, why)
                self._told = told or why

    def _count_malformed(self) -> None:
        self._malformed += 1

    def _arrived(self, connection: SubscriberLink, frame: zmq.Frame, header: frames.SampleHeader) -> None:
        publication = connection.publication
        if self._last[0] == publication and header.sequence <= self._last[1]:
            return
        self._last = (publication, header.sequence)
        with self._changed:
            if self._closed:
                return
            self._received += 1
            self._bytes += len(frame) - frames.HEADER_BYTES
            self._age_ns = max(-(2**63), min(time.time_ns() - header.stamp_ns, 2**63 - 1))  # for any stamp
            while self._queue and len(self._queue) >= max(1, self._depth):
                self._queue.popleft()
            self._queue.append(_Arrived(publication, self._joined[1], header, frame))
            self._bell.ring()
            self._changed.notify_all()  # also wakes threads that wait for the link
