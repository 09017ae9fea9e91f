"""What a handler knows of the call that it serves (liborc/include/orc/calls/call_context.h)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .._errors import BadArgument
from .errors import CallErrc, CallError
from .values import codec_for, codec_of

if TYPE_CHECKING:
    from orc._native import ServedCall


@dataclass(frozen=True)
class CallClient:
    """The program that calls, as the broker knows it. All of it is what the program said of itself."""

    name: str
    """ParticipantState.name"""
    host: str
    """ParticipantState.host"""
    pid: int
    """ParticipantState.pid"""


class CallContext:
    """A call that is being served. Any thread may call. After the handler has returned it does nothing."""

    def __init__(self, call: ServedCall) -> None:
        self._call = call

    @property
    def deadline(self) -> float:
        """When the client stops waiting, in seconds of time.monotonic(): it begins when the request arrives."""
        return self._call.deadline

    @property
    def client(self) -> CallClient:
        """Who calls."""
        return CallClient(*self._call.client)

    def cancelled(self) -> bool:
        """Returns whether no client waits for the reply any more.

        The client cancelled the call or is gone, the deadline has passed, or the service is being withdrawn. A handler
        that takes long looks here and returns. Never waits.
        """
        return self._call.cancelled()

    def feedback(self, value: Any, type: Any = None) -> bool:
        """Sends feedback before the reply: bytes, a JSON value, or a value of a typed topic's type.

        The newest wins: feedback that the client cannot take in time is replaced by later feedback. The last one always
        comes before the reply. Returns False when it could not be sent. Never waits. Raises BadSample, TypeError.

        type: of the value, when it does not show that itself: orc.flatbuffer(…), orc.struct(…).
        """
        codec = codec_for(value) if type is None else codec_of(type)
        return self._call.feedback(codec.encode(value))

    def fail(self, number: int, text: str) -> None:
        """Ends the call with an error: CallErrc.failed, this number and text. What the handler returns is dropped.

        Of several calls the last counts. number: 32 bits with a sign. Texts are cut after 4,096 bytes.
        """
        if not -(1 << 31) <= number < 1 << 31:
            raise BadArgument(f"number has 32 bits with a sign; {number} has more")
        self._call.end_with(CallErrc.failed, number, text, "")

    def _end_with(self, error: CallError) -> None:
        """Ends the call with the error of another call, for bridges. Its code must be one that a server may send."""
        self._call.end_with(error.code, error.number, error.text, error.exception_type)
