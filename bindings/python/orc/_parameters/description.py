"""What a program says of its parameter, and which values that allows."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import List, Optional

from .._directory_types import ParticipantState
from .._errors import BadArgument
from .values import MAX_LENGTH, Value, to_json

_SHOWN_CHOICES = 10
_SHOWN_BYTES = 60
_MAX_CHOICES = 256
_MAX_DESCRIPTION_BYTES = 1024
_MAX_UNIT_BYTES = 32


@dataclass(frozen=True)
class ParameterDescription:
    """A parameter, as its program declares it (liborc/include/orc/parameters/parameter_description.h).

    All values are of one type: bool, int, float, str or list of float.
    """

    name: str
    """Of the parameter, and of its topic."""
    owner: Optional[ParticipantState]
    """The program that has it. None: this one."""
    initial: Value
    """The program's default."""
    min: Optional[Value] = None
    """Least number, of each number of a list."""
    max: Optional[Value] = None
    """Greatest number, of each number of a list."""
    min_length: int = 0
    """Of a list."""
    max_length: int = 0
    """Of a list or, in characters, of a text; 0 for other types."""
    choices: List[Value] = field(default_factory=list)
    """The only values that are allowed; empty: any."""
    description: str = ""
    """For people."""
    unit: str = ""
    """For people: "N", "rad/s"."""
    read_only: bool = False
    """Other programs cannot set it."""

    @property
    def allowed(self) -> str:
        """What values are allowed, for people: "a number from 0.0 to 10.0 N"."""
        text = self._kind()
        return f"{text} {self.unit}" if self.unit else text

    def check(self, value: Value) -> None:
        """Raises BadArgument with what is allowed, when the parameter cannot have this value.

        The program's own function (`validate`) is not asked.
        """
        if not self._allows(value):
            raise BadArgument(f"{self.name} is {self.allowed}, not {_shown(value)}")

    def _kind(self) -> str:
        if self.choices:
            return self._choices_text()
        if isinstance(self.initial, bool):
            return "true or false"
        if isinstance(self.initial, int):
            return "a whole number" + self._range_text()
        if isinstance(self.initial, float):
            return "a number" + self._range_text()
        if isinstance(self.initial, str):
            return f"a text of at most {self.max_length} characters"
        at_most = "" if self.min_length == self.max_length else "at most "
        text, range = f"a list of {at_most}{self.max_length} numbers", self._range_text()
        return f"{text}, each{range}" if range else text

    def _range_text(self) -> str:
        if self.min is not None and self.max is not None:
            return f" from {to_json(self.min)} to {to_json(self.max)}"
        if self.min is not None:
            return f" of at least {to_json(self.min)}"
        return "" if self.max is None else f" of at most {to_json(self.max)}"

    def _choices_text(self) -> str:
        text = "one of " + ", ".join(map(_shown, self.choices[:_SHOWN_CHOICES]))
        return text + ", ..." if len(self.choices) > _SHOWN_CHOICES else text

    def _allows(self, value: Value) -> bool:
        if type(value) is not type(self.initial):
            return False
        if isinstance(value, str):
            if len(value) > self.max_length or not _is_utf8(value):
                return False
        elif isinstance(value, list):
            if not self.min_length <= len(value) <= self.max_length or not all(map(self._is_within, value)):
                return False
        elif not isinstance(value, bool) and not self._is_within(value):
            return False
        return not self.choices or value in self.choices

    def _is_within(self, number: float) -> bool:
        least, most = self.min, self.max
        return (
            (isinstance(number, int) or math.isfinite(number))
            and (least is None or not isinstance(least, (int, float)) or number >= least)
            and (most is None or not isinstance(most, (int, float)) or number <= most)
        )


def check_description(of: ParameterDescription) -> None:
    """Checks the options that a program gave. Raises BadArgument."""

    def check(is_right: bool, what: str) -> None:
        if not is_right:
            raise BadArgument(f"parameter {of.name}: {what}")

    limits = [each for each in (of.min, of.max) if each is not None]
    number = int if type(of.initial) is int else float
    has_length = isinstance(of.initial, (str, list))
    check(not limits or not isinstance(of.initial, (bool, str)), "only numbers have min and max")
    for each in limits:
        kind = "whole" if number is int else "finite"
        check(type(each) is number and math.isfinite(each), f"min and max are {kind} numbers")
    if isinstance(of.min, (int, float)) and isinstance(of.max, (int, float)):
        check(of.min <= of.max, f"min is {to_json(of.min)}, above max, which is {to_json(of.max)}")
    check(
        not has_length or 1 <= of.max_length <= MAX_LENGTH,
        f"max_length is 1 to {MAX_LENGTH}, not {of.max_length}",
    )
    check(len(of.choices) <= _MAX_CHOICES, f"at most {_MAX_CHOICES} choices are allowed")
    for text in (of.description, of.unit):
        if not _is_utf8(text):
            raise BadArgument(f"a text of parameter {of.name} is no UTF-8")
    check(
        len(of.description.encode()) <= _MAX_DESCRIPTION_BYTES,
        f"the description has at most {_MAX_DESCRIPTION_BYTES} bytes",
    )
    check(len(of.unit.encode()) <= _MAX_UNIT_BYTES, f"the unit has at most {_MAX_UNIT_BYTES} bytes")
    _check_choices(of)


def _check_choices(of: ParameterDescription) -> None:
    without = replace(of, choices=[])
    for each in of.choices:
        try:
            without.check(each)
        except BadArgument as error:
            raise BadArgument(f"parameter {of.name}: a choice is not allowed: {error}") from None


def _shown(value: Value) -> str:
    is_json = not isinstance(value, float) or math.isfinite(value)
    text = to_json(value) if is_json else str(value)
    data = text.encode()
    return text if len(data) <= _SHOWN_BYTES else data[:_SHOWN_BYTES].decode(errors="ignore") + "..."


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
