"""Schemas of encoding protobuf: a serialised FileDescriptorSet (google/protobuf/descriptor.proto)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Dict, Iterator, List, NamedTuple, NoReturn, Optional, Set, Tuple

from .model import MAX_FIELDS, MAX_NAME_BYTES, MAX_STRUCT_LEVELS, SchemaError
from .protobuf_wire import Record, records
from .sentences import escaped

# FieldDescriptorProto.Type
UNKNOWN, BOOL, STRING, GROUP, MESSAGE, BYTES, ENUM = 0, 8, 9, 10, 11, 12, 14
_LAST_TYPE = 18
OPTIONAL, REQUIRED, REPEATED = 1, 2, 3
_MAX_NUMBER = 536_870_911
# The numbers of `features` in the options of each, and what they say (FeatureSet).
_OF_FILE, _OF_MESSAGE, _OF_FIELD = 50, 12, 21
_PRESENCE, _MESSAGE_ENCODING = 1, 5
_LEGACY_REQUIRED, _DELIMITED = 3, 2


@dataclass
class Field:
    """Of a message."""

    name: str = ""
    number: int = 0
    label: int = OPTIONAL
    type: int = UNKNOWN
    type_name: str = ""  # of a message, group or enum, with a dot in front: ".robot.Pose"
    has_presence: bool = False  # proto3: declared as optional
    default: Optional[str] = None  # proto2: as descriptor.proto writes it
    oneof: Optional[int] = None
    is_delimited: bool = False  # editions: a message is written as a group; not one of a map


@dataclass
class Message:
    """Fields in the order of their numbers, with extensions."""

    name: str
    fields: List[Field] = field(default_factory=list)
    oneofs: int = 0
    is_map_entry: bool = False


@dataclass
class Enum:
    """Names and numbers as they were written."""

    name: str
    values: List[Tuple[str, int]] = field(default_factory=list)


@dataclass
class Types:
    """Of all files, by their full name with a dot in front."""

    messages: Dict[str, Message] = field(default_factory=dict)
    enums: Dict[str, Enum] = field(default_factory=dict)
    root: str = ""  # a message


class _Features(NamedTuple):
    """The features of editions that decide what bytes mean.

    A definition has those of the one around it, unless it has its own.
    """

    is_edition: bool = False  # of the file; else it can have none
    required: bool = False
    delimited: bool = False


def _fail(where: Record, why: str) -> NoReturn:
    raise SchemaError(f"byte {where.begin}: {why}")


class _Reader:
    """Records of an unexpected wire type count as absent."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.types = Types()
        self.files: Set[bytes] = set()
        self.extensions: Dict[str, List[Tuple[Field, Record]]] = {}  # by the message, with a dot in front
        self.counted = 0

    def count_one(self, part: Record) -> None:
        self.counted += 1
        if self.counted > MAX_FIELDS:
            _fail(part, f"more than {MAX_FIELDS} messages, fields and values")

    def each(self, part: Record) -> Iterator[Record]:
        return records(self.data, part.begin, part.end)

    def content(self, record: Record) -> bytes:
        return self.data[record.begin : record.end] if record.is_content else b""

    def name(self, record: Record) -> str:
        found = self.content(record)
        if not 1 <= len(found) <= MAX_NAME_BYTES:
            _fail(record, "a name has 1 to 255 bytes")
        return _text(found)

    def file(self, part: Record) -> None:
        package = name = b""  # they may stand behind the messages
        around = _Features()
        for record in self.each(part):
            if not record.is_content:
                continue
            if record.number == 2:
                package = self.content(record)
            elif record.number == 1:
                name = self.content(record)
            elif record.number == 12:
                around = around._replace(is_edition=self.content(record) == b"editions")
            elif record.number == 8:
                around = self.features(record, _OF_FILE, around)
        if len(package) > MAX_NAME_BYTES:
            _fail(part, "a package has at most 255 bytes")
        if name in self.files:
            return
        self.files.add(name)
        for record in self.each(part):
            if record.number == 4 and record.is_content:
                self.message(record, _text(package), around, 1)
            elif record.number == 5 and record.is_content:
                self.enum(record, _text(package))
            elif record.number == 7 and record.is_content:
                self.extension(record, around)

    def features(self, options: Record, number: int, around: _Features) -> _Features:
        """Returns the features of a definition with these options."""
        made = around
        for record in self.each(options):
            if record.number != number or not record.is_content:
                continue
            for one in self.each(record):
                if one.number == _PRESENCE:
                    made = made._replace(required=one.value == _LEGACY_REQUIRED)
                elif one.number == _MESSAGE_ENCODING:
                    made = made._replace(delimited=one.value == _DELIMITED)
        return made

    def full_name(self, part: Record, scope: str) -> str:
        name = ""
        for record in self.each(part):
            if record.number == 1:
                name = self.name(record)
        if not name:
            _fail(part, "a name is missing")
        full = f"{scope}.{name}" if scope else name
        if len(full.encode("utf-8", "surrogateescape")) > MAX_NAME_BYTES:
            _fail(part, "a full name has at most 255 bytes")
        return full

    def message(self, part: Record, scope: str, around: _Features, level: int) -> None:
        self.count_one(part)
        if level > MAX_STRUCT_LEVELS:
            _fail(part, f"messages are defined more than {MAX_STRUCT_LEVELS} levels deep")
        made = Message(self.full_name(part, scope))
        for record in self.each(part):
            if record.number == 7 and record.is_content:
                made.is_map_entry = self.is_map_entry(record)
                around = self.features(record, _OF_MESSAGE, around)
        for record in self.each(part):
            if not record.is_content:
                continue
            if record.number == 2:
                made.fields.append(self.field(record, around))
            elif record.number == 3:
                self.message(record, made.name, around, level + 1)
            elif record.number == 4:
                self.enum(record, made.name)
            elif record.number == 6:
                self.extension(record, around)
            elif record.number == 8:
                self.count_one(record)
                made.oneofs += 1
                for part_of_it in self.each(record):
                    if part_of_it.number == 1:
                        self.name(part_of_it)
        _sort_fields(made, part)
        if any(each.oneof is not None and each.oneof >= made.oneofs for each in made.fields):
            _fail(part, "a field is in an unknown oneof")
        if "." + made.name in self.types.messages:
            _fail(part, f"`{escaped(made.name)}` is defined twice")
        self.types.messages["." + made.name] = made

    def is_map_entry(self, options: Record) -> bool:
        found = False
        for option in self.each(options):
            if option.number == 7:
                found = option.value != 0
        return found

    def extension(self, part: Record, around: _Features) -> None:
        """Its message may stand behind it, or in another file."""
        of = ""
        for record in self.each(part):
            if record.number == 2:
                of = _text(self.content(record)[: MAX_NAME_BYTES + 2])
        made = self.field(part, around)
        made.oneof = None
        self.extensions.setdefault(of, []).append((made, part))

    def extend(self) -> None:
        """Adds the extensions to the fields of their messages. Those of messages that are not there do not matter."""
        for name in sorted(self.extensions):
            message = self.types.messages.get(name)
            if message is not None:
                message.fields += [made for made, _ in self.extensions[name]]
                _sort_fields(message, self.extensions[name][0][1])

    def field(self, part: Record, around: _Features) -> Field:
        self.count_one(part)
        made = Field()
        for record in self.each(part):
            number = record.number
            if number == 1:
                made.name = self.name(record)
            elif number == 3:
                made.number = record.int32
            elif number == 4:
                made.label = record.value
                if made.label not in (OPTIONAL, REQUIRED, REPEATED):
                    _fail(record, "an unknown label")
            elif number == 5:
                made.type = record.value
                if not 1 <= made.type <= _LAST_TYPE:
                    _fail(record, "an unknown type")
            elif number == 6:
                made.type_name = _text(self.content(record)[: MAX_NAME_BYTES + 2])
            elif number == 7 and record.is_content:
                made.default = _text(self.content(record))
            elif number == 8 and record.is_content:
                around = self.features(record, _OF_FIELD, around)
            elif number == 9:
                made.oneof = record.value
            elif number == 17:
                made.has_presence = record.value != 0
        if around.is_edition and around.required and made.label == OPTIONAL:
            made.label = REQUIRED
        made.is_delimited = around.is_edition and around.delimited
        if not made.name:
            _fail(part, "a field has no name")
        if not 1 <= made.number <= _MAX_NUMBER:
            _fail(part, f"a field has no number from 1 to {_MAX_NUMBER}")
        return made

    def enum(self, part: Record, scope: str) -> None:
        self.count_one(part)
        made = Enum(self.full_name(part, scope))
        for record in self.each(part):
            if record.number == 2 and record.is_content:
                self.count_one(record)
                made.values.append(self.value(record))
        if "." + made.name in self.types.enums:
            _fail(part, f"`{escaped(made.name)}` is defined twice")
        self.types.enums["." + made.name] = made

    def value(self, part: Record) -> Tuple[str, int]:
        name, number = "", 0
        for record in self.each(part):
            if record.number == 1:
                name = self.name(record)
            elif record.number == 2:
                number = record.int32
        return name, number

    def resolve(self) -> None:
        for message in self.types.messages.values():
            for each in message.fields:
                if each.type == UNKNOWN and each.type_name in self.types.messages:
                    each.type = MESSAGE
                if each.type in (UNKNOWN, ENUM) and each.type_name in self.types.enums:
                    each.type = ENUM
                elif each.type in (UNKNOWN, ENUM) or (
                    each.type in (MESSAGE, GROUP) and each.type_name not in self.types.messages
                ):
                    where = f"{escaped(message.name)}.{escaped(each.name)}"
                    raise SchemaError(f"type `{escaped(each.type_name)}` of field `{where}` is not defined")
                if each.type == MESSAGE and each.is_delimited:
                    is_map = message.is_map_entry or self.types.messages[each.type_name].is_map_entry
                    each.type = MESSAGE if is_map else GROUP  # the same bytes


def _sort_fields(of: Message, where: Record) -> None:
    of.fields.sort(key=lambda each: each.number)
    for before, each in zip(of.fields, of.fields[1:]):
        if each.number == before.number:
            _fail(where, f"`{escaped(of.name)}` has two fields with number {each.number}")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def parse(data: bytes, root: str) -> Types:
    """Returns the messages and enums. `root` is the full name of a message: "robot.State". Raises SchemaError."""
    reader = _Reader(data)
    for record in records(data, 0, len(data)):
        if record.number == 1 and record.is_content:
            reader.file(record)
    reader.extend()
    reader.resolve()
    reader.types.root = "." + root
    if reader.types.root not in reader.types.messages:
        raise SchemaError(f"message `{escaped(root)}` is not defined")
    return reader.types
