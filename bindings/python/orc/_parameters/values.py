"""Values of parameters, in Python and as JSON (schemas/PROTOCOL.md, "Parameters").

A value is a bool, an int of 64 bits with a sign, a float, a str or a list of floats, and of exactly this class.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, List, Optional, Union

from .._typed.codec import shown

Value = Union[bool, int, float, str, List[float]]

MAX_LENGTH = 4096  # characters of a text, numbers of a list
MAX_BYTES = 256 << 10  # of a value as JSON
_LEAST_WHOLE, _MOST_WHOLE = -(1 << 63), (1 << 63) - 1
_EXACT_WHOLE = float(1 << 53)  # above it a float stands for several whole numbers
_WHOLE_DIGITS = 20
_SURROGATES = re.compile("[\ud800-\udfff]")


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
    """Returns what JSON or TOML has as a value. None: no parameter has such a value."""
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


def to_json(value: Value) -> str:
    """Returns the value as C++ writes it."""
    if isinstance(value, list):
        return "[" + ",".join(map(_number_text, value)) + "]"
    if isinstance(value, float):
        return _number_text(value)
    if isinstance(value, str):
        value = _SURROGATES.sub("\ufffd", value)
    return json.dumps(value, ensure_ascii=False)


def sample_of(value: Value) -> bytes:
    """Returns what the topic carries."""
    return f'{{"value":{to_json(value)}}}'.encode()


def parse(text: bytes) -> Any:
    """Parses JSON of bounded size. Raises ValueError: it is none, or has a number that no float can hold."""
    try:
        read = json.loads(
            text.decode(), parse_int=_parse_whole, parse_float=_parse_number, parse_constant=_refuse_constant
        )
        json.dumps(read, ensure_ascii=False).encode()  # raises for half a surrogate pair
    except RecursionError:
        raise ValueError("JSON is nested too deeply") from None
    return read


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


def _number_text(number: float) -> str:
    if not math.isfinite(number):
        return "null"  # JSON has no infinity
    text = repr(number)
    if "e" in text or not 1e15 <= abs(number) < 1e16:
        return text
    digits = text.lstrip("-").split(".")[0]  # 16 of them: C++ writes an exponent from here on
    fraction = digits[1:].rstrip("0")
    return ("-" if number < 0 else "") + digits[0] + ("." + fraction if fraction else "") + "e+15"


def _parse_whole(text: str) -> Union[int, float]:
    return _whole(int(text)) if len(text) <= _WHOLE_DIGITS else _parse_number(text)


def _parse_number(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError("a number is too large")
    return number


def _refuse_constant(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")
