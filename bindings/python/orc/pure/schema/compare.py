"""The first difference between two schemas of encoding struct, lcm or ros2msg, in words.

Per structure: fields in the published order, each with what is nested in it; then fields that only the expected type
has; then the order or the offsets of the fields; then the size.
"""

from __future__ import annotations

from typing import NamedTuple, Optional, Set, Tuple

from . import sentences
from .model import MAX_COMPARISON_STEPS, MAX_TYPE_LEVELS, Dimension, Field, Schema, SchemaError, Structure
from .sentences import Sentences


class Rules(NamedTuple):
    """What counts besides the fields' names and types."""

    offsets: bool = False  # and sizes, and the order of the bytes
    order: bool = False  # of the fields
    structure_names: bool = False  # of nested structures


def _dimension_text(one: Dimension) -> str:
    if not one.variable:
        return f"[{one.size}]"
    if one.length:
        return f"[{sentences.escaped(one.length)}]"
    return f"[<={one.size}]" if one.size else "[]"


def type_of(schema: Schema, field: Field) -> str:
    """Returns a field's type for people: "float64[3][n]", "string<=10"."""
    text = field.kind
    if field.kind == "struct":
        text = sentences.escaped(schema.structures[field.structure].name) or text
    if field.max_length:
        text += f"<={field.max_length}"
    return text + "".join(map(_dimension_text, field.dimensions))


class _Comparison:
    def __init__(self, published: Schema, expected: Schema, rules: Rules, words: Sentences) -> None:
        self.published = published
        self.expected = expected
        self.rules = rules
        self.words = words
        self.seen: Set[Tuple[int, int]] = set()
        self.steps = 0

    def first(self) -> Optional[str]:
        orders = [f"{'big' if each.big_endian else 'little'}-endian" for each in (self.published, self.expected)]
        if self.rules.offsets and orders[0] != orders[1]:
            return self.words.differs("the byte order", orders[0], orders[1])
        return self.structures(0, 0, "", 1)

    def structures(self, published: int, expected: int, path: str, level: int) -> Optional[str]:
        if (published, expected) in self.seen:
            return None
        self.seen.add((published, expected))
        there, here = self.published.structures[published], self.expected.structures[expected]
        self.steps += len(there.fields) + len(here.fields) + 1
        if self.steps > MAX_COMPARISON_STEPS or level > 2 * MAX_TYPE_LEVELS:
            raise SchemaError("the types are too large or nested too deep to be compared")
        fields_here = {field.name: field for field in here.fields}
        for field in there.fields:
            place = sentences.joined(path, field.name)
            match = fields_here.get(field.name)
            if match is None:
                return self.words.only_there(sentences.field(place), type_of(self.published, field))
            different = self.fields(field, match, place, level)
            if different:
                return different
        names_there = {field.name for field in there.fields}
        for field in here.fields:
            if field.name not in names_there:
                place = sentences.field(sentences.joined(path, field.name))
                return self.words.only_here(place, type_of(self.expected, field))
        return self.places(there, here, path)

    def fields(self, there: Field, here: Field, path: str, level: int) -> Optional[str]:
        named = (
            self.rules.structure_names
            and there.kind == here.kind == "struct"
            and self.published.structures[there.structure].name != self.expected.structures[here.structure].name
        )
        same = (there.kind, there.dimensions, there.max_length) == (here.kind, here.dimensions, here.max_length)
        if named or not same:
            types = type_of(self.published, there), type_of(self.expected, here)
            return self.words.differs(sentences.field(path), *types)
        self.steps += len(there.values) + len(here.values)
        for name, value in there.values.items():
            if here.values.get(name, value) != value:
                what = f"value `{sentences.escaped(name)}` of {sentences.field(path)}"
                return self.words.differs(what, value, here.values[name])
        if there.kind == "struct":
            return self.structures(there.structure, here.structure, path, level + 1)
        return None

    def places(self, there: Structure, here: Structure, path: str) -> Optional[str]:
        """Both have the same fields."""
        index = {field.name: at for at, field in enumerate(here.fields)}
        for at, field in enumerate(there.fields):
            what = sentences.field(sentences.joined(path, field.name))
            other = index[field.name]
            if self.rules.order and other != at:
                return self.words.differs(what, f"number {at + 1}", f"number {other + 1}")
            offset = here.fields[other].offset
            if self.rules.offsets and field.offset != offset:
                return f"{what} begins at byte {field.offset} {self.words.there}, at byte {offset} here"
        if self.rules.offsets and there.size != here.size:
            sizes = sentences.size_text(there.size), sentences.size_text(here.size)
            return self.words.differs(f"the size of `{path}`" if path else "the size", *sizes)
        return None


def compare(published: Schema, expected: Schema, rules: Rules, words: Sentences) -> Optional[str]:
    """Returns the first difference, or None. Raises SchemaError when the schemas are too large for it."""
    return _Comparison(published, expected, rules, words).first()
