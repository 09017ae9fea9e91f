"""The type that a publication or a subscription declares: its description, and what stands for it on the wire."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from .._type_description import TypeDescription
from . import messages


@dataclass(frozen=True)
class DescribedType:
    description: TypeDescription
    reference: messages.Type


def describe(type: Optional[TypeDescription]) -> Optional[DescribedType]:
    """Returns None for an untyped end."""
    if not type:
        return None
    size = len(type.schema)
    return DescribedType(type, messages.Type(type.name, type.schema_encoding, type.message_encoding, type.hash, size))
