"""Values, checks and TOML of parameters: what Python makes of those of C++."""

from __future__ import annotations

import math
from typing import Any, Dict

import pytest

import orc
from calls_fixtures import Sides
from orc._errors import BadArgument
from orc._parameters import toml
from orc._parameters.values import canonical, converted


def described(initial: Any, **more: Any) -> Any:
    has_length = isinstance(initial, (str, list))
    return orc.ParameterDescription("p", None, initial, **{"max_length": 4096 if has_length else 0, **more})


def test_a_value_has_exactly_one_of_five_classes() -> None:
    numpy = pytest.importorskip("numpy")
    given = [True, 3, 2.5, "a", (1, 2.5), numpy.float32(0.5), numpy.int16(7), numpy.array([1, 2]), numpy.bool_(True)]
    made = [canonical(each) for each in given]
    assert made == [True, 3, 2.5, "a", [1.0, 2.5], 0.5, 7, [1.0, 2.0], True]
    assert type(canonical(numpy.longdouble(0.5))) is float
    assert [type(each) for each in made] == [bool, int, float, str, list, float, int, list, bool]
    for wrong in (None, {}, b"a", [True], ["a"], [[1.0]], numpy.zeros((2, 2)), 1j, object()):
        with pytest.raises(TypeError):
            canonical(wrong)


def test_whole_numbers_and_floats_stand_for_each_other_where_nothing_is_lost() -> None:
    assert type(converted(3, 0.0)) is float
    assert type(converted(3.0, 0)) is int
    assert converted(3.5, 0) == 3.5
    assert type(converted(2.0**53, 0)) is int
    assert type(converted(2.0**53 + 2, 0)) is float
    assert type(canonical(2**63 - 1)) is int
    assert canonical(2**63) == 2.0**63 and type(canonical(2**63)) is float
    assert canonical(10**400) == math.inf


@pytest.mark.parametrize(
    ("parameter", "value", "text"),
    [
        (described(1.0, min=0.0, max=10.0, unit="N"), 11.0, "p is a number from 0.0 to 10.0 N, not 11.0"),
        (described(1.0, min=0.0), -1.0, "p is a number of at least 0.0, not -1.0"),
        (described(1.0, max=2.0), math.inf, "p is a number of at most 2.0, not inf"),
        (described(1.0), math.nan, "p is a number, not nan"),
        (described(1.0), True, "p is a number, not true"),
        (described(1), 1.5, "p is a whole number, not 1.5"),
        (described(1), True, "p is a whole number, not true"),
        (described(True), 1, "p is true or false, not 1"),
        (described("a", max_length=2), "abc", 'p is a text of at most 2 characters, not "abc"'),
        (described("a", max_length=2), "\ud800", 'p is a text of at most 2 characters, not "\ufffd"'),
        (described("a", choices=["a", "b"]), "c", 'p is one of "a", "b", not "c"'),
        (described(0, choices=list(range(12))), 12, "p is one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ..., not 12"),
        (described([1.0], max_length=2), [1.0] * 3, "p is a list of at most 2 numbers, not [1.0,1.0,1.0]"),
        (described([1.0], min_length=1, max_length=1), [], "p is a list of 1 numbers, not []"),
        (described([1.0], min=0.0), [-1.0], "p is a list of at most 4096 numbers, each of at least 0.0, not [-1.0]"),
        (described([1.0]), [math.nan], "p is a list of at most 4096 numbers, not [null]"),
        (described(1.0), "é" * 40, 'p is a number, not "' + "é" * 29 + "..."),
    ],
)
def test_a_refusal_says_what_is_allowed(parameter: Any, value: Any, text: str) -> None:
    with pytest.raises(BadArgument) as refused:
        parameter.check(value)
    assert str(refused.value) == text
    assert isinstance(refused.value, ValueError)


