"""The values of the samples with every kind of field, and how each library's numbers become JSON.

tests/types/every/*.json has them, in the conventions of liborc/ext/types/include/orc/types/json.h.
"""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any, Callable, Dict

import numpy as np

from support import REPOSITORY

TYPES = REPOSITORY / "tests/types"
Values = Dict[str, Any]


@dataclasses.dataclass
class Encoding:
    """One encoding with Python's own library for it."""

    type: Any
    """For `type=` of register_topic and request_topic."""
    encode: Callable[[Values], Any]
    """Returns what Publisher.send() takes."""
    decode: Callable[[Any], Values]
    """Returns the values of what Message.value() returned."""


def expected(encoding: str) -> Values:
    found: Values = json.loads((TYPES / "every" / f"{encoding}.json").read_text())
    return found


def text_of(values: Any) -> str:
    """Returns a text that is equal only for values that are: 1 and 1.0 differ, and so do 0.0 and -0.0."""
    return json.dumps(values, ensure_ascii=False, allow_nan=False, sort_keys=True, indent=1)


def double(value: float) -> Any:
    """Returns a float64 as JSON has it."""
    return float(value) if math.isfinite(value) else str(float(value))


def single(value: float) -> Any:
    """Returns a float32 as JSON has it: the double with the same shortest digits."""
    return double(float(str(np.float32(value))))


def number(value: Any) -> Any:
    """Returns the number that a value of the JSON stands for, where the text "nan" stands for one."""
    return float(value) if value in ("nan", "inf", "-inf") else value
