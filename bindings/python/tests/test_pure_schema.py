"""Schemas of orc.pure: what it reads, what it compares, and what hostile bytes do to it."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Dict, Optional

import pytest

from orc import TypeDescription
from orc.pure import schema

PUBLISHER = "arm (4711)"


def struct_type(fields: Any, size: int = 64, name: str = "robot.State", order: str = "little") -> TypeDescription:
    text = json.dumps({"byte_order": order, "size": size, "fields": fields}, separators=(",", ":"))
    return TypeDescription(name, "struct", "struct", text.encode())


def field(name: str, type: Any, offset: int = 0, **more: Any) -> Dict[str, Any]:
    return {"name": name, "type": type, "offset": offset, **more}


def lcm_type(text: str, name: str = "robot.state_t") -> TypeDescription:
    return TypeDescription(name, "lcm", "lcm", text.encode())


def mismatch(published: TypeDescription, expected: TypeDescription) -> Optional[str]:
    """Returns the difference without the sentence's beginning."""
    found = schema.check_types(published, expected, PUBLISHER)
    head = f"type mismatch between {published.name} at publisher `{PUBLISHER}` and {expected.name} here: "
    return found[len(head) :] if found and found.startswith(head) else found


def test_the_hash_is_of_all_parts_with_their_lengths() -> None:
    assert TypeDescription().hash == 0
    assert not TypeDescription()
    described = TypeDescription("robot.State", "struct", "struct", b"{}")
    assert described
    parts = b"".join(len(part).to_bytes(8, "little") + part for part in (b"robot.State", b"struct", b"struct", b"{}"))
    assert described.hash == int.from_bytes(hashlib.sha256(parts).digest()[:8], "little")
    assert TypeDescription("T", "flatbuffer", "flatbuffer", b"schema").hash == 0x8BAB1B2F6531020A  # as in C++
    assert TypeDescription("a", "b").hash != TypeDescription("", "ab").hash


def test_an_untyped_end_matches_anything() -> None:
    described = struct_type([field("q", "float64")])
    assert schema.check_types(TypeDescription(), described, PUBLISHER) is None
    assert schema.check_types(described, TypeDescription(), PUBLISHER) is None


@pytest.mark.parametrize(
    ("published", "expected", "sentence"),
    [
        (
            [field("q", "float32", shape=[7])],
            [field("q", "float64", shape=[7])],
            "field `q` is float32[7] at publisher `arm (4711)`, float64[7] here",
        ),
        (
            [field("q", "int8"), field("tau", "float64", 8, shape=[7])],
            [field("q", "int8")],
            "field `tau` is float64[7] at publisher `arm (4711)`, missing here",
        ),
        (
            [field("q", "int8")],
            [field("tau", "float64", 8, shape=[7]), field("q", "int8")],
            "field `tau` is missing at publisher `arm (4711)`, float64[7] here",
        ),
        (
            [field("dq", "float32", 56)],
            [field("dq", "float32", 60)],
            "field `dq` begins at byte 56 at publisher `arm (4711)`, at byte 60 here",
        ),
        (
            [field("pose", {"size": 8, "fields": [field("x", "float32")]})],
            [field("pose", {"size": 8, "fields": [field("x", "int32")]})],
            "field `pose.x` is float32 at publisher `arm (4711)`, int32 here",
        ),
        (
            [field("pose", {"size": 8, "fields": [field("x", "float32")]})],
            [field("pose", {"size": 4, "fields": [field("x", "float32")]})],
            "the size of `pose` is 8 bytes at publisher `arm (4711)`, 4 bytes here",
        ),
        (
            [field("mode", "int8", values={"idle": 0, "moving": 1})],
            [field("mode", "int8", values={"moving": 2, "broken": 1})],
            "value `moving` of field `mode` is 1 at publisher `arm (4711)`, 2 here",
        ),
        ([field("q", "int8", unit="rad", comment="x")], [field("q", "int8", unit="deg")], None),
    ],
)
def test_the_first_difference_of_structs(published: Any, expected: Any, sentence: Optional[str]) -> None:
    assert mismatch(struct_type(published), struct_type(expected)) == sentence


