"""A type of a topic together with its encoding."""

from __future__ import annotations

from typing import Any, Generic, Optional, TypeVar

from .._errors import BadArgument, BadSample
from .._type_description import TypeDescription

T = TypeVar("T")


class Typed(Generic[T]):
    """A type of samples: its description, and how to encode and decode its values. Any thread may call.

    `orc.struct`, `orc.json` and `orc.flatbuffer` make one; `type=` makes one of a class.
    """

    values: Any = None  #: The class, or the dtype, of the values.
    native_type: Any = None  #: What the native backend made of the description, for calls.

    def __init__(self, description: TypeDescription) -> None:
        self.description = description

    def encode(self, value: Any) -> Any:
        """Returns a buffer with the bytes of a value. Buffers of bytes are samples already. Raises BadSample."""
        try:
            elements = memoryview(value).format
        except (TypeError, ValueError, BufferError):
            raise BadSample(f"{shown(value)} is no value of {self.name}") from None
        if elements.lstrip("@=<>!") not in ("B", "b", "c"):  # ctypes says "<B"
            raise BadSample(f"{shown(value)} of elements {elements!r} is no value of {self.name}, nor are they bytes")
        return value

    def decode(self, message: Any) -> T:
        """Returns the value of a message, which is a buffer. Raises BadSample."""
        raise NotImplementedError

    def memory_size(self) -> int:
        """Returns the size of a sample, if all have the same. Raises BadArgument."""
        raise BadArgument(f"samples of {self.name} have no fixed size: say how many bytes, loan(size)")

    def view(self, memory: Any) -> T:
        """Returns a writable view of the memory of a sample: of types for which memory_size() returns."""
        raise NotImplementedError

    def detach(self, viewed: T, memory: Any) -> None:
        """Writes what the view does not share with the memory, and ends the view's hold on it."""

    @property
    def name(self) -> str:
        """For people."""
        return self.description.name or f"an unnamed {self.description.message_encoding} type"

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"


def makes_same(one: Optional[Typed[Any]], other: Optional[Typed[Any]]) -> bool:
    """Whether two types of one topic, which have the same description, have the same values."""
    if one is None or other is None:
        return one is other
    return type(one) is type(other) and bool(one.values == other.values)


class Bytes(Typed[bytes]):
    """A type that the program encodes itself: a description only."""

    def decode(self, message: Any) -> bytes:
        return bytes(message)


def shown(value: object) -> str:
    """Returns the kind of a value, for a sentence."""
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
