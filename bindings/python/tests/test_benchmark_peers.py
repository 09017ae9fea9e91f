"""The tests of benchmarks/peers, in a process of their own: its modules have names that tests here have, too."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

from support import REPOSITORY


def test_the_tests_of_the_benchmark(bin_dir: pathlib.Path) -> None:
    if not (shutil.which("cmake") and shutil.which("ninja")):
        pytest.skip("cmake or ninja is missing: the peers cannot be built")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(REPOSITORY / "benchmarks/peers/tests")],
        env={**os.environ, "ORC_BIN_DIR": str(bin_dir)},
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