def test_names_sizes_and_byte_order_of_structs() -> None:
    fields = [field("q", "int8")]
    one = struct_type(fields)
    assert (
        schema.check_types(struct_type(fields, name="robot.Pose"), one, PUBLISHER)
        == "type is robot.Pose at publisher `arm (4711)`, robot.State here"
    )
    nameless = TypeDescription("", "struct", "struct", one.schema + b" ")
    assert schema.check_types(nameless, one, PUBLISHER) is None
    assert mismatch(struct_type(fields, 72), one) == "the size is 72 bytes at publisher `arm (4711)`, 64 bytes here"
    big = struct_type(fields, order="big")
    assert mismatch(big, one) == "the byte order is big-endian at publisher `arm (4711)`, little-endian here"


def test_message_encodings_that_differ_never_match() -> None:
    other = TypeDescription("robot.State", "lcm", "lcm", b"package robot; struct State { int8_t a; }")
    assert (
        mismatch(other, struct_type([field("a", "int8")]))
        == "message encoding is lcm at publisher `arm (4711)`, struct here"
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"byte_order":"middle","size":1,"fields":[]}',
        '{"byte_order":"little","size":-1,"fields":[]}',
        '{"byte_order":"little","size":true,"fields":[]}',
        '{"byte_order":"little","size":1e3,"fields":[]}',
        '{"byte_order":"little","size":' + "9" * 100_000 + ',"fields":[]}',
        '{"byte_order":"little","size":8,"fields":{}}',
        '{"byte_order":"little","size":8,"fields":[1]}',
        '{"byte_order":"little","size":8,"fields":[{"name":"","type":"int8","offset":0}]}',
        '{"byte_order":"little","size":8,"fields":[{"name":"a","type":"int9","offset":0}]}',
        '{"byte_order":"little","size":8,"fields":[{"name":"a","type":"int8","offset":8}]}',
        '{"byte_order":"little","size":8,"fields":[{"name":"a","type":"int8","offset":0,"shape":[0]}]}',
        '{"byte_order":"little","size":8,"fields":[{"name":"a","type":"int8","offset":0,"shape":[3,3]}]}',
        '{"byte_order":"little","size":8,"fields":[{"name":"a\\ud800","type":"int8","offset":0}]}',
        '{"byte_order":"little","size":8,"fields":[{"name":"a","type":"float32","offset":0,"values":{"x":1}}]}',
        '{"byte_order":"little","size":8,"fields":[{"name":"a","type":"int8","offset":0,"values":{"x":1,"x":1}}]}',
        '{"byte_order":"little","size":8,"fields":[{"name":"a","type":"int8","offset":0},'
        '{"name":"a","type":"int8","offset":1}]}',
        "[" * 100_000,
        '{"a":' * 100_000,
        '"' + "\\" * 100_001,
        '{"byte_order":"little","size":8,"fields":[],"more":NaN}',
    ],
)
def test_bad_structs(text: str) -> None:
    bad = TypeDescription("robot.State", "struct", "struct", text.encode() or b" ")
    with pytest.raises(schema.SchemaError):
        schema.check_schema(bad)
    good = struct_type([field("q", "int8")])
    with pytest.raises(schema.SchemaError, match="^schema of robot.State at publisher `arm \\(4711\\)`: "):
        schema.check_types(bad, good, PUBLISHER)
    with pytest.raises(schema.SchemaError, match="^schema of robot.State here: "):
        schema.check_types(good, bad, PUBLISHER)


def test_structs_have_limits() -> None:
    def nested(levels: int) -> Dict[str, Any]:
        inner: Dict[str, Any] = {"size": 1, "fields": []}
        for _ in range(levels - 1):
            inner = {"size": 1, "fields": [field("a", inner)]}
        return inner

    schema.check_schema(struct_type(nested(32)["fields"]))
    with pytest.raises(ValueError, match="32 levels"):
        schema.check_schema(struct_type(nested(33)["fields"]))
    short = '{"name":"%s","type":"int8","offset":0}'
    many = ",".join(short % f"f{number}" for number in range(20_000))
    schema.check_schema(
        TypeDescription("n", "struct", "struct", b'{"byte_order":"little","size":8,"fields":[%s]}' % many.encode())
    )
    with pytest.raises(ValueError, match="1 MiB"):
        schema.check_schema(TypeDescription("n", "struct", "struct", b" " * (1 << 20) + b" "))


