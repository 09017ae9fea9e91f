"""Structs as numpy dtypes: samples are records of a fixed layout, and values are views of them."""

from __future__ import annotations

from typing import Any, Mapping

import numpy

from .._errors import BadSample
from .._type_description import TypeDescription
from .codec import T, Typed, shown
from .elements import set_struct
from .fields import Note
from .struct_schema import schema_of


class Layout(Typed[T]):
    """The common part of dtypes and dataclasses."""

    def __init__(self, name: str, dtype: "numpy.dtype[Any]", notes: Mapping[str, Note]) -> None:
        self.dtype = dtype
        super().__init__(TypeDescription(name, "struct", "struct", schema_of(dtype, notes)))

    def array(self, memory: Any) -> "numpy.ndarray[Any, Any]":
        """Returns the sample as an array without dimensions, which shares the memory. Raises BadSample."""
        found = memoryview(memory).nbytes
        if found != self.dtype.itemsize:
            raise BadSample(f"a sample of {found} bytes is no {self.name}, which has {self.dtype.itemsize} bytes")
        return numpy.frombuffer(memory, self.dtype).reshape(())

    def memory_size(self) -> int:
        return self.dtype.itemsize

    def encode(self, value: Any) -> Any:
        if isinstance(value, (numpy.ndarray, numpy.void)) and value.dtype.names:
            return self._of_record(value)
        if isinstance(value, tuple):
            made = numpy.zeros((), self.dtype)
            set_struct(made, value, "", self.name)
            return _bytes_of(made)
        sample = super().encode(value)
        self.array(sample)  # of the right size
        return sample

    def _copy(self, value: Any) -> Any:
        made = numpy.zeros(1, self.dtype)  # zeros, so that the padding carries nothing of this process
        made[0] = value
        return _bytes_of(made)

    def _of_record(self, record: Any) -> Any:
        if record.dtype != self.dtype:
            raise BadSample(f"a record of {record.dtype} is no {self.name}, which is {self.dtype}")
        if record.size != 1:
            raise BadSample(f"an array of {record.size} records; a sample of {self.name} is one")
        return _bytes_of(record) if isinstance(record, numpy.ndarray) else self._copy(record)


class Record(Layout["numpy.void"]):
    """A numpy dtype. A value is a record: value["q"]."""

    @property
    def values(self) -> Any:
        return self.dtype

    def decode(self, message: Any) -> "numpy.void":
        record: "numpy.void" = self.array(message).reshape(1)[0]
        return record

    def view(self, memory: Any) -> Any:
        return self.array(memory)

    def detach(self, viewed: Any, memory: Any) -> None:
        # Makes the array one of its own memory: the `as` variable outlives the block.
        copy = viewed.copy()
        viewed.__setstate__((1, (), self.dtype, False, copy.tobytes()))


def _bytes_of(record: "numpy.ndarray[Any, Any]") -> Any:
    return numpy.ascontiguousarray(record).reshape(1).view(numpy.uint8)


def not_a_value(value: object, name: str) -> BadSample:
    return BadSample(f"{shown(value)} is no {name}")
