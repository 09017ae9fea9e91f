"""Parameters of other programs (liborc/include/orc/parameters/remote_parameters.h)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import List, Optional

from .._directory import Directory
from .._directory_types import ParticipantState
from .._errors import Error
from .description import ParameterDescription
from .values import Value


@dataclass(frozen=True)
class ParameterOutcome:
    """What became of one parameter."""

    name: str
    """Of the parameter."""
    value: Optional[Value]
    """In force; None: `error` says why there is none."""
    error: Optional[Error]
    """As Participant.get_parameter or set_parameter raises it; None: it succeeded."""


def list_parameters(directory: Directory, pattern: str = "**") -> List[ParameterDescription]:
    """Returns the parameters whose names match `pattern`, in the order of their names.

    pattern: as of Directory.topics, which says how it waits and what it raises.

    Leaves out parameters whose description cannot be read.
    """
    found = directory._directory.parameters(pattern)
    return [ParameterDescription(name, ParticipantState(*owner), *more) for name, owner, *more in found]
