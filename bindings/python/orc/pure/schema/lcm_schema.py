"""Schemas of encoding lcm: the definitions of a type and of all nested ones in LCM's type language.

The grammar is that of lcm-gen 1.5.3 without `enum`, which the language no longer has.
"""

from __future__ import annotations

import re
from typing import Callable, Dict, List, NamedTuple, NoReturn, Optional, Tuple

from . import lcm_tokens
from .lcm_tokens import Token
from .model import (
    MAX_DIMENSIONS,
    MAX_FIELDS,
    MAX_NAME_BYTES,
    Dimension,
    Field,
    Schema,
    SchemaError,
    Structure,
    check_levels,
)
from .sentences import escaped

PRIMITIVES = {
    "int8_t": "int8",
    "int16_t": "int16",
    "int32_t": "int32",
    "int64_t": "int64",
    "byte": "uint8",
    "float": "float32",
    "double": "float64",
    "string": "string",
    "boolean": "bool",
}
_INTEGER_BITS = {"int8_t": 8, "int16_t": 16, "int32_t": 32, "int64_t": 64}
_MAX_REAL = {"float": 3.4028234663852886e38, "double": 1.7976931348623157e308}
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_FULL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*\Z")
_INTEGER = re.compile(r"([+-]?)(?:0[xX]0*([0-9a-fA-F]{1,16})|0+([0-7]{0,22})|([1-9][0-9]{0,18}))\Z")
_REAL = re.compile(r"[+-]?(?:[0-9]{1,400}\.?[0-9]{0,400}|\.[0-9]{1,400})(?:[eE][+-]?[0-9]{1,9})?\Z")


class Member(NamedTuple):
    """A field, with what the fingerprint is computed of."""

    name: str
    type: str  # primitive, or the full name of a struct
    dimensions: Tuple[Tuple[bool, str], ...]  # whether it is variable, and its size as it was written
    line: int  # of its type


class Definition(NamedTuple):
    """A struct."""

    name: str
    members: List[Member]


def integer(text: str) -> Optional[int]:
    """Returns the number as C's strtoll() with base 0 reads it: "-12", "0x1F", "017". None: it is none of 64 bits."""
    found = _INTEGER.match(text)
    if found is None:
        return None
    sign, hexadecimal, octal, decimal = found.groups()
    number = int(hexadecimal, 16) if hexadecimal else int(decimal) if decimal else int(octal or "0", 8)
    number = -number if sign == "-" else number
    return number if -(1 << 63) <= number < 1 << 63 else None


def _constant_fits(kind: str, value: str) -> bool:
    if kind in _INTEGER_BITS:
        number = integer(value)
        half = 1 << (_INTEGER_BITS[kind] - 1)
        return number is not None and -half <= number < half
    return kind in _MAX_REAL and _REAL.match(value) is not None and abs(float(value)) <= _MAX_REAL[kind]


def _is_name(token: Token) -> bool:
    return len(token.text) <= MAX_NAME_BYTES and _NAME.match(token.text) is not None


def _is_full_name(token: Token) -> bool:
    return len(token.text) <= MAX_NAME_BYTES and _FULL_NAME.match(token.text) is not None


def _fail(line: int, why: str) -> NoReturn:
    raise SchemaError(f"line {line}: {why}")


class _Parser:
    def __init__(self, text: str) -> None:
        self.tokens = lcm_tokens.tokens(text)
        self.at = 0
        self.package = ""
        self.definitions: Dict[str, Definition] = {}
        self.counted = 0

    @property
    def current(self) -> Token:
        return self.tokens[self.at]

    def take(self, symbol: str) -> bool:
        if self.current.text != symbol:
            return False
        self.at += 1
        return True

    def fail_expected(self, what: str) -> NoReturn:
        _fail(self.current.line, f"{what} is expected, not {self.current.shown()}")

    def require(self, symbol: str) -> None:
        if not self.take(symbol):
            self.fail_expected(f"`{symbol}`")

    def take_word(self, what: str, fits: Callable[[Token], bool] = _is_name) -> Token:
        found = self.current
        if not found.is_word or not fits(found):
            self.fail_expected(what)
        self.at += 1
        return found

    def count_one(self) -> None:
        self.counted += 1
        if self.counted > MAX_FIELDS:
            _fail(self.current.line, f"more than {MAX_FIELDS} structs, fields and constants")

    def parse(self) -> None:
        while self.current.text:
            if self.take("package"):
                self.package = self.take_word("a package", _is_full_name).text
                self.require(";")
            elif self.take("struct"):
                self.structure()
            elif self.current.text == "enum":
                _fail(self.current.line, "enum is not part of LCM's type language any more")
            else:
                self.fail_expected("`struct` or `package`")
        if not self.definitions:
            _fail(self.current.line, "no struct is defined")
        for definition in self.definitions.values():
            for member in definition.members:
                if member.type not in PRIMITIVES and member.type not in self.definitions:
                    _fail(member.line, f"struct {member.type} is not defined")

    def full_name(self, name: str) -> str:
        return f"{self.package}.{name}" if self.package and "." not in name else name

    def structure(self) -> None:
        short = self.take_word("the name of a struct")
        name = self.full_name(short.text)
        if short.text in PRIMITIVES:
            _fail(short.line, f"`{short.text}` is a primitive type")
        if len(name) > MAX_NAME_BYTES:
            _fail(short.line, "a name has 1 to 255 bytes")
        if name in self.definitions:
            _fail(short.line, f"struct {name} is defined twice")
        self.count_one()
        self.require("{")
        members = _Members(self)
        while not self.take("}"):
            if self.take("const"):
                members.read_constants()
            else:
                members.read()
        self.definitions[name] = Definition(name, list(members.members.values()))


