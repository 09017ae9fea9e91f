"""What the extension calls: the program's own functions, whose exceptions must not reach C++."""

from __future__ import annotations

import functools
from typing import Any, Callable, Optional

from .._log import logger


def checking(validate: Optional[Callable[[Any], Any]]) -> Optional[Callable[[Any], bytes]]:
    """Returns a function that returns why a value is refused, in UTF-8; empty: it is not."""
    return None if validate is None else functools.partial(_check, validate)


def calling(name: str, callback: Optional[Callable[[Any], object]]) -> Optional[Callable[[Any], None]]:
    return None if callback is None else functools.partial(_call, name, callback)


def read_only_array(value: Any) -> Any:
    import numpy

    array = numpy.array(value, dtype=numpy.float64)
    array.flags.writeable = False
    return array


def _check(validate: Callable[[Any], Any], value: Any) -> bytes:
    try:
        why = validate(value)
        if why is not None and not isinstance(why, str):
            why = f"its check returned {type(why).__name__}, and neither a text nor None"
    except Exception as error:
        why = _text_of(error) or "its check failed"
    return (why or "").encode(errors="replace")


def _call(name: str, callback: Callable[[Any], object], value: Any) -> None:
    try:
        callback(value)
    except BaseException:  # SystemExit, too: the thread serves other parameters
        logger.exception("callback of parameter %s", name)


def _text_of(error: Exception) -> str:
    try:
        return str(error)
    except Exception:
        return ""
