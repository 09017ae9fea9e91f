"""Schemas and values of structs, as numpy dtypes and as dataclasses. The schemas are those of ORC_DESCRIBE in C++."""

from __future__ import annotations

import dataclasses
import enum
import sys
from typing import Annotated, Any, List

import pytest

numpy = pytest.importorskip("numpy")
import numpy as np  # noqa: E402
from numpy.typing import NDArray  # noqa: E402

from orc._errors import BadArgument, BadSample  # noqa: E402
from orc._typed import Field, struct, typed  # noqa: E402


@dataclasses.dataclass
class Plain:
    q: Annotated[NDArray[np.float64], 7]
    tau: np.float32


@dataclasses.dataclass
class Padded:
    first: np.uint8
    second: np.float64
    third: np.uint16


@dataclasses.dataclass
class Vector3:
    x: Annotated[float, Field(unit="m")]
    y: Annotated[float, Field(unit="m")]
    z: Annotated[float, Field(unit="m", comment="up")]


@dataclasses.dataclass
class Pose:
    position: Vector3
    axes: Annotated[List[Vector3], 2]
    grid: Annotated[List[List[Vector3]], (2, 3)]


class Mode(enum.IntEnum):
    idle = 0
    moving = 5


class Level(enum.IntEnum):
    low = -3
    high = 300


class OldStyle(enum.IntEnum):
    old_first = 0
    old_second = 1


@dataclasses.dataclass
class EveryKind:
    flag: bool
    letter_: Annotated[bytes, 1]
    i8: np.int8
    u8: np.uint8
    i16: np.int16
    u16: np.uint16
    i32: np.int32
    u32: np.uint32
    i64: np.int64
    u64: np.uint64
    f32: np.float32
    f64: np.float64
    name: Annotated[bytes, 32]
    now: Annotated[Mode, np.uint8]
    levels: Annotated[List[Level], 2, np.int16]
    old_: OldStyle
    matrix: Annotated[NDArray[np.float32], (3, 4)]
    small: Annotated[int, np.uint8]


@dataclasses.dataclass
class Quoted:
    angle: Annotated[np.float32, Field(unit="°", comment='a "quoted" \\ text\n\x1f')]


def schema(of: Any) -> str:
    return str(typed(of).description.schema.decode())


PLAIN = (
    '{"byte_order":"little","size":64,"fields":[{"name":"q","type":"float64","offset":0,"shape":[7]},'
    '{"name":"tau","type":"float32","offset":56}]}'
)
PADDED = (
    '{"byte_order":"little","size":24,"fields":[{"name":"first","type":"uint8","offset":0},'
    '{"name":"second","type":"float64","offset":8},{"name":"third","type":"uint16","offset":16}]}'
)
VECTOR = (
    '{"size":24,"fields":[{"name":"x","type":"float64","offset":0,"unit":"m"},'
    '{"name":"y","type":"float64","offset":8,"unit":"m"},'
    '{"name":"z","type":"float64","offset":16,"unit":"m","comment":"up"}]}'
)


def field(name: str, kind: str, offset: int, more: str = "") -> str:
    return f'{{"name":"{name}","type":{kind},"offset":{offset}{more}}}'


def test_the_schema_is_canonical_json() -> None:
    assert schema(Plain) == PLAIN
    assert schema(np.dtype([("q", "f8", 7), ("tau", "f4")], align=True)) == PLAIN


def test_fields_have_their_real_offsets_in_order_and_padding_is_not_listed() -> None:
    assert schema(Padded) == PADDED
    assert schema(np.dtype([("first", "u1"), ("second", "f8"), ("third", "u2")], align=True)) == PADDED
    explicit = {"names": ["third", "first", "second"], "formats": ["u2", "u1", "f8"], "offsets": [16, 0, 8]}
    assert schema(np.dtype({**explicit, "itemsize": 24})) == PADDED
    wide = np.dtype({"names": ["first", "second"], "formats": ["u1", "u1"], "offsets": [0, 32], "itemsize": 64})
    assert schema(wide) == (
        '{"byte_order":"little","size":64,"fields":[{"name":"first","type":"uint8","offset":0},'
        '{"name":"second","type":"uint8","offset":32}]}'
    )


