"""Protobuf types as protoc describes them, compared by orc.pure."""

from __future__ import annotations

import pathlib
import shutil
import subprocess
from typing import Callable, Dict, Optional, Union

import pytest

from orc import TypeDescription
from orc.pure import schema

Describe = Callable[[str], TypeDescription]

BASE = """syntax = "proto2";
package robot;
import "pose.proto";
message State {
  enum Mode { IDLE = 0; MOVING = 1; }
  repeated double q = 1;
  optional Mode mode = 2;
  required int32 id = 3;
  map<string, geometry.Pose> poses = 4;
  optional State before = 5;
  oneof extra { string text = 6; bytes raw = 7; }
  optional group Part = 8 { optional fixed32 number = 1; }
}
"""
POSE = 'syntax = "proto3"; package geometry; message Pose { double x = 1; optional float y = 2; }'


@pytest.fixture
def describe(tmp_path: pathlib.Path) -> Describe:
    protoc = shutil.which("protoc")
    if protoc is None:
        pytest.skip("protoc is not installed (protobuf-compiler)")

    def described(text: str) -> TypeDescription:
        (tmp_path / "state.proto").write_text(text)
        (tmp_path / "pose.proto").write_text(POSE)
        command = [protoc, "--include_imports", "--descriptor_set_out=set.bin", "state.proto"]
        subprocess.run(command, cwd=tmp_path, check=True, stderr=subprocess.DEVNULL)
        return TypeDescription("robot.State", "protobuf", "protobuf", (tmp_path / "set.bin").read_bytes())

    return described


@pytest.mark.parametrize(
    ("was", "becomes", "difference"),
    [
        ("double q", "double positions", None),
        ("optional State before = 5;", "", None),
        ("optional Mode mode = 2;", "optional Mode mode = 2; optional bool more = 9;", None),
        ("MOVING = 1;", "MOVING = 1; BROKEN = 2;", None),
        ("string text = 6; bytes raw = 7;", "string text = 6;", None),
        (
            "double q",
            "float q",
            "field `q` is repeated double at publisher `arm (4711)`, repeated float here",
        ),
        (
            "repeated double q",
            "optional double q",
            "field `q` is repeated double at publisher `arm (4711)`, double here",
        ),
        (
            "required int32 id = 3;",
            "optional int32 id = 3;",
            "field `id` is required int32 at publisher `arm (4711)`, optional int32 here",
        ),
        (
            "required int32 id = 3;",
            "",
            "field `id` is required int32 at publisher `arm (4711)`, missing here",
        ),
        (
            "string text = 6;",
            "bytes text = 6;",
            "field `text` is string at publisher `arm (4711)`, bytes here",
        ),
        (
            "MOVING = 1;",
            "RUNNING = 1;",
            "value 1 of field `mode` is `MOVING` at publisher `arm (4711)`, `RUNNING` here",
        ),
        (
            "map<string, geometry.Pose>",
            "map<int32, geometry.Pose>",
            "field `poses.key` is string at publisher `arm (4711)`, int32 here",
        ),
        (
            "map<string, geometry.Pose> poses",
            "repeated string poses",
            "field `poses` is map<string, geometry.Pose> at publisher `arm (4711)`, repeated string here",
        ),
        (
            "fixed32 number",
            "int32 number",
            "field `part.number` is fixed32 at publisher `arm (4711)`, int32 here",
        ),
    ],
)
def test_the_first_difference(describe: Describe, was: str, becomes: str, difference: Optional[str]) -> None:
    assert was in BASE
    head = "type mismatch between robot.State at publisher `arm (4711)` and robot.State here: "
    found = schema.check_types(describe(BASE), describe(BASE.replace(was, becomes)), "arm (4711)")
    assert found == (None if difference is None else head + difference)


def test_a_message_that_is_not_there(describe: Describe) -> None:
    other = TypeDescription("robot.Pose", "protobuf", "protobuf", describe(BASE).schema)
    with pytest.raises(schema.SchemaError, match="message `robot.Pose` is not defined"):
        schema.check_schema(other)


# Editions, which protoc of Debian 12 does not know: descriptors written by hand (descriptor.proto).


def record(number: int, content: Union[int, bytes]) -> bytes:
    """A field of a message."""
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    return varint(number << 3 | 2) + varint(len(content)) + content


def varint(value: int) -> bytes:
    return (bytes([value & 0x7F | 0x80]) + varint(value >> 7)) if value > 0x7F else bytes([value])


REQUIRED, DELIMITED, PREFIXED = record(1, 3), record(5, 2), record(5, 1)


def edition(field: bytes = b"", message: bytes = b"", file: bytes = b"", map: bool = False) -> TypeDescription:
    """message State { message V { int32 key = 1; } V v = 1; } with features; `map`: V is an entry of a map."""
    number = record(1, b"key") + record(3, 1) + record(4, 1) + record(5, 5)
    inner = record(1, b"V") + record(2, number) + record(7, record(7, int(map)))
    v = record(1, b"v") + record(3, 1) + record(4, 3 if map else 1) + record(5, 11) + record(6, b".robot.State.V")
    state = record(1, b"State") + record(2, v + record(8, record(21, field))) + record(3, inner)
    state += record(7, record(12, message))
    all = record(1, b"t.proto") + record(2, b"robot") + record(4, state) + record(8, record(50, file))
    return TypeDescription("robot.State", "protobuf", "protobuf", record(1, all + record(12, b"editions")))


@pytest.mark.parametrize("features", [{"field": DELIMITED}, {"message": DELIMITED}, {"file": DELIMITED}])
def test_a_delimited_field_is_a_group(features: Dict[str, bytes]) -> None:
    """It is framed otherwise on the wire: a parser that expects a length finds no such field."""
    found = schema.check_types(edition(**features), edition(), "")
    assert found and found.endswith("field `v` is group robot.State.V at the publisher, robot.State.V here")
    assert schema.check_types(edition(**features), edition(**features, map=False), "") is None


def test_features_that_mean_the_same_bytes() -> None:
    assert schema.check_types(edition(file=DELIMITED, field=PREFIXED), edition(), "") is None
    assert schema.check_types(edition(file=DELIMITED, map=True), edition(map=True), "") is None  # maps never are


def test_a_legacy_required_field_is_required() -> None:
    found = schema.check_types(edition(), edition(field=REQUIRED), "")
    assert found and "field `v` is optional robot.State.V at the publisher, required robot.State.V here" in found


def test_extensions_are_fields_of_their_message(describe: Describe) -> None:
    text = "message State { optional int32 a = 1; extensions 100 to 199; %s }"
    there = 'syntax = "proto2"; package robot; extend State { optional %s e = 100; }' + text % ""
    inside = 'syntax = "proto2"; package robot;' + text % "extend State { optional sint32 e = 100; }"
    for published in (there % "sint32", inside):
        found = schema.check_types(describe(published), describe(there % "int32"), "")
        assert found and found.endswith("field `e` is sint32 at the publisher, int32 here")
    assert schema.check_types(describe(there % "int32"), describe(there % "int32" + "message Other {}"), "") is None
