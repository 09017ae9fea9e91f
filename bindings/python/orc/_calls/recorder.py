"""Publishes the calls of one service on its topic NAME/.calls (liborc/include/orc/calls/call_record.h)."""

from __future__ import annotations

import base64
import contextlib
import json
import time
from typing import TYPE_CHECKING, Any, Dict, Optional, Tuple

from .._errors import Error, NoBroker
from .._type_description import TypeDescription
from .description import call_record_type
from .errors import CallErrc, CallError
from .message import MAX_ERROR_TEXT, MAX_EXCEPTION_TYPE, CallTypes, absolute, cut
from .platform import Participant

if TYPE_CHECKING:
    from .service_call import ServiceCall

MAX_RECORDED_BYTES = 65_536  # of a request or a reply
MAX_RECORDED_BYTES_OF_UNRUN = 1024  # of a request that never ran: anyone can send such requests at any rate

_NEVER_RAN = CallError(CallErrc.lost)


def call_record_topic(service: str) -> str:
    return absolute(f"{service}/.calls")


class Recorder:
    """Any thread may call, between start() and let_go()."""

    def __init__(self, service: str, types: CallTypes) -> None:
        self.topic = call_record_topic(service)
        self._types = types
        self._records: Any = None  # the publisher

    def start(self, by: Participant, transports: Tuple[str, ...]) -> None:
        """Registers the topic. Raises Error."""
        type = call_record_type(self._types)
        with contextlib.suppress(NoBroker):
            by.register_topic(self.topic, transports=transports, type=type, keep_last=False)
        self._records = by.publisher(self.topic)

    def let_go(self) -> None:
        """Drops the handle of the topic: it would keep a dropped participant."""
        self._records = None

    def record(self, call: ServiceCall, error: Optional[CallError] = _NEVER_RAN, reply: Any = None) -> None:
        """Publishes the record of a call that has ended, if a subscriber listens. Never waits.

        error: with which it ended. The default: it was cancelled, or late, before it began.
        reply: a buffer.
        """
        records = self._records
        try:
            if records is not None and records.readers:
                records.send_msg(json.dumps(self._describe(call, error, reply)).encode())
        except (Error, MemoryError):  # this call is not recorded
            pass

    def _describe(self, call: ServiceCall, error: Optional[CallError], reply: Any) -> Dict[str, Any]:
        left_ns = int((call.deadline - time.monotonic()) * 1e9)
        is_late = left_ns <= 0
        now_ns = time.time_ns()
        how = CallError(CallErrc.ok) if error is None else _as_recorded(call, error, is_late)
        client = call.client.identity
        most = MAX_RECORDED_BYTES if call.started_ns else MAX_RECORDED_BYTES_OF_UNRUN
        return {
            "client": {"name": client.name, "host": client.host, "pid": client.pid},
            "connection": f"{call.client.id:016x}",
            "id": call.id,
            "received_ns": call.received_ns,
            "started_ns": call.started_ns or None,
            "finished_ns": now_ns,
            "deadline_ns": now_ns + left_ns,
            "outcome": how.code.name,
            "code": int(how.code),
            "number": how.number,
            "text": cut(how.text, MAX_ERROR_TEXT).decode(),
            "exception": cut(how.exception_type, MAX_EXCEPTION_TYPE).decode(),
            "cancelled": call.cancelled or is_late,
            "request": _payload(call.payload, self._types.request, most),
            "reply": None if error is not None else _payload(reply, self._types.reply, most),
        }


def _as_recorded(call: ServiceCall, error: CallError, is_late: bool) -> CallError:
    """Of a call that was too late for its handler the code says why."""
    if error.code is CallErrc.lost and not call.started_ns and (is_late or call.cancelled):
        return CallError(CallErrc.deadline_exceeded if is_late else CallErrc.cancelled)
    return error


def _payload(data: Any, type: TypeDescription, most: int) -> Dict[str, Any]:
    view = memoryview(data)
    kept = bytes(view.cast("B")[:most]) if view.nbytes else b""  # an empty view cannot be cast
    described = {"size": view.nbytes, "cut": len(kept) < view.nbytes}
    if type.message_encoding == "json":
        return {**described, "text": kept.decode(errors="replace")}
    return {**described, "base64": base64.b64encode(kept).decode()}
