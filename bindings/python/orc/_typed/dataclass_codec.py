"""Dataclasses as structs: their annotations give the layout that C++ gives the same fields."""

from __future__ import annotations

import collections.abc
import dataclasses
import enum
import typing
from typing import Annotated, Any, Dict, List, NamedTuple, Optional, Tuple, get_args, get_origin

import numpy

from .._errors import BadArgument, BadSample
from .codec import T
from .elements import set_field
from .fields import Field, Note
from .struct_codec import Layout, _bytes_of, not_a_value

_PLAIN = {bool: "?", int: "i8", float: "f8"}  # bool, std::int64_t, double
_MAX_DEPTH = 32


class _Member(NamedTuple):
    name: str
    dtype: "numpy.dtype[Any]"  # of an element
    shape: Tuple[int, ...]
    note: Note
    kind: Any  # of an element: a dataclass, an enumeration, or a type of Python or numpy
    is_array: bool  # the value is an array that shares the memory


class _Structure(NamedTuple):
    kind: Any
    dtype: "numpy.dtype[Any]"
    members: List[_Member]
    nested: Dict[Any, "_Structure"]
    later: List[str]  # of the fields that the constructor does not take

    @property
    def notes(self) -> Dict[str, Note]:
        return {each.name: each.note for each in self.members}


class DataClass(Layout[T]):
    """A value is an instance. Its arrays share the memory of the sample, its numbers do not."""

    def __init__(self, kind: Any) -> None:
        self._structure = _structure_of(kind, 1)
        self.values = kind
        name = vars(kind).get("__orc_name__", kind.__name__)
        super().__init__(str(name), self._structure.dtype, self._structure.notes)

    def encode(self, value: Any) -> Any:
        if not isinstance(value, self._structure.kind):
            return super().encode(value)
        record = numpy.zeros((), self.dtype)
        self._fill(record, value, self._structure, "")
        return _bytes_of(record)

    def decode(self, message: Any) -> T:
        made: T = _instance(self.array(message), self._structure)
        return made

    def view(self, memory: Any) -> T:
        return self.decode(memory)

    def detach(self, viewed: Any, memory: Any) -> None:
        record = self.array(memory)
        self._fill(record, viewed, self._structure, "")
        _let_go(viewed, self._structure)

    def _fill(self, record: "numpy.ndarray[Any, Any]", value: Any, structure: _Structure, path: str) -> None:
        if not isinstance(value, structure.kind):
            raise not_a_value(value, f"{structure.kind.__name__}, which field {path} of {self.name} is")
        for member in structure.members:
            given, where = getattr(value, member.name), f"{path}.{member.name}".lstrip(".")
            nested = structure.nested.get(member.kind)
            if nested is None:
                set_field(record, member.name, given, where, self.name)
            elif not member.shape:
                self._fill(record[member.name], given, nested, where)
            else:
                self._fill_array(record[member.name], given, nested, where)

    def _fill_array(self, records: Any, values: Any, nested: _Structure, path: str) -> None:
        if not isinstance(values, collections.abc.Sequence) or len(values) != len(records):
            raise BadSample(f"field {path} of {self.name} has {len(records)} elements: pass a list of as many")
        for index, each in enumerate(values):
            if records.ndim > 1:
                self._fill_array(records[index], each, nested, f"{path}[{index}]")
            else:
                self._fill(records[index : index + 1].reshape(()), each, nested, f"{path}[{index}]")


def _instance(record: "numpy.ndarray[Any, Any]", structure: _Structure) -> Any:
    values = {}
    for member in structure.members:
        nested = structure.nested.get(member.kind)
        part = record[member.name]
        if nested is not None:
            values[member.name] = _instance(part, nested) if not member.shape else _instances(part, nested)
        elif member.is_array:
            values[member.name] = part
        else:
            values[member.name] = _plain(part, member)
    later = [(name, values.pop(name)) for name in structure.later]
    made = structure.kind(**values)
    for name, value in later:
        object.__setattr__(made, name, value)
    return made


def _instances(records: Any, nested: _Structure) -> List[Any]:
    if records.ndim > 1:
        return [_instances(each, nested) for each in records]
    return [_instance(records[index : index + 1].reshape(()), nested) for index in range(len(records))]


def _plain(part: Any, member: _Member) -> Any:
    """Returns numbers, texts or enumerators that do not share the memory, in lists when there are several.

    A number that is no enumerator stays a number.
    """
    value = part.tolist()
    if isinstance(member.kind, type) and issubclass(member.kind, enum.IntEnum):
        return _enumerator(value, member.kind)
    return _scalars(part) if isinstance(member.kind, type) and issubclass(member.kind, numpy.generic) else value


def _scalars(part: Any) -> Any:
    return [_scalars(part[index]) for index in range(len(part))] if numpy.ndim(part) else numpy.copy(part)[()]


def _enumerator(value: Any, kind: Any) -> Any:
    if isinstance(value, list):
        return [_enumerator(each, kind) for each in value]
    try:
        return kind(value)
    except ValueError:
        return value


