"""Compares what `orc log echo` reads with what PyPI's rosbags wrote, type by type, for type_oracles_test.cpp.

usage: ros_oracle.py ORC STORE…      every type of these stores ("ros2_humble"; all: each store)

Values are random, of a fixed seed. Prints "N types are equal".
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any, Iterator

import numpy as np
from oracle_comparison import RANDOM, ROUNDS, TEXTS, Comparison, number, plain_number
from rosbags.typesys import Stores, get_typestore


def ros_value(store: Any, kind: Any) -> tuple[Any, Any]:
    """A random value of a field as rosbags takes it, and as JSON."""
    node, of = kind
    if node.name == "NAME":
        return ros_message(store, of)
    if node.name == "BASE":
        name, bound = of
        if name in ("string", "wstring"):
            text = RANDOM.choice(TEXTS)[: bound or None]
            return text, text
        # rosbags takes a byte for signed, others do not
        value = RANDOM.randint(0, 127) if name == "byte" else number({"char": "uint8"}.get(name, name))
        return value, plain_number(value)
    element, size = of
    count = size if node.name == "ARRAY" else RANDOM.randint(0, min(size or 4, 4))
    pairs = [ros_value(store, element) for _ in range(count)]
    plain = [each for _, each in pairs]
    name = element[1][0] if element[0].name == "BASE" else "string"
    if name in ("string", "wstring"):
        return [each for each, _ in pairs], plain
    return np.array([each for each, _ in pairs], dtype={"char": "uint8"}.get(name, name)), plain


def ros_message(store: Any, name: str) -> tuple[Any, Any]:
    fields = store.get_msgdef(name).fields
    pairs = {field: ros_value(store, kind) for field, kind in fields}
    # rosbags appends "_" to names that are keywords of Python
    return store.types[name](*(pairs[field][0] for field, _ in fields)), {
        field.rstrip("_"): pairs[field][1] for field, _ in fields if field != "structure_needs_at_least_one_member"
    }


def ros_texts(text: str) -> Iterator[str]:
    """The definition as several writers have it."""
    yield text
    parts = text.split("=" * 80 + "\n")
    own = [
        part
        for part in parts
        if not part.startswith(("MSG: builtin_interfaces/Time\n", "MSG: builtin_interfaces/Duration\n"))
    ]
    yield "\ufeff" + ("=" * 3 + "\r\n").join([*own, *own[1:], "MSG: nobody/Uses\nnot_there/This x\n"])


def compare_ros(orc: str, names: list[str]) -> int:
    count = 0
    wanted = [
        each for each in Stores if each.value in names or ("all" in names and each.value not in ("empty", "latest"))
    ]
    for which in wanted:
        store = get_typestore(which)
        with tempfile.TemporaryDirectory() as scratch:
            comparison = Comparison(Path(scratch) / "ros.mcap")
            for name in sorted(store.types):
                text, _ = store.generate_msgdef(name, ros_version=2)
                for variant, schema in enumerate(ros_texts(text)):
                    messages = []
                    for _ in range(ROUNDS):
                        message, value = ros_message(store, name)
                        messages.append((bytes(store.serialize_cdr(message, name)), value))
                    comparison.add(f"{name}/{variant}", (name, "ros2msg", schema.encode()), "cdr", messages)
                count += 1
            comparison.run(orc)
    return count


if __name__ == "__main__":
    print(f"{compare_ros(sys.argv[1], sys.argv[2:])} types are equal")
