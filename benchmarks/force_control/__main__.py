"""Command line of the experiment; benchmarks/force_control/run makes its environment and starts it."""

from __future__ import annotations

import argparse
import importlib
import json
import signal
import sys
from pathlib import Path

from . import experiment, plot, realtime, replaying, report, robot
from .run_config import RunConfig

ROOT = Path(__file__).resolve().parent.parent.parent
DESCRIPTION = """\
The force-control experiment of the ORC paper (section IV.B, Figure 4, Table II). A Franka Panda under torque control,
simulated by MuJoCo and paced at 1 kHz in real time, presses its flat end effector on a table. A force controller in
Python (Jacobian-transposed feed-forward and PI) runs in a process of its own over ORC; the baseline is the same
controller called in the robot's process. Step and sinusoid references, N runs each, direct and ORC in turn, with the
same disturbances (start posture, unknown payload, joint friction, force noise).

Then the same with a busy process on every core, and once with the controller killed (SIGKILL) in contact and started
again: the robot attenuates the torque of its own.

It passes when the mean tracking error over ORC is at most 1.15 times the direct one for both references, with and
without load, and when the robot keeps its promises after the kill. Exit codes: 0 passed, 1 not, 2 bad usage.
"""
EPILOG = """\
Needs some 40 s per repetition with two transports and one kind of waiting. Tracking errors are those of the simulated
contact force, over 3 s from the beginning of the step or sinusoid. A quiet machine and permission for SCHED_FIFO
(ulimit -r 80, or root) give the figures that count; what is not permitted is said and done without. A run in which
Linux did not wake the robot's process for more than 5 ms while it was scored is repeated, at most twice, direct or
not: a real arm does not sleep. Periods that the controller or the link overran do count. The table tells how many
runs were repeated, and the ratio with them.
"""


def _cpus(text: str) -> tuple[int, ...]:
    return tuple(int(cpu) for cpu in text.split(",") if cpu)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="force_control",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--transport", default="shm,ipc", metavar="LIST", help="of shm, ipc, tcp (default: shm,ipc)")
    add("--wait", default="block", metavar="LIST", help="of block, predictive: how both wait (default: block)")
    add("--repetitions", type=int, default=6, metavar="N", help="of each reference (default: 6)")
    add("--load-repetitions", type=int, default=3, metavar="N", help="under full load, 0: without (default: 3)")
    add("--no-kill", action="store_true", help="leave the killed controller out")
    add("--quick", action="store_true", help="one repetition, the first transport, no load: does everything work?")
    add(
        "--deadline-us",
        type=int,
        default=300,
        metavar="US",
        help="how long into a period the robot waits for its command (default: 300, as libfranka); 0: not at all",
    )
    add(
        "--replay",
        type=int,
        default=0,
        metavar="N",
        help="instead: trace the controller for 30 s with kills and every core busy, and replay it N times; passes when "
        "all its commands are equal, bit by bit (needs `orc` beside the broker)",
    )
    add("--no-realtime", action="store_true", help="do not ask for SCHED_FIFO and locked memory")
    add("--robot-cpu", type=_cpus, default=(), metavar="LIST", help="pin the robot to these cores")
    add("--controller-cpu", type=_cpus, default=(), metavar="LIST", help="pin the controller behind ORC to these cores")
    add("--seed", type=int, default=1, help="of the disturbances (default: 1)")
    add(
        "--broker",
        type=Path,
        default=ROOT / "build/release/bin/orc-broker",
        metavar="PROGRAM",
        help="the address broker to start (default: %(default)s)",
    )
    add(
        "--out",
        type=Path,
        default=ROOT / "build/force-control",
        metavar="DIR",
        help="for force_control.png and force_control.json (default: %(default)s)",
    )
    return parser


def main() -> int:
    options = _parser().parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # ends the processes on the way
    transports = tuple(name for name in options.transport.split(",") if name)
    if not transports or not set(transports) <= {"shm", "ipc", "tcp"} or options.repetitions < 1:
        _parser().error("--transport takes shm, ipc and tcp; --repetitions at least 1")
    waits = tuple(name for name in options.wait.split(",") if name)
    if not waits or not set(waits) <= {"block", "predictive"}:
        _parser().error("--wait takes block and predictive")
    if not options.broker.exists():
        _parser().error(f"{options.broker} is missing; build it with: tools/dev build")
    try:
        backend: str = importlib.import_module("orc").backend
    except ImportError as error:
        _parser().error(f"{error}; benchmarks/force_control/run makes an environment with all that is needed")
    if backend == "pure" and "shm" in transports:
        _parser().error("shm needs the native backend, and this is orc.pure: --transport ipc,tcp")
    if options.quick:
        transports, options.repetitions, options.load_repetitions = transports[:1], 1, 0
    base = RunConfig(
        seed=options.seed,
        deadline_us=options.deadline_us,
        realtime=not options.no_realtime,
        robot_cpus=options.robot_cpu,
        controller_cpus=options.controller_cpu,
    )
    if options.replay:
        tool = options.broker.parent / "orc"
        return replaying.main(tool, options.broker, base, transports, options.replay, options.out)
    plan = experiment.Plan(
        broker_program=options.broker,
        ways=experiment.compared(base, transports, waits),
        repetitions=options.repetitions,
        load_repetitions=options.load_repetitions,
        kill=not options.no_kill,
        seed=options.seed,
        say=lambda text: print(text, file=sys.stderr, flush=True),
    )
    try:
        results = experiment.perform(plan)
        outcome = report.judge(results)
    except (RuntimeError, ValueError) as error:
        print(f"force_control: {error}", file=sys.stderr)
        return 1
    options.out.mkdir(parents=True, exist_ok=True)
    plot.draw(results, options.out / "force_control.png")
    fifo = base.realtime and realtime.fifo_permitted(robot.PRIORITY)
    described = {name: str(value) if isinstance(value, Path) else value for name, value in vars(options).items()}
    (options.out / "force_control.json").write_text(
        json.dumps(outcome.to_json({**described, "backend": backend, "sched_fifo": fifo}), indent=1) + "\n"
    )
    print(f"\norc, {backend} backend; robot and controller {'with' if fifo else 'without'} SCHED_FIFO" + outcome.text())
    print(f"\n{options.out}/force_control.png\n{options.out}/force_control.json")
    return 0 if outcome.passed else 1


if __name__ == "__main__":
    sys.exit(main())