def test_the_first_difference_of_lcm_types() -> None:
    one = "package robot; struct state_t { int32_t n; double q[n]; pose_t p; } struct pose_t { float x[3]; }"
    assert mismatch(lcm_type(one), lcm_type("/* same */" + one)) is None
    assert (
        mismatch(lcm_type(one), lcm_type(one.replace("double", "float")))
        == "field `q` is float64[n] at publisher `arm (4711)`, float32[n] here"
    )
    assert (
        mismatch(lcm_type(one), lcm_type(one.replace("x[3]", "x")))
        == "field `p.x` is float32[3] at publisher `arm (4711)`, float32 here"
    )
    other = lcm_type("fingerprint 0x0123456789abcdef\n")
    own = schema.lcm_fingerprint(lcm_type(one))
    assert (
        mismatch(lcm_type(one), other)
        == f"the fingerprint is 0x{own:016x} at publisher `arm (4711)`, 0x0123456789abcdef here"
    )
    assert mismatch(lcm_type(one), lcm_type(f"fingerprint 0x{own:016x}\n")) is None


@pytest.mark.parametrize(
    "text",
    [
        "package robot",
        "package robot; struct state_t { int8_t a; ",
        "package robot; struct state_t { int8_t a, a; }",
        "package robot; struct state_t { nowhere_t a; }",
        "package robot; struct other_t { int8_t a; }",
        "package robot; struct state_t { int8_t a; } struct state_t { }",
        "package robot; struct state_t { double a[n]; int8_t n; }",
        "package robot; struct state_t { double n; double a[n]; }",
        "package robot; struct state_t { double a[0]; }",
        "package robot; struct state_t { const int8_t a = 300; }",
        "package robot; struct state_t { const string a = b; }",
        "package robot; struct state_t { double a" + "[2]" * 33 + "; }",
        "/* package robot; struct state_t { }",
        "package robot; enum state_t { a }",
        "fingerprint 0x",
        "package robot; struct state_t { int8_t a$; }",
    ],
)
def test_bad_lcm_types(text: str) -> None:
    with pytest.raises(schema.SchemaError):
        schema.check_schema(lcm_type(text))
    assert schema.lcm_fingerprint(lcm_type(text)) is None


def chain(length: int, closed: bool = False) -> str:
    last = "s0" if closed else "int8_t"
    return "".join(f"struct s{i} {{ {f's{i + 1}' if i + 1 < length else last} a; }}\n" for i in range(length))


def test_lcm_types_have_limits() -> None:
    assert schema.lcm_fingerprint(lcm_type(chain(64), "s0")) is not None
    for text in (chain(65), chain(65, True), chain(5_000), chain(5_000, True)):
        with pytest.raises(ValueError, match="64 levels"):
            schema.check_schema(lcm_type(text, "s0"))


def test_lcm_types_that_contain_each_other_in_many_ways() -> None:
    # Each type has the next one twice; the last one has none, or closes the circle
    twice = "".join(f"struct s{i} {{ s{i + 1} a, b; }}\n" for i in range(60))
    assert schema.lcm_fingerprint(lcm_type(twice + "struct s60 { int8_t a; }", "s0")) is not None
    assert schema.lcm_fingerprint(lcm_type(twice + "struct s60 { s0 a; }", "s0")) is not None
    members = " ".join(f"s{i} f{i};" for i in range(30))
    each_other = "".join(f"struct s{i} {{ {members} }}\n" for i in range(30))
    with pytest.raises(ValueError, match="too many ways"):
        schema.check_schema(lcm_type(each_other, "s0"))
    star = "struct s0 { %s } " % "".join(f"t{i} f{i};" for i in range(10_000))
    star += "".join(f"struct t{i} {{ s0 f; }}" for i in range(10_000))
    assert schema.lcm_fingerprint(lcm_type(star, "s0")) is not None
    # A type that is found by a shorter way first counts at its real depth
    with pytest.raises(ValueError, match="64 levels"):
        schema.check_schema(lcm_type("struct r { s40 s; s0 l; }" + chain(65), "r"))


