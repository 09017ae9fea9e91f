"""Values of parameters: a bool, an int of 64 bits, a float, a str or a list of floats, and of exactly this class."""

from __future__ import annotations

import math
from typing import Any, List, Optional, Union

from .._typed.codec import shown

Value = Union[bool, int, float, str, List[float]]

MAX_LENGTH = 4096  # characters of a text, numbers of a list
_LEAST_WHOLE, _MOST_WHOLE = -(1 << 63), (1 << 63) - 1
_EXACT_WHOLE = float(1 << 53)  # above it a float stands for several whole numbers


def canonical(given: Any) -> Value:
    """Returns what a program passed as a value. Raises TypeError: no parameter has such a value."""
    if isinstance(given, (bool, str)):
        return given if isinstance(given, bool) else str(given)
    if isinstance(given, int):
        return _whole(int(given))
    if isinstance(given, float):
        return float(given)
    dtype = getattr(given, "dtype", None)
    if dtype is not None and dtype.kind in "biuf" and given.ndim <= 1:  # numpy's
        return canonical((given.astype("f8") if dtype.kind == "f" else given).tolist())
    if isinstance(given, (list, tuple)):
        numbers = [_number(each) for each in given]
        if None not in numbers:
            return [each for each in numbers if each is not None]
    raise TypeError(f"a parameter is a bool, an int, a float, a str or a list of floats, not {shown(given)}")


def value_of(read: Any) -> Optional[Value]:
    """Returns what TOML has as a value. None: no parameter has such a value."""
    if isinstance(read, list) and len(read) > MAX_LENGTH:
        return None
    try:
        return canonical(read)
    except TypeError:
        return None


def converted(value: Value, to_type_of: Value) -> Value:
    """Takes a whole number for a float, and a float without a fraction for a whole number. Others stay as they are."""
    if type(value) is int and type(to_type_of) is float:
        return float(value)
    if type(value) is float and type(to_type_of) is int and value.is_integer() and abs(value) <= _EXACT_WHOLE:
        return int(value)
    return value


def _whole(number: int) -> Union[int, float]:
    """Beyond 64 bits it is a float."""
    if _LEAST_WHOLE <= number <= _MOST_WHOLE:
        return number
    try:
        return float(number)
    except OverflowError:
        return -math.inf if number < 0 else math.inf


def _number(given: Any) -> Optional[float]:
    if isinstance(given, bool) or not isinstance(given, (int, float)):
        return None
    return float(_whole(given) if isinstance(given, int) else given)
