"""The force controller, the same object for both: called in the robot's process, and in its own behind ORC.

As in the paper (IV.B): the desired force is mapped to joint torques by the robot's kinematics (transposed Jacobian) as
feed-forward, and a PI controller on the measured force rejects disturbances. What holds the other directions the paper
does not say; here a spring keeps the plate where it came down, another keeps it flat, and every joint is damped.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .kinematics import Array, flange


@dataclass(frozen=True)
class Gains:
    proportional: float = 0.5  # N per N
    integral: float = 8.0  # N per N s
    integral_limit: float = 8.0  # N
    force_limit: float = 60.0  # N, of what is commanded
    sideways: float = 400.0  # N/m
    tilt: float = 20.0  # N m/rad
    damping: float = 2.0  # N m s/rad, per joint
    soft_start_s: float = 1.0  # from the force that is measured first to the reference


class ForceController:
    """Presses down with the force that `reference` gives for the robot's time. Belongs to one thread; does no I/O."""

    def __init__(self, reference: Callable[[float], float], gains: Gains | None = None) -> None:
        self._reference = reference
        self._gains = gains or Gains()
        self._start_s: float | None = None
        self._start_force = 0.0
        self._start_at = (0.0, 0.0)
        self._last_s = 0.0
        self._integral = 0.0

    def torque(self, time_s: float, q: Array, dq: Array, force: float) -> Array:
        """Joint torques (7,), N m, beyond gravity compensation.

        From the robot's time (s), joint angles (rad), velocities (rad/s) and the measured force (N). It integrates over
        the robot's time, so that states that were missed or came twice do no harm.
        """
        gains = self._gains
        at = flange(q)
        if self._start_s is None:
            self._start_s = self._last_s = time_s
            self._start_force = max(0.0, force)
            self._start_at = (at.position[0], at.position[1])
        error = self._desired(time_s) - force
        self._integral += gains.integral * error * (time_s - self._last_s)
        self._integral = min(max(self._integral, -gains.integral_limit), gains.integral_limit)
        self._last_s = time_s
        pressed = self._desired(time_s) + gains.proportional * error + self._integral
        pressed = min(max(pressed, 0.0), gains.force_limit)
        axis_x, axis_y = at.rotation[0, 2], at.rotation[1, 2]
        wrench = np.array(
            (
                gains.sideways * (self._start_at[0] - at.position[0]),
                gains.sideways * (self._start_at[1] - at.position[1]),
                -pressed,
                -gains.tilt * axis_y,
                gains.tilt * axis_x,
                0.0,
            )
        )
        torque: Array = at.jacobian.T @ wrench - gains.damping * dq
        return torque

    def _desired(self, time_s: float) -> float:
        assert self._start_s is not None
        share = min(1.0, (time_s - self._start_s) / self._gains.soft_start_s)
        return share * self._reference(time_s) + (1.0 - share) * self._start_force
