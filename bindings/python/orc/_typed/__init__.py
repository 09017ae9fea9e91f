"""Types of topics: what `type=` accepts, and how values become samples and samples values. For both backends.

numpy, and the packages of LCM, Protobuf and FlatBuffers, are used only when a program passes a type that needs them.
"""

from __future__ import annotations

from .codec import Typed, makes_same
from .fields import Field
from .resolve import flatbuffer, json, struct, typed

__all__ = ["Field", "Typed", "flatbuffer", "json", "makes_same", "struct", "typed"]
