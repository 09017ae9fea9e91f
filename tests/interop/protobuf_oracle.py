"""Compares what `orc log echo` reads with what PyPI's protobuf wrote, for type_oracles_test.cpp.

usage: protobuf_oracle.py ORC      every message of google's well-known types and of Foxglove's schemas, as they are
                                   and as files of an edition, with random features and with extensions

Values are random, of a fixed seed. Prints "N types are equal".
"""

from __future__ import annotations

import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any, Iterator

import foxglove_schemas_protobuf
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from oracle_comparison import RANDOM, ROUNDS, TEXTS, Comparison, number, plain_number

WELL_KNOWN = (
    "any api descriptor duration empty field_mask source_context struct timestamp type wrappers compiler.plugin"
)
FOXGLOVE = sorted(path.stem for path in Path(foxglove_schemas_protobuf.__path__[0]).glob("*_pb2.py"))
FEATURES = descriptor_pb2.FeatureSet
FIELD = descriptor_pb2.FieldDescriptorProto
EXTENSION = 100_000


def files() -> Iterator[Any]:
    for name in WELL_KNOWN.split():
        yield import_module(f"google.protobuf.{name}_pb2").DESCRIPTOR
    for name in FOXGLOVE:
        yield import_module(f"foxglove_schemas_protobuf.{name}").DESCRIPTOR


def with_imports(file: Any) -> Any:
    """A FileDescriptorSet."""
    made = descriptor_pb2.FileDescriptorSet()
    known: set[str] = set()

    def add(one: Any) -> None:
        if one.name in known:
            return
        known.add(one.name)
        for each in one.dependencies:
            add(each)
        one.CopyToProto(made.file.add())

    add(file)
    return made


def messages_of(message: Any) -> Iterator[Any]:
    """A DescriptorProto or Descriptor, and those in it."""
    yield message
    for each in message.nested_type if isinstance(message, descriptor_pb2.DescriptorProto) else message.nested_types:
        yield from messages_of(each)


# Editions


def as_edition(file: Any) -> None:
    """Makes it a file of edition 2023, with random features that its fields can have."""
    messages = [each for root in file.message_type for each in messages_of(root)]
    enums = [*file.enum_type, *(enum for message in messages for enum in message.enum_type)]
    is_open = all(enum.value[0].number == 0 for enum in enums)
    uses_enums = any(field.type == FIELD.TYPE_ENUM for message in messages for field in message.field)
    file.syntax = "editions"
    file.edition = descriptor_pb2.EDITION_2023
    features = file.options.features
    features.enum_type = FEATURES.OPEN if is_open else FEATURES.CLOSED
    implicit = (is_open or not uses_enums) and RANDOM.random() < 0.5
    features.field_presence = FEATURES.IMPLICIT if implicit else FEATURES.EXPLICIT
    features.repeated_field_encoding = RANDOM.choice([FEATURES.PACKED, FEATURES.EXPANDED])
    features.message_encoding = RANDOM.choice([FEATURES.LENGTH_PREFIXED, FEATURES.DELIMITED])
    for message in messages:
        for field in message.field:
            edit_field(message, field)
        real = {field.oneof_index for field in message.field if field.HasField("oneof_index")}
        while message.oneof_decl and len(message.oneof_decl) - 1 not in real:  # that of a field with proto3_optional
            del message.oneof_decl[-1]
    for message in file.message_type:
        if message.extension_range:
            continue
        message.extension_range.add(start=EXTENSION, end=EXTENSION + 2)
        name = f".{file.package}.{message.name}"
        for number_of, kind in ((EXTENSION, FIELD.TYPE_SINT64), (EXTENSION + 1, FIELD.TYPE_MESSAGE)):
            added = file.extension.add(
                name=f"ext_{message.name}_{number_of}", extendee=name, number=number_of, type=kind
            )
            added.label = FIELD.LABEL_REPEATED if kind == FIELD.TYPE_MESSAGE else FIELD.LABEL_OPTIONAL
            if kind == FIELD.TYPE_MESSAGE:
                added.type_name = name


def edit_field(message: Any, field: Any) -> None:
    features = field.options.features
    field.options.ClearField("packed")
    if field.proto3_optional:
        field.ClearField("proto3_optional")
        field.ClearField("oneof_index")
        features.field_presence = FEATURES.EXPLICIT
    if field.label == FIELD.LABEL_REQUIRED:
        field.label = FIELD.LABEL_OPTIONAL
        features.field_presence = FEATURES.LEGACY_REQUIRED
    if field.HasField("default_value"):
        features.field_presence = FEATURES.EXPLICIT
    is_entry = message.options.map_entry or field.type_name.endswith("Entry")
    if field.type == FIELD.TYPE_MESSAGE and not is_entry and RANDOM.random() < 0.3:
        features.message_encoding = RANDOM.choice([FEATURES.LENGTH_PREFIXED, FEATURES.DELIMITED])
    if field.type == FIELD.TYPE_STRING and field.label != FIELD.LABEL_REPEATED and RANDOM.random() < 0.3:
        features.utf8_validation = FEATURES.NONE


