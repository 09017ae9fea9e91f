"""The simulated robot, not in real time; skipped where MuJoCo or the Panda is not installed."""

import numpy as np
import pytest

from force_control.controller import ForceController
from force_control.kinematics import flange
from force_control.metrics import judge_kill, tracking_error
from force_control.periods import PERIOD_S
from force_control.reference import CONSTANT, SINUSOID, STEP

pytest.importorskip("mujoco")
try:
    from force_control.model import Disturbance, Panda
    from force_control.robot import Robot

    Panda(Disturbance.draw(np.random.default_rng(0)))
except FileNotFoundError as missing:
    pytest.skip(str(missing), allow_module_level=True)


def simulate(reference, seed, delay=0, dead=(0.0, 0.0)):
    """A run in which each command comes `delay` periods late, and none in the time `dead`."""
    robot = Robot(seed, reference.duration_s)
    controller = ForceController(reference.force)
    commands = []
    while not robot.done:
        time_s = robot.steps * PERIOD_S
        state = robot.observe()[0]
        if dead[0] <= time_s < dead[1]:
            controller, commands = ForceController(reference.force), []
            robot.move(None, False, 0.0)
            continue
        commands.append(controller.torque(time_s, state["q"], state["dq"], state["force_n"]))
        robot.move(commands[-1 - delay] if len(commands) > delay else None, delay == 0, 0.0)
    return robot.record


def test_kinematics_are_those_of_the_model():
    arm = Panda(Disturbance.draw(np.random.default_rng(3)))
    for _ in range(300):
        arm.step(np.zeros(7))
    assert flange(arm.q).position[2] - arm.gap() == pytest.approx(arm.table_z, abs=0.002)


@pytest.mark.parametrize("reference", (STEP, SINUSOID), ids=lambda r: r.name)
def test_controller_tracks(reference):
    assert tracking_error(simulate(reference, 1), reference) < 0.2


@pytest.mark.parametrize("reference", (STEP, SINUSOID), ids=lambda r: r.name)
def test_the_criterion_sees_three_periods_of_delay(reference):
    """Else 1.15 would say nothing: a middleware that delays commands by 3 ms must fail it, one that does by 0 pass."""
    prompt = np.mean([tracking_error(simulate(reference, seed), reference) for seed in (1, 2)])
    delayed = np.mean([tracking_error(simulate(reference, seed, delay=3), reference) for seed in (1, 2)])
    assert delayed > 1.15 * prompt


def test_promises_hold_when_the_controller_dies():
    for seed in range(4):
        kill = judge_kill(simulate(CONSTANT, seed, dead=(4.0, 6.0)), CONSTANT.force(0.0))
        assert all(kill.promises.values()), (seed, kill)
