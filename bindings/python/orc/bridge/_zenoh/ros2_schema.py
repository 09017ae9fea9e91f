"""Schemas of encoding ros2msg: the text of a .msg file, and those of the messages in it, as MCAP keeps them.

Each further message follows a line of `=` and a line `MSG: pkg/Name`. Accepts what liborc/src/schema/ros2 accepts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Dict, List, NamedTuple, NoReturn, Optional, Tuple

# Those of liborc/src/schema/limits.h.
_MAX_FIELDS = 65_536  # in all structures together
_MAX_NAME_BYTES = 255  # of a type or a field
_MAX_TYPE_LEVELS = 64  # of structures in each other

_KINDS = {
    "bool": "bool",
    "byte": "uint8",
    "char": "uint8",
    "int8": "int8",
    "uint8": "uint8",
    "int16": "int16",
    "uint16": "uint16",
    "int32": "int32",
    "uint32": "uint32",
    "int64": "int64",
    "uint64": "uint64",
    "float32": "float32",
    "float64": "float64",
    "string": "string",
    "wstring": "wstring",
}
_SPACE = " \t\r\n\v\f"
_SEPARATOR = re.compile(r"={3,}\Z")
_BYTE_ORDER_MARK = "\xef\xbb\xbf"  # some editors begin a file with it; read as Latin-1
_HEADER = "std_msgs/msg/Header"
_TIME = "builtin_interfaces/Time"
_DURATION = "builtin_interfaces/Duration"
_ROS1_WORDS = {"time": _TIME, "duration": _DURATION}
_NAME = r"[A-Za-z][A-Za-z0-9_]{0,254}"
_BOUND = r"[0-9]{1,10}"
_TYPE = re.compile(
    rf"(?P<kind>{_NAME}(?:/{_NAME}){{0,2}})(?:<=(?P<length>{_BOUND}))?"
    rf"(?P<array>\[(?:(?P<limit><=)?(?P<size>{_BOUND}))?\])?\Z"
)
_HEADING = re.compile(rf"MSG:[{_SPACE}]*(?P<name>{_NAME}(?:/{_NAME}){{1,2}})\Z")
_MEMBER = re.compile(rf"{_NAME}\Z")
_NAME_END = re.compile(r"[ \t=]")
_BLANK = re.compile(r"[ \t]")


class SchemaError(ValueError):
    """A schema violates its format or a limit. The text says where."""


class Dimension(NamedTuple):
    """One dimension of an array."""

    size: int = 0  # elements; the bound of a variable dimension, 0: no bound
    variable: bool = False  # the number of elements is in the sample


class Field(NamedTuple):
    """A field of a structure."""

    name: str
    kind: str  # "bool", "int8", …, "float64", "string", "wstring", "struct"
    structure: int = 0  # kind "struct": its index in Schema.structures
    dimensions: Tuple[Dimension, ...] = ()
    max_length: int = 0  # of a text; 0: no bound
    is_byte: bool = False  # "byte", which is the same as uint8, but not for ROS's hash of a type


@dataclass
class Structure:
    """A structure of a schema."""

    name: str = ""
    fields: List[Field] = field(default_factory=list)


@dataclass
class Schema:
    """The first structure is the type itself."""

    structures: List[Structure] = field(default_factory=list)


class _Type(NamedTuple):
    kind: str  # "struct": a message
    is_byte: bool
    message: str
    max_length: int
    dimensions: Tuple[Dimension, ...]


def _escaped(text: str) -> str:
    """Returns the text on one line, harmless for terminals."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def _quoted(text: str) -> str:
    # The text was read as Latin-1
    return "`" + _escaped(text.encode("latin-1")[:_MAX_NAME_BYTES].decode("utf-8", "surrogateescape")) + "`"


def _divide(text: str) -> Tuple[str, str]:
    """Returns a name, and what follows it."""
    text = text.strip(_SPACE)
    found = _NAME_END.search(text)
    return (text[: found.start()], text[found.start() :].strip(_SPACE)) if found else (text, "")


def _type(text: str) -> Optional[_Type]:
    """Returns the type of a field, "string<=10[<=5]". None: the text is none."""
    found = _TYPE.match(text)
    if found is None:
        return None
    kind = _KINDS.get(found.group("kind"), "struct")
    length, size = (found.group(part) for part in ("length", "size"))
    if length and kind not in ("string", "wstring"):
        return None
    variable = size is None or found.group("limit") is not None
    least = 1 if variable else 0
    if (length and not 0 < int(length) < 1 << 31) or (size and not least <= int(size) < 1 << 31):
        return None
    dimensions = (Dimension(int(size or 0), variable),) if found.group("array") else ()
    return _Type(kind, found.group("kind") == "byte", found.group("kind"), int(length or 0), dimensions)


def full_name(name: str) -> str:
    """Returns pkg/msg/Name of pkg/Name. Other names stay."""
    return name.replace("/", "/msg/") if name.count("/") == 1 else name


# Writers leave these two out, because each reader of ROS 2 knows them.
_BUILT_IN = {full_name(each) for each in (_TIME, _DURATION)}


