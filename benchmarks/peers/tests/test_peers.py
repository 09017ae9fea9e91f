"""The benchmark measures what is there and names the rest. How fast the peers are is not tested."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from support.processes import programs

RUN = Path(__file__).resolve().parents[1] / "run"
SMALL = ["--size", "10,100k,10M", "--subscribers", "2", "--rates", "500", "--processes", "3"]
SMALL += ["--rounds", "1", "--seconds", "0.05", "--hz", "500"]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Runs the benchmark, with programs built once."""
    if not (programs() / "orc-broker").exists():
        pytest.skip(f"{programs()}/orc-broker is missing")
    folder = tmp_path_factory.mktemp("peers")

    def run_with(peers):
        report = folder / "peers.json"
        done = subprocess.run(
            [RUN, "--peers", peers, *SMALL, "--json", report],
            env={**os.environ, "PEERS_BUILD": "zmq", "PEERS_DIR": str(folder)},
            capture_output=True,
            text=True,
            timeout=400,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout, json.loads(report.read_text())

    return run_with


def test_measures_orc_libzmq_and_the_floors(run):
    text, found = run("orc inproc,orc shm,orc shm polling,orc ipc,libzmq inproc,libzmq ipc")
    rows = {(row["measure"], row["peer"], tuple(row["case"])): row for row in found["rows"]}
    between_processes = ("ORC shm", "ORC ipc", "libzmq ipc", "floor futex", "floor Unix socket")
    for name in (*between_processes, "ORC inproc", "libzmq inproc", "ORC shm polling", "floor spin"):
        for size in (10, 100_000, 10_000_000):
            row = rows["echo", name, (size,)]
            assert 0 < row["echo_p50_us"] <= row["echo_p99_us"]
    for name in between_processes:
        row = rows["fanout", name, (2,)]
        assert row["age_p50_us"] > 0 and row["cpu_us"] > 0 and row["memory_mb"] > 0 and row["call_p50_us"] > 0
        assert 0 < rows["sweep", name, (500, 1)]["delivered"] <= 1
        assert 0 < rows["chain", name, (3,)]["age_p50_us"]
    assert ("sweep", "floor futex", (500, 1000)) not in rows  # it keeps the newest only
    assert rows["echo", "ORC ipc", (10,)]["ratio_to_floor"] > 0
    assert all(row["disordered"] == 0 for row in found["rows"] if row["family"] == "ORC" and "disordered" in row)
    assert {verdict["measure"] for verdict in found["verdicts"]} == {"echo", "fanout", "sweep", "chain"}
    assert found["lines_of_code"]["ORC"] > 10
    assert not found["left_out"] and "## Left out" not in text


def test_names_a_peer_that_is_missing(run):
    text, found = run("nng ipc,orc shm")
    assert {each["peer"]: each["why"] for each in found["left_out"]} == {"nng ipc": "it is not installed"}
    assert "- nng ipc: it is not installed" in text


def test_names_samples_that_are_too_large(run):
    text, found = run("orc multicast")
    named = {(each["peer"], tuple(each["case"])) for each in found["left_out"]}
    assert named == {("floor UDP multicast", (100_000,)), ("floor UDP multicast", (10_000_000,))}
    assert "- floor UDP multicast: one datagram has at most 65,507 B (echo 100 kB, echo 10 MB)" in text
    assert {row["case"][0] for row in found["rows"] if row["peer"] == "ORC multicast" and row["measure"] == "echo"} == {
        10,
        100_000,
        10_000_000,
    }
