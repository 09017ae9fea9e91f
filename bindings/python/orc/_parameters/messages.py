"""What the service of a participant's parameters takes and returns (schemas/PROTOCOL.md, "Parameters")."""

from __future__ import annotations

import enum
import json
from typing import Any, NamedTuple, Optional

from .._errors import BadSample
from .._type_description import TypeDescription
from .._typed import Typed
from .schema import json_type
from .values import MAX_BYTES, Value, parse, to_json, value_of

SERVICE_PREFIX = ".parameters/"
_MAX_MESSAGE_BYTES = 2 * MAX_BYTES


class Refusal(enum.IntEnum):
    """Why a request failed: CallError.number."""

    UNKNOWN = 1
    VALUE = 2
    READ_ONLY = 3
    MALFORMED = 4


class Request(NamedTuple):
    name: str
    sets: bool
    value: Optional[Value]  # None: to read, or a value that no parameter can have


class _Text(Typed[bytes]):
    """JSON that is not parsed yet."""

    def __init__(self, description: TypeDescription) -> None:
        super().__init__(description)

    def encode(self, value: Any) -> Any:
        return value

    def decode(self, message: Any) -> bytes:
        data = bytes(message)
        if len(data) > _MAX_MESSAGE_BYTES:
            raise BadSample(f"{len(data)} bytes; at most {_MAX_MESSAGE_BYTES} are allowed")
        return data


REQUEST = _Text(json_type("orc.ParameterRequest", {"name": {"type": "string"}, "value": {}}, ["name"]))
REPLY = _Text(json_type("orc.ParameterReply", {"value": {}}, ["value"]))


def request_of(name: str, value: Optional[Value]) -> bytes:
    text = f'{{"name":{json.dumps(name)}'
    return (text + ("}" if value is None else f',"value":{to_json(value)}}}')).encode()


def read_request(text: bytes) -> Optional[Request]:
    """None: it is malformed."""
    try:
        read = parse(text)
    except ValueError:
        return None
    if not isinstance(read, dict) or not {"name"} <= read.keys() <= {"name", "value"}:
        return None
    name, sets = read["name"], "value" in read
    return Request(name, sets, value_of(read.get("value"))) if isinstance(name, str) else None


def read_reply(text: bytes) -> Optional[Value]:
    """None: it is no value."""
    try:
        read = parse(text)
    except ValueError:
        return None
    return value_of(read.get("value")) if isinstance(read, dict) else None
