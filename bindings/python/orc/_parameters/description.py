"""What a program says of its parameter."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import List, Optional

import orc._native as _native

from .._directory_types import ParticipantState
from .values import Value


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
        return _native.describe_parameter(self)

    def check(self, value: Value) -> None:
        """Raises BadArgument with what is allowed, when the parameter cannot have this value.

        The program's own function (`validate`) is not asked.
        """
        _native.check_parameter(self, value)
