"""What a schema of encoding struct, lcm or ros2msg says, and the limits of all schemas."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Dict, Iterator, List, Mapping, NamedTuple, Tuple

from .sentences import escaped

# Those of liborc/src/schema/limits.h.
MAX_FIELDS = 65_536  # in all structures together; also of named values
MAX_NAME_BYTES = 255  # of a type, a field, a value
MAX_DIMENSIONS = 32  # of one array
MAX_STRUCT_LEVELS = 32  # of structures in each other, the type itself included
MAX_TYPE_LEVELS = 64  # the same, where types have names and can repeat
MAX_COMPARISON_STEPS = 1 << 20  # fields and values compared
MAX_FINGERPRINT_STEPS = 100_000


class SchemaError(ValueError):
    """A schema violates its format or a limit. The text says where."""


class Dimension(NamedTuple):
    """One dimension of an array."""

    size: int = 0  # elements; the bound of a variable dimension, 0: no bound
    variable: bool = False  # the number of elements is in the sample
    length: str = ""  # lcm: the field that has the number of elements


class Field(NamedTuple):
    """A field of a structure."""

    name: str
    kind: str  # "bool", "int8", …, "float64", "char", "string", "wstring", "struct"
    structure: int = 0  # kind "struct": its index in Schema.structures
    dimensions: Tuple[Dimension, ...] = ()
    max_length: int = 0  # ros2msg: of a text; 0: no bound
    offset: int = 0  # struct: bytes from the start of the structure
    values: Mapping[str, int] = {}  # names of an integer's values
    is_byte: bool = False  # ros2msg: "byte", which is the same as uint8, but not for ROS's hash of a type


@dataclass
class Structure:
    """A structure of a schema."""

    name: str = ""
    fields: List[Field] = field(default_factory=list)
    size: int = 0  # struct: bytes, with padding


@dataclass
class Schema:
    """The first structure is the type itself."""

    structures: List[Structure] = field(default_factory=list)
    big_endian: bool = False  # struct: order of the bytes in each number


NUMBER_BYTES = {
    "bool": 1,
    "int8": 1,
    "uint8": 1,
    "int16": 2,
    "uint16": 2,
    "int32": 4,
    "uint32": 4,
    "int64": 8,
    "uint64": 8,
    "float32": 4,
    "float64": 8,
    "char": 1,
}


def check_levels(schema: Schema, recursive: bool) -> None:
    """Raises SchemaError when structures nest too deeply.

    Of `recursive` schemas (lcm) a structure may contain itself. That is where the way down ends.
    """
    levels: Dict[int, int] = {}
    path = [(0, _nested(schema, 0))]
    active = {0}
    while path:
        at, rest = path[-1]
        for each in rest:
            if each in active:
                if not recursive:
                    raise SchemaError(f"{escaped(schema.structures[each].name)} contains itself")
            elif each not in levels:
                path.append((each, _nested(schema, each)))
                active.add(each)
                break
        else:
            path.pop()
            active.discard(at)
            levels[at] = 1 + max((levels.get(each, 0) for each in _nested(schema, at)), default=0)
            if levels[at] > MAX_TYPE_LEVELS:
                raise SchemaError(
                    f"{'types' if recursive else 'messages'} are nested more than {MAX_TYPE_LEVELS} levels deep"
                )


def _nested(schema: Schema, at: int) -> Iterator[int]:
    return (each.structure for each in schema.structures[at].fields if each.kind == "struct")
