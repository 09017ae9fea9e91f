"""What a field of a struct says besides its numpy type."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Any, Dict, Mapping, Optional, Tuple, Type, Union


@dataclass(frozen=True)
class Field:
    """For `Annotated`: what a field of a dataclass says besides its Python type.

    q: Annotated[NDArray[np.float64], orc.Field(shape=7, unit="rad", comment="joint angles")]
    """

    unit: str = ""
    """Shown by tools."""
    comment: str = ""
    """Shown by tools."""
    shape: Union[None, int, Tuple[int, ...]] = None
    """Of an array: its number of elements, or several."""
    dtype: Any = None
    """Numpy type of an integer, an enumeration, or an array's elements: numpy.uint8. Of bytes: "S1" is `char c`."""


@dataclass(frozen=True)
class Note:
    """What the schema of a struct has besides the fields' types and places."""

    unit: str = ""
    comment: str = ""
    values: Optional[Type[enum.IntEnum]] = None
    nested: Mapping[str, "Note"] = field(default_factory=dict)
    has_length: bool = False  # bytes with a length, even of 1: `char c[1]`, and not `char c`


def notes_of_metadata(metadata: Optional[Mapping[str, Any]]) -> Note:
    """Returns what numpy.dtype(…, metadata={"unit": "rad"}) says; also "comment", and "values", an IntEnum."""
    found: Dict[str, Any] = {name: (metadata or {}).get(name) for name in ("unit", "comment", "values")}
    return Note(str(found["unit"] or ""), str(found["comment"] or ""), found["values"])
