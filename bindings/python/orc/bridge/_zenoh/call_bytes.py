"""The bytes of a call between two bridges (schemas/ZENOH.md, "Services")."""

from __future__ import annotations

import json
import struct
from typing import Any, NamedTuple, Optional

from orc import CallErrc, CallError

from .patterns import is_chunk

# magic, version, 0, id of the call, ns until the deadline, clock, by that clock, bytes of the robot
_ASKED = struct.Struct("<2sBB16sQQqB")
_MAGIC, _VERSION = b"OQ", 2
_MAX_DEADLINE_NS = 24 * 3600 * 10**9
_MAX_ERROR = 16384


class Asked(NamedTuple):
    """What goes with a query."""

    id: bytes
    """Of the call."""
    deadline_s: float
    """Seconds from when it was asked."""
    clock: int = 0
    """Names a clock (Clocks). 0: none."""
    clock_ns: int = 0
    """When it was asked, by that clock."""
    robot: str = ""
    """Whose clock. Empty when there is none."""


def encode_asked(asked: Asked) -> bytes:
    """Returns the attachment of a query."""
    deadline_ns = max(1, int(asked.deadline_s * 1e9))
    robot = asked.robot.encode()
    return _ASKED.pack(_MAGIC, _VERSION, 0, asked.id, deadline_ns, asked.clock, asked.clock_ns, len(robot)) + robot


def decode_asked(data: bytes) -> Optional[Asked]:
    """Returns what an attachment says. None: it is none of ours."""
    if len(data) < _ASKED.size:
        return None
    magic, version, _, id, deadline_ns, clock, stamp_ns, size = _ASKED.unpack_from(data)
    robot = data[_ASKED.size :].decode(errors="replace")
    good = (magic, version) == (_MAGIC, _VERSION) and 0 < deadline_ns <= _MAX_DEADLINE_NS
    if not good or len(data) != _ASKED.size + size or not (is_chunk(robot) if clock else not robot):
        return None
    return Asked(id, deadline_ns / 1e9, clock, stamp_ns, robot)


def encode_error(error: CallError) -> bytes:
    """Returns the payload of an error's reply."""
    text = {"code": error.code.name, "text": error.text[:4096], "number": error.number}
    return json.dumps({**text, "exception_type": error.exception_type[:255]}).encode()


def decode_error(data: bytes) -> CallError:
    """Returns the error of a reply. A queryable that no bridge made may say anything: its text is the error's."""
    try:
        read: Any = json.loads(data) if len(data) <= _MAX_ERROR else None
        code, text, number, type = (read[each] for each in ("code", "text", "number", "exception_type"))
        if not isinstance(text, str) or not isinstance(type, str) or isinstance(number, bool):
            raise ValueError
        if not isinstance(number, int) or not -(1 << 31) <= number < 1 << 31:
            raise ValueError
        return CallError(CallErrc[code], text, number, type)
    except (ValueError, LookupError, TypeError, RecursionError):
        return CallError(CallErrc.failed, data[:4096].decode(errors="replace"))
