"""The whole experiment, quickly: all processes, the figure and the JSON. How well it tracks is not tested."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2]
NEEDED = ("orc", "mujoco", "matplotlib", "gymnasium_robotics")


def test_quick(tmp_path):
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}; benchmarks/force_control/run makes an environment with all")
    bin_dir = Path(os.environ.get("ORC_BIN_DIR") or BENCHMARKS.parent / "build/release/bin")
    if not (bin_dir / "orc-broker").exists():
        pytest.skip(f"{bin_dir}/orc-broker is missing")
    ways = ["--transport", "ipc", "--wait", "block,predictive"]
    command = [sys.executable, "-m", "force_control", "--quick", *ways, "--out", str(tmp_path)]
    path = os.pathsep.join(filter(None, (str(BENCHMARKS), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [*command, "--broker", str(bin_dir / "orc-broker")],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    assert (tmp_path / "force_control.png").read_bytes().startswith(b"\x89PNG")
    figures = json.loads((tmp_path / "force_control.json").read_text())
    told = [(row["reference"], row["who"]) for row in figures["rows"]]
    assert told == [(name, who) for name in ("step", "sinusoid") for who in ("direct", "ipc", "ipc predictive")]
    assert set(figures["kills"]) == {"ipc", "ipc predictive"}
