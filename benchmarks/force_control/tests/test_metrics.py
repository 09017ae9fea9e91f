"""What is made of records."""

import numpy as np
import pytest

from force_control.messages import COMMAND, STATE, decode
from force_control.metrics import Jitter, Spread, judge_kill, longest_sleep_s, tracking_error
from force_control.records import RECORD
from force_control.reference import STEP


def record(seconds, force):
    made = np.zeros(round(seconds * 1000), RECORD)
    made["time_s"] = np.arange(len(made)) * 0.001
    made["force_n"] = force
    made["gap_m"] = -1e-5
    made["fresh"] = True
    return made


def test_tracking_error_counts_the_scored_time_only():
    run = record(STEP.duration_s, 19.0)
    assert tracking_error(run, STEP) == pytest.approx(1.0)
    run["force_n"][:100] = 1000.0
    assert tracking_error(run, STEP) == pytest.approx(1.0)


def test_spread_is_that_of_a_sample():
    assert Spread.of([1.0, 2.0, 3.0]) == Spread(2.0, 1.0, 3)
    assert Spread.of([1.0]).deviation == 0.0


def test_jitter_counts_late_and_made_up_periods():
    run = record(1.0, 0.0)
    run["answer_us"] = 100.0
    run["answer_us"][10] = np.nan
    run["answer_us"][11] = 1300.0
    run["fresh"][10:12] = False
    run["made_up"][20:25] = True
    run["answer_us"][20:25] = np.nan
    jitter = Jitter.of([run])
    assert (jitter.p50_us, jitter.max_us) == (100.0, 1300.0)
    assert (jitter.periods, jitter.late, jitter.made_up) == (1000, 2, 5)


def test_sleep_is_that_of_linux_in_the_scored_time():
    run = record(STEP.duration_s, 20.0)
    assert longest_sleep_s(run, STEP) == 0.0
    run["made_up"][100:200] = True  # not scored yet
    run["made_up"][3000:3007] = run["made_up"][3010:3013] = True
    assert longest_sleep_s(run, STEP) == pytest.approx(0.007)
    run["overrun"][3000:3007] = True
    assert longest_sleep_s(run, STEP) == pytest.approx(0.003)


def killed_run(alone, gap_m=-1e-5):
    run = record(8.0, 20.0)
    run["force_n"][4000:6000] = alone
    run["gap_m"][4500:6000] = gap_m
    run["silence_s"][4000:6000] = np.arange(1, 2001) * 0.001
    return run


def test_a_kill_that_keeps_all_promises():
    kill = judge_kill(killed_run(20.0 * np.exp(-np.arange(2000) / 50)), 20.0)
    assert kill.released_after_s == pytest.approx(0.07, abs=0.002)
    assert kill.resumed_after_s == pytest.approx(0.25)
    assert all(kill.promises.values())


@pytest.mark.parametrize(
    ("alone", "gap_m"),
    (
        (20.0, -1e-5),  # keeps pressing
        (np.r_[np.full(50, 25.0), np.zeros(1950)], -1e-5),  # strikes out
        (np.r_[np.zeros(1000), np.full(1000, 3.0)], -1e-5),  # comes back
        (0.0, 0.005),  # jumps off the table
    ),
)
def test_a_kill_that_breaks_one(alone, gap_m):
    assert not all(judge_kill(killed_run(alone, gap_m), 20.0).promises.values())


def test_commands_that_never_stopped_are_no_kill():
    with pytest.raises(ValueError, match="did not stop"):
        judge_kill(record(8.0, 20.0), 20.0)


def test_messages_of_another_size_are_dropped():
    assert decode(bytes(COMMAND.itemsize), STATE) is None
    state = decode(np.zeros(1, STATE).view(np.uint8), STATE)
    assert state is not None and state["q"].shape == (1, 7)
