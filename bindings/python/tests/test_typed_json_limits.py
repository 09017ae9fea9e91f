"""JSON whose values would take many times the memory of its text."""

from __future__ import annotations

import json
import random
import tracemalloc
from typing import Any

import pytest

from orc import BadSample
from orc._typed.json_codec import Json, JsonValue, _weighed


@pytest.mark.parametrize("kind", [Json("a.B"), JsonValue()], ids=["dict", "value"])
def test_heavy_json_is_refused_before_it_is_read(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = {"numbers": [1] * 1_000_000, "text": '[],{}"\\' * 200_000}
    assert kind.decode(json.dumps(honest).encode()) == honest
    assert kind.decode(b'\xef\xbb\xbf{"a": 1}') == {"a": 1}
    monkeypatch.setattr(json, "loads", lambda *_, **__: pytest.fail("it was read"))
    for heavy in (
        b'{"a":[' + b"[]," * 600_000 + b"[]]}",
        b'{"a":[' + b"0," * 5_000_000 + b"0]}",
        b'{"a":[' + b'"",' * 600_000 + b'""]}',
        b'{"a":"' + b'\\"' * 2_000_000 + b'",' + b"[" * 600_000,
        '{"a":"\u2220[["}'.encode("utf-16"),
    ):
        with pytest.raises(BadSample):
            kind.decode(heavy)


def test_weighing_takes_little_memory() -> None:
    text = b'"' + b'\\"' * 4_000_000 + b'"'
    tracemalloc.start()
    try:
        assert len(_weighed(text)) == len(text)
        assert tracemalloc.get_traced_memory()[1] < 5 * len(text)
    finally:
        tracemalloc.stop()


def test_random_json_is_read_as_it_is() -> None:
    made = random.Random(18)
    for _ in range(200):
        text = bytes(made.choice(b'"\\[]{},:a1') for _ in range(made.randrange(30)))
        assert _weighed(text) == text.decode()
