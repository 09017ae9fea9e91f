"""Protobuf types as protoc describes them, compared by orc.pure."""

from __future__ import annotations

import pathlib
import shutil
import subprocess
from typing import Callable, Optional

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
