"""Process 1: the robot, paced at 1 kHz in real time, with a controller inside it or behind ORC.

Each period begins at an absolute time. The robot publishes its state, waits for the answer until the deadline (300 µs,
as libfranka), and applies the newest command for the rest of the period, whether it answers this state or an earlier
one. When Linux wakes the robot so late that whole periods have passed, these are made up for as a real arm would go
through them: with the torque that the guard makes of no command. They are counted, and the same for both controllers.

`python -m force_control.robot CONFIG` prints "moving" when the brakes open, and writes what it saw to config.out.
"""

from __future__ import annotations

import sys
import time
from contextlib import ExitStack

import numpy as np

from . import realtime
from .controller import ForceController
from .kinematics import Array
from .links import Direct, Link, OverOrc, Record
from .messages import STATE
from .model import Disturbance, Panda
from .periods import PERIOD_S
from .records import RECORD
from .reference import REFERENCES
from .run_config import RunConfig
from .safety import TorqueGuard

PRIORITY = 80
PERIOD_NS = round(PERIOD_S * realtime.NS_PER_S)
WARM_UP = 200  # answers before the brakes open
PATIENCE_S = 20.0  # for the first answers
REMEMBERED = 1000  # states whose answers are still timed


class Robot:
    """Arm, guard and record of one run."""

    def __init__(self, seed: int, duration_s: float) -> None:
        self._random = np.random.default_rng(seed)
        self._disturbance = Disturbance.draw(self._random)
        self._arm = Panda(self._disturbance)
        self._guard = TorqueGuard(PERIOD_S)
        self.record = np.zeros(round(duration_s / PERIOD_S), RECORD)
        self.steps = 0
        self._state = np.zeros(1, STATE)
        self._published: dict[int, tuple[int, int]] = {}  # sequence of a state: when (ns), and in which step

    @property
    def done(self) -> bool:
        return self.steps >= len(self.record)

    @property
    def sequence(self) -> int:
        """Of the newest state."""
        return int(self._state["sequence"][0])

    def observe(self) -> Record:
        """The state message of the period that begins."""
        state = self._state
        state["sequence"] += 1
        self._published[self.sequence] = (time.monotonic_ns(), self.steps)
        self._published.pop(self.sequence - REMEMBERED, None)
        state["time_s"] = self.steps * PERIOD_S
        state["q"] = self._arm.q
        state["dq"] = self._arm.dq
        state["force_n"] = self._arm.force() + self._random.normal(0.0, self._disturbance.force_noise)
        return state

    def take_note(self, answered: int, now_ns: int) -> None:
        """The command that answers state `answered` is held since now_ns."""
        published_ns, step = self._published.pop(answered, (0, self.steps))
        if step < self.steps:
            self.record["answer_us"][step] = (now_ns - published_ns) / 1000

    def make_up(self, overrun: bool) -> None:
        """A period that began too late: the arm went on without a command."""
        if not self.done:
            self.move(None, False, np.nan, made_up=True, overrun=overrun)

    def move(
        self, command: Array | None, fresh: bool, late_us: float, made_up: bool = False, overrun: bool = False
    ) -> None:
        """One period of the arm."""
        self._arm.step(self._guard.next(command, self._arm.q, self._arm.dq))
        self.record[self.steps] = (
            self.steps * PERIOD_S,
            self._arm.force(),
            self._state["force_n"][0],
            self._arm.gap(),
            self._guard.silence_s,
            np.nan,
            fresh,
            late_us,
            made_up,
            overrun,
        )
        self.steps += 1


def run(robot: Robot, link: Link, deadline_us: int) -> None:
    """Paces `robot` in real time until its record is full. TimeoutError when no controller answers."""
    due_ns = time.monotonic_ns() + PERIOD_NS
    give_up_ns = due_ns + round(PATIENCE_S * realtime.NS_PER_S)
    answers = 0
    while not robot.done:
        overrun = time.monotonic_ns() >= due_ns
        realtime.sleep_until(due_ns)
        woken_ns = time.monotonic_ns()
        moving = answers >= WARM_UP
        for _ in range((woken_ns - due_ns) // PERIOD_NS):
            due_ns += PERIOD_NS
            if moving:
                robot.make_up(overrun)
        if robot.done:
            break
        command = link.answer(robot.observe(), woken_ns + deadline_us * 1000)
        held_ns = time.monotonic_ns()
        fresh = link.answered == robot.sequence
        if moving:
            robot.move(command, fresh, (woken_ns - due_ns) / 1000)
            robot.take_note(link.answered, held_ns)
        elif command is not None:
            answers += 1
            if answers == WARM_UP:
                print("moving", flush=True)
        elif woken_ns > give_up_ns:
            raise TimeoutError(f"no controller answered within {PATIENCE_S:g} s")
        due_ns += PERIOD_NS


def main(config: RunConfig) -> None:
    reference = REFERENCES[config.reference]
    robot = Robot(config.seed, reference.duration_s)
    with ExitStack() as stack:
        link: Link = Direct(ForceController(reference.force))
        if config.transport:
            import orc

            broker = stack.enter_context(orc.Participant(config.broker, name="robot", transports=config.transport))
            link = OverOrc(broker, watches=config.wait == "predictive")
        refused = realtime.prepare(PRIORITY if config.realtime else 0, config.robot_cpus)
        if config.verbose:
            for line in refused:
                print(f"robot: not permitted: {line}", file=sys.stderr, flush=True)
        run(robot, link, config.deadline_us)
    np.savez_compressed(config.out, record=robot.record)


if __name__ == "__main__":
    main(RunConfig.from_json(sys.argv[1]))
