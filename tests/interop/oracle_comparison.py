"""Random values, and what ORC reads of them beside what another library wrote."""

from __future__ import annotations

import json
import math
import random
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
from mcap.writer import Writer

RANDOM = random.Random(20)
TEXTS = ["", "a", "ä€😀", "two\nlines", '"\\', "arm/state" * 5]
ROUNDS = 3


def number(kind: str) -> Any:
    """A value of this type of numpy: often one at the edge."""
    if kind == "bool":
        return RANDOM.random() < 0.5
    if kind.startswith("float"):
        edges = [0.0, -0.0, 0.1, 1e30, -1.5, math.nan, math.inf, -math.inf]
        value = RANDOM.choice([*edges, RANDOM.gauss(0, 1000)])
        return float(np.float32(value)) if kind == "float32" else value
    limits = np.iinfo(kind)
    return RANDOM.choice([0, 1, int(limits.min), int(limits.max), RANDOM.randint(int(limits.min), int(limits.max))])


def plain_number(value: Any) -> Any:
    """A number as ORC's JSON has it."""
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return value


def is_equal(ours: Any, theirs: Any) -> bool:
    """Floats of 32 bits are written with the digits that lead back to them."""
    if isinstance(theirs, dict):
        return (
            isinstance(ours, dict) and ours.keys() == theirs.keys() and all(is_equal(ours[k], theirs[k]) for k in ours)
        )
    if isinstance(theirs, list):
        return isinstance(ours, list) and len(ours) == len(theirs) and all(map(is_equal, ours, theirs))
    if isinstance(theirs, float) and isinstance(ours, (int, float)):
        return ours == theirs or (np.float32(theirs) == theirs and np.float32(ours) == theirs)
    return type(ours) is type(theirs) and bool(ours == theirs)


class Comparison:
    """A recording, and what each of its messages is."""

    def __init__(self, path: Path):
        self.path = path
        self.expected: list[tuple[str, Any]] = []
        self.file = path.open("wb")
        self.writer = Writer(self.file)
        self.writer.start()

    def add(
        self, topic: str, type_of: tuple[str, str, bytes], encoding: str, messages: list[tuple[bytes, Any]]
    ) -> None:
        name, schema_encoding, schema = type_of
        channel = self.writer.register_channel(
            topic, encoding, self.writer.register_schema(name, schema_encoding, schema)
        )
        for data, value in messages:
            time = 10**18 + len(self.expected)
            self.writer.add_message(channel, time, data, time)
            self.expected.append((topic, value))

    def run(self, orc: str) -> None:
        self.writer.finish()
        self.file.close()
        shown = subprocess.run([orc, "log", "echo", str(self.path), "--json"], capture_output=True, check=True)
        assert not shown.stderr, shown.stderr.decode()[:2000]
        lines = shown.stdout.decode().splitlines()
        assert len(lines) == len(self.expected), (len(lines), len(self.expected))
        for line, (topic, value) in zip(lines, self.expected):
            ours = json.loads(line)
            assert ours["topic"] == topic
            assert is_equal(ours.get("value"), value), (topic, ours.get("value"), value)
