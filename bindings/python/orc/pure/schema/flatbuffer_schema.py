"""Schemas of encoding flatbuffer: binary schemas (bfbs) as `flatc --binary --schema` writes them (reflection.fbs)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import List, NamedTuple, NoReturn, Optional, Set

from orc._type_description import MAX_SCHEMA_BYTES

from . import bfbs
from .model import MAX_FIELDS, MAX_NAME_BYTES, SchemaError
from .sentences import escaped

# reflection.BaseType
NONE, UNION_TYPE, BOOL, INT8, UINT8, INT16, UINT16, INT32, UINT32, INT64, UINT64 = range(11)
FLOAT32, FLOAT64, STRING, VECTOR, OBJECT, UNION, ARRAY = range(11, 18)
_IDENTIFIER = b"BFBS"
_TOO_MANY = f"more than {MAX_FIELDS} types, fields and values"


class Type(NamedTuple):
    """Of a field, or of a union's value."""

    kind: int = NONE
    element: int = NONE  # of a vector or array
    length: int = 0  # of an array
    object: Optional[int] = None  # its index
    enum: Optional[int] = None  # its index; also a union's


class Field(NamedTuple):
    """Of a table or struct."""

    name: str
    id: int
    offset: int  # in a struct: bytes from its start
    type: Type
    default_integer: int
    default_real: float
    deprecated: bool
    required: bool
    optional: bool  # a number without default


@dataclass
class Object:
    """A table or a struct."""

    name: str  # with its namespace: "robot.State"
    is_struct: bool
    size: int  # of a struct
    alignment: int  # of a struct
    fields: List[Field]  # by id


class Value(NamedTuple):
    """Of an enum or a union."""

    name: str
    value: int
    object: Optional[int]  # of a union


@dataclass
class Enum:
    """An enum or a union."""

    name: str
    is_union: bool
    underlying: int
    values: List[Value] = field(default_factory=list)


