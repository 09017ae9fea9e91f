"""FlatBuffers types as flatc describes them, compared by orc.pure."""

from __future__ import annotations

import pathlib
import shutil
import subprocess
from typing import Callable, Optional

import pytest

from orc import TypeDescription
from orc.pure import schema

Describe = Callable[[str], TypeDescription]

BASE = """namespace robot;
enum Mode : byte { Idle = 0, Moving = 1 }
struct Point { x: double; y: float; }
table Text { said: string; }
table Number { value: int = 3; }
union Extra { Text, Number }
table State {
  q: [double];
  mode: Mode = Moving;
  point: Point;
  points: [Point];
  name: string (required);
  gain: float = 0.5;
  limit: int = null;
  extra: Extra;
  before: State;
  old: bool (deprecated);
}
root_type State;
"""


@pytest.fixture
def describe(tmp_path: pathlib.Path) -> Describe:
    flatc = shutil.which("flatc")
    if flatc is None:
        pytest.skip("flatc is not installed (flatbuffers-compiler)")

    def described(text: str) -> TypeDescription:
        (tmp_path / "state.fbs").write_text(text)
        subprocess.run([flatc, "--binary", "--schema", "state.fbs"], cwd=tmp_path, check=True)
        return TypeDescription("robot.State", "flatbuffer", "flatbuffer", (tmp_path / "state.bfbs").read_bytes())

    return described


@pytest.mark.parametrize(
    ("was", "becomes", "difference"),
    [
        ("old: bool (deprecated);", "old: bool (deprecated); more: [ubyte];", None),
        ("Moving = 1 }", "Moving = 1, Broken = 2 }", None),
        ("union Extra { Text, Number }", "union Extra { Text, Number, State }", None),
        ("q: [double];", "positions: [double];", None),
        ("[double]", "[float]", "field `q` is [double] at publisher `arm (4711)`, [float] here"),
        ("value: int", "value: uint", "field `extra.Number.value` is int at publisher `arm (4711)`, uint here"),
        ("= 0.5", "= 0.25", "the default of field `gain` is 0.5 at publisher `arm (4711)`, 0.25 here"),
        (
            "limit: int = null",
            "limit: int = 7",
            "the default of field `limit` is null at publisher `arm (4711)`, 7 here",
        ),
        (
            "name: string (required)",
            "name: string",
            "field `name` is required string at publisher `arm (4711)`, string here",
        ),
        ("Moving = 1 }", "Moving = 2 }", "the default of field `mode` is 1 at publisher `arm (4711)`, 2 here"),
        ("Idle = 0,", "Idle = -1, None = 0,", "value `Idle` of field `mode` is 0 at publisher `arm (4711)`, -1 here"),
        (
            "y: float;",
            "y: float; z: float;",
            "field `point.z` is missing at publisher `arm (4711)`, float here",
        ),
        ("struct Point", "struct Point (force_align: 16)", "the alignment of `point` is 8 bytes"),
        (
            "union Extra { Text, Number }",
            "union Extra { Number, Text }",
            "value `Text` of field `extra` is 1 at publisher `arm (4711)`, 2 here",
        ),
        ("x: double; y: float;", "y: float; x: double;", "the id of field `point.x` is 0"),
    ],
)
def test_the_first_difference(describe: Describe, was: str, becomes: str, difference: Optional[str]) -> None:
    assert was in BASE
    head = "type mismatch between robot.State at publisher `arm (4711)` and robot.State here: "
    found = schema.check_types(describe(BASE), describe(BASE.replace(was, becomes)), "arm (4711)")
    if difference is None:
        assert found is None
    else:
        assert found and found.startswith(head + difference), found


def test_a_table_that_is_not_there(describe: Describe) -> None:
    described = describe(BASE)
    schema.check_schema(TypeDescription("", "flatbuffer", "flatbuffer", described.schema))
    for name, why in (("robot.Pose", "is not defined"), ("robot.Point", "is a struct, not a table")):
        with pytest.raises(schema.SchemaError, match=why):
            schema.check_schema(TypeDescription(name, "flatbuffer", "flatbuffer", described.schema))


def test_half_a_binary_schema_is_refused(describe: Describe) -> None:
    described = describe(BASE)
    for end in range(1, len(described.schema) // 2, 7):
        with pytest.raises(schema.SchemaError):
            schema.check_schema(TypeDescription("robot.State", "flatbuffer", "flatbuffer", described.schema[:end]))