ROS2 = f"""# where it is
std_msgs/Header header
float64[3] q 1.0
string<=10[<=5] names # of joints
int8 MODE=3
Pose[] poses
{"=" * 80}
MSG: std_msgs/Header
string frame_id
{"=" * 80}
MSG: robot/Pose
float64 x
char c
"""


def ros2_type(text: str, name: str = "robot/msg/State") -> TypeDescription:
    return TypeDescription(name, "ros2msg", "cdr", text.encode())


@pytest.mark.parametrize(
    ("was", "becomes", "sentence"),
    [
        ("float64[3] q", "float32[3] q", "field `q` is float64[3] at publisher `arm (4711)`, float32[3] here"),
        ("<=10[", "<=11[", "field `names` is string<=10[<=5] at publisher `arm (4711)`, string<=11[<=5] here"),
        ("[<=5]", "[]", "field `names` is string<=10[<=5] at publisher `arm (4711)`, string<=10[] here"),
        ("float64 x", "int8 y", "field `poses.x` is float64 at publisher `arm (4711)`, missing here"),
        (
            "float64[3] q 1.0\nstring<=10[<=5] names",
            "string<=10[<=5] names\nfloat64[3] q",
            "field `q` is number 2 at publisher `arm (4711)`, number 3 here",
        ),
        ("MODE=3", "MODE=4", None),
        ("Pose[] poses", "robot/msg/Pose[] poses", None),
        ("char c", "uint8 c", None),
    ],
)
def test_the_first_difference_of_ros2_messages(was: str, becomes: str, sentence: Optional[str]) -> None:
    assert was in ROS2
    assert mismatch(ros2_type(ROS2), ros2_type(ROS2.replace(was, becomes))) == sentence


@pytest.mark.parametrize(
    "text",
    [
        "float64",
        "float64 1x",
        "float64 _x",
        "float64[0] x",
        "float64[3][3] x",
        "float64<=3 x",
        "Pose[] poses",
        "float64 x\nfloat32 x",
        "float64[2] x = 3",
        "=" * 80,
        "=" * 80 + "\nfloat64 x",
        "=" * 80 + "\nMSG: Pose",
        "=" * 80 + "\nMSG: robot/State",
        "State s",
        "Pose p\n" + "=" * 80 + "\nMSG: robot/Pose\nState s",
        "string[99999999999] x",
    ],
)
def test_bad_ros2_messages(text: str) -> None:
    with pytest.raises(schema.SchemaError, match="^schema of robot/msg/State: "):
        schema.check_schema(ros2_type(text))


def test_json_compares_names() -> None:
    one = TypeDescription("robot.State", "jsonschema", "json", b"{}")
    assert schema.check_types(one, TypeDescription("robot.State", "", "json"), PUBLISHER) is None
    assert schema.check_types(TypeDescription("", "", "json"), one, PUBLISHER) is None
    assert (
        schema.check_types(one, TypeDescription("robot.Pose", "", "json"), PUBLISHER)
        == "type is robot.State at publisher `arm (4711)`, robot.Pose here"
    )


def test_types_of_an_unknown_encoding_must_be_equal() -> None:
    one = TypeDescription("a", "new", "newer", b"1")
    assert schema.check_types(one, TypeDescription("a", "new", "newer", b"1"), PUBLISHER) is None
    assert mismatch(one, TypeDescription("a", "new", "newer", b"2")) == "the schemas differ"
    assert (
        mismatch(one, TypeDescription("a", "old", "newer", b"1"))
        == "schema encoding is new at publisher `arm (4711)`, old here"
    )


def test_text_of_strangers_is_escaped() -> None:
    hostile = struct_type([field("a\x1b[2J\n\u202e\\", "int8")], name="x\x07")
    assert mismatch(hostile, struct_type([], name="x\x07")) == (
        "type mismatch between x\\x07 at publisher `arm (4711)` and x\\x07 here: "
        "field `a\\x1b[2J\\n\\xe2\\x80\\xae\\\\` is int8 at publisher `arm (4711)`, missing here"
    )
