"""Whether programs with two versions of a FlatBuffers table read each other's bytes in the same sense.

By ascending ids of fields, with the rules of `flatc --conform` in both directions, and what its verifier demands: a
field that both have keeps its id, type, default and `required`; a field that only one has is not required; structs are
equal; a name that two versions of an enum have stands for the same number; a number that two versions of a union have
stands for the same type. Tables, structs and enums keep their names.
"""

from __future__ import annotations

import math
from typing import Dict, Optional, Set, Tuple

from . import sentences
from .flatbuffer_schema import ARRAY, BOOL, FLOAT32, FLOAT64, UNION_TYPE, VECTOR, Enum, Field, Object, Type, Types
from .model import MAX_COMPARISON_STEPS, MAX_TYPE_LEVELS, SchemaError
from .sentences import Sentences, escaped

_TYPE_NAMES = (
    "none union_type bool byte ubyte short ushort int uint long ulong float double string vector table union array"
).split()


def type_of(types: Types, type: Type) -> str:
    """Returns the name of a type as schemas write it: "[robot.Pose]", "[double:3]"."""
    if type.kind == VECTOR:
        return f"[{_plain_type(types, type.element, type)}]"
    if type.kind == ARRAY:
        return f"[{_plain_type(types, type.element, type)}:{type.length}]"
    return _plain_type(types, type.kind, type)


def _plain_type(types: Types, kind: int, type: Type) -> str:
    if type.object is not None:
        return escaped(types.objects[type.object].name)
    if type.enum is None:
        return _TYPE_NAMES[kind]
    name = escaped(types.enums[type.enum].name)
    return f"type of {name}" if kind == UNION_TYPE else name


def _kind_of(type: Type) -> str:
    return _TYPE_NAMES[type.element if type.kind in (VECTOR, ARRAY) else type.kind]


def _field_text(types: Types, field: Field) -> str:
    return ("required " if field.required else "") + type_of(types, field.type)


def _default_of(field: Field) -> str:
    """Returns a field's default: "0", "0.5", "null". Empty: it has none."""
    if not BOOL <= field.type.kind <= FLOAT64:
        return ""
    if field.optional:
        return "null"
    return _real_text(field.default_real) if field.type.kind in (FLOAT32, FLOAT64) else str(field.default_integer)


def _real_text(value: float) -> str:
    """Returns the shortest text of %g that stands for the number."""
    if math.isnan(value):
        return "-nan" if math.copysign(1, value) < 0 else "nan"
    texts = (f"{value:.{digits}g}" for digits in range(1, 18))
    return next((text for text in texts if float(text) == value), repr(value))


def _place(path: str, field: Field) -> str:
    return sentences.field(sentences.joined(path, field.name))


