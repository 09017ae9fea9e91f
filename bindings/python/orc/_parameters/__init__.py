"""Parameters: values of a program that other programs see and set while it runs.

liborc has them (liborc/src/parameters); this is how they look in Python.
"""

from __future__ import annotations

from .description import ParameterDescription
from .parameter import Parameter
from .remote import ParameterOutcome, list_parameters
from .tuning import Tuning

__all__ = [
    "Parameter",
    "ParameterDescription",
    "ParameterOutcome",
    "Tuning",
    "list_parameters",
]
