"""What comes from the server (schemas/PROTOCOL.md, "Order of events")."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, List

from . import message
from .errors import CallErrc, CallError
from .message import CallMessage, Kind
from .negotiation import Answer, TypePair

if TYPE_CHECKING:
    from .channel import Channel


class Replies:
    """Needs the lock of its channel."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._server = 0  # its number in welcome
        self.other_version = 0  # of calls, in which something answered; 0: none

    def take(self, sample: Any) -> None:
        read = message.decode(memoryview(sample))
        if read is None:
            self.other_version = message.other_version(memoryview(sample)) or self.other_version
        take = None if read is None else _TAKE.get(read.kind)
        if read is not None and take is not None:
            take(self, read)
        if sample.missed and self._channel.linked:  # some of the lost messages may have been results
            self._ask_for_open_calls()

    def _take_welcome(self, read: CallMessage) -> None:
        """The server sends it when its subscription is up, and again while it has not heard hello."""
        channel = self._channel
        same = channel.linked and self._server == read.id
        if not same:
            text = f"another server of {channel.service} took its place"
            channel.calls.end_sent(CallError(CallErrc.server_died, text))
            channel.negotiation.forget_answers()
        channel.linked, self._server = True, read.id
        for pair in channel.negotiation:
            if pair.answer is Answer.NONE:
                channel.say_hello(pair)
        if same:  # after an outage of the way to the server
            self._ask_for_open_calls()

    def _ask_for_open_calls(self) -> None:
        if self._channel.calls.sent:
            self._channel.topics.send(Kind.OPEN_CALLS, self._channel.last_id)

    def _take_accepted(self, read: CallMessage) -> None:
        for pair in self._open_pairs():
            if pair.number == read.id:
                pair.answer = Answer.ACCEPTED
                for call in self._channel.calls.unsent_of(pair):
                    payload, call.unsent = call.unsent, None
                    self._channel.send_new(call, payload or b"")
        self._report_progress()

    def _take_refused(self, read: CallMessage) -> None:
        why = message.decode_error(read.payload) or CallError(CallErrc.refused)
        for pair in self._open_pairs():
            if read.id in (pair.number, 0):
                pair.refuse(why)
                for call in self._channel.calls.unsent_of(pair):
                    self._channel.calls.end(call, why)
        self._report_progress()

    def _open_pairs(self) -> List[TypePair]:
        """The pairs that an answer may be for."""
        pairs = self._channel.negotiation if self._channel.linked else ()
        return [each for each in pairs if each.answer is not Answer.ACCEPTED]

    def _report_progress(self) -> None:
        for each in list(self._channel.progress):
            each.ring()

    def _take_feedback(self, read: CallMessage) -> None:
        call = self._channel.calls.sent.get(read.id)
        if call is not None:
            call.feedback = read.payload
            call.alert()
            self._channel.topics.send(Kind.FEEDBACK_TAKEN, read.id)

    def _take_result(self, read: CallMessage) -> None:
        call = self._channel.calls.sent.get(read.id)
        if call is None:  # it was cancelled, or is too late
            return
        if time.monotonic() >= call.deadline:  # this thread had other things to do
            self._channel.calls.end(call, CallError(CallErrc.deadline_exceeded))
            return
        call.reply = read.payload
        self._channel.calls.end(call, None)

    def _take_error(self, read: CallMessage) -> None:
        call = self._channel.calls.sent.get(read.id)
        if call is None:
            return
        why = message.decode_error(read.payload) or CallError(CallErrc.failed, "unreadable error")
        if time.monotonic() >= call.deadline:  # a handler that saw it pass may report that in its own words
            why = CallError(CallErrc.deadline_exceeded)
        self._channel.calls.end(call, why)

    def _take_bye(self, read: CallMessage) -> None:
        self._channel.end_link(f"service {self._channel.service} was withdrawn")

    def _take_running(self, read: CallMessage) -> None:
        """Sent calls up to this id that the server does not name have ended there, but their results did not arrive."""
        running = message.decode_ids(read.payload)
        if running is None:
            return
        why = CallError(CallErrc.lost, "the request or its reply was lost on its way")
        calls = self._channel.calls
        for id in set(calls.sent).difference(running):
            if id <= read.id:
                calls.end(calls.sent[id], why)


_TAKE = {
    Kind.WELCOME: Replies._take_welcome,
    Kind.ACCEPTED: Replies._take_accepted,
    Kind.REFUSED: Replies._take_refused,
    Kind.FEEDBACK: Replies._take_feedback,
    Kind.RESULT: Replies._take_result,
    Kind.ERROR: Replies._take_error,
    Kind.RUNNING: Replies._take_running,
    Kind.BYE: Replies._take_bye,
}