def test_nested_structs_are_objects_with_their_units_and_comments() -> None:
    fields = [
        field("position", VECTOR, 0),
        field("axes", VECTOR, 24, ',"shape":[2]'),
        field("grid", VECTOR, 72, ',"shape":[2,3]'),
    ]
    expected = f'{{"byte_order":"little","size":216,"fields":[{",".join(fields)}]}}'
    assert schema(Pose) == expected
    meters = np.dtype("f8", metadata={"unit": "m"})
    vector = np.dtype([("x", meters), ("y", meters), ("z", np.dtype("f8", metadata={"unit": "m", "comment": "up"}))])
    assert schema(np.dtype([("position", vector), ("axes", vector, 2), ("grid", vector, (2, 3))])) == expected


def test_every_kind_of_field_has_its_name_and_enumerations_their_values() -> None:
    text = schema(EveryKind)
    dtype: Any = typed(EveryKind).dtype  # type: ignore[union-attr]
    expected = {
        "flag": ("bool", ""),
        "letter_": ("char", ',"shape":[1]'),
        **{f"{letter}{bits}": (f"{kind}{bits}", "") for letter, kind in (("i", "int"), ("u", "uint")) for bits in BITS},
        "f32": ("float32", ""),
        "f64": ("float64", ""),
        "name": ("char", ',"shape":[32]'),
        "now": ("uint8", ',"values":{"idle":0,"moving":5}'),
        "levels": ("int16", ',"shape":[2],"values":{"low":-3,"high":300}'),
        "old_": ("int32", ',"values":{"old_first":0,"old_second":1}'),
        "matrix": ("float32", ',"shape":[3,4]'),
        "small": ("uint8", ""),
    }
    assert set(expected) == set(dtype.names)
    for name, (kind, more) in expected.items():
        assert field(name, f'"{kind}"', dtype.fields[name][1], more) in text


BITS = (8, 16, 32, 64)


def test_text_in_a_schema_is_escaped_as_json_and_stays_utf_8() -> None:
    assert schema(Quoted) == (
        '{"byte_order":"little","size":4,"fields":[{"name":"angle","type":"float32","offset":0,'
        '"unit":"°","comment":"a \\"quoted\\" \\\\ text\\u000a\\u001f"}]}'
    )


def test_names() -> None:
    class Named(Plain):
        __orc_name__ = "robot.Plain"

    dtype = np.dtype([("x", "f8")])
    assert typed(Plain).description.name == "Plain"  # type: ignore[union-attr]
    assert typed(Named).description.name == "robot.Plain"  # type: ignore[union-attr]
    assert typed(dtype).description.name == ""  # type: ignore[union-attr]
    assert struct("robot.X", dtype).description.name == "robot.X"
    assert struct("robot.X", dtype).description.message_encoding == "struct"


@dataclasses.dataclass
class State:
    __orc_name__ = "robot.State"
    q: Annotated[NDArray[np.float64], 7]
    dq: Annotated[NDArray[np.float32], Field(shape=7, unit="rad/s")]
    mode: Annotated[Mode, np.uint8, Field(comment="what the arm does")]
    points: Annotated[List[List[Vector3]], (2, 3)]
    name: Annotated[bytes, 32]


def test_a_struct_has_the_hash_that_cpp_gives_it() -> None:
    """The number is orc::hash_of of this struct in C++, described by ORC_DESCRIBE(State, q, (dq, "rad/s"), …):

    namespace robot { struct State { double q[7]; float dq[7]; Mode mode; vector3 points[2][3]; char name[32]; }; }
    """
    assert typed(State).description.hash == 0xA4A1EE2AC9D1A08C  # type: ignore[union-attr]


@dataclasses.dataclass
class WithText:
    name: str


@dataclasses.dataclass
class WithoutSize:
    q: NDArray[np.float64]


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (np.dtype("f8"), "a struct has fields"),
        (np.dtype([("x", "f2")]), "field x is float16"),
        (np.dtype([("p", [("z", "c16")])]), "field p.z is complex128"),
        (np.dtype([("o", "O")]), "field o is object"),
        (np.dtype([("t", "U4")]), "field t is"),
        (np.dtype([("x", "<f4"), ("y", ">f4")]), "one order of bytes"),
        (WithText, "WithText.name is <class 'str'>"),
        (WithoutSize, "WithoutSize.q needs a size"),
    ],
    ids=str,
)
def test_what_a_struct_cannot_have(wrong: Any, why: str) -> None:
    with pytest.raises(BadArgument, match=why):
        typed(wrong)


