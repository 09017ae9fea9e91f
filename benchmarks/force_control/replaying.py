"""The controller, traced while robots and brokers are killed and every core is busy, then replayed again and again."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from . import processes
from .reference import CONSTANT
from .run_config import RunConfig

TRACED_S = 30.0
KILL_AFTER_S = 6.0  # of each robot, once it moves; and the broker dies with every other one
PATIENCE_S = 300.0  # for one replay


def perform(
    tool: Path, broker: Path, base: RunConfig, times: int, out: Path, say: Callable[[str], None]
) -> tuple[int, str]:
    """Traces, then replays `times` times. Returns how many replays were equal, and the last line of `orc replay`."""
    out.mkdir(parents=True, exist_ok=True)
    trace = out / f"controller-{base.transport}.trace"
    trace.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(prefix="orc-force-") as folder:
        config = replace(
            base, reference=CONSTANT.name, broker=f"ipc://{folder}/broker", out=str(Path(folder) / "record.npz")
        )
        _trace(broker, folder, config, trace, say)
        command = processes.command("node", config)
        equal, last = 0, ""
        for number in range(times):
            done = subprocess.run(
                [str(tool), "replay", str(trace), "--", *command],
                check=False,
                env=processes.environment(),
                capture_output=True,
                text=True,
                timeout=PATIENCE_S,
            )
            equal += done.returncode == 0
            last = (done.stdout.strip() or done.stderr.strip()).splitlines()[0]
            say(f"replay {number + 1}/{times}: {last}")
    return equal, last


def _trace(broker: Path, folder: str, config: RunConfig, trace: Path, say: Callable[[str], None]) -> None:
    say(f"tracing for {TRACED_S:g} s, {config.transport}, every core busy")
    began = time.monotonic()
    kills = 0
    address = processes.start_broker(broker, Path(folder) / "broker")
    try:
        with processes.cpu_load(), processes.controller(config, {"ORC_TRACE": str(trace)}) as controller:
            while time.monotonic() - began < TRACED_S:
                with processes.robot(replace(config, seed=config.seed + kills)) as robot:
                    robot.wait_moving()
                    if kills % 2 == 1:
                        address.kill()
                        address.wait()
                        address = processes.start_broker(broker, Path(folder) / "broker")
                    time.sleep(KILL_AFTER_S)
                kills += 1
            controller.kill()
    finally:
        address.kill()
        address.wait()
    say(f"killed: the robot {kills} times, the broker {kills // 2} times, the controller at the end")


def main(
    tool: Path, broker: Path, base: RunConfig, transports: tuple[str, ...], times: int, out: Path
) -> int:
    """Exit code: 0 when all replays were equal."""
    passed = True
    for transport in transports:
        equal, last = perform(
            tool,
            broker,
            replace(base, transport=transport),
            times,
            out,
            lambda text: print(text, file=sys.stderr, flush=True),
        )
        print(f"{transport}: {equal} of {times} replays are equal; {last}")
        passed = passed and equal == times
    return 0 if passed else 1
