"""A participant's connection to one service (liborc/doc/design/calls.md).

Any thread may call. Of the threads that wait for replies, one receives for all. The attendant is a thread that receives
when none of them does and something else waits: a callback, a descriptor, a request that is not sent yet.
"""

from __future__ import annotations

import enum
import math
import threading
import time
import weakref
from collections import deque
from typing import Any, Callable, Deque, Optional

from .._errors import BadArgument, Closed, Error, NoMemory, Refused, SystemFailure, TimedOut
from . import message
from .attendant import Attendant
from .call import Call
from .client_topics import MAX_OPEN_CALLS, ClientTopics
from .errors import CallErrc, CallError
from .message import CallTypes, Kind
from .negotiation import Answer, Negotiation, TypePair
from .open_calls import OpenCalls
from .platform import Participant
from .replies import Replies
from .wakeup import Wakeup

# A waiting thread looks at least this often whether the link is still up, because its end wakes no thread in recv_msg.
SLICE_S = 0.02
_AFTER_AN_ERROR_S = 0.001
_MAX_LOOKS = 8  # for what came between two calls


class Got(enum.Enum):
    A_MESSAGE = enum.auto()
    NOTHING = enum.auto()
    A_PROBLEM = enum.auto()  # at once, and would again
    NO_TURN = enum.auto()  # another thread receives, or there are no topics


