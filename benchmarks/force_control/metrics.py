"""What is made of the robot's records: the tracking error of Table II, the state-to-command time, the fate of a kill.

Pure. A record is an array of records.RECORD, one element per period of 1 ms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .periods import PERIOD_S
from .reference import Reference

Record = npt.NDArray[Any]


def tracking_error(record: Record, reference: Reference) -> float:
    """Mean of |true contact force - reference| while the reference is scored, N.

    The true force, not the measured one: the sensor's noise would be the same for both controllers and hide what
    differs. The paper does not define its tracking error; Table II's is in N, with mean and deviation of N = 6 runs.
    """
    first, last = reference.scored
    scored = record[(record["time_s"] >= first) & (record["time_s"] < last)]
    wanted = np.array([reference.force(time_s) for time_s in scored["time_s"]])
    return float(np.mean(np.abs(scored["force_n"] - wanted)))


def longest_sleep_s(record: Record, reference: Reference) -> float:
    """The longest time, while the reference is scored, that Linux did not wake the robot in although it slept in time.

    A real arm does not sleep; that its stand-in did is nobody's tracking error. Periods that the link or the
    controller overran are not counted here.
    """
    scored = record["time_s"] >= reference.scored[0]
    longest = length = 0
    for asleep in scored & record["made_up"] & ~record["overrun"]:
        length = length + 1 if asleep else 0
        longest = max(longest, length)
    return longest * PERIOD_S


@dataclass(frozen=True)
class Spread:
    """Mean and standard deviation (that of a sample) of the runs."""

    mean: float
    deviation: float
    runs: int

    @staticmethod
    def of(values: Sequence[float]) -> Spread:
        return Spread(float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else 0.0, len(values))


@dataclass(frozen=True)
class Jitter:
    """State-to-command time in the robot's process, µs; how many periods went by unanswered, or unlived."""

    p50_us: float
    p99_us: float
    max_us: float
    periods: int
    late: int  # answered after their deadline or not at all: their period ran under an older command
    made_up: int  # periods that Linux woke the robot too late for, or that one before overran
    overrun: int  # of those the latter
    wake_p99_us: float  # how late the robot's periods began
    wake_max_us: float

    @staticmethod
    def of(records: Sequence[Record]) -> Jitter:
        together = np.concatenate(records)
        lived = together[~together["made_up"]]
        answers = lived["answer_us"]
        held = answers[~np.isnan(answers)]
        p50, p99, longest = np.percentile(held, (50, 99, 100)) if len(held) else (np.nan,) * 3
        wake_p99, wake_max = np.percentile(lived["late_us"], (99, 100))
        return Jitter(
            p50_us=float(p50),
            p99_us=float(p99),
            max_us=float(longest),
            periods=len(together),
            late=int(np.count_nonzero(~lived["fresh"])),
            made_up=len(together) - len(lived),
            overrun=int(np.count_nonzero(together["overrun"])),
            wake_p99_us=float(wake_p99),
            wake_max_us=float(wake_max),
        )


@dataclass(frozen=True)
class Kill:
    """What the robot did between the death of its controller and the return of another, against what is promised."""

    force_at_kill_n: float
    released_after_s: float  # until the force stayed below RELEASED_SHARE of that; inf: it did not
    peak_after_n: float  # beyond the force at the kill
    rebound_n: float  # how much the force rose again after it had been lower
    lift_mm: float  # of the plate, until the new controller
    resumed_after_s: float  # from the new controller's first command until the reference was held; inf: never
    promises: dict[str, bool]


RELEASED_SHARE = 0.25  # joint friction may keep some of the force: 1 N m of it some 2 N
RELEASE_S = 0.3
PEAK_N = 1.0
REBOUND_N = 1.5
LIFT_MM = 1.0
RESUME_S = 2.5  # of which the controller's soft start takes 1
SILENCE_S = 0.1  # that tells a dead controller from a stalled one
HELD_N, HELD_S = 0.5, 0.25  # mean error over a window: the reference is held


def judge_kill(record: Record, wanted_n: float) -> Kill:
    """From a run in which the commands stopped once, in contact, and came back. ValueError when they did not."""
    silent = record["silence_s"] > SILENCE_S
    if not silent.any() or silent[-1]:
        raise ValueError("the commands did not stop and come back")
    stopped = int(np.argmax(silent)) - round(SILENCE_S / PERIOD_S)
    back = int(np.argmax(~silent[stopped + round(SILENCE_S / PERIOD_S) :])) + stopped + round(SILENCE_S / PERIOD_S)
    force = record["force_n"]
    at_kill = float(np.mean(force[stopped - 100 : stopped]))
    alone = force[stopped:back]
    pressed = np.flatnonzero(alone > RELEASED_SHARE * at_kill)
    released = int(pressed[-1]) + 1 if len(pressed) else 0
    released_s = released * PERIOD_S if released < len(alone) else np.inf
    rebound = float(np.max(alone - np.minimum.accumulate(alone)))
    lift = float(np.max(record["gap_m"][stopped:back])) * 1000
    window = round(HELD_S / PERIOD_S)
    error = np.abs(np.convolve(force[back:] - wanted_n, np.ones(window) / window, "valid"))
    held = np.flatnonzero(error < HELD_N)
    resumed_s = (int(held[0]) + window) * PERIOD_S if len(held) else np.inf
    peak = float(np.max(alone)) - at_kill
    return Kill(
        at_kill,
        released_s,
        peak,
        rebound,
        lift,
        resumed_s,
        {
            f"force below {RELEASED_SHARE:.0%} within {RELEASE_S * 1000:.0f} ms": released_s <= RELEASE_S,
            f"never {PEAK_N:g} N above the force at the kill": peak <= PEAK_N,
            f"rises again by at most {REBOUND_N:g} N": rebound <= REBOUND_N,
            f"plate lifts at most {LIFT_MM:g} mm": lift <= LIFT_MM,
            f"reference held again within {RESUME_S:g} s": resumed_s <= RESUME_S,
        },
    )