def test_a_record_is_a_view_of_the_bytes() -> None:
    dtype = np.dtype([("q", "f8", 7), ("tau", "f4")], align=True)
    codec = struct("robot.State", dtype)
    value = np.zeros((), dtype)
    value["q"] = range(7)
    sample = bytes(codec.encode(value))
    assert len(sample) == 64
    record = codec.decode(sample)
    assert record["q"][3] == 3 and not record["q"].flags.writeable
    assert record["q"].__array_interface__["data"][0] == np.frombuffer(sample, "u1").__array_interface__["data"][0]
    assert bytes(codec.encode(value[()])) == sample  # a scalar of the dtype
    assert bytes(codec.encode((range(7), 0))) == sample
    assert bytes(codec.encode(sample)) == sample


def test_a_dataclass_has_views_of_the_bytes() -> None:
    codec: Any = typed(EveryKind)
    matrix = np.arange(12, dtype="f4").reshape(3, 4)
    levels = [Level.high, Level.low]
    numbers = [np.int8(-1), np.uint8(2), np.int16(-3), np.uint16(4), np.int32(-5), np.uint32(6), np.int64(-7)]
    value = EveryKind(
        True, b"a", *numbers, np.uint64(2**63), np.float32(0.5), np.float64(0.1), b"arm", Mode.moving, levels,
        OldStyle.old_second, matrix, 200,
    )  # fmt: skip
    sample = bytes(codec.encode(value))
    found = codec.decode(sample)
    for each in dataclasses.fields(EveryKind):
        assert np.array_equal(getattr(found, each.name), getattr(value, each.name)), each.name
    assert found.now is Mode.moving and found.levels == levels and isinstance(found.i8, np.int8)
    assert found.matrix.base is not None and not found.matrix.flags.writeable
    unknown = bytearray(sample)
    unknown[codec.dtype.fields["now"][1]] = 77
    assert codec.decode(unknown).now == 77


def test_nested_dataclasses() -> None:
    codec: Any = typed(Pose)
    one = [Vector3(float(n), float(n + 1), float(n + 2)) for n in range(9)]
    value = Pose(one[0], one[1:3], [one[3:6], one[6:9]])
    assert codec.decode(bytes(codec.encode(value))) == value
    with pytest.raises(BadSample, match="field axes of Pose has 2 elements"):
        codec.encode(Pose(one[0], one[1:2], [one[3:6], one[6:9]]))


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (bytes(10), "a sample of 10 bytes is no Plain, which has 64 bytes"),
        (Plain(np.zeros(6), np.float32(0)), r"field q of Plain is float64\[7\], and the value is .* shape \[6\]"),
        (Plain(np.zeros(7, "c16"), np.float32(0)), "the value is complex128"),
        (Plain("text", np.float32(0)), "field q of Plain is float64"),  # type: ignore[arg-type]
        (5, "int is no value of Plain"),
        (np.zeros((), [("x", "f8")]), "no Plain"),
    ],
    ids=str,
)  # fmt: skip
def test_a_wrong_value_says_what_was_found(value: Any, why: str) -> None:
    with pytest.raises(BadSample, match=why) as raised:
        bytes(typed(Plain).encode(value))  # type: ignore[union-attr]
    assert isinstance(raised.value, ValueError)


def test_a_sample_of_another_size_says_so() -> None:
    for of in (Plain, struct("Plain", np.dtype([("q", "f8", 7), ("tau", "f4")], align=True))):
        with pytest.raises(BadSample, match="a sample of 63 bytes is no Plain, which has 64 bytes"):
            typed(of).decode(bytes(63))  # type: ignore[union-attr]


def test_what_is_no_type() -> None:
    for wrong in (5, "f8", object, [("x", "f8")]):
        with pytest.raises(TypeError, match="no type of a topic"):
            typed(wrong)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="Python has no `type` statement before 3.12")
def test_a_name_of_a_type_statement_is_what_it_stands_for() -> None:
    """numpy 2.5 makes NDArray so."""
    names: dict[str, Any] = {"Annotated": Annotated, "NDArray": NDArray, "np": np}
    exec("type Seven = Annotated[NDArray[np.float64], 7]\ntype Several[T] = list[T]", names)
    several = names["Several"][np.int32]
    made = dataclasses.make_dataclass("Made", [("q", names["Seven"]), ("ids", Annotated[several, 3])])
    assert typed(made).dtype == np.dtype([("q", "f8", 7), ("ids", "i4", 3)], align=True)