def edition_of(file: Any) -> Any:
    """The same file, with those that it imports, as editions in a pool of their own."""
    pool = descriptor_pool.DescriptorPool()
    for each in with_imports(file).file:
        # its own options and syntax are what features are made of
        if each.name != "google/protobuf/descriptor.proto":
            as_edition(each)
        pool.Add(each)
    return pool.FindFileByName(file.name)


# Values


def scalar(field: Any) -> Any:
    kinds = {
        field.CPPTYPE_INT32: "int32",
        field.CPPTYPE_INT64: "int64",
        field.CPPTYPE_UINT32: "uint32",
        field.CPPTYPE_UINT64: "uint64",
        field.CPPTYPE_DOUBLE: "float64",
        field.CPPTYPE_FLOAT: "float32",
        field.CPPTYPE_BOOL: "bool",
    }
    if field.cpp_type == field.CPPTYPE_ENUM:
        known = [each.number for each in field.enum_type.values]
        return RANDOM.choice(known if field.enum_type.is_closed else [*known, 77])
    if field.cpp_type == field.CPPTYPE_STRING:
        text = RANDOM.choice(TEXTS)
        return text.encode() if field.type == field.TYPE_BYTES else text
    return number(kinds[field.cpp_type])


def is_map(field: Any) -> bool:
    return field.message_type is not None and field.message_type.GetOptions().map_entry


def fields_of(message: Any) -> list[Any]:
    pool = message.DESCRIPTOR.file.pool
    extensions = sorted(pool.FindAllExtensions(message.DESCRIPTOR), key=lambda each: each.number)
    return [
        *message.DESCRIPTOR.fields,
        *(each for each in extensions if each.file.package == message.DESCRIPTOR.file.package),
    ]


def value_of(message: Any, field: Any) -> Any:
    return message.Extensions[field] if field.is_extension else getattr(message, field.name)


def fill(message: Any, level: int) -> None:
    for field in fields_of(message):
        if not field.is_required and (RANDOM.random() < 0.3 or (level > 3 and field.message_type is not None)):
            continue
        if is_map(field):
            key, element = field.message_type.fields_by_name["key"], field.message_type.fields_by_name["value"]
            for _ in range(RANDOM.randint(0, 3)):
                if element.message_type is not None:
                    fill(value_of(message, field)[scalar(key)], level + 1)
                else:
                    value_of(message, field)[scalar(key)] = scalar(element)
        elif field.is_repeated:
            for _ in range(RANDOM.randint(0, 3)):
                if field.message_type is not None:
                    fill(value_of(message, field).add(), level + 1)
                else:
                    value_of(message, field).append(scalar(field))
        elif field.message_type is not None:
            value_of(message, field).SetInParent()
            fill(value_of(message, field), level + 1)
        elif field.is_extension:
            message.Extensions[field] = scalar(field)
        else:
            setattr(message, field.name, scalar(field))


def single(field: Any, value: Any) -> Any:
    if field.message_type is not None:
        return as_json(value)
    if field.cpp_type == field.CPPTYPE_ENUM:
        found = field.enum_type.values_by_number.get(value)
        return found.name if found is not None else value
    return list(value) if isinstance(value, bytes) else plain_number(value)


def key_text(key: Any) -> str:
    return str(key).lower() if isinstance(key, bool) else str(key)


def as_json(message: Any) -> Any:
    """As ORC has it: all fields that are there or have no presence, with the names of the file."""
    made: dict[str, Any] = {}
    for field in fields_of(message):
        name = f"[{field.full_name}]" if field.is_extension else field.name
        value = value_of(message, field)
        if is_map(field):
            element = field.message_type.fields_by_name["value"]
            made[name] = {key_text(key): single(element, each) for key, each in value.items()}
        elif field.is_repeated:
            if value or not field.is_extension:
                made[name] = [single(field, each) for each in value]
        elif not field.has_presence or (message.HasExtension(field) if field.is_extension else message.HasField(name)):
            made[name] = single(field, value)
    return made


def compare(orc: str) -> int:
    count = 0
    with tempfile.TemporaryDirectory() as scratch:
        comparison = Comparison(Path(scratch) / "protobuf.mcap")
        for file in [*files(), *(edition_of(each) for each in files())]:
            schema = with_imports(file).SerializeToString()
            for root in file.message_types_by_name.values():
                for each in messages_of(root):
                    if each.GetOptions().map_entry:
                        continue
                    messages = []
                    for _ in range(ROUNDS):
                        message = message_factory.GetMessageClass(each)()
                        fill(message, 1)
                        data = message.SerializePartialToString(deterministic=True)
                        messages.append((data, as_json(type(message).FromString(data))))
                    comparison.add(each.full_name, (each.full_name, "protobuf", schema), "protobuf", messages)
                    count += 1
        comparison.run(orc)
    return count


if __name__ == "__main__":
    print(f"{compare(sys.argv[1])} types are equal")
