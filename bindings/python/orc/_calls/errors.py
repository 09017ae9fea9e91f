"""Why a call failed (liborc/include/orc/calls/call_error.h)."""

from __future__ import annotations

import enum
from typing import Any, Tuple

from .._errors import Error


class CallErrc(enum.IntEnum):
    """How a call ended. Names and numbers are those of C++ and of the wire format (schemas/PROTOCOL.md, "Calls")."""

    ok = 0
    """The call has a reply."""
    exception = 1
    """The handler raised; the error has the exception's type and text."""
    failed = 2
    """The handler called CallContext.fail."""
    busy = 3
    """The service's queue is full."""
    replaced = 4
    """A newer call of this client took its place (replace_waiting)."""
    lost = 5
    """The request or its reply did not arrive: the queue on its way overflowed, or the link failed."""
    type_mismatch = 6
    """The types of request or reply differ; the text says where."""
    too_large = 7
    """The transport does not carry a message of this size; the text has the limit."""
    bad_request = 8
    """The request's bytes are not of its type."""
    refused = 9
    """The service has no place for another client, or another version of the protocol."""
    bad_reply = 10
    """The handler's reply cannot be encoded, or its bytes are not of its type."""
    deadline_exceeded = 32
    """No reply came in time; the handler may still run."""
    cancelled = 33
    """CallFuture.cancel."""
    server_died = 34
    """The link to the server ended, or another server took its place; the handler may have run."""
    no_service = 35
    """No service was reached before the deadline; the request was not sent."""
    too_many_calls = 36
    """This participant has 1,024 open calls to the service, or connections to 256 services."""
    bad_argument = 37
    """A name or deadline is wrong, or the request cannot be encoded."""
    no_memory = 38
    """Out of memory."""
    closed = 39
    """The participant ended."""
    forked = 40
    """Made before fork()."""
    not_ready = 41
    """The call has not ended yet."""


_SENTENCES = {
    CallErrc.ok: "the call has a reply",
    CallErrc.exception: "the handler threw an exception",
    CallErrc.failed: "the handler reported a failure",
    CallErrc.busy: "too many requests wait for the service",
    CallErrc.replaced: "a newer call of this client took its place",
    CallErrc.lost: "the request or its reply was lost on its way",
    CallErrc.type_mismatch: "the service has other types",
    CallErrc.too_large: "the message is too large for the transport",
    CallErrc.bad_request: "the request's bytes are not of its type",
    CallErrc.refused: "the service refused this client",
    CallErrc.bad_reply: "the reply's bytes are not of its type",
    CallErrc.deadline_exceeded: "no reply came before the deadline",
    CallErrc.cancelled: "the call was cancelled",
    CallErrc.server_died: "the server is gone; the call may have run",
    CallErrc.no_service: "no service was reached before the deadline",
    CallErrc.too_many_calls: "too many calls are open",
    CallErrc.bad_argument: "an argument of the call is wrong",
    CallErrc.no_memory: "out of memory",
    CallErrc.closed: "the participant has ended",
    CallErrc.forked: "the call was made before fork()",
    CallErrc.not_ready: "the call has not ended yet",
}


class CallError(Error):
    """A call ended without a reply."""

    code: CallErrc  # type: ignore[assignment]
    """Why."""
    number: int
    """failed: what the handler gave to fail()."""
    exception_type: str
    """exception: its type as C++ or Python writes it: "std::out_of_range", "ValueError"."""

    def __init__(self, code: CallErrc, text: str = "", number: int = 0, exception_type: str = "") -> None:
        self.code = code
        self.number = number
        self.exception_type = exception_type
        self.text = text
        """Of an exception: what it says."""
        shown = text or _SENTENCES[code]
        super().__init__(f"{exception_type}: {shown}" if exception_type else shown)

    def copy(self) -> CallError:
        """Each exception that is raised collects a traceback of its own."""
        return CallError(self.code, self.text, self.number, self.exception_type)

    def __reduce__(self) -> Tuple[Any, ...]:
        return CallError, (self.code, self.text, self.number, self.exception_type)


def error_of(code: int, text: str, number: int, exception_type: str) -> CallError:
    """Of the extension's."""
    return CallError(CallErrc(code), text, number, exception_type)


CallErrc.__module__ = CallError.__module__ = "orc"  # where programs know them from
