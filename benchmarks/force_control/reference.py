"""What force the controller is to hold: the step and the sinusoid of the paper's Figure 4, and a constant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import pi, sin


@dataclass(frozen=True)
class Reference:
    """A force over the robot's time (s, N), and from when to when the tracking error counts."""

    name: str
    force: Callable[[float], float]
    scored: tuple[float, float]

    @property
    def duration_s(self) -> float:
        return self.scored[1]


START_S = 2.5  # until then the plate comes down, lies flat and rests at the force that the reference starts with


def _step(time_s: float) -> float:
    return 10.0 if time_s < START_S else 20.0


def _sinusoid(time_s: float) -> float:
    return 15.0 + 5.0 * sin(2 * pi * max(0.0, time_s - START_S))


def _constant(time_s: float) -> float:
    return 20.0


STEP = Reference("step", _step, (START_S, START_S + 3.0))
SINUSOID = Reference("sinusoid", _sinusoid, (START_S, START_S + 3.0))
CONSTANT = Reference("constant", _constant, (START_S, START_S + 7.5))

REFERENCES = {reference.name: reference for reference in (STEP, SINUSOID, CONSTANT)}
