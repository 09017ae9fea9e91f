"""A peer that is at fault ends its trial with the reason, and leaves no process behind."""

import os
import sys
from pathlib import Path

import field
import pytest
import trial
from support.processes import EndFailed
from trial import Trial

FAULTY = """#!{python}
import os, sys
arguments = dict(each.split("=", 1) for each in sys.argv[1:])
with open({pids!r}, "a") as file:
    print(os.getpid(), file=file)
fault = {fault!r}
role = arguments["role"]
if role == "relay":
    if fault == "relay dies":
        os._exit(3)
    sys.stdin.read()
elif fault == "says why":
    sys.exit("no place for it")
elif fault == "dies":
    os._exit(4)
elif fault == "hangs":
    sys.stdin.read()
else:
    print("noise of a library")
    print("met")
    print('{{"echo_p50_us": 1.5, "echo_p99_us": 2.5}}')
"""


def echo(fault, tmp_path, monkeypatch):
    monkeypatch.setattr(trial, "START_S", 5.0)
    program = tmp_path / "peer_zmq"
    program.write_text(FAULTY.format(python=sys.executable, pids=str(tmp_path / "pids"), fault=fault))
    program.chmod(0o755)
    (peer,) = (each for each in field.PEERS if each.name == "libzmq ipc")
    return Trial(peer, tmp_path, (None, None), 0.01).echo(10)


def running(tmp_path):
    pids = (tmp_path / "pids").read_text().split()
    return [pid for pid in pids if Path(f"/proc/{pid}").exists() and os.path.exists(f"/proc/{pid}/exe")]


@pytest.mark.parametrize(
    "fault, reason",
    [("says why", "no place for it"), ("dies", "ended with status 4"), ("hangs", "says nothing for")],
)
def test_names_the_fault(fault, reason, tmp_path, monkeypatch):
    with pytest.raises(EndFailed, match=reason):
        echo(fault, tmp_path, monkeypatch)
    assert not running(tmp_path)


def test_measures_one_without_fault(tmp_path, monkeypatch):
    assert echo("none", tmp_path, monkeypatch)["echo_p50_us"] == 1.5
    assert not running(tmp_path)
