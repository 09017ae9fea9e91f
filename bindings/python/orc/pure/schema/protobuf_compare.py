"""Whether programs with two versions of a Protobuf message read each other's bytes in the same sense.

By ascending field numbers: a number that both have must have the same type and label, and its enum the same name for
each number that both know, and the same default. Two numbers that both have are in one oneof at both ends or at none.
A number that only one has must not be required. Names of fields and messages do not matter.
"""

from __future__ import annotations

from typing import Dict, Optional, Set, Tuple

from . import sentences
from .model import MAX_COMPARISON_STEPS, MAX_NAME_BYTES, MAX_TYPE_LEVELS, SchemaError
from .protobuf_schema import (
    BOOL,
    BYTES,
    ENUM,
    GROUP,
    MESSAGE,
    OPTIONAL,
    REPEATED,
    REQUIRED,
    STRING,
    Enum,
    Field,
    Message,
    Types,
)
from .sentences import Sentences

_TYPE_NAMES = (
    "unknown double float int64 uint64 int32 fixed64 fixed32 bool string "
    "group message bytes uint32 enum sfixed32 sfixed64 sint32 sint64"
).split()


def type_of(types: Types, field: Field) -> str:
    """Returns a field's type for people: "repeated double", "map<string, robot.Pose>"."""
    message = types.messages[field.type_name] if field.type in (MESSAGE, GROUP) else None
    label = ""
    if field.label == REPEATED and not (message and message.is_map_entry):
        label = "repeated "
    if field.label == REQUIRED:
        label = "required "
    return label + _plain_type(types, field, False)


def _plain_type(types: Types, field: Field, in_map: bool) -> str:
    """Returns the type of one value. The parts of a map are no maps, which ends the recursion."""
    if field.type == ENUM:
        return sentences.escaped(types.enums[field.type_name].name)
    if field.type not in (MESSAGE, GROUP):
        return _TYPE_NAMES[field.type]
    message = types.messages[field.type_name]
    key, value = (next((each for each in message.fields if each.number == number), None) for number in (1, 2))
    if message.is_map_entry and not in_map and key and value:
        return f"map<{_plain_type(types, key, True)}, {_plain_type(types, value, True)}>"
    return ("group " if field.type == GROUP else "") + sentences.escaped(message.name)


def _place(path: str, field: Field) -> str:
    return sentences.field(sentences.joined(path, field.name))


def _default(types: Types, field: Field) -> str:
    if field.default is not None:
        return field.default
    if field.type == ENUM:
        values = types.enums[field.type_name].values
        return values[0][0] if values else ""
    if field.type in (STRING, BYTES):
        return ""
    return "false" if field.type == BOOL else "0"


def _default_text(type: int, value: str) -> str:
    if not value:
        return "empty"
    data = value.encode("utf-8", "surrogateescape")[:MAX_NAME_BYTES]
    text = sentences.escaped(data.decode("utf-8", "surrogateescape"))
    return f"`{text}`" if type in (STRING, BYTES, ENUM) else text


class _Oneofs:
    """Which numbers that both have share a oneof. A oneof of one end is known by its first such field."""

    def __init__(self, words: Sentences, path: str) -> None:
        self.words = words
        self.path = path
        self.first: Tuple[Dict[int, Tuple[Field, Field]], Dict[int, Tuple[Field, Field]]] = ({}, {})

    def add(self, there: Field, here: Field) -> Optional[str]:
        """Returns that this field is in one oneof with an earlier one at one end only, or None."""
        pair = there, here
        for end, other in ((0, 1), (1, 0)):
            oneof = _oneof(pair[end])
            if oneof is None:
                continue
            first = self.first[end].setdefault(oneof, pair)
            there_too = _oneof(pair[other])
            if first is not pair and (there_too is None or _oneof(first[other]) != there_too):
                name = sentences.joined(self.path, first[0].name)
                texts = [f"in {word} oneof with `{name}`" for word in (("one", "no") if end == 0 else ("no", "one"))]
                return self.words.differs(_place(self.path, there), *texts)
        return None


def _oneof(field: Field) -> Optional[int]:
    """An optional field of proto3 has a oneof of its own, which is not written."""
    return None if field.has_presence else field.oneof


