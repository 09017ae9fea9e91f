"""Parameters: values of a program that other programs see and set while it runs (schemas/PROTOCOL.md, "Parameters").

They are topics and services of a participant. liborc/doc/design/parameters.md has the why; the names here are those of
C++ (liborc/src/parameters).
"""

from __future__ import annotations

from .component import Parameters
from .description import ParameterDescription
from .parameter import Parameter
from .remote import ParameterOutcome, list_parameters
from .tuning import Tuning

__all__ = [
    "Parameter",
    "ParameterDescription",
    "ParameterOutcome",
    "Parameters",
    "Tuning",
    "list_parameters",
]