def _let_go(viewed: Any, structure: _Structure) -> None:
    """Gives a filled instance copies of its arrays: the `as` variable outlives the block."""
    for member in structure.members:
        value = getattr(viewed, member.name)
        nested = structure.nested.get(member.kind)
        if nested is not None:
            for each in _flat(value):
                _let_go(each, nested)
        elif member.is_array:
            object.__setattr__(viewed, member.name, numpy.array(value))


def _flat(value: Any) -> Any:
    if not isinstance(value, list):
        yield value
        return
    for each in value:
        yield from _flat(each)


# Annotations


def _structure_of(kind: Any, depth: int) -> _Structure:
    if depth > _MAX_DEPTH:
        raise BadArgument(f"dataclasses are nested more than {_MAX_DEPTH} levels deep")
    hints = typing.get_type_hints(kind, include_extras=True)
    nested: Dict[Any, _Structure] = {}
    members = [
        _member(each.name, hints[each.name], f"{kind.__name__}.{each.name}", nested, depth)
        for each in dataclasses.fields(kind)
    ]
    if not members:
        raise BadArgument(f"dataclass {kind.__name__} has no fields")
    dtype = numpy.dtype([(each.name, each.dtype, each.shape) for each in members], align=True)
    later = [each.name for each in dataclasses.fields(kind) if not each.init]
    return _Structure(kind, dtype, members, nested, later)


def _member(name: str, hint: Any, path: str, nested: Dict[Any, _Structure], depth: int) -> _Member:
    kind, said = _meant(hint), Field()
    shape: Optional[Tuple[int, ...]] = None
    if get_origin(kind) is Annotated:
        kind, *metadata = get_args(kind)
        for each in metadata:
            if isinstance(each, Field):
                said = dataclasses.replace(each, dtype=said.dtype if each.dtype is None else each.dtype)
                shape = _shape(each.shape, shape)
            elif isinstance(each, (int, tuple)):
                shape = _shape(each, shape)
            elif isinstance(each, numpy.dtype) or (isinstance(each, type) and issubclass(each, numpy.generic)):
                said = dataclasses.replace(said, dtype=each)
    kind = _meant(kind)
    element, is_array = _element(kind)
    if shape is None and (is_array or (kind is bytes and said.dtype is None) or element is not kind):
        raise BadArgument(f"{path} needs a size: Annotated[…, 7], or orc.Field(shape=7)")
    if any(each < 1 for each in shape or ()):
        raise BadArgument(f"{path} has the shape {shape}: each number is 1 or more")
    has_length = element is bytes and said.dtype is None
    if has_length:
        *outer, length = shape or ()
        dtype, shape = numpy.dtype(f"S{length}"), tuple(outer)
    else:
        dtype = _element_dtype(element, said.dtype, path, nested, depth)
    if element is bytes and dtype.kind != "S":
        raise BadArgument(f"{path} is bytes, and {dtype} is no dtype of bytes: Annotated[bytes, 32]")
    is_enumeration = isinstance(element, type) and issubclass(element, enum.IntEnum)
    note = Note(
        said.unit,
        said.comment,
        element if is_enumeration else None,
        nested[element].notes if element in nested else {},
        has_length,
    )
    return _Member(name, dtype, shape or (), note, element, is_array)


def _shape(given: Any, before: Optional[Tuple[int, ...]]) -> Optional[Tuple[int, ...]]:
    if given is None:
        return before
    return (given,) if isinstance(given, int) else tuple(given)


def _meant(kind: Any) -> Any:
    """What a name stands for that a `type` statement made, such as NDArray since numpy 2.5."""
    origin = get_origin(kind)
    if hasattr(origin, "__value__"):
        return _meant(origin.__value__[get_args(kind)])
    return _meant(kind.__value__) if hasattr(kind, "__value__") else kind


def _element(kind: Any) -> Tuple[Any, bool]:
    """Returns what the elements are, and whether the value is a numpy array of them."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is numpy.ndarray:  # numpy.typing.NDArray[numpy.float64]
        scalar = get_args(arguments[1])[0] if len(arguments) == 2 and get_args(arguments[1]) else Any
        return scalar, True
    if kind is numpy.ndarray:
        return Any, True
    if origin in (list, tuple, collections.abc.Sequence):
        return _element(_meant(arguments[0]))[0], False
    return kind, False


def _element_dtype(
    element: Any, given: Any, path: str, nested: Dict[Any, _Structure], depth: int
) -> "numpy.dtype[Any]":
    if given is not None:
        made: "numpy.dtype[Any]" = numpy.dtype(given)
        return made
    if isinstance(element, type):
        if dataclasses.is_dataclass(element):
            nested[element] = _structure_of(element, depth + 1)
            return nested[element].dtype
        if issubclass(element, enum.IntEnum):
            return numpy.dtype("i4")  # int, as `enum class` in C++; a plain enum is mostly unsigned int there
        if element in _PLAIN:
            return numpy.dtype(_PLAIN[element])
        if issubclass(element, numpy.generic) and numpy.dtype(element).itemsize > 0:
            return numpy.dtype(element)
    raise BadArgument(
        f"{path} is {element}: a field is a numpy type such as numpy.float64, bool, int, float, an IntEnum, a "
        "dataclass, "
        "Annotated[bytes, 32], Annotated[NDArray[numpy.float64], 7], or an Annotated list of dataclasses"
    )
