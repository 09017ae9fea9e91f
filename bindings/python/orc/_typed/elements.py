"""Values of a field as its elements: numbers arrive as they are, or not at all."""

from __future__ import annotations

import reprlib
from typing import Any, Tuple

import numpy

from .._errors import BadSample


def set_field(record: "numpy.ndarray[Any, Any]", name: str, value: Any, path: str, of: str) -> None:
    """Writes a value to a field of a record without dimensions. Raises BadSample: the field cannot hold it.

    Integers must be in range, and floating-point numbers are no integers; a floating-point field rounds.
    """
    target = record[name]
    dtype, shape = target.dtype, target.shape
    if _fits_at_once(value, dtype, shape):
        target[...] = value
        return
    if dtype.names:
        _set_structs(target, value, path, of)
        return
    try:
        array = _array(value, dtype)
        problem = _problem(array, dtype, shape, value)
    except (TypeError, ValueError, OverflowError) as error:
        problem = f": {error}"
    if problem:
        raise BadSample(f"field {path} of {of} is {dtype}{list(shape) if shape else ''}{problem}")
    target[...] = array


def set_struct(record: "numpy.ndarray[Any, Any]", values: Tuple[Any, ...], path: str, of: str) -> None:
    """Writes a tuple to a record without dimensions, element by element. Raises BadSample."""
    names = record.dtype.names or ()
    if len(values) != len(names):
        raise BadSample(f"{path or 'the tuple'} has {len(values)} elements, and {of} has {len(names)} fields there")
    for name, value in zip(names, values):
        set_field(record, name, value, f"{path}.{name}".lstrip("."), of)


def _set_structs(target: Any, value: Any, path: str, of: str) -> None:
    if isinstance(value, (numpy.ndarray, numpy.void)) and value.dtype == target.dtype and value.shape == target.shape:
        target[...] = value
    elif target.shape:
        if not isinstance(value, (list, tuple)) or len(value) != len(target):
            raise BadSample(f"field {path} of {of} has {len(target)} elements: pass a list of as many")
        for index, each in enumerate(value):
            # a slice: an index alone gives a record that is no array
            part = target[index : index + 1].reshape(target.shape[1:])
            _set_structs(part, each, f"{path}[{index}]", of)
    elif isinstance(value, tuple):
        set_struct(target, value, path, of)
    else:
        raise BadSample(f"field {path} of {of} is a struct, and the value is {_text(value)}: pass a tuple")


def _fits_at_once(value: Any, dtype: "numpy.dtype[Any]", shape: Tuple[int, ...]) -> bool:
    """Whether the value is of the field's own kind: what most values are is worth few steps."""
    if isinstance(value, (numpy.ndarray, numpy.generic)):
        return value.dtype == dtype and value.shape == shape
    if shape:
        return False
    if type(value) is int and dtype.kind in "iu":
        least, most = _LIMITS[dtype.kind, dtype.itemsize]
        return least <= value <= most
    return type(value) is float and dtype.kind == "f"


_LIMITS = {
    (kind, size): (int(limits.min), int(limits.max))
    for kind in "iu"
    for size in (1, 2, 4, 8)
    for limits in (numpy.iinfo(f"{kind}{size}"),)
}


def _array(value: Any, dtype: "numpy.dtype[Any]") -> "numpy.ndarray[Any, Any]":
    array = numpy.asarray(value)
    if dtype.kind == "S" and array.dtype.kind == "U":
        return numpy.asarray(value, "S")  # ASCII only
    if dtype.kind in "iu" and array.dtype.kind == "f" and not isinstance(value, (numpy.ndarray, float)):
        return numpy.asarray(value, object)  # numpy makes floats of [2**63, 1]
    return array


def _problem(array: "numpy.ndarray[Any, Any]", dtype: "numpy.dtype[Any]", shape: Tuple[int, ...], value: Any) -> str:
    """Returns what a field cannot hold of an array; empty if it holds all."""
    if array.shape != shape:
        found = f"an array of shape {list(array.shape)}" if array.shape else "a single value"
        return f", and the value is {found}"
    if not _same_kind(array, dtype):
        return f", and the value is {_text(value)}"
    if dtype.kind in "iu" and array.dtype.kind != "b" and array.size:
        least, most = _LIMITS[dtype.kind, dtype.itemsize]
        for extreme in (int(array.min()), int(array.max())):
            if not least <= extreme <= most:
                return f", and the value {'has' if shape else 'is'} {extreme}"
    if dtype.kind == "S" and array.dtype.itemsize > dtype.itemsize:
        longest = len(value) if isinstance(value, bytes) else int(numpy.char.str_len(array).max(initial=0))
        if longest > dtype.itemsize:
            return f", and the value has {longest} bytes"
    return ""


def _same_kind(array: "numpy.ndarray[Any, Any]", dtype: "numpy.dtype[Any]") -> bool:
    kind: str = array.dtype.kind
    if kind == "O":
        integers = (int, numpy.integer)
        allowed: Any = {"i": integers, "u": integers, "f": (float, numpy.floating, *integers)}.get(dtype.kind, ())
        return all(isinstance(each, allowed) for each in array.flat)
    if dtype.kind in "iu":
        return kind in "iub"  # of any size: their range decides
    if dtype.kind == "S":
        return kind == "S"
    return bool(numpy.can_cast(array.dtype, dtype, "same_kind"))


def _text(value: Any) -> str:
    return str(value.dtype) if isinstance(value, numpy.ndarray) else reprlib.repr(value)
