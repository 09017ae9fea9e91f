"""What one run is told; handed to the robot's and the controller's processes as JSON on the command line."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class RunConfig:
    """One repetition of one reference with one controller."""

    reference: str = ""  # a name in reference.REFERENCES
    seed: int = 0  # of the disturbances
    out: str = ""  # file (.npz) for what the robot saw
    transport: str = ""  # "shm", "ipc" or "tcp"; empty: no ORC, the controller is called in the robot's process
    wait: str = "block"  # or "predictive": how the controller receives; the robot then watches for the command
    broker: str = ""  # endpoint
    deadline_us: int = 300  # after the state was published, when the robot turns to the command it has
    realtime: bool = True
    verbose: bool = False  # says what of that is not permitted
    robot_cpus: tuple[int, ...] = ()
    controller_cpus: tuple[int, ...] = ()

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @staticmethod
    def from_json(text: str) -> RunConfig:
        fields = json.loads(text)
        for name in ("robot_cpus", "controller_cpus"):
            fields[name] = tuple(fields[name])
        return RunConfig(**fields)
