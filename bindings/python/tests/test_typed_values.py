"""What a struct accepts as a value, and as values of its fields."""

from __future__ import annotations

import ctypes
import dataclasses
import enum
from typing import Annotated, Any, List

import pytest

numpy = pytest.importorskip("numpy")
import numpy as np  # noqa: E402
from numpy.typing import NDArray  # noqa: E402

from orc._errors import BadArgument, BadSample  # noqa: E402
from orc._type_description import TypeDescription  # noqa: E402
from orc._typed import Field, json, struct, typed  # noqa: E402


@dataclasses.dataclass
class Numbers:
    count: int = 0
    small: np.int8 = np.int8(0)
    byte: np.uint8 = np.uint8(0)
    large: Annotated[List[int], 2, np.uint64] = dataclasses.field(default_factory=lambda: [0, 0])
    pair: Annotated[List[int], 2] = dataclasses.field(default_factory=lambda: [0, 0])
    narrow: Annotated[NDArray[np.int8], 2] = dataclasses.field(default_factory=lambda: np.zeros(2, np.int8))
    ratio: float = 0
    half: np.float32 = np.float32(0)
    flag: bool = False
    text: Annotated[bytes, 4] = b""


codec: Any = typed(Numbers)
record: Any = struct("Numbers", codec.dtype)
ZEROS = tuple(vars(Numbers()).values())

REFUSED = [
    ("count", 1.9, "1.9"),
    ("count", "1", "'1'"),
    ("count", None, "None"),
    ("count", 2**63, str(2**63)),
    ("count", 2**64, "1844"),
    ("small", 300, "300"),
    ("small", np.int64(-129), "-129"),
    ("byte", -1, "-1"),
    ("byte", 256, "256"),
    ("large", [2**63, -1], "-1"),
    ("large", [2**63, 1.5], "1.5"),
    ("pair", [1.5, 2.7], "1.5, 2.7"),
    ("pair", np.array([1.0, 2.0]), "float64"),
    ("narrow", np.array([1, 300]), "300"),
    ("narrow", np.array([-129, 1]), "-129"),
    ("narrow", np.array([1, 200], np.uint8), "200"),
    ("ratio", "1", "'1'"),
    ("ratio", 1j, "1j"),
    ("flag", 2, "2"),
    ("flag", 1.0, "1.0"),
    ("text", b"12345", "5 bytes"),
    ("text", 5, "5"),
]


@pytest.mark.parametrize(("name", "value", "shown"), REFUSED, ids=str)
def test_a_value_that_a_field_cannot_hold_is_refused(name: str, value: Any, shown: str) -> None:
    of_tuple = tuple(value if each.name == name else old for each, old in zip(dataclasses.fields(Numbers), ZEROS))
    for kind, given in ((codec, Numbers(**{name: value})), (record, of_tuple)):
        with pytest.raises(BadSample, match=f"field {name} of Numbers is ") as raised:
            kind.encode(given)
        assert shown in str(raised.value).partition("and the value")[2]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("count", np.uint8(255)),
        ("count", -(2**63)),
        ("small", -128),
        ("byte", 255),
        ("byte", np.int64(255)),
        ("large", [2**64 - 1, 1]),
        ("pair", (1, 2)),
        ("pair", range(2)),
        ("narrow", np.array([-128, 127])),
        ("ratio", 7),
        ("ratio", np.float32(0.5)),
        ("half", 3),
        ("half", 0.5),
        ("flag", np.bool_(True)),
        ("text", b"1234"),
        ("text", np.array(b"12", "S9")),
    ],
    ids=str,
)
def test_a_value_that_a_field_can_hold_arrives(name: str, value: Any) -> None:
    of_tuple = tuple(value if each.name == name else old for each, old in zip(dataclasses.fields(Numbers), ZEROS))
    for kind, given in ((codec, Numbers(**{name: value})), (record, of_tuple)):
        assert np.array_equal(codec.decode(bytes(kind.encode(given))).__dict__[name], value)


def test_an_array_of_the_field_s_dtype_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    from orc._typed import elements

    monkeypatch.setattr(elements, "_problem", None)
    of = struct("X", np.dtype([("q", "f8", 7), ("n", "i4", 3)]))
    assert len(bytes(of.encode((np.ones(7), np.arange(3, dtype="i4"))))) == 68


