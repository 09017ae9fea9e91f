"""The robot's own guard on the torques it is sent: the paper's wrapper attenuates them when communication fails."""

from __future__ import annotations

from math import exp

import numpy as np

from .kinematics import Array

HOLD_S = 0.010  # without a command the last one goes on so long: a hiccup is not a failure
DECAY_S = 0.050  # then it fades with this time constant, and gives way to a spring and a damper
STIFFNESS = np.array((300.0, 300.0, 300.0, 300.0, 50.0, 50.0, 50.0))  # N m/rad, to where the arm was left alone
DAMPING = np.array((20.0, 20.0, 20.0, 20.0, 5.0, 5.0, 5.0))  # N m s/rad
RATE_LIMIT = 1000.0  # N m/s, what Franka's control interface accepts


class TorqueGuard:
    """Makes of the commands, which may fail to come, the torque of each period."""

    def __init__(self, period_s: float) -> None:
        self._period_s = period_s
        self._command: Array = np.zeros(7)
        self._torque: Array = np.zeros(7)
        self._left_at: Array = np.zeros(7)
        self.silence_s = 0.0  # since the last command

    def next(self, command: Array | None, q: Array, dq: Array) -> Array:
        """The torque (7,), N m, of the next period.

        `command` is None when none came; what is not finite counts as none. q in rad, dq in rad/s.
        """
        if command is not None and np.isfinite(command).all():
            self._command = np.array(command)
            self._left_at = np.array(q)
            self.silence_s = 0.0
        else:
            self.silence_s += self._period_s
        wanted = self._command
        if self.silence_s > HOLD_S:
            left = exp((HOLD_S - self.silence_s) / DECAY_S)
            hold = STIFFNESS * (self._left_at - q) - DAMPING * dq
            wanted = left * self._command + (1.0 - left) * hold
        step = RATE_LIMIT * self._period_s
        self._torque = self._torque + np.clip(wanted - self._torque, -step, step)
        return self._torque
