"""The tests of benchmarks/fleet, in a process of their own: its modules have names that tests here have, too."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest

from support import REPOSITORY


def test_the_tests_of_the_benchmark(bin_dir: pathlib.Path) -> None:
    pytest.importorskip("zenoh")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(REPOSITORY / "benchmarks/fleet/tests")],
        env={**os.environ, "ORC_BIN_DIR": str(bin_dir)},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