class _Comparison:
    def __init__(self, published: Types, expected: Types, words: Sentences) -> None:
        self.published = published
        self.expected = expected
        self.words = words
        self.seen_objects: Set[Tuple[int, int]] = set()
        self.seen_enums: Set[Tuple[int, int]] = set()
        self.steps = 0

    def step(self, count: int, level: int = 0) -> None:
        self.steps += count
        if self.steps > MAX_COMPARISON_STEPS or level > 2 * MAX_TYPE_LEVELS:
            raise SchemaError("the types are too large or nested too deep to be compared")

    def objects(self, published: int, expected: int, path: str, level: int) -> Optional[str]:
        if (published, expected) in self.seen_objects:
            return None
        self.seen_objects.add((published, expected))
        there, here = self.published.objects[published], self.expected.objects[expected]
        self.step(len(there.fields) + len(here.fields) + 1, level)
        if there.is_struct != here.is_struct:
            kinds = ("a struct" if each.is_struct else "a table" for each in (there, here))
            return self.words.differs(escaped(there.name), *kinds)
        different = self.ids(there, here, path)
        if different:
            return different
        theirs = {each.id: each for each in there.fields}
        mine = {each.id: each for each in here.fields}
        for id in sorted(theirs.keys() | mine.keys()):
            different = self.pair(theirs.get(id), mine.get(id), there.is_struct, path, level)
            if different:
                return different
        return self.layouts(there, here, path) if there.is_struct else None

    def ids(self, there: Object, here: Object, path: str) -> Optional[str]:
        """A name that both have must have the same id."""
        mine: Dict[str, int] = {}
        for each in here.fields:
            mine.setdefault(each.name, each.id)
        for each in there.fields:
            if mine.get(each.name, each.id) != each.id:
                return "the id of " + self.words.differs(_place(path, each), each.id, mine[each.name])
        return None

    def pair(
        self, there: Optional[Field], here: Optional[Field], in_struct: bool, path: str, level: int
    ) -> Optional[str]:
        """Compares the fields with one id, of which one may be missing."""
        if there and here:
            return self.fields(there, here, in_struct, path, level)
        if there and (in_struct or there.required):
            return self.words.only_there(_place(path, there), _field_text(self.published, there))
        if here and (in_struct or here.required):
            return self.words.only_here(_place(path, here), _field_text(self.expected, here))
        return None

    def layouts(self, there: Object, here: Object, path: str) -> Optional[str]:
        of = f"`{path}`" if path else escaped(there.name)
        for what, theirs, mine in (
            ("size", there.size, here.size),
            ("alignment", there.alignment, here.alignment),
        ):
            if theirs != mine:
                sizes = sentences.size_text(theirs), sentences.size_text(mine)
                return self.words.differs(f"the {what} of {of}", *sizes)
        return None

    def same_type(self, there: Type, here: Type) -> bool:
        names = [
            (
                None if type.object is None else types.objects[type.object].name,
                None if type.enum is None else types.enums[type.enum].name,
            )
            for types, type in ((self.published, there), (self.expected, here))
        ]
        return there[:3] == here[:3] and names[0] == names[1]

    def fields(self, there: Field, here: Field, in_struct: bool, path: str, level: int) -> Optional[str]:
        place = _place(path, there)
        if not self.same_type(there.type, here.type) or there.required != here.required:
            texts = _field_text(self.published, there), _field_text(self.expected, here)
            if texts[0] == texts[1]:  # enums of the same name over other numbers
                texts = f"{texts[0]} ({_kind_of(there.type)})", f"{texts[1]} ({_kind_of(here.type)})"
            return self.words.differs(place, *texts)
        if in_struct and there.offset != here.offset:
            return f"{place} begins at byte {there.offset} {self.words.there}, at byte {here.offset} here"
        defaults = _default_of(there), _default_of(here)
        if not in_struct and defaults[0] != defaults[1]:
            return "the default of " + self.words.differs(place, *defaults)
        name = sentences.joined(path, there.name)
        if there.type.object is not None and here.type.object is not None:
            return self.objects(there.type.object, here.type.object, name, level + 1)
        # The types of a union's members are compared where the union itself is
        is_tag = UNION_TYPE in there.type[:2]
        if there.type.enum is not None and here.type.enum is not None and not is_tag:
            return self.enums(there.type.enum, here.type.enum, name, level)
        return None

    def enums(self, published: int, expected: int, path: str, level: int) -> Optional[str]:
        if (published, expected) in self.seen_enums:
            return None
        self.seen_enums.add((published, expected))
        there, here = self.published.enums[published], self.expected.enums[expected]
        self.step(len(there.values) + len(here.values))
        if (there.is_union, there.underlying) != (here.is_union, here.underlying):
            kinds = (
                "a union" if each.is_union else f"an enum of {type_of(self.published, Type(each.underlying))}"
                for each in (there, here)
            )
            return self.words.differs(escaped(there.name), *kinds)
        mine: Dict[str, int] = {}
        for each in here.values:
            mine.setdefault(each.name, each.value)
        for each in there.values:
            if mine.get(each.name, each.value) != each.value:
                what = f"value `{escaped(each.name)}` of {sentences.field(path)}"
                return self.words.differs(what, each.value, mine[each.name])
        return self.members(there, here, path, level) if there.is_union else None

    def members(self, there: Enum, here: Enum, path: str, level: int) -> Optional[str]:
        """The tables and structs of a union, by number."""
        mine: Dict[int, Optional[int]] = {}
        for each in here.values:
            mine.setdefault(each.value, each.object)
        for each in there.values:
            if each.value not in mine:
                continue
            objects = each.object, mine[each.value]
            names = [
                "not a table" if at is None else escaped(types.objects[at].name)
                for types, at in zip((self.published, self.expected), objects)
            ]
            if names[0] != names[1]:
                return self.words.differs(f"value {each.value} of {sentences.field(path)}", *names)
            if objects[0] is not None and objects[1] is not None:
                different = self.objects(objects[0], objects[1], sentences.joined(path, each.name), level + 1)
                if different:
                    return different
        return None


def compare(published: Types, expected: Types, words: Sentences) -> Optional[str]:
    """Returns the first difference, or None. Raises SchemaError when the schemas are too large for it."""
    return _Comparison(published, expected, words).objects(published.root, expected.root, "", 1)
