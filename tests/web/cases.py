"""Runs the cases of a test program: its functions case_…, without arguments."""

from __future__ import annotations

import sys
import time
from typing import Any


class Skipped(Exception):
    """This machine cannot run a case; the text says why."""


def run_cases(program: dict[str, Any], missing: str) -> int:
    """Runs those that the command line names, else all. Returns the exit code.

    program: its globals().
    missing: why the machine can run none of them; empty: it can.
    """
    if missing:
        print(f"[orc: skipped] {missing}")
        return 0
    cases = {name.removeprefix("case_"): case for name, case in program.items() if name.startswith("case_")}
    for name in sys.argv[1:] or cases:
        begin = time.monotonic()
        try:
            cases[name]()
        except Skipped as why:
            print(f"[orc: skipped] {why}")
            continue
        print(f"{name}: passed in {time.monotonic() - begin:.1f} s", flush=True)
    return 0
