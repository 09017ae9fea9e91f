"""Table II, the verdicts and the JSON."""

from __future__ import annotations

import os
import platform
from dataclasses import asdict, dataclass
from typing import Any

from .experiment import DIRECT, Results, Tracked
from .metrics import Jitter, Kill, Spread, judge_kill, tracking_error
from .reference import CONSTANT, REFERENCES

RATIO = 1.15


@dataclass(frozen=True)
class Row:
    """One reference with one controller."""

    load: bool
    reference: str
    who: str
    errors: list[float]
    error: Spread
    ratio: float  # of the mean error to that of the direct controller
    slept_errors: list[float]  # of the runs that were repeated
    ratio_of_all: float  # with those, on both sides
    jitter: Jitter

    @property
    def passed(self) -> bool:
        return self.ratio <= RATIO


@dataclass(frozen=True)
class Report:
    rows: list[Row]
    kills: dict[str, Kill]

    @property
    def passed(self) -> bool:
        return all(row.passed for row in self.rows) and all(all(k.promises.values()) for k in self.kills.values())

    def to_json(self, options: dict[str, Any]) -> dict[str, Any]:
        return {
            "options": options,
            "machine": {"cpus": os.cpu_count(), "kernel": platform.release(), "python": platform.python_version()},
            "criterion_ratio": RATIO,
            "rows": [{**asdict(row), "passed": row.passed} for row in self.rows],
            "kills": {who: asdict(kill) for who, kill in self.kills.items()},
            "passed": self.passed,
        }

    def text(self) -> str:
        lines = [
            "",
            "Tracking error, N: mean (+/- standard deviation) of the mean |contact force - reference| of each run",
        ]
        lines.append(
            f"{'reference':<22}{'controller':<22}{'error':<20}{'ratio':<8}{'N':<4}{'repeated':<10}{'ratio of all':<13}"
            f"{'state to command, us: p50':>25} {'p99':>6} {'max':>7}  {'late':>8} {'made up':>8}"
        )
        for row in self.rows:
            error, jitter = row.error, row.jitter
            lines.append(
                f"{row.reference + (', full load' if row.load else ''):<22}"
                f"{row.who if row.who == DIRECT else 'ORC ' + row.who:<22}"
                f"{f'{error.mean:.3f} (+/- {error.deviation:.3f})':<20}{row.ratio:<8.3f}{error.runs:<4}"
                f"{len(row.slept_errors):<10}{row.ratio_of_all:<13.3f}"
                f"{jitter.p50_us:>25.0f} {jitter.p99_us:>6.0f} {jitter.max_us:>7.0f}  "
                f"{jitter.late / jitter.periods:>8.2%} {jitter.made_up / jitter.periods:>8.2%}"
            )
        lines += [
            "late: periods moved by an older command; made up: periods that began too late; both of all runs",
            "repeated: runs in which Linux did not wake the robot for 5 ms or more; ratio of all: with them",
            "",
        ]
        for who, kill in self.kills.items():
            lines.append(
                f"controller killed at {kill.force_at_kill_n:.1f} N, ORC {who}: released after "
                f"{kill.released_after_s * 1000:.0f} ms, force rose again by {kill.rebound_n:.2f} N, plate lifted "
                f"{max(0.0, kill.lift_mm):.2f} mm; reference held {kill.resumed_after_s:.2f} s after the restart"
            )
            lines += [f"  {'ok    ' if kept else 'BROKEN'} {promise}" for promise, kept in kill.promises.items()]
        for row in self.rows:
            if row.who != DIRECT:
                lines.append(
                    f"{'ok    ' if row.passed else 'FAILED'} {row.reference}{', full load' if row.load else ''}: "
                    f"ORC {row.who} / direct = {row.ratio:.3f} (at most {RATIO})"
                )
        return "\n".join(lines)


def judge(results: Results) -> Report:
    """What the records say."""
    rows = _rows(results.idle, results.idle_slept, load=False) + _rows(results.load, results.load_slept, load=True)
    wanted = CONSTANT.force(0.0)
    return Report(rows, {who: judge_kill(record, wanted) for who, record in results.kill.items()})


def _rows(records: Tracked, slept: Tracked, load: bool) -> list[Row]:
    rows = []
    for name, by_who in records.items():
        if not by_who[DIRECT]:
            continue
        errors = {who: [tracking_error(r, REFERENCES[name]) for r in runs] for who, runs in by_who.items()}
        again = {who: [tracking_error(r, REFERENCES[name]) for r in runs] for who, runs in slept[name].items()}
        baseline = Spread.of(errors[DIRECT]).mean
        baseline_of_all = Spread.of(errors[DIRECT] + again[DIRECT]).mean
        for who, runs in by_who.items():
            error = Spread.of(errors[who])
            rows.append(
                Row(
                    load,
                    name,
                    who,
                    errors[who],
                    error,
                    error.mean / baseline,
                    again[who],
                    Spread.of(errors[who] + again[who]).mean / baseline_of_all,
                    Jitter.of(runs + slept[name][who]),
                )
            )
    return rows
