"""Fingerprints of LCM types: those of orc.pure against lcm-gen's."""

from __future__ import annotations

import importlib
import pathlib
import random
import shutil
import subprocess
import sys
from typing import List, Tuple

import pytest

from orc import TypeDescription
from orc.pure import schema
from support import REPOSITORY

_PRIMITIVES = ["int8_t", "int16_t", "int32_t", "int64_t", "byte", "float", "double", "string", "boolean"]


def lcm_gen() -> str:
    kept = REPOSITORY / "build/lcm-venv/bin/lcm-gen"
    found = str(kept) if kept.exists() else shutil.which("lcm-gen")
    if found is None:
        pytest.skip("lcm-gen is not installed: tools/dev setup")
    return found


def definitions(chance: random.Random, count: int, prefix: str) -> Tuple[str, List[str]]:
    """Returns structs of three packages that contain each other, and their names."""
    names = [f"{prefix}{chance.choice('abc')}.type{number}_t" for number in range(count)]
    text = ""
    for name in names:
        package, _, short = name.rpartition(".")
        text += f"package {package};\n// {short}\nstruct {short} {{\n  int32_t count;\n"
        for number in range(chance.randrange(6)):
            kind = chance.choice(_PRIMITIVES + names)
            if kind.startswith(package + ".") and chance.random() < 0.5:
                kind = kind.rpartition(".")[2]
            sizes = "".join(f"[{chance.choice(['3', '0x10', 'count'])}]" for _ in range(chance.choice((0, 0, 1, 2))))
            more = f", more{number}" if chance.random() < 0.2 else ""
            text += f"  {kind} field{number}{sizes}{more}; /* of {kind} */\n"
        if chance.random() < 0.3:
            text += "  const int32_t LEFT = -1, RIGHT = 0x7f; const double PI = 3.14e0;\n"
        text += "}\n"
    return text, names


def test_fingerprints_are_those_of_lcm_gen(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = lcm_gen()
    chance = random.Random(14)
    checked = set()
    monkeypatch.syspath_prepend(str(tmp_path))
    for round_ in range(10):
        text, names = definitions(chance, 8, f"lcmtypes{round_}")
        source = tmp_path / f"types{round_}.lcm"
        source.write_text(text)
        subprocess.run([program, "-p", "--ppath", tmp_path, source], check=True, stdout=subprocess.DEVNULL)
        for name in names:
            package, _, short = name.rpartition(".")
            made = getattr(importlib.import_module(package), short)
            expected = int.from_bytes(made._get_packed_fingerprint(), "big")
            assert schema.lcm_fingerprint(TypeDescription(name, "lcm", "lcm", text.encode())) == expected, name
            checked.add(expected)
    assert len(checked) >= 50
    for name in [name for name in sys.modules if name.startswith("lcmtypes")]:
        del sys.modules[name]


def test_a_constant_as_a_size_counts_as_its_text() -> None:
    # lcm-gen 1.5.3 gives these fingerprints; that of Debian 12 does not know constants as sizes
    for body, fingerprint in (
        ("const int32_t N = 3; double x[N];", 0x43E147301DE66AB4),
        ("const int32_t N = 0x3; double x[N];", 0xB8CFE21999508A28),
        ("double x[0x3];", 0xB8CFE21999508A28),
        ("const int8_t N = 3; double x[N]; float y /* c */ [ N ];", 0x64AA11AEEE950593),
    ):
        text = f"struct a {{ {body} }}".encode()
        assert schema.lcm_fingerprint(TypeDescription("a", "lcm", "lcm", text)) == fingerprint
