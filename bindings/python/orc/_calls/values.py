"""What a program sends and gets: JSON values, bytes, or values of a typed topic's type."""

from __future__ import annotations

import functools
from typing import Any

from .._errors import BadSample
from .._type_description import TypeDescription
from .._typed import Typed, struct, typed
from .._typed.codec import shown
from .._typed.json_codec import JsonValue


class Raw(Typed[bytes]):
    """Bytes without a type: they match every type of the other end."""

    def __init__(self) -> None:
        super().__init__(TypeDescription())

    def encode(self, value: Any) -> Any:
        try:
            return memoryview(value).cast("B")
        except (TypeError, ValueError, BufferError):
            raise BadSample(f"{shown(value)} are no bytes") from None

    def decode(self, message: Any) -> bytes:
        return bytes(message)

    @property
    def name(self) -> str:
        return "bytes"


RAW = Raw()
JSON = JsonValue()


def codec_of(type: Any) -> Typed[Any]:
    """Returns what `request=`, `reply=` and `type=` name. None: JSON. Raises BadArgument, TypeError."""
    if type is None:
        return JSON
    if type is bytes:
        return RAW
    return _known_codec(type)


def codec_for(value: Any) -> Typed[Any]:
    """Returns the codec that a value asks for by what it is. Raises BadArgument, TypeError."""
    if value is None or isinstance(value, (dict, list, tuple, str, bool, int, float)):
        return JSON
    if isinstance(value, (bytes, bytearray, memoryview)):
        return RAW
    dtype = getattr(value, "dtype", None)
    if dtype is not None:  # numpy's
        return _record_codec(dtype) if dtype.names else _array_codec(value)
    return codec_of(type(value))


def reply_codec(type: Any, request: Typed[Any]) -> Typed[Any]:
    """Returns the codec of a call's reply. None: JSON for a request in JSON, else bytes."""
    if type is not None:
        return codec_of(type)
    return JSON if request is JSON else RAW


@functools.lru_cache(maxsize=256)
def _known_codec(type: Any) -> Typed[Any]:
    found = typed(type)
    return RAW if found is None else found


@functools.lru_cache(maxsize=256)
def _record_codec(dtype: Any) -> Typed[Any]:
    return struct("", dtype)


def _array_codec(value: Any) -> Typed[Any]:
    if getattr(value, "ndim", 0) == 0:
        raise TypeError(f"{shown(value)} is no request: pass int(…) or float(…), or bytes")
    return RAW