class _Comparison:
    def __init__(self, published: Types, expected: Types, words: Sentences) -> None:
        self.published = published
        self.expected = expected
        self.words = words
        self.seen: Set[Tuple[str, str]] = set()
        self.seen_enums: Set[Tuple[str, str]] = set()
        self.steps = 0

    def step(self, count: int, level: int = 0) -> None:
        self.steps += count
        if self.steps > MAX_COMPARISON_STEPS or level > 2 * MAX_TYPE_LEVELS:
            raise SchemaError("the types are too large or nested too deep to be compared")

    def messages(self, there: Message, here: Message, path: str, level: int) -> Optional[str]:
        if (there.name, here.name) in self.seen:
            return None
        self.seen.add((there.name, here.name))
        self.step(len(there.fields) + len(here.fields) + 1, level)
        published = {each.number: each for each in there.fields}
        expected = {each.number: each for each in here.fields}
        oneofs = _Oneofs(self.words, path)
        for number in sorted(published.keys() | expected.keys()):
            theirs, mine = published.get(number), expected.get(number)
            different = None
            if theirs and mine:
                different = self.fields(theirs, mine, path, level) or oneofs.add(theirs, mine)
            elif theirs and theirs.label == REQUIRED:
                different = self.words.only_there(_place(path, theirs), type_of(self.published, theirs))
            elif mine and mine.label == REQUIRED:
                different = self.words.only_here(_place(path, mine), type_of(self.expected, mine))
            if different:
                return different
        return None

    def fields(self, there: Field, here: Field, path: str, level: int) -> Optional[str]:
        if (there.type, there.label) != (here.type, here.label):
            # "double" and "required double": the word says it
            plain = there.type != here.type or REPEATED in (there.label, here.label)
            texts = (
                ("" if plain or field.label != OPTIONAL else "optional ") + type_of(types, field)
                for types, field in ((self.published, there), (self.expected, here))
            )
            return self.words.differs(_place(path, there), *texts)
        if there.type == ENUM:
            enums = self.published.enums[there.type_name], self.expected.enums[here.type_name]
            different = self.enums(*enums, _place(path, there))
            if different:
                return different
        if there.type not in (MESSAGE, GROUP):
            return self.defaults(there, here, path)
        messages = self.published.messages[there.type_name], self.expected.messages[here.type_name]
        return self.messages(*messages, sentences.joined(path, there.name), level + 1)

    def defaults(self, there: Field, here: Field, path: str) -> Optional[str]:
        """A field that a sample does not have is its default."""
        if there.label == REPEATED:
            return None
        theirs, mine = _default(self.published, there), _default(self.expected, here)
        if theirs == mine:
            return None
        if there.type == ENUM:
            values = self.published.enums[there.type_name].values, self.expected.enums[here.type_name].values
            self.step(len(values[0]) + len(values[1]))
            numbers = [
                next((number for each, number in known if each == name), None)
                for known, name in zip(values, (theirs, mine))
            ]
            if numbers[0] is not None and numbers[0] == numbers[1]:
                return None
        what = f"the default of {_place(path, there)}"
        return self.words.differs(what, _default_text(there.type, theirs), _default_text(here.type, mine))

    def enums(self, there: Enum, here: Enum, place: str) -> Optional[str]:
        if (there.name, here.name) in self.seen_enums:
            return None
        self.seen_enums.add((there.name, here.name))
        self.step(len(there.values) + len(here.values))
        mine: Dict[int, str] = {}  # the first name of each number
        for name, number in here.values:
            mine.setdefault(number, name)
        # Several names may have one number: one in common is enough
        same = set(here.values)
        agreed = {number for name, number in there.values if number not in mine or (name, number) in same}
        for name, number in there.values:
            if number not in agreed:
                names = (f"`{sentences.escaped(each)}`" for each in (name, mine[number]))
                return self.words.differs(f"value {number} of {place}", *names)
        return None


def compare(published: Types, expected: Types, words: Sentences) -> Optional[str]:
    """Returns the first difference, or None. Raises SchemaError when the schemas are too large for it."""
    roots = published.messages[published.root], expected.messages[expected.root]
    return _Comparison(published, expected, words).messages(*roots, "", 1)
