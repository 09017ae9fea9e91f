"""One client of a service: its two topics, the thread that receives from it, and its open calls."""

from __future__ import annotations

import contextlib
import threading
import time
from typing import TYPE_CHECKING, Any, Dict, Optional, Set

from .._directory_types import PublicationState
from .._errors import BadArgument, Closed, Error, Forked, NoBroker, TypeMismatch
from . import message
from .context import CallClient
from .errors import CallErrc, CallError
from .message import CallMessage, Kind
from .service_call import ServiceCall
from .turns import Turn

if TYPE_CHECKING:
    from .service_core import ServiceCore

_MAX_OPEN_CALLS = 1024
# Requests, cancellations and acknowledgements of as many calls as can be open; and replies with two feedbacks each.
_DEPTH = 4 * _MAX_OPEN_CALLS
_HELD_MESSAGES = 60  # over shm
_IDLE_SLICE_MS = 1000  # the end of a topic wakes the thread
_GREETING_SLICE_MS = 100  # between two welcomes to a client that has not answered
_MAX_ACCEPTED_TYPES = 64
_MAX_MESSAGES_AT_ONCE = 64  # that the thread takes before it serves
_MAX_ID = 2**63
_LONGEST_DEADLINE_NS = 24 * 3600 * 10**9


class ServiceClient:
    """Any thread may call, except where it says otherwise."""

    def __init__(self, service: ServiceCore, id: int, publication: PublicationState, is_refused: bool) -> None:
        who = publication.participant
        self.id = id
        self.publication = publication
        self.identity = CallClient(who.name, who.host, who.pid)
        self.is_refused = is_refused  # one client too many, which only learns that
        self.is_leaving = False
        self.has_ended = False
        self.is_listed = True  # by the broker; else it ends when its link does
        self.successor: Optional[PublicationState] = None  # what comes in its place when it has ended
        self._service = service
        self._requests: Any = None  # the subscriber
        self._replies: Any = None  # the publisher
        self._lock = threading.RLock()  # guards the open calls and their feedback
        self._open: Dict[int, ServiceCall] = {}
        # The thread's own.
        self._was_connected = False
        self._is_greeted = False  # hello came over the link that is up
        self._is_fresh = True  # the last look found nothing more
        self._had_hello = False
        self._last_id = 0
        self._request_types: Set[int] = set()  # hashes that were accepted
        self._thread = threading.Thread(target=self._run, name=f"orc serve {service.name}", daemon=True)

    def start(self) -> None:
        """Raises RuntimeError: no thread."""
        self._thread.start()

    def end(self) -> None:
        self.is_leaving = True
        self._service.release(message.call_topic(self._service.name, self.id))  # wakes the thread

    def join(self, until: Optional[float]) -> None:
        """Waits for its thread, unless it is this one."""
        if self._thread is not threading.current_thread():
            self._thread.join(None if until is None else max(0.0, until - time.monotonic()))

    @property
    def is_connected(self) -> bool:
        requests = self._requests
        return requests is not None and bool(requests.connected)

    @property
    def is_gone(self) -> bool:
        """Whether it can be ended: its link is down, and the broker does not list it."""
        return not self.is_listed and not self.is_connected

    # What handlers do.

    def send_feedback(self, call: ServiceCall, data: bytes) -> bool:
        self._look(call)
        with self._lock:
            if not call.is_open:
                return False
            if call.feedback_is_on_its_way:
                call.next_feedback = data
                return True
            call.feedback_is_on_its_way = self._send(Kind.FEEDBACK, call.id, data)
            return call.feedback_is_on_its_way

    def is_cancelled(self, call: ServiceCall) -> bool:
        if not (call.cancelled or call.abandoned):
            self._look(call)
        return (
            call.cancelled
            or call.abandoned
            or not call.is_open
            or self._service.is_stopping
            or time.monotonic() >= call.deadline
            or not self.is_connected
        )

    def _look(self, call: ServiceCall) -> None:
        """In a service without threads, the handler's thread is the one that receives."""
        if call.is_open and threading.current_thread() is self._thread:
            self._drain()

    def finish(self, call: ServiceCall, reply: Any) -> None:
        """Sends the call's error, or the reply: a buffer. It is open no more."""
        with self._lock:
            if call.next_feedback is not None:
                self._send(Kind.FEEDBACK, call.id, call.next_feedback)
            if call.error is None:
                call.error = self._send_reply(call, reply)
            if call.error is not None:
                self._send(Kind.ERROR, call.id, message.encode_error(call.error))
            self._close(call)  # after the reply: see _report_open
            # With the lock, so that the client's next call is not recorded before this one.
            if self._service.recorder is not None:
                self._service.recorder.record(call, call.error, reply)

    def _send_reply(self, call: ServiceCall, reply: Any) -> Optional[CallError]:
        header = message.encode(Kind.RESULT, call.id, type=self._service.types.reply.hash)
        try:
            self._transmit(b"".join((header, reply)))
        except BadArgument as error:
            return CallError(CallErrc.too_large, f"the reply was not sent: {error}")
        except MemoryError:  # NoMemory is one
            return CallError(CallErrc.no_memory)
        except Error:  # the topic has ended, and with it the call
            return CallError(CallErrc.lost, "the reply was not sent: the client has left")
        return None

    def refuse(self, call: ServiceCall, why: CallError) -> None:
        """Ends a call that never ran."""
        self._service.count_refused()
        with self._lock:
            self._send(Kind.ERROR, call.id, message.encode_error(why))
            self._close(call)
            if self._service.recorder is not None:
                self._service.recorder.record(call, why)

    def _close(self, call: ServiceCall) -> None:
        call.is_open = False
        self._open.pop(call.id, None)

    # The thread.

    def _run(self) -> None:
        try:
            if self._set_up():
                while self._goes_on:
                    self._follow_link()
                    self._run_waiting()
                    if self._goes_on:
                        self._receive(_IDLE_SLICE_MS if self._is_greeted else _GREETING_SLICE_MS)
            self._drop_calls(CallError(CallErrc.server_died, "the service was withdrawn"))
            self._send(Kind.BYE, 0)
        except Forked:  # this is the child: it sends nothing
            pass
        finally:
            self._service.release(message.call_topic(self._service.name, self.id))
            self._service.unregister(message.reply_topic(self._service.name, self.id))
            self._requests = self._replies = None  # they would keep a dropped participant
            self.has_ended = True

    @property
    def _goes_on(self) -> bool:
        return not self.is_leaving and not self._service.is_stopping

    def _set_up(self) -> bool:
        by = self._service.participant()
        if by is None:
            return False
        transports = self._service.options.transports
        shm = {"max_messages": _HELD_MESSAGES} if not transports or "shm" in transports else {}
        come = message.call_topic(self._service.name, self.id)
        go = message.reply_topic(self._service.name, self.id)
        try:
            with contextlib.suppress(NoBroker):
                by.request_topic(come, conflate=0, depth=_DEPTH, transports=transports, **shm)
            with contextlib.suppress(NoBroker):
                by.register_topic(go, transports=transports)
            self._replies = by.publisher(go)
            self._requests = by.subscriber(come)
        except Error:
            return False
        return True

    def _follow_link(self) -> None:
        was_connected, self._was_connected = self._was_connected, self.is_connected
        if self._was_connected and not was_connected:
            self._is_greeted = False
        if self._was_connected and not self._is_greeted:
            self._send(Kind.WELCOME, self._service.instance)
        if was_connected and not self._was_connected:
            self._drop_calls(CallError(CallErrc.lost, "the link from the client ended before the call began"))

    def _run_waiting(self) -> None:
        service = self._service
        while service.is_inline:
            call = service.queue.next_of(self)
            if call is None:
                return
            turn = service.turns.take()
            if turn is Turn.NEVER:
                return
            try:
                if turn is Turn.AFTER_A_WAIT or not self._is_fresh:  # a cancellation may have come
                    self._drain()
                if service.queue.withdraw(call):
                    service.run(call)
            finally:
                service.turns.give()
            self._drain()

    def _receive(self, timeout_ms: int) -> bool:
        """Returns whether a message came. Raises Forked."""
        try:
            sample = self._requests.recv_msg(timeout_ms)
        except Closed:
            self.is_leaving = True
            return False
        if sample is None:
            return False
        self._take(message.decode(memoryview(sample)))
        return True

    def _drain(self) -> None:
        """Takes what has arrived, without waiting."""
        self._is_fresh = False
        for _ in range(_MAX_MESSAGES_AT_ONCE):
            if not self._receive(0):
                self._is_fresh = True
                return

    def _take(self, read: Optional[CallMessage]) -> None:
        take = None if read is None else _TAKE.get(read.kind)
        if read is None or take is None:
            self._service.count_dropped()
        else:
            take(self, read)

    def _take_hello(self, read: CallMessage) -> None:
        self._is_greeted = True
        if not self._had_hello:
            self._had_hello = True
            self._last_id = read.time_ns  # the ids of an earlier server's calls are not missing here
        refusal = self._why_refused(read)
        if refusal is None:
            self._send(Kind.ACCEPTED, read.id)
        else:
            self._send(Kind.REFUSED, read.id, message.encode_error(refusal))

    def _why_refused(self, read: CallMessage) -> Optional[CallError]:
        service = self._service
        types = message.decode_types(read.payload)
        if types is None:
            service.count_dropped()
            return CallError(CallErrc.refused, "the server cannot read this client's hello")
        if self.is_refused:
            most = service.options.max_clients
            return CallError(CallErrc.refused, f"{service.name} has {most} clients already (max_clients)")
        try:
            what = f'the request has another type than {service.name} takes. The server, which is "here", reports: '
            service.check_types(types.request, service.types.request, f"{self.identity.name} ({self.identity.pid})")
            what = "the reply has another type: "
            service.check_types(service.types.reply, types.reply, service.name)
        except (TypeMismatch, BadArgument) as error:
            return CallError(CallErrc.type_mismatch, what + str(error))
        self._request_types.add(types.request.hash)
        if len(self._request_types) > _MAX_ACCEPTED_TYPES:
            self._request_types.remove(types.request.hash)
            return CallError(CallErrc.refused, "this client uses too many different types")
        return None

    def _take_request(self, read: CallMessage) -> None:
        if read.id <= self._last_id or read.id > _MAX_ID:
            self._service.count_dropped()
            return
        if self._follow(read.id - 1):
            self._report_open(read.id - 1)
        self._last_id = read.id
        deadline = time.monotonic() + min(read.time_ns, _LONGEST_DEADLINE_NS) / 1e9
        call = ServiceCall(self, read.id, deadline, read.payload)
        if self._service.recorder is not None:
            call.received_ns = time.time_ns()
        if read.type not in self._request_types:
            self.refuse(call, CallError(CallErrc.lost, "the server has not accepted this type from this client"))
            return
        with self._lock:
            self._open[read.id] = call
        if not self._is_fresh or not self._service.take_free_turn():
            self._service.admit(call)
            return
        try:
            self._service.run(call, was_just_heard=True)
        finally:
            self._service.turns.give()
        self._drain()

    def _follow(self, id: int) -> bool:
        """Requests up to this id have been sent before. Those that did not arrive never will. Whether there are any."""
        missing = id - self._last_id
        if missing <= 0:
            return False
        self._service.count_refused(min(missing, _MAX_OPEN_CALLS))
        self._last_id = id
        return True

    def _take_open_calls(self, read: CallMessage) -> None:
        if read.id > _MAX_ID:
            self._service.count_dropped()
            return
        self._follow(read.id)
        self._report_open(read.id)

    def _report_open(self, last_sent: int) -> None:
        """One message, however many are missing: the client ends its calls up to last_sent that are not in it."""
        with self._lock:
            self._send(Kind.RUNNING, last_sent, message.encode_ids(self._open))

    def _take_cancel(self, read: CallMessage) -> None:
        with self._lock:
            call = self._open.get(read.id)
        if call is None:
            return
        call.cancelled = True
        if self._service.queue.withdraw(call):
            self._service.count_refused()
            with self._lock:
                self._close(call)
                if self._service.recorder is not None:
                    self._service.recorder.record(call)

    def _take_feedback_taken(self, read: CallMessage) -> None:
        with self._lock:
            call = self._open.get(read.id)
            if call is None:
                return
            following, call.next_feedback = call.next_feedback, None
            call.feedback_is_on_its_way = following is not None
            if following is not None:
                self._send(Kind.FEEDBACK, call.id, following)

    def _take_bye(self, read: CallMessage) -> None:
        self.is_leaving = True

    def _drop_calls(self, why: CallError) -> None:
        for call in self._service.queue.withdraw_all(self):
            self.refuse(call, why)
        with self._lock:
            for call in self._open.values():
                call.abandoned = True

    def _send(self, kind: Kind, id: int, payload: bytes = b"") -> bool:
        """Never waits. False: it cannot be sent."""
        try:
            self._transmit(message.encode(kind, id, payload))
        except (Error, MemoryError):
            return False
        return True

    def _transmit(self, sample: bytes) -> None:
        """Raises Error, MemoryError."""
        replies = self._replies
        if replies is None:
            raise Closed()
        replies.send_msg(sample)


_TAKE = {
    Kind.HELLO: ServiceClient._take_hello,
    Kind.REQUEST: ServiceClient._take_request,
    Kind.CANCEL: ServiceClient._take_cancel,
    Kind.FEEDBACK_TAKEN: ServiceClient._take_feedback_taken,
    Kind.BYE: ServiceClient._take_bye,
    Kind.OPEN_CALLS: ServiceClient._take_open_calls,
}
