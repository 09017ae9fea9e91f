"""Whether a subscriber can read what a publisher sends, and why not (liborc/src/schema/type_check.h)."""

from __future__ import annotations

from typing import Callable, Dict, NamedTuple, Optional, TypeVar

from orc._type_description import MAX_SCHEMA_BYTES, TypeDescription

from . import (
    compare,
    flatbuffer_compare,
    flatbuffer_schema,
    json_text,
    lcm_hash,
    lcm_schema,
    protobuf_compare,
    protobuf_schema,
    ros2_schema,
    sentences,
    struct_schema,
)
from .model import MAX_NAME_BYTES, Schema, SchemaError
from .sentences import Sentences

Read = TypeVar("Read")


class _Lcm(NamedTuple):
    definitions: Optional[Schema]
    fingerprint: int


def _read_lcm(type: TypeDescription) -> _Lcm:
    stated = lcm_hash.stated(type.schema)
    if stated is not None:
        return _Lcm(None, stated)
    definitions = lcm_schema.definitions(type.schema, type.name)
    return _Lcm(lcm_schema.to_schema(definitions), lcm_hash.fingerprint(definitions))


def _compare_lcm(published: _Lcm, expected: _Lcm, words: Sentences) -> Optional[str]:
    if published.fingerprint == expected.fingerprint:
        return None
    if published.definitions and expected.definitions:
        found = compare.compare(published.definitions, expected.definitions, compare.Rules(order=True), words)
        if found:
            return found
    # Sizes that are written in another way (16, 0x10) have another fingerprint, too.
    return words.differs("the fingerprint", f"0x{published.fingerprint:016x}", f"0x{expected.fingerprint:016x}")


def _read_struct(type: TypeDescription) -> Schema:
    return struct_schema.parse(type.schema)


def _compare_struct(published: Schema, expected: Schema, words: Sentences) -> Optional[str]:
    return compare.compare(published, expected, compare.Rules(offsets=True), words)


def _read_ros2(type: TypeDescription) -> Schema:
    return ros2_schema.parse(type.schema, type.name)


def _compare_ros2(published: Schema, expected: Schema, words: Sentences) -> Optional[str]:
    return compare.compare(published, expected, compare.Rules(order=True, structure_names=True), words)


def _read_flatbuffer(type: TypeDescription) -> flatbuffer_schema.Types:
    return flatbuffer_schema.parse(type.schema, type.name)


def _read_protobuf(type: TypeDescription) -> protobuf_schema.Types:
    return protobuf_schema.parse(type.schema, type.name)


def _read_json(type: TypeDescription) -> None:
    json_text.parse(type.schema)


# By message encoding: the schema encoding that ORC knows with it.
_SCHEMA_ENCODING = {
    "struct": "struct",
    "lcm": "lcm",
    "flatbuffer": "flatbuffer",
    "protobuf": "protobuf",
    "cdr": "ros2msg",
    "json": "jsonschema",
}
_READERS: Dict[str, Callable[[TypeDescription], object]] = {
    "struct": _read_struct,
    "lcm": _read_lcm,
    "flatbuffer": _read_flatbuffer,
    "protobuf": _read_protobuf,
    "ros2msg": _read_ros2,
    "jsonschema": _read_json,
}


def _check_limits(type: TypeDescription) -> None:
    if len(type.name.encode()) > MAX_NAME_BYTES:
        raise SchemaError("the type's name has more than 255 bytes")
    if len(type.schema) > MAX_SCHEMA_BYTES:
        raise SchemaError("it has more than 1 MiB")


def _unreadable(type: TypeDescription, where: str, why: Exception) -> SchemaError:
    return SchemaError(f"schema of {sentences.type_name(type.name)}{where}: {why}")


def check_schema(type: TypeDescription) -> None:
    """Raises SchemaError when the schema cannot be read. Unknown encodings, and types without a schema, are good."""
    try:
        _check_limits(type)
        if type.schema and type.schema_encoding in _READERS:
            _READERS[type.schema_encoding](type)
    except (ValueError, RecursionError) as error:
        raise _unreadable(type, "", error) from None