@pytest.mark.parametrize(
    ("initial", "options", "text"),
    [
        (True, {"min": 0}, "only numbers have min and max"),
        ("a", {"max": "b"}, "only numbers have min and max"),
        (1.0, {"min": math.inf}, "min and max are finite numbers"),
        (1.0, {"min": "b"}, "min and max are finite numbers"),
        (1, {"min": 0.5}, "min and max are whole numbers"),
        (1.0, {"min": 2.0, "max": 1.0}, "min is 2.0, above max, which is 1.0"),
        ("a", {"max_length": 0}, "max_length is 1 to 4096, not 0"),
        ("a", {"max_length": -1}, "max_length is 1 to 4096, not"),
        ("a", {"max_length": 4097}, "max_length is 1 to 4096, not 4097"),
        (1, {"choices": [1] * 257}, "at most 256 choices are allowed"),
        (1, {"choices": [1.5]}, "a choice is not allowed: p is a whole number, not 1.5"),
        (1, {"description": "x" * 1025}, "the description has at most 1024 bytes"),
        (1, {"unit": "é" * 17}, "the unit has at most 32 bytes"),
        (1, {"unit": "\ud800"}, "no UTF-8"),
        ("\ud800", {}, "p is a text of at most 4096 characters, not"),
        ("a", {"choices": ["a"] + [f"{n:04}" * 1024 for n in range(100)]}, "fewer choices"),
    ],
)
def test_options_are_checked(some_sides: Sides, initial: Any, options: Dict[str, Any], text: str) -> None:
    with pytest.raises(BadArgument, match=text):
        some_sides.server.parameter("p", initial, **options)


def test_toml_is_written_as_cpp_does() -> None:
    values = {"mode": "a\x7f", "pid": 1, "pid/gain": 2.5, "arm/gain": 1.0, "arm/on": True, "arm/l.x/y": [1.0, 0.5]}
    assert toml.to_toml(values) == (
        'mode = "a\\u007F"\npid = 1\n"pid/gain" = 2.5\n\n[arm]\ngain = 1.0\non = true\n\n[arm."l.x"]\ny = [1.0,0.5]\n'
    )
    assert toml.from_toml(toml.to_toml(values)) == values
    assert toml.to_toml({}) == ""


def test_any_toml_is_read() -> None:
    read = toml.from_toml(
        'pid.gain = 1\n"pid/steps" = 2.0\nl = [1, 2.5]\nd = 1979-05-27\nn = nan\nm = [inf]\na = ["x"]'
    )
    assert read == {
        "pid/gain": 1,
        "pid/steps": 2.0,
        "l": [1.0, 2.5],
        "d": None,
        "n": None,
        "m": None,
        "a": None,
    }


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a = ", "no TOML"),
        ("a = 1\na = 2", "no TOML"),
        ('a.b = 1\n"a/b" = 2', "a/b stands there twice"),
        ("a = " + "[" * 100_000, "no TOML"),
        (".".join("a" * 500_000) + " = 1", "too many parts"),
        ("[" + ".".join("a" * 300) + "]", "too many parts"),
        ("a = 1 " + "#" * (1 << 20), "1048576 are allowed"),
        ("a" * 256 + " = 1", "more than 255 bytes"),
        ("a = " + "{a = " * 200 + "1" + "}" * 200, "more than 255 bytes|no TOML"),
    ],
)
def test_toml_that_is_wrong_is_refused_as_a_whole(text: str, why: str) -> None:
    with pytest.raises(BadArgument, match=why):
        toml.from_toml(text)


def test_toml_is_a_text() -> None:
    wrong: Any = b"a = 1"
    with pytest.raises(TypeError, match="not bytes"):
        toml.from_toml(wrong)


def test_dots_in_strings_and_comments_are_no_parts_of_a_key() -> None:
    dots = "." * 1000
    text = (
        f'a = "{dots}\\"{dots}" # {dots}\nb = \'{dots}\'\nc = """{dots}\n\\"{dots}""""\nd = \'\'\'{dots}\'\'\'\ne = 1.5'
    )
    assert toml.from_toml(text)["e"] == 1.5
