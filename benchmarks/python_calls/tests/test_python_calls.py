"""The benchmark measures all that it can, and names the rest. How fast the calls are is not tested."""

import argparse
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import python_calls
from python_calls import Implementation
from support.processes import programs

BENCHMARK = Path(__file__).resolve().parents[1]


def test_leaves_out_what_is_not_installed_or_fails(monkeypatch, tmp_path):
    sound = Implementation("sound", "json", "faulty_ends", ("no fault",))
    missing = Implementation("missing", "no_such_library", "faulty_ends", ("no fault",))
    dying = Implementation("dying", "json", "faulty_ends", ("client dies",))
    monkeypatch.setattr(python_calls, "ORC", sound)
    monkeypatch.setattr(python_calls, "IMPLEMENTATIONS", (missing, dying, sound))
    options = argparse.Namespace(
        transport=["no fault", "client dies"], size=[10], repetitions=2, seconds=0.01, cpu="none"
    )
    results = python_calls.measure(options, tmp_path)
    assert results.left_out == {
        (missing, ("no fault", 10)): "it is not installed",
        (dying, ("client dies", 10)): "its process ended with status 4",
    }
    assert set(results.rows["no fault", 10][sound]) == {0, 1}
    found = json.loads(python_calls.to_json(results, (0.0, 0.0)))
    assert [row["implementation"] for row in found["calls"]] == ["sound"]
    assert [row["implementation"] for row in found["left_out"]] == ["missing", "dying"]


def test_compares_within_each_repetition():
    results, case = python_calls.Results(), ("ipc", 10)
    other = python_calls.IMPLEMENTATIONS[0]
    for repetition, (own, theirs) in enumerate([(1.0, 2.0), (30.0, 40.0), (9.0, 10.0)]):
        results.rows[case][python_calls.ORC][repetition] = {"p50_us": own}
        results.rows[case][other][repetition] = {"p50_us": theirs}
    results.rows[case][other][3] = {"p50_us": 1.0}  # there ORC failed
    assert results.share_of_orc(case, other) == 0.75
    assert results.median(case, other, "p50_us") == 6.0


def test_measures_or_names_each_implementation(tmp_path):
    if importlib.util.find_spec("orc") is None:
        pytest.skip("not installed: orc; benchmarks/python_calls/run makes an environment with all")
    if not (programs() / "orc-broker").exists():
        pytest.skip(f"{programs()}/orc-broker is missing")
    report = tmp_path / "calls.json"
    options = ["--size", "10,100k", "--seconds", "0.02", "--repetitions", "2", "--json", str(report)]
    before = set(Path("/dev/shm").iterdir())
    done = subprocess.run(
        [sys.executable, str(BENCHMARK / "python_calls.py"), *options],
        env={**os.environ, "PYTHONPATH": str(BENCHMARK.parent)},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(report.read_text())
    named = {(row["implementation"], row["transport"]) for row in found["calls"] + found["left_out"]}
    over_all = {(name, each) for name in ("ORC, Python", "ORC, C++") for each in ("ipc", "tcp", "shm")}
    over_streams = {("pyzmq", each) for each in ("ipc", "tcp")}
    assert named == over_all | over_streams | {("Zenoh", "tcp"), ("iceoryx2", "shm")}
    left_out = {(row["implementation"], row["transport"], row["size"]) for row in found["left_out"]}
    for row in found["calls"]:
        assert 0 < row["p50_us"] <= row["p99_us"]
        assert row["repetitions"] == 2 or (row["implementation"], row["transport"], row["size"]) in left_out
    made = set(Path("/dev/shm").iterdir()) - before
    assert not [path for path in made if path.name.startswith("orc-python-calls")]