@dataclass
class Types:
    """What a binary schema says."""

    objects: List[Object] = field(default_factory=list)
    enums: List[Enum] = field(default_factory=list)
    root: int = 0  # index of a table


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.root = bfbs.Buffer(data).root()
        self.objects = self.root.vector(0)
        self.enums = self.root.vector(1)
        self.counted = 0
        self.comment_bytes = 0
        if self.objects.size + self.enums.size > MAX_FIELDS:
            raise SchemaError(_TOO_MANY)

    def count_one(self) -> None:
        self.counted += 1
        if self.counted > MAX_FIELDS:
            raise SchemaError(_TOO_MANY)

    def count_comment(self, size: int, why: str) -> None:
        # Several tables may have the same bytes as a comment, so all together are limited
        self.comment_bytes += size
        if self.comment_bytes > MAX_SCHEMA_BYTES:
            raise SchemaError(why)

    def read(self, root: str) -> Types:
        made = Types()
        made.objects = [self.object(each) for each in self.objects.tables()]
        made.enums = [self.enum(each) for each in self.enums.tables()]
        declared = self.root.table(4)
        if root:
            index = next((at for at, each in enumerate(made.objects) if each.name == root), -1)
        elif declared is None:
            raise SchemaError("it has no root_type")
        else:
            index = next((at for at, each in enumerate(self.objects.tables()) if each.at == declared.at), -1)
        if index < 0:
            raise SchemaError(f"table `{escaped(root)}` is not defined" if root else "its root_type is not in it")
        if made.objects[index].is_struct:
            raise SchemaError(f"`{escaped(made.objects[index].name)}` is a struct, not a table")
        made.root = index
        return made

    def name(self, table: bfbs.Table) -> str:
        found = table.text(0)
        if not 1 <= len(found) <= MAX_NAME_BYTES:
            _fail(table, "a name has 1 to 255 bytes")
        return found.decode("utf-8", "surrogateescape")

    def documentation(self, table: bfbs.Table, field: int) -> None:
        for line in table.vector(field).texts():
            self.count_comment(1 + len(line.strip(b" \t\r\n\v\f")), "its comments have more than 1 MiB")

    def attributes(self, table: bfbs.Table) -> None:
        for each in table.vector(9).tables():
            if each.text(0) == b"unit":
                self.count_comment(len(each.text(1)), "its comments have more than 1 MiB")
            self.count_comment(1, "too many attributes")

    def kind(self, table: bfbs.Table, field: int) -> int:
        found = table.u8(field)
        if found > ARRAY:
            _fail(table, "an unknown type")
        return found

    def type(self, table: Optional[bfbs.Table], owner: bfbs.Table) -> Type:
        if table is None:
            _fail(owner, "a type is missing")
        kind, element = self.kind(table, 0), self.kind(table, 1)
        length = table.u16(3)
        is_list = kind in (VECTOR, ARRAY)
        innermost = element if is_list else kind
        if innermost in (NONE, ARRAY) or (is_list and innermost == VECTOR):
            _fail(table, "an unknown type")
        made = Type(kind, element if is_list else NONE, length)
        index = table.i32(2, -1)
        if innermost == OBJECT:
            if not 0 <= index < self.objects.size:
                _fail(table, "an unknown table or struct")
            return made._replace(object=index)
        if index >= 0 or innermost in (UNION, UNION_TYPE):
            if not 0 <= index < self.enums.size:
                _fail(table, "an unknown enum or union")
            return made._replace(enum=index)
        return made

    def object(self, table: bfbs.Table) -> Object:
        self.count_one()
        name, is_struct, alignment, size = self.name(table), table.flag(2), table.i32(3), table.i32(4)
        self.documentation(table, 6)
        fields: List[Field] = []
        names: Set[str] = set()
        for each in table.vector(1).tables():
            fields.append(self.field(each))
            if fields[-1].name in names:
                _fail(table, "two fields have the same name")
            names.add(fields[-1].name)
        fields.sort(key=lambda each: each.id)
        if len({each.id for each in fields}) != len(fields):
            _fail(table, "two fields have the same id")
        return Object(name, is_struct, size, alignment, fields)

    def field(self, table: bfbs.Table) -> Field:
        self.count_one()
        type = table.table(1)
        made = Field(
            name=self.name(table),
            id=table.u16(2),
            offset=table.u16(3),
            default_integer=table.i64(4),
            default_real=table.f64(5),
            deprecated=table.flag(6),
            required=table.flag(7),
            optional=table.flag(11),
            type=self.type(type, table),
        )
        if type is not None and table.flag(13):
            _fail(type, "an unknown type")  # its offset has 8 bytes: another type, like a vector64
        self.documentation(table, 10)
        self.attributes(table)
        return made

    def enum(self, table: bfbs.Table) -> Enum:
        self.count_one()
        name, is_union, underlying = self.name(table), table.flag(2), table.table(3)
        made = Enum(name, is_union, self.kind(underlying, 0) if underlying else NONE)
        names: Set[str] = set()
        numbers: Set[int] = set()
        for each in table.vector(1).tables():
            self.count_one()
            value_name = self.name(each)
            if value_name in names:
                _fail(table, "two values have the same name")
            number = each.i64(1)
            if is_union and number in numbers:
                _fail(table, "two types of a union have one number")
            names.add(value_name)
            numbers.add(number)
            type = each.table(3)
            index = self.type(type, each).object if type and type.u8(0) else None
            made.values.append(Value(value_name, number, index))
        return made


def _fail(table: bfbs.Table, why: str) -> NoReturn:
    raise SchemaError(f"byte {table.at}: {why}")


def parse(data: bytes, root: str) -> Types:
    """Returns the tables, structs and enums. `root` is a table; empty: the schema's root_type. Raises SchemaError."""
    if len(data) < 12 or data[4:8] != _IDENTIFIER:
        raise SchemaError("byte 4: `BFBS` is expected")
    return _Reader(data).read(root)
