"""How the robot gets its commands: from a controller in its own process, or from another one through ORC."""

from __future__ import annotations

import select
import time
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from .controller import ForceController
from .kinematics import Array
from .messages import COMMAND, COMMAND_TOPIC, MAX_AGE_MS, STATE, STATE_TOPIC, decode

Record = npt.NDArray[Any]


class Link(Protocol):
    """Asked once per period; belongs to the robot's thread."""

    def answer(self, state: Record, deadline_ns: int) -> Array | None:
        """The newest command (7,) that is there by deadline_ns (time.monotonic_ns); None when there is no new one."""

    @property
    def answered(self) -> int:
        """Sequence of the state that the newest command answers; 0 before the first."""


class Direct:
    """The paper's baseline: the controller is called by the robot's loop. There is no deadline to miss."""

    def __init__(self, controller: ForceController) -> None:
        self._controller = controller
        self.answered = 0

    def answer(self, state: Record, deadline_ns: int) -> Array | None:
        self.answered = int(state["sequence"][0])
        return self._controller.torque(
            float(state["time_s"][0]), state["q"][0], state["dq"][0], float(state["force_n"][0])
        )


class OverOrc:
    """Publishes the state and takes the newest command that came until the deadline, as the paper's wrapper does."""

    def __init__(self, broker: Any, watches: bool = False) -> None:
        """`broker`: an orc.Participant, which stays the caller's.

        `watches`: for its command, which comes soon after the state, instead of sleeping until it comes. It does so by
        itself: a receive waits for whole ms, and would outlast the deadline when no command comes.
        """
        self._states = broker.register_topic(STATE_TOPIC, expected_size=STATE.itemsize)
        self._commands = broker.request_command(COMMAND_TOPIC, MAX_AGE_MS)
        self._readable = () if watches else (self._commands.fileno(),)
        self.answered = 0

    def answer(self, state: Record, deadline_ns: int) -> Array | None:
        self._states.send(state.view(np.uint8))
        sequence = int(state["sequence"][0])
        newest: Array | None = None
        while True:
            message = self._commands.recv(0)
            command = None if message is None else decode(message, COMMAND)
            if command is not None:
                newest = command["torque_nm"][0].copy()
                self.answered = int(command["sequence"][0])
                if self.answered == sequence:
                    return newest
            elif message is None:
                left_ns = deadline_ns - time.monotonic_ns()
                if left_ns <= 0:
                    return newest
                if self._readable:
                    select.select(self._readable, (), (), left_ns * 1e-9)
