"""Process 2: the controller behind ORC, callback-like as in the paper: it waits for a state and answers it.

`python -m force_control.node CONFIG` runs until it is ended by a signal.
"""

from __future__ import annotations

import os
import sys

import numpy as np
import orc

from . import realtime
from .controller import ForceController
from .messages import COMMAND, COMMAND_TOPIC, MAX_AGE_MS, STATE, STATE_TOPIC, decode
from .reference import REFERENCES
from .run_config import RunConfig

PRIORITY = 70  # below the robot's
ALONE_MS = 1000  # without a state it looks whether the experiment still lives


def serve(config: RunConfig) -> None:
    """Answers each state with a command, until a signal or the end of the process that started it."""
    controller = ForceController(REFERENCES[config.reference].force)
    command = np.zeros(1, COMMAND)
    command_bytes = command.view(np.uint8)
    with orc.Participant(config.broker, name="force_controller", transports=config.transport) as broker:
        commands = broker.register_command(COMMAND_TOPIC, expected_size=COMMAND.itemsize)
        states = broker.request_topic(STATE_TOPIC, max_age_ms=MAX_AGE_MS, wait=config.wait)
        refused = realtime.prepare(PRIORITY if config.realtime else 0, config.controller_cpus)
        if config.verbose:
            for line in refused:
                print(f"controller: not permitted: {line}", file=sys.stderr, flush=True)
        parent = os.getppid()
        while True:
            message = states.recv(ALONE_MS)
            if message is None and os.getppid() != parent:
                return
            state = None if message is None else decode(message, STATE)
            if state is None:
                continue
            command["torque_nm"] = controller.torque(
                float(state["time_s"][0]), state["q"][0], state["dq"][0], float(state["force_n"][0])
            )
            command["sequence"] = state["sequence"]
            commands.send(command_bytes)
            del message, state


if __name__ == "__main__":
    try:
        serve(RunConfig.from_json(sys.argv[1]))
    except KeyboardInterrupt:
        pass
