"""The guard: what becomes of the torque when commands stop."""

import numpy as np
import pytest

from force_control.periods import PERIOD_S
from force_control.safety import DECAY_S, HOLD_S, RATE_LIMIT, STIFFNESS, TorqueGuard

Q = np.zeros(7)
STILL = np.zeros(7)
COMMAND = np.full(7, 8.0)


def settled():
    guard = TorqueGuard(PERIOD_S)
    for _ in range(100):
        guard.next(COMMAND, Q, STILL)
    return guard


def after(guard, seconds, q=Q, dq=STILL):
    return [guard.next(None, q, dq) for _ in range(round(seconds / PERIOD_S))][-1]


def test_commands_pass_unchanged():
    assert settled().next(COMMAND, Q, STILL) == pytest.approx(COMMAND)


def test_torque_is_held_over_a_hiccup():
    assert after(settled(), HOLD_S) == pytest.approx(COMMAND)


def test_torque_fades_exponentially_and_never_grows():
    guard = settled()
    torques = [guard.next(None, Q, STILL)[0] for _ in range(400)]
    assert np.all(np.diff(torques) <= 1e-12)
    assert torques[round((HOLD_S + DECAY_S) / PERIOD_S) - 1] == pytest.approx(8.0 / np.e, rel=0.05)
    assert torques[-1] < 0.01


def test_left_alone_it_brakes_and_holds_its_place():
    moving = after(settled(), 1.0, dq=np.full(7, 0.1))
    assert np.all(moving < 0)
    off = np.full(7, 0.01)
    assert after(settled(), 1.0, q=off) == pytest.approx(-STIFFNESS * off, rel=1e-3, abs=1e-3)


def test_a_new_command_takes_over_at_the_allowed_rate():
    guard = settled()
    after(guard, 1.0)
    first = guard.next(COMMAND, Q, STILL)
    assert guard.silence_s == 0.0
    assert first == pytest.approx(np.full(7, RATE_LIMIT * PERIOD_S), abs=1e-3)


@pytest.mark.parametrize("bad", (np.nan, np.inf, -np.inf))
def test_what_is_not_finite_is_no_command(bad):
    guard = settled()
    command = COMMAND.copy()
    command[3] = bad
    assert guard.next(command, Q, STILL) == pytest.approx(COMMAND)
    assert guard.silence_s == pytest.approx(PERIOD_S)
