"""The schema of a struct, canonical JSON: byte by byte that of ORC_DESCRIBE in C++ (schemas/PROTOCOL.md, "Types")."""

from __future__ import annotations

import enum
import re
import sys
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Set, Tuple

from .._errors import BadArgument
from .fields import Note, notes_of_metadata

if TYPE_CHECKING:
    import numpy

_KINDS = {
    "b1": "bool",
    **{f"i{size}": f"int{8 * size}" for size in (1, 2, 4, 8)},
    **{f"u{size}": f"uint{8 * size}" for size in (1, 2, 4, 8)},
    "f4": "float32",
    "f8": "float64",
}
_MAX_DEPTH = 32
_ESCAPED = re.compile('["\\\\\x00-\x1f]')


def schema_of(dtype: "numpy.dtype[Any]", notes: Mapping[str, Note]) -> bytes:
    """Returns the schema of a structured dtype. Raises BadArgument for a field that a struct cannot have."""
    orders: Set[str] = set()
    text = "".join(_fields(dtype, notes, "", 1, orders))
    if len(orders) > 1:
        raise BadArgument("some fields are little-endian and others big-endian: a struct has one order of bytes")
    order = orders.pop() if orders else sys.byteorder
    return f'{{"byte_order":"{order}","size":{dtype.itemsize},"fields":[{text}]}}'.encode()


def _fields(
    dtype: "numpy.dtype[Any]", notes: Mapping[str, Note], path: str, depth: int, orders: Set[str]
) -> Iterator[str]:
    if dtype.fields is None or not dtype.names:
        raise BadArgument(f"{path or 'the type'} is {dtype}: a struct has fields, such as numpy.dtype([('x', 'f8')])")
    if depth > _MAX_DEPTH:
        raise BadArgument(f"structs are nested more than {_MAX_DEPTH} levels deep")
    places = sorted((int(dtype.fields[name][1]), index, name) for index, name in enumerate(dtype.names))
    for number, (offset, _, name) in enumerate(places):
        of_field = dtype.fields[name][0]
        note = notes.get(name) or notes_of_metadata(of_field.metadata or of_field.base.metadata)
        yield ("," if number else "") + _field(
            name, of_field, offset, note, f"{path}.{name}".lstrip("."), depth, orders
        )


def _field(
    name: str, dtype: "numpy.dtype[Any]", offset: int, note: Note, path: str, depth: int, orders: Set[str]
) -> str:
    base, shape = dtype.base, tuple(map(int, dtype.shape))
    if base.names:
        inner = "".join(_fields(base, note.nested, path, depth + 1, orders))
        kind = f'{{"size":{base.itemsize},"fields":[{inner}]}}'
    else:
        kind, shape = _scalar(base, shape, path, note.has_length, orders)
        kind = quoted(kind)
    parts = [f'"name":{quoted(name)}', f'"type":{kind}', f'"offset":{offset}']
    if shape:
        parts.append(f'"shape":[{",".join(map(str, shape))}]')
    if note.values is not None:
        values = ",".join(f"{quoted(each)}:{value}" for each, value in _values(note.values, base, path))
        parts.append(f'"values":{{{values}}}')
    if note.unit:
        parts.append(f'"unit":{quoted(note.unit)}')
    if note.comment:
        parts.append(f'"comment":{quoted(note.comment)}')
    return "{" + ",".join(parts) + "}"


def _values(of: Any, base: "numpy.dtype[Any]", path: str) -> Iterator[Tuple[str, int]]:
    if not (isinstance(of, type) and issubclass(of, enum.IntEnum)):
        raise BadArgument(f"the values of field {path} are no IntEnum")
    if base.kind not in "iu":
        raise BadArgument(f"field {path} is {base}, and has the values of {of.__name__}: an enumeration is an integer")
    bits = 8 * base.itemsize
    least, most = (-1 << (bits - 1), (1 << (bits - 1)) - 1) if base.kind == "i" else (0, (1 << bits) - 1)
    most = min(most, (1 << 63) - 1)  # as readers of the schema have it
    for name, value in of.__members__.items():
        if not least <= value <= most:
            raise BadArgument(
                f"field {path} is {base}, and {of.__name__}.{name} is {int(value)}: its values are {least} to {most}, "
                "orc.Field(dtype=…) gives it another type"
            )
        yield name, int(value)


def _scalar(
    base: "numpy.dtype[Any]", shape: Tuple[int, ...], path: str, has_length: bool, orders: Set[str]
) -> Tuple[str, Tuple[int, ...]]:
    if base.kind == "S" and base.itemsize > 0:
        return "char", (*shape, base.itemsize) if base.itemsize > 1 or has_length else shape
    kind = _KINDS.get(f"{base.kind}{base.itemsize}")
    if kind is None:
        raise BadArgument(
            f"field {path} is {base}: a struct has bool, integers, float32, float64, bytes of a fixed length (S32), "
            "structs, and arrays of these"
        )
    if base.itemsize > 1:
        big = base.byteorder == ">" or (base.byteorder == "=" and sys.byteorder == "big")
        orders.add("big" if big else "little")
    return kind, shape


def quoted(text: str) -> str:
    """Returns a JSON string: UTF-8 as it is, and of all escapes \\", \\\\ and \\u00xx."""
    return '"' + _ESCAPED.sub(_escape, text) + '"'


def _escape(found: "re.Match[str]") -> str:
    return "\\" + found.group() if found.group() in '"\\' else f"\\u{ord(found.group()):04x}"
