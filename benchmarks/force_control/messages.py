"""The two messages between robot and controller: fixed structs, little-endian, without padding.

ORC carries bytes; numpy's structured dtypes are the serialisation here. Whoever receives another size drops it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

STATE_TOPIC = "force_control/state"
COMMAND_TOPIC = "force_control/command"
MAX_AGE_MS = 100  # of a message that is worth reading: an older one comes from another moment of the contact

STATE = np.dtype(
    [
        ("sequence", "<u8"),  # of the control period, from 1
        ("time_s", "<f8"),  # of the robot's clock, which stands at 0 until the brakes are open
        ("q", "<f8", (7,)),  # joint angles, rad
        ("dq", "<f8", (7,)),  # joint velocities, rad/s
        ("force_n", "<f8"),  # measured force of the flange on the table, upright part, N
    ]
)
COMMAND = np.dtype(
    [
        ("sequence", "<u8"),  # of the state that this answers
        ("torque_nm", "<f8", (7,)),  # beyond gravity compensation, which is the robot's own
    ]
)


def decode(data: Any, layout: np.dtype[Any]) -> npt.NDArray[Any] | None:
    """One record in `data` (any buffer), read in place, as an array of one; None when it has another size."""
    if memoryview(data).nbytes != layout.itemsize:
        return None
    return np.frombuffer(data, layout)