def lcm_fingerprint(type: TypeDescription) -> Optional[int]:
    """Returns the fingerprint with which LCM messages of this type begin.

    None: not an lcm type, or its schema cannot be read.
    """
    if type.schema_encoding != "lcm":
        return None
    try:
        _check_limits(type)
        return _read_lcm(type).fingerprint
    except (ValueError, RecursionError):
        return None


def _understood(type: TypeDescription) -> bool:
    """Whether schemas of the encoding that belongs to the messages are understood. Without a schema, any is good."""
    known = _SCHEMA_ENCODING.get(type.message_encoding)
    return known is not None and (known in (type.schema_encoding, "jsonschema") or not type.schema)


class _Check:
    """One check of a pair of descriptions."""

    def __init__(self, published: TypeDescription, expected: TypeDescription, publisher: str) -> None:
        self.published = published
        self.expected = expected
        self.words = Sentences(publisher)
        self.names = sentences.type_name(published.name), sentences.type_name(expected.name)

    def check(self) -> Optional[str]:
        published, expected = self.published, self.expected
        if not published or not expected or published == expected:
            return None
        self.read(_check_limits, published, self.words.there)
        self.read(_check_limits, expected, "here")
        encoding = published.message_encoding
        if encoding != expected.message_encoding:
            return self.differs("message encoding", encoding, expected.message_encoding)
        if not _understood(published) or not _understood(expected):
            return self.check_equal()
        if encoding != "lcm" and published.name and expected.name and not self.same_name():
            return self.other_name()
        if encoding == "json" or not published.schema or not expected.schema:
            return None
        if encoding == "struct":
            return self.compare(_read_struct, _compare_struct)
        if encoding == "lcm":
            return self.compare(_read_lcm, _compare_lcm)
        if encoding == "cdr":
            return self.compare(_read_ros2, _compare_ros2)
        if encoding == "protobuf":
            return self.compare(_read_protobuf, protobuf_compare.compare)
        return self.compare(_read_flatbuffer, flatbuffer_compare.compare)

    def same_name(self) -> bool:
        """ROS 2 writes pkg/msg/Name also as pkg/Name."""
        names = self.published.name, self.expected.name
        if self.published.message_encoding == "cdr":
            return ros2_schema.full_name(names[0]) == ros2_schema.full_name(names[1])
        return names[0] == names[1]

    def check_equal(self) -> str:
        if self.published.name != self.expected.name:
            return self.other_name()
        there, here = self.published.schema_encoding, self.expected.schema_encoding
        return self.differs("schema encoding", there, here) if there != here else self.mismatch("the schemas differ")

    def other_name(self) -> str:
        return self.words.differs("type", *self.names)

    def mismatch(self, why: str) -> str:
        return f"type mismatch between {self.names[0]} {self.words.there} and {self.names[1]} here: {why}"

    def differs(self, what: str, published: str, expected: str) -> str:
        known = (sentences.escaped(each) or "not known" for each in (published, expected))
        return self.mismatch(self.words.differs(what, *known))

    def compare(
        self,
        read: Callable[[TypeDescription], Read],
        compare: Callable[[Read, Read, Sentences], Optional[str]],
    ) -> Optional[str]:
        there = self.read(read, self.published, self.words.there)
        here = self.read(read, self.expected, "here")
        try:
            found = compare(there, here, self.words)
        except RecursionError:
            raise SchemaError("the types are too large or nested too deep to be compared") from None
        return self.mismatch(found) if found else None

    @staticmethod
    def read(read: Callable[[TypeDescription], Read], type: TypeDescription, where: str) -> Read:
        try:
            return read(type)
        except (ValueError, RecursionError) as error:
            raise _unreadable(type, " " + where, error) from None


def check_types(published: TypeDescription, expected: TypeDescription, publisher: str) -> Optional[str]:
    """Returns why a subscriber that expects `expected` cannot read samples of `published`, or None when it can.

    An empty description matches any other. `publisher` names the publisher for the sentence: "arm (4711)". Raises
    SchemaError when one of the schemas cannot be read.
    """
    return _Check(published, expected, publisher).check()
