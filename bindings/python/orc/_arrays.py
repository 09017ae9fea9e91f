"""Messages as numpy arrays, for both backends. numpy is imported when a program asks for one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sized

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray


def array_of(message: Sized, dtype: DTypeLike) -> NDArray[Any]:
    """Returns a read-only view of the message's bytes. The message lives as long as the array."""
    try:
        import numpy
    except ImportError:
        raise ImportError("message.array() needs numpy: pip install numpy") from None
    kind = numpy.dtype(dtype)
    size = len(message)
    if kind.itemsize == 0 or size % kind.itemsize != 0:
        raise ValueError(f"a sample of {size} bytes is not a whole number of {kind}, which has {kind.itemsize} bytes")
    return numpy.frombuffer(memoryview(message), dtype=kind)  # type: ignore[arg-type]
