"""The runs: repetitions of each reference, direct and over ORC in turn; the same under load; a killed controller."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy.typing as npt

from . import processes
from .metrics import longest_sleep_s
from .reference import CONSTANT, REFERENCES, SINUSOID, STEP
from .run_config import RunConfig

Record = npt.NDArray[Any]
DIRECT = "direct"
TRACKED = (STEP, SINUSOID)
MAX_SLEEP_S, ATTEMPTS = 0.005, 3
KILL_AT_S, RESTART_AT_S = 4.0, 6.0


@dataclass(frozen=True)
class Plan:
    """What is asked for on the command line."""

    broker_program: Path
    ways: dict[str, RunConfig]  # what is compared, by its name; see compared()
    repetitions: int
    load_repetitions: int
    kill: bool
    seed: int
    say: Callable[[str], None]


def compared(base: RunConfig, transports: Sequence[str], waits: Sequence[str]) -> dict[str, RunConfig]:
    """The direct controller, and ORC over each transport with each kind of waiting. `base`: what all runs share."""
    ways = {DIRECT: base}
    for transport, wait in product(transports, waits):
        ways[transport if wait == RunConfig.wait else f"{transport} {wait}"] = replace(
            base, transport=transport, wait=wait
        )
    return ways


Tracked = dict[str, dict[str, list[Record]]]


@dataclass
class Results:
    """The robot's records: [reference][who], one per repetition. Who is a name of Plan.ways."""

    idle: Tracked = field(default_factory=dict)
    load: Tracked = field(default_factory=dict)
    idle_slept: Tracked = field(default_factory=dict)  # runs that were repeated; judged all the same, beside the others
    load_slept: Tracked = field(default_factory=dict)
    kill: dict[str, Record] = field(default_factory=dict)  # by who


def perform(plan: Plan) -> Results:
    """All runs, one after the other, in real time. RuntimeError when a process fails."""
    with processes.broker(plan.broker_program) as endpoint, tempfile.TemporaryDirectory() as scratch:
        out = str(Path(scratch) / "record.npz")
        ways = {who: replace(way, broker=endpoint, out=out) for who, way in plan.ways.items()}
        results = Results()
        results.idle, results.idle_slept = _tracking(plan, ways, plan.repetitions, nullcontext)
        results.load, results.load_slept = _tracking(plan, ways, plan.load_repetitions, processes.cpu_load)
        for who, way in ways.items() if plan.kill else ():
            if way.transport:
                plan.say(f"kill and restart the controller, {who}")
                results.kill[who] = _killed(replace(way, reference=CONSTANT.name, seed=plan.seed))
        return results


def _tracking(
    plan: Plan, ways: dict[str, RunConfig], repetitions: int, load: Callable[[], AbstractContextManager[None]]
) -> tuple[Tracked, Tracked]:
    who_all = tuple(ways)
    kept: Tracked = {r.name: {who: [] for who in who_all} for r in TRACKED}
    slept: Tracked = {r.name: {who: [] for who in who_all} for r in TRACKED}
    for repetition in range(repetitions):
        for reference in TRACKED:
            for who in _rotated(who_all, repetition):
                plan.say(
                    f"{'' if load is nullcontext else 'under load, '}{repetition + 1}/{repetitions}, "
                    f"{reference.name}, {who}"
                )
                config = replace(
                    ways[who],
                    reference=reference.name,
                    seed=plan.seed + repetition,
                    verbose=load is nullcontext and repetition == 0 and reference is STEP,
                )
                with load():
                    *repeated, record = _run_awake(config, plan.say)
                kept[reference.name][who].append(record)
                slept[reference.name][who] += repeated
    return kept, slept


def _run_awake(config: RunConfig, say: Callable[[str], None]) -> list[Record]:
    """Attempts until one in which Linux let the robot live, or the last one as it is. The same for both controllers."""
    attempts = []
    for attempt in range(1, ATTEMPTS + 1):
        attempts.append(_run(config))
        slept_s = longest_sleep_s(attempts[-1], REFERENCES[config.reference])
        if slept_s <= MAX_SLEEP_S:
            break
        again = "once more" if attempt < ATTEMPTS else "kept all the same"
        say(f"  the robot's process was not woken for {slept_s * 1000:.0f} ms: {again}")
    return attempts


def _rotated(items: Sequence[str], by: int) -> Iterator[str]:
    """So that nobody always goes first."""
    return (items[(i + by) % len(items)] for i in range(len(items)))


def _run(config: RunConfig) -> Record:
    with processes.controller(config) if config.transport else nullcontext(), processes.robot(config) as robot:
        return robot.record()


def _killed(config: RunConfig) -> Record:
    with processes.robot(config) as robot:
        with processes.controller(config) as controller:
            robot.wait_moving()
            moving = time.monotonic()
            time.sleep(KILL_AT_S)
            controller.kill()
        time.sleep(max(0.0, moving + RESTART_AT_S - time.monotonic()))
        with processes.controller(config):
            return robot.record()