class Channel:
    def __init__(self, participant: weakref.ReferenceType[Participant], service: str) -> None:
        self.service = service
        self.participant = participant
        self.lock = threading.RLock()  # guards the rest; reentrant for signal handlers
        self.stopping = False
        self.topics = ClientTopics(service)
        self.calls = OpenCalls()
        self.last_used = time.monotonic()
        self.service_waiters = 0  # threads in wait_accepted
        self.progress: weakref.WeakSet[Wakeup] = weakref.WeakSet()  # of these
        self._dropped: Deque[Call] = deque()  # by finalizers, which take no lock
        self.negotiation = Negotiation(service)
        self.linked = False  # a welcome came over the link that is up
        self.last_id = 0
        self._reading = False  # a thread is in receive()
        self._attendant = Attendant(self)
        self._replies = Replies(self)

    # Calls.

    def start(self, types: CallTypes, payload: Any, deadline: float) -> Call:
        """`payload`: a buffer. The call may have ended already."""
        self._look_around()
        with self.lock:
            pair = self.negotiation.pair(types)
            call = Call(deadline, pair)
            if self.stopping:
                self.calls.end(call, CallError(CallErrc.closed))
            elif len(self.calls) >= MAX_OPEN_CALLS:
                self.calls.end(call, CallError(CallErrc.too_many_calls))
            elif pair.answer is Answer.REFUSED:
                self.calls.end(call, pair.refusal)
            elif self.linked and pair.answer is Answer.ACCEPTED:
                self.send_new(call, payload)
            else:
                if self.linked and not pair.greeted:
                    self.say_hello(pair)
                self._send_later(call, payload)
            if not call.done and deadline < self._attendant.sleeps_until:
                self._attendant.wakeup.ring()
        return call

    def wait(self, call: Call, until: float) -> bool:
        """Returns whether the call has ended. Receives itself, unless another thread does."""
        looked = False
        try:
            while not call.done:
                now = time.monotonic()
                if now >= call.deadline:
                    self.end_late(now)
                if call.done or (now >= until and looked):
                    break
                looked = True
                left = max(0.0, min(until - now, call.deadline - now, SLICE_S))
                got = self.receive(math.ceil(left * 1000))
                if got is Got.NO_TURN:
                    self._wait_for_turn(call, left)
                elif got is Got.A_PROBLEM:
                    Wakeup().wait(min(left, _AFTER_AN_ERROR_S))
        finally:
            self.hand_over()
        return call.done

    def cancel(self, call: Call) -> None:
        with self.lock:
            if call.done:
                return
            if call.id:
                self.topics.send(Kind.CANCEL, call.id)
            self.calls.end(call, CallError(CallErrc.cancelled))
            if self.calls.due:
                self._attendant.wakeup.ring()

    def drop(self, call: Call) -> None:
        """Same as cancel, later, for finalizers: takes no lock."""
        self._dropped.append(call)
        self._attendant.wakeup.ring()

    def cancel_dropped(self) -> None:
        while self._dropped:
            self.cancel(self._dropped.popleft())

    def fileno(self, call: Call) -> int:
        with self.lock:
            self.calls.attend(call)
            self._attendant.wakeup.ring()
            return call.fileno()

    def then(self, call: Call, ended: Callable[[], object]) -> bool:
        """Lets the attendant call `ended` at the end of the call. False: it has ended already."""
        with self.lock:
            if call.done:
                return False
            if call.callbacks is None:
                call.callbacks = deque()
            call.callbacks.append(ended)
            self.calls.attend(call)
            self._attendant.wakeup.ring()
            return True

    def take_feedback(self, call: Call) -> Optional[bytes]:
        if not call.done and call.feedback is None:
            self.receive(0)
            self.hand_over()
        with self.lock:
            return call.take_feedback()

    def wait_accepted(self, untyped: CallTypes, until: float) -> None:
        """Waits until the server has accepted any types. Raises TimedOut, Refused, Closed."""
        wakeup = Wakeup()
        with self.lock:
            self.service_waiters += 1
            self.progress.add(wakeup)
            self.last_used = time.monotonic()
        self._take_arrived()  # perhaps a bye
        try:
            while True:
                with self.lock:
                    if self.stopping:
                        raise Closed()
                    self._start_attendant()
                    self._check_link()
                    if self.linked and self.negotiation.accepted:
                        return
                    pair = self.negotiation.pair(untyped)
                    if self.linked and not pair.greeted:
                        self.say_hello(pair)
                    if pair.refusal is not None and pair.answer is Answer.REFUSED:
                        raise Refused(str(pair.refusal))
                left = until - time.monotonic()
                if left <= 0:
                    raise TimedOut(self._why_unreached())
                self._attendant.wakeup.ring()
                wakeup.wait(min(left, SLICE_S))
        finally:
            with self.lock:
                self.service_waiters -= 1

    # The end.

    def stop(self) -> None:
        """Every call ends as `closed`. The server learns of it before the topics end."""
        self.abandon()
        with self.lock:
            self.calls.end_all(CallError(CallErrc.closed))
            self.topics.send(Kind.BYE, 0)
        self._attendant.wakeup.ring()

    def abandon(self) -> None:
        """Same, later, for finalizers: takes no lock."""
        self.stopping = True
        self._attendant.wakeup.ring()

    def join(self, until: float) -> None:
        self._attendant.join(until)

    @property
    def is_idle(self) -> bool:
        """Whether it has been closed because it was not used."""
        return not self._attendant.is_running

    # For the attendant.

    @property
    def needs_attendant(self) -> bool:
        """Whether nothing receives, and something waits for what comes."""
        calls = self.calls
        if self._reading or calls.waiting or self.topics.replies is None:
            return False
        return bool(calls.attended or calls.has_unsent or self.service_waiters)

    def hand_over(self) -> None:
        """Lets the next thread receive."""
        with self.lock:
            if self._reading:
                return
            waiting = next(iter(self.calls.waiting), None)
            if waiting is not None:
                waiting.ring()
            elif self.calls.due or self.needs_attendant:
                self._attendant.wakeup.ring()

    def take_topics(self, id: int, made: Any) -> None:
        self.topics.take(id, made)
        self.last_id = 0
        self.negotiation.forget_answers()
        for waiting in list(self.calls.waiting):
            waiting.ring()

    def leave(self) -> int:
        """Says goodbye to the server. Returns the id of the topics."""
        self.topics.send(Kind.BYE, 0)
        self.linked = False
        return self.topics.drop()

    def end_late(self, now: float) -> None:
        with self.lock:
            for call in self.calls.take_late(now):
                if call.id:
                    self.topics.send(Kind.CANCEL, call.id)
                    self.calls.end(call, CallError(CallErrc.deadline_exceeded))
                else:
                    self.calls.end(call, CallError(CallErrc.no_service, self._why_unreached()))

    def receive(self, timeout_ms: int) -> Got:
        """Receives for at most so long, and takes what comes."""
        with self.lock:
            replies = self.topics.replies
            if self._reading or replies is None:
                return Got.NO_TURN
            self._reading = True
        sample, problem = None, False
        try:
            sample = replies.recv_msg(timeout_ms)
        except Error:
            problem = True
        finally:
            with self.lock:
                self._reading = False
                if sample is not None:
                    self._replies.take(sample)
                    if self.calls.due:
                        self._attendant.wakeup.ring()
                else:
                    self._check_link()
        return Got.A_PROBLEM if problem else Got.NOTHING if sample is None else Got.A_MESSAGE

    # What follows needs the lock.

    def _start_attendant(self) -> None:
        try:
            self._attendant.start()
        except RuntimeError as error:
            raise SystemFailure(str(error)) from None

    def _look_around(self) -> None:
        """Another server may have come since the last call. A call to the old one would end as server_died."""
        now = time.monotonic()
        paused, self.last_used = now - self.last_used > SLICE_S, now
        if not self.linked or self._reading:
            return
        with self.lock:
            self._check_link()
        if (paused or self.negotiation.refused) and not self.calls.sent:
            self._take_arrived()

    def _take_arrived(self) -> None:
        for _ in range(_MAX_LOOKS):
            if not self.linked or self.receive(0) is not Got.A_MESSAGE:
                break

    def _wait_for_turn(self, call: Call, seconds: float) -> None:
        wakeup = Wakeup()
        with self.lock:
            if call.done or (self.topics.replies is not None and not self._reading):
                return
            self.calls.waiting[wakeup] = call
        try:
            wakeup.wait(seconds)
        finally:
            with self.lock:
                del self.calls.waiting[wakeup]

    def send_new(self, call: Call, payload: Any) -> None:
        id = self.last_id + 1
        left_ns = max(0, int((call.deadline - time.monotonic()) * 1e9))
        assert call.pair is not None
        header = message.encode(Kind.REQUEST, id, time_ns=left_ns, type=call.pair.types.request.hash)
        try:
            self.topics.requests.send_msg(b"".join((header, payload)))
        except BadArgument as error:
            self.calls.end(call, CallError(CallErrc.too_large, str(error)))
        except (NoMemory, MemoryError):
            self.calls.end(call, CallError(CallErrc.no_memory))
        except Error as error:
            self.calls.end(call, CallError(CallErrc.closed, str(error)))
        else:
            self.last_id = call.id = id
            self.calls.count_sent(call)

    def _send_later(self, call: Call, payload: Any) -> None:
        try:
            self._start_attendant()
        except SystemFailure as error:
            self.calls.end(call, CallError(CallErrc.no_memory, str(error)))
            return
        call.unsent = bytes(payload)
        self.calls.keep(call)
        self._attendant.wakeup.ring()

    def say_hello(self, pair: TypePair) -> None:
        pair.greeted = True
        self.topics.send(Kind.HELLO, pair.number, message.encode_types(pair.types), self.last_id)

    def _check_link(self) -> None:
        if self.topics.replies is not None and not self.topics.replies.connected:
            self.end_link(f"the link to the server of {self.service} ended")

    def end_link(self, why: str) -> None:
        """The server is gone."""
        if self.linked:
            self.linked = False
            self.negotiation.forget_answers()
            self.calls.end_sent(CallError(CallErrc.server_died, why))

    def _why_unreached(self) -> str:
        why = f"no service {self.service} was reached in time: "
        topics = self.topics
        if topics.problem is not None:
            return why + str(topics.problem)
        if topics.replies is None:
            return why + "its topics are not set up yet"
        if self.linked:
            return why + "its server has not answered yet"
        if self._replies.other_version and topics.replies.connected:
            other = self._replies.other_version
            return f"{why}its server speaks version {other} of calls, and this program version {message.VERSION}"
        link = topics.replies.link
        if not topics.replies.connected:
            return f"{why}{link.reason}"
        return (
            f"{why}its server is reached over {link.transport}, but has not answered: "
            "it may have no transport that this participant offers its topics on"
        )
