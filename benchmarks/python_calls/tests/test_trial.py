"""A peer that is at fault ends its trial with the reason, and leaves no process behind."""

import multiprocessing

import pytest
import trial
from support.processes import EndFailed
from trial import Trial


def run(fault, monkeypatch, start_s=30.0, stop_s=10.0):
    monkeypatch.setattr(trial, "START_S", start_s)
    monkeypatch.setattr(trial, "STOP_S", stop_s)
    return trial.run(Trial("faulty_ends", "", fault, 10, 0.01, "name", "/nowhere"), (None, None))


@pytest.mark.parametrize(
    "fault, reason",
    [
        ("server raises", "OSError: no place"),
        ("server dies", "ended with status 3"),
        ("client dies", "ended with status 4"),
        ("reply of another call", "is not that of request 1"),
        ("short reply", "the reply has 9 bytes"),
    ],
)
def test_names_the_fault(fault, reason, monkeypatch):
    with pytest.raises(EndFailed, match=reason):
        run(fault, monkeypatch)
    assert not multiprocessing.active_children()


def test_ends_a_peer_that_hangs(monkeypatch):
    with pytest.raises(EndFailed, match="did not answer within"):
        run("client hangs", monkeypatch, start_s=3)
    assert not multiprocessing.active_children()


def test_ends_a_server_that_does_not_stop(monkeypatch):
    with pytest.raises(EndFailed, match="did not end within"):
        run("server does not stop", monkeypatch, stop_s=1)
    assert not multiprocessing.active_children()


def test_measures_one_without_fault(monkeypatch):
    assert len(run("none", monkeypatch)) >= 20