class _Parser:
    def __init__(self, root: str) -> None:
        self.texts: Dict[str, str] = {}
        self.lines: List[str] = []  # of this message
        self.structures: List[Structure] = []
        self.index: Dict[str, int] = {}
        self.references: List[List[Tuple[str, int]]] = []  # of each structure, by field: message, line; "": none
        self.counted = 0
        self.line = 0
        self.begin(full_name(root))

    def count_one(self) -> None:
        self.counted += 1
        if self.counted > _MAX_FIELDS:
            self.fail(f"more than {_MAX_FIELDS} messages, fields and constants")

    def begin(self, name: str) -> None:
        self.count_one()
        self.index.setdefault(name, len(self.structures))
        self.lines = []
        self.structures.append(Structure(name))
        self.references.append([])
        self.names = {""}

    def end(self) -> None:
        """Texts that were joined often repeat a message. All copies must be equal."""
        name, text = self.structures[-1].name, "\n".join(self.lines).strip(_SPACE)
        if self.texts.setdefault(name, text) != text:
            self.fail(f"`{_escaped(name)}` is defined twice, in two ways")

    def fail(self, why: str, line: int = 0) -> NoReturn:
        raise SchemaError(f"line {line or self.line}: {why}")

    def parse(self, text: str) -> Schema:
        name_expected = False
        for line in text[: len(text) - text.endswith("\n")].split("\n"):
            self.line += 1
            whole = line[len(_BYTE_ORDER_MARK) :] if line.startswith(_BYTE_ORDER_MARK) else line
            line = whole.strip(_SPACE)
            heading = _HEADING.match(line)
            if _SEPARATOR.match(line):
                if not name_expected:
                    self.end()
                name_expected = True
            elif name_expected and line:
                if heading is None:
                    self.fail(f"`MSG: pkg/Name` is expected, not {_quoted(line)}")
                self.begin(full_name(heading.group("name")))
                name_expected = False
            elif not name_expected:
                self.lines.append(whole)
                statement = line.partition("#")[0].strip(_SPACE)
                # Some writers name the first message too
                if statement and not (heading and full_name(heading.group("name")) == self.structures[-1].name):
                    self.member(statement)
        if not name_expected:
            self.end()
        return self.schema()

    def member(self, statement: str) -> None:
        self.count_one()
        words = _BLANK.split(statement, maxsplit=1)
        if words[0] == "@key" and len(words) > 1:  # it changes no bytes
            words = _BLANK.split(words[1].strip(_SPACE), maxsplit=1)
        type = _type(words[0])
        if type is None:
            self.fail(f"unknown type {_quoted(words[0])}")
        name, rest = _divide(words[1] if len(words) > 1 else "")
        if not _MEMBER.match(name):
            self.fail(f"a name is expected, not {_quoted(name)}")
        if name in self.names:
            self.fail(f"the name {_quoted(name)} appears twice")
        self.names.add(name)
        if rest.startswith("="):
            if type.kind == "struct" or type.dimensions:
                self.fail(f"the constant {_quoted(name)} is no number or string")
            return
        made = Field(name, type.kind, dimensions=type.dimensions, max_length=type.max_length, is_byte=type.is_byte)
        self.structures[-1].fields.append(made)
        self.references[-1].append((type.message if type.kind == "struct" else "", self.line))

    def schema(self) -> Schema:
        """The messages that the first one contains: others may use some that are not there."""
        made = Schema()
        order = [0]
        places = {0: 0}
        for at in order:  # grows
            structure = Structure(self.structures[at].name)
            package = structure.name.partition("/")[0] if "/" in structure.name else ""
            for each, (message, line) in zip(self.structures[at].fields, self.references[at]):
                if message:
                    found = self.find(message, package, line)
                    if found not in places:
                        places[found] = len(order)
                        order.append(found)
                    each = each._replace(structure=places[found])
                structure.fields.append(each)
            made.structures.append(structure)
        return made

    def find(self, message: str, package: str, line: int) -> int:
        name = full_name(_ROS1_WORDS.get(message, message))
        if "/" not in name:
            own = f"{package}/msg/{name}"
            name = _HEADER if name == "Header" and own not in self.index else own
        if name not in self.index:
            if name not in _BUILT_IN:
                self.fail(f"message {_escaped(name)} is not defined", line)
            self.begin(name)
            self.structures[-1].fields = [Field("sec", "int32"), Field("nanosec", "uint32")]
            self.references[-1] = [("", 0), ("", 0)]
        return self.index[name]


def parse(text: bytes, root: str) -> Schema:
    """Returns the message, called `root`, and those in it. Raises SchemaError."""
    # Names are ASCII; comments and defaults may be anything
    schema = _Parser(root).parse(text.decode("latin-1"))
    _check_levels(schema)
    return schema


def _check_levels(schema: Schema) -> None:
    """Raises SchemaError when structures nest too deeply."""
    levels: Dict[int, int] = {}
    path = [0]
    while path:
        nested = [each.structure for each in schema.structures[path[-1]].fields if each.kind == "struct"]
        open_ones = [each for each in nested if each not in levels]
        if not open_ones:
            at = path.pop()
            levels[at] = 1 + max((levels[each] for each in nested), default=0)
            if levels[at] > _MAX_TYPE_LEVELS:
                raise SchemaError(f"messages are nested more than {_MAX_TYPE_LEVELS} levels deep")
        elif open_ones[0] in path:
            raise SchemaError(f"{_escaped(schema.structures[open_ones[0]].name)} contains itself")
        else:
            path.append(open_ones[0])