class _Members:
    """Of one struct."""

    def __init__(self, parser: _Parser) -> None:
        self.parser = parser
        self.members: Dict[str, Member] = {}
        self.constants: Dict[str, Tuple[str, str]] = {}  # type and value

    def new_name(self) -> str:
        name = self.parser.take_word("a name")
        if name.text in self.members or name.text in self.constants:
            _fail(name.line, f"the name `{name.text}` appears twice")
        self.parser.count_one()
        return name.text

    def read_constants(self) -> None:
        kind = self.parser.take_word("the type of a constant", _is_full_name).text
        while True:
            name = self.new_name()
            self.parser.require("=")
            value = self.parser.take_word("a number", lambda _: True)
            if not _constant_fits(kind, value.text):
                _fail(value.line, f"`{value.text[:64]}` is no {kind} constant")
            self.constants[name] = (kind, value.text)
            if not self.parser.take(","):
                break
        self.parser.require(";")

    def read(self) -> None:
        written = self.parser.take_word("the type of a member", _is_full_name)
        kind = written.text if written.text in PRIMITIVES else self.parser.full_name(written.text)
        while True:
            name = self.new_name()
            dimensions: List[Tuple[bool, str]] = []
            while self.parser.take("["):
                size = self.parser.take_word("the size of an array", lambda _: True)
                dimensions.append(self.dimension(size))
                self.parser.require("]")
                if len(dimensions) > MAX_DIMENSIONS:
                    _fail(size.line, f"more than {MAX_DIMENSIONS} dimensions")
            self.members[name] = Member(name, kind, tuple(dimensions), written.line)
            if not self.parser.take(","):
                break
        self.parser.require(";")

    def dimension(self, size: Token) -> Tuple[bool, str]:
        counter = self.members.get(size.text)
        if counter and counter.type in _INTEGER_BITS and not counter.dimensions:
            return True, size.text
        # lcm-gen puts the value in place of a constant's name, as it was written
        kind, value = self.constants.get(size.text, ("int32_t", size.text))
        if kind not in _INTEGER_BITS or _is_name(Token(value, 0)):
            _fail(size.line, f"`{size.text}` is no integer member before this array")
        if not 0 < (integer(value) or 0) < 1 << 31:
            _fail(size.line, "the size of an array is a number from 1 to 2147483647 or a member")
        return False, value


def definitions(text: bytes, root: str) -> Dict[str, Definition]:
    """Returns the definitions by name, first that of the root, or of the first struct if the root has no name.

    Raises SchemaError.
    """
    # Names are ASCII; comments may be anything
    parser = _Parser(text.decode("latin-1"))
    parser.parse()
    found = parser.definitions
    first = root or next(iter(found))
    if first not in found:
        raise SchemaError(f"struct {escaped(first)} is not defined")
    return {first: found[first], **found}


def to_schema(found: Dict[str, Definition]) -> Schema:
    """Returns the definitions in the form that struct and ros2msg have, too. Raises SchemaError for too many levels."""
    index = {name: number for number, name in enumerate(found)}
    schema = Schema([Structure(name) for name in found])
    for structure, definition in zip(schema.structures, found.values()):
        for member in definition.members:
            dimensions = tuple(
                Dimension(variable=True, length=size) if variable else Dimension(integer(size) or 0)
                for variable, size in member.dimensions
            )
            if member.type in PRIMITIVES:
                field = Field(member.name, PRIMITIVES[member.type], dimensions=dimensions)
            else:
                field = Field(member.name, "struct", index[member.type], dimensions)
            structure.fields.append(field)
    check_levels(schema, recursive=True)
    return schema