def test_nested_structs_of_a_tuple() -> None:
    point = np.dtype([("x", "i1"), ("y", "i1")])
    of = struct("Path", np.dtype([("first", point), ("more", point, (1, 2))]))
    assert bytes(of.encode(((1, 2), [[(3, 4), (5, 6)]]))) == bytes([1, 2, 3, 4, 5, 6])
    assert bytes(of.encode((np.zeros((), point), np.zeros((1, 2), point)))) == bytes(6)
    for wrong, why in (
        (((1, 2), [[(3, 4), (5, 600)]]), r"field more\[0\]\[1\].y of Path is int8, and the value is 600"),
        (((1, 2), [[(3, 4)]]), "has 2 elements"),
        (((1, 2, 3), [[(3, 4), (5, 6)]]), "first has 3 elements"),
        ((5, [[(3, 4), (5, 6)]]), "field first of Path is a struct"),
        (((1, 2),), "the tuple has 1 elements"),
    ):
        with pytest.raises(BadSample, match=why):
            of.encode(wrong)


@pytest.mark.parametrize("of", [Numbers, json(), TypeDescription("x", "y", "z", b"")], ids=repr)
def test_arrays_of_other_elements_are_no_samples(of: Any) -> None:
    kind: Any = typed(of)
    for wrong in (np.zeros(7, "f4"), memoryview(np.zeros(8, "i2")), (ctypes.c_double * 8)(), np.zeros(3, "M8[s]")):
        with pytest.raises(BadSample, match=" is no value of "):
            kind.encode(wrong)


def test_bytes_of_any_kind_are_samples() -> None:
    of = struct("X", np.dtype([("q", "u4", 2)]))
    for sample in (bytes(8), bytearray(8), memoryview(bytes(8)), np.zeros(8, "u1"), (ctypes.c_ubyte * 8)()):
        assert bytes(of.encode(sample)) == bytes(8)
    assert bytes(of.encode((ctypes.c_char * 8)())) == bytes(8)


class Sign(enum.IntEnum):
    minus = -1
    plus = 1


class Large(enum.IntEnum):
    top = 2**63


def test_values_of_enumerations_are_in_the_range_of_their_integer() -> None:
    for of, dtype, why in (
        (Sign, "u1", "field mode is uint8, and Sign.minus is -1: its values are 0 to 255"),
        (Large, "u8", "field mode is uint64, and Large.top is 9223372036854775808"),
        (Large, "i4", "field mode is int32"),
        (Sign, "f8", "field mode is float64, and has the values of Sign: an enumeration is an integer"),
        ({"a": 1}, "u1", "the values of field mode are no IntEnum"),
    ):
        with pytest.raises(BadArgument, match=why):
            typed(np.dtype([("mode", np.dtype(dtype, metadata={"values": of}))]))
    kind = dataclasses.make_dataclass("WithSign", [("mode", Annotated[Sign, Field(dtype=np.uint32)])])
    with pytest.raises(BadArgument, match="field mode is uint32, and Sign.minus is -1"):
        typed(kind)


def test_an_array_of_one_char_is_not_a_char() -> None:
    """As ORC_DESCRIBE has them: `char c[1]` has a shape, `char c` has none."""
    array = '{"byte_order":"little","size":1,"fields":[{"name":"c","type":"char","offset":0,"shape":[1]}]}'
    single = array.replace(',"shape":[1]', "")
    for annotation, dtype, schema in ((1, ("S1", (1,)), array), (Field(dtype="S1"), "S1", single)):
        kind: Any = typed(dataclasses.make_dataclass("C", [("c", Annotated[bytes, annotation])]))
        assert kind.description.schema.decode() == schema
        assert typed(np.dtype([("c", dtype)])).description.schema.decode() == schema  # type: ignore[union-attr]
        value = kind.decode(b"x")
        assert value.c == b"x" and bytes(kind.encode(value)) == b"x"
    with pytest.raises(BadArgument, match=r"C\.c is bytes"):
        typed(dataclasses.make_dataclass("C", [("c", Annotated[bytes, np.uint8])]))
