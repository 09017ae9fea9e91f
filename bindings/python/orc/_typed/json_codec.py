"""JSON objects as dicts."""

from __future__ import annotations

import json
from typing import Any, Dict

from .._errors import BadSample
from .._type_description import TypeDescription
from .codec import Typed, shown


class Json(Typed[Dict[str, Any]]):
    def __init__(self, name: str) -> None:
        super().__init__(TypeDescription(name, "", "json", b""))

    def encode(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return super().encode(value)
        try:
            return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
        except (TypeError, ValueError, RecursionError) as error:
            raise BadSample(f"the dict is no JSON: {error}") from None

    def decode(self, message: Any) -> Dict[str, Any]:
        try:
            found = json.loads(_weighed(bytes(message)))
        except (ValueError, RecursionError) as error:
            raise BadSample(f"the sample is no JSON: {error}") from None
        if not isinstance(found, dict):
            raise BadSample(f"the sample is JSON of the kind {shown(found)}, and no object")
        return found


MAX_JSON_BYTES = 16 << 20  # parsed, it takes many times as much memory


class JsonValue(Typed[Any]):
    """Any JSON value, of requests and replies: dict, list, str, number, bool or None."""

    def __init__(self) -> None:
        super().__init__(TypeDescription("", "", "json", b""))

    def encode(self, value: Any) -> Any:
        try:
            text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
        except (TypeError, ValueError, RecursionError) as error:
            raise BadSample(f"the {shown(value)} is no JSON: {error}") from None
        if len(text) > MAX_JSON_BYTES:
            raise BadSample(f"{len(text)} bytes of JSON; at most {MAX_JSON_BYTES} are allowed: send bytes, or a type")
        return text

    def decode(self, message: Any) -> Any:
        data = bytes(message)
        if len(data) > MAX_JSON_BYTES:
            raise BadSample(f"{len(data)} bytes of JSON; at most {MAX_JSON_BYTES} are allowed")
        try:
            return json.loads(_weighed(data), parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            raise BadSample(f"these {len(data)} bytes are no JSON: {error}") from None


_MAX_WEIGHT = 1 << 22


def _weighed(data: bytes) -> str:
    """Returns the text, which is UTF-8. Raises ValueError if its values would take many times its memory.

    An element weighs 1, each text, array and object 8 more.
    """

    def weight(text: bytes, quotes: int) -> int:
        return text.count(b",") + 8 * (text.count(b"[") + text.count(b"{")) + 4 * quotes

    if weight(data, data.count(b'"')) > _MAX_WEIGHT:
        plain = data.replace(b"\\\\", b"").replace(b'\\"', b"")  # texts have no other quotes
        quotes = plain.count(b'"')
        if 4 * quotes > _MAX_WEIGHT or weight(b"".join(plain.split(b'"')[::2]), quotes) > _MAX_WEIGHT:
            raise ValueError("it has more than 4,194,304 numbers, or 524,288 texts, lists and dicts")
    return data.decode("utf-8-sig")


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")
