"""The controller's arithmetic, without a robot."""

import numpy as np
import pytest

from force_control.controller import ForceController, Gains
from force_control.kinematics import flange

HOME = np.array((0.0, 0.15, 0.0, -2.25, 0.0, 2.40, 0.785))
STILL = np.zeros(7)
FEED_FORWARD = Gains(proportional=0.0, integral=0.0, tilt=0.0, sideways=0.0, soft_start_s=1e-9)


def test_jacobian_is_the_derivative_of_the_position():
    q = np.random.default_rng(0).normal(0.0, 1.0, 7)
    h = 1e-6
    for joint, turn in enumerate(np.eye(7)):
        numeric = (flange(q + h * turn).position - flange(q - h * turn).position) / (2 * h)
        assert flange(q).jacobian[:3, joint] == pytest.approx(numeric, abs=1e-8)


def test_flange_at_zero_is_where_franka_draws_it():
    at = flange(np.zeros(7))
    assert at.position == pytest.approx((0.088, 0.0, 0.333 + 0.316 + 0.384 - 0.107))
    assert at.rotation[:, 2] == pytest.approx((0.0, 0.0, -1.0))


def test_feed_forward_is_the_force_through_the_transposed_jacobian():
    controller = ForceController(lambda _: 10.0, FEED_FORWARD)
    controller.torque(0.0, HOME, STILL, 0.0)
    assert controller.torque(0.1, HOME, STILL, 3.0) == pytest.approx(-10.0 * flange(HOME).jacobian[2])


def test_integral_grows_with_the_robots_time_and_not_with_calls():
    gains = Gains(proportional=0.0, integral=2.0, tilt=0.0, sideways=0.0, soft_start_s=1e-9)

    def integrated(times):
        controller = ForceController(lambda _: 10.0, gains)
        return [controller.torque(t, HOME, STILL, 9.0) for t in times][-1]

    every = integrated(np.linspace(0.0, 0.5, 501))
    assert every == pytest.approx(integrated((0.0, 0.25, 0.25, 0.5)))
    assert every == pytest.approx(-(10.0 + 2.0 * 0.5) * flange(HOME).jacobian[2])


def test_integral_and_force_are_bounded():
    controller = ForceController(lambda _: 1000.0)
    torques = [controller.torque(0.01 * k, HOME, STILL, 0.0) for k in range(1000)]
    tilt = flange(HOME).rotation[:2, 2]
    assert np.abs(tilt).max() < 0.4
    limit = Gains().force_limit * np.abs(flange(HOME).jacobian[2]) + Gains().tilt * 2
    assert np.all(np.abs(torques[-1]) <= limit)


def test_starts_from_the_force_that_it_finds():
    controller = ForceController(lambda _: 20.0, Gains(proportional=0.0, integral=0.0, tilt=0.0, sideways=0.0))
    first = controller.torque(7.0, HOME, STILL, 4.0)
    assert first == pytest.approx(-4.0 * flange(HOME).jacobian[2])
    half = controller.torque(7.0 + Gains().soft_start_s / 2, HOME, STILL, 4.0)
    assert half == pytest.approx(-12.0 * flange(HOME).jacobian[2])
