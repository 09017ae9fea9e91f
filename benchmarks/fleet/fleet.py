"""A fleet of robots behind one Zenoh router, larger and larger until something breaks.

The first robots of a fleet (--real) are real: a broker, a participant and `orc bridge zenoh` each. The others are
simulated: per robot two Zenoh sessions that publish with the bridge's own code, without broker and ORC, 25 robots in a
process. The router is Zenoh's, in a process of its own. One desk receives all topics of all robots (one Zenoh session,
keys PREFIX/*/**), one receives those of the first robot, over a bridge and ORC. All of it runs on this machine, over
loopback, so the figures are those of the slowest part here.

The fleet desk joins when all robots send. The measurement begins when it has caught up, or after --patience.

A size fails when the fleet desk gets less than 99 % of what was sent, when the p99 of the age is above 1 s, when
topics are not known within --patience, or when the robots send less than 95 % of their rate.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

from arrivals import LEAST_BYTES
from one_fleet import Figures, Options, measure
from support.command_line import size_of
from support.processes import EndFailed, programs
from verdict import failure, ran_out

Column = tuple[str, int, Callable[[Figures], float]]  # title, digits after the point, what it shows
COLUMNS: tuple[Column, ...] = (
    ("robots", 0, lambda found: found.robots),
    ("known s", 2, lambda found: found.known_s),
    ("steady s", 1, lambda found: found.steady_s),
    ("sent/s", 0, lambda found: found.sent_hz),
    ("desk/s", 0, lambda found: found.desk_hz),
    ("lost %", 2, lambda found: 100 * (1 - found.delivered)),
    ("p50 ms", 1, lambda found: found.p50_ms),
    ("p99 ms", 0, lambda found: found.p99_ms),
    ("max ms", 0, lambda found: found.max_ms),
    ("one p50", 1, lambda found: found.robot_desk_p50_ms),
    ("one p99", 0, lambda found: found.robot_desk_p99_ms),
    ("closed", 0, lambda found: found.connections_lost),
    ("router cpu", 1, lambda found: 100 * found.router_cores),
    ("router MB", 0, lambda found: found.router_bytes / 1e6),
    ("far cpu", 1, lambda found: 100 * found.far_router_cores),
    ("far MB", 0, lambda found: found.far_router_bytes / 1e6),
    ("kB/s in", 0, lambda found: found.router_in / 1e3),
    ("kB/s out", 0, lambda found: found.router_out / 1e3),
    ("bridge cpu", 1, lambda found: 100 * found.bridge_cores),
    ("bridge MB", 0, lambda found: found.bridge_bytes / 1e6),
    ("broker MB", 0, lambda found: found.broker_bytes / 1e6),
    ("desk cpu", 1, lambda found: 100 * found.fleet_desk_cores),
    ("robots cpu", 1, lambda found: 100 * found.robots_cores),
    ("others cpu", 0, lambda found: 100 * found.others_cores),
    ("load", 1, lambda found: found.load),
)


def heading() -> str:
    return "  ".join(title for title, _, _ in COLUMNS)


def row(found: Figures) -> str:
    return "  ".join(f"{figure(found):{len(title)}.{digits}f}" for title, digits, figure in COLUMNS)


def per_robot(rows: list[Figures]) -> str:
    """Returns what each further robot costs the router, or an empty text."""
    if len(rows) < 2:
        return ""
    first, last = rows[0], rows[-1]
    more = last.robots - first.robots
    cpu = 100 * (last.router_cores - first.router_cores) / more
    memory = (last.router_bytes - first.router_bytes) / more / 1e3
    far = (last.far_router_bytes - first.far_router_bytes) / more / 1e3
    through = (last.router_in - first.router_in) / more / 1e3
    return (
        f"each robot more, from {first.robots} to {last.robots}: router {cpu:.2f} % of a core, {memory:.0f} kB, "
        f"{through:.1f} kB/s in" + (f"; the far router {far:.0f} kB" if far else "")
    )


def to_json(rows: list[Figures], stopped: str) -> str:
    """A figure that there is none of is null."""
    fleets = [{key: None if value == float("inf") else value for key, value in asdict(each).items()} for each in rows]
    return json.dumps({"fleets": fleets, "stopped": stopped}, indent=1) + "\n"


def sizes_of(text: str) -> list[int]:
    sizes = [int(each) for each in text.split(",")]
    if not sizes or min(sizes) < 1:
        raise argparse.ArgumentTypeError("a fleet has at least one robot")
    return sizes


def options_of(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="benchmarks/fleet/run", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--robots", type=sizes_of, default="10,25,50,100,200,400,800", metavar="N,…", help="default: %(default)s")
    add("--real", type=int, default=4, help="of them with a broker and a bridge of their own; default: %(default)s")
    add("--topics", type=int, default=20, help="of each robot; default: %(default)s")
    add("--rate", type=float, default=1.0, help="samples/s of each topic; default: %(default)s")
    add("--size", type=size_of, default=100, help="bytes of a sample; k and M are 1000 and 1000000; default: 100")
    add("--window", type=float, default=10.0, help="seconds that each size is measured; default: %(default)s")
    add("--seconds", type=float, default=600.0, help="no size begins later than that; default: %(default)s")
    add(
        "--patience",
        type=float,
        default=60.0,
        help="seconds to know all topics, then to catch up; default: %(default)s",
    )
    add("--far-desks", action="store_true", help="put the desks at a second router, which is linked to the first")
    add("--plain-desk", action="store_true", help="the fleet desk does not ask for last samples, as bridges do")
    add("--json", metavar="FILE", help="write the figures to FILE")
    options = parser.parse_args(arguments)
    if options.real < 1:
        parser.error("--real is at least 1: the desk of one robot watches a bridge")
    if not 1 <= options.topics <= 256:
        parser.error("--topics is 1 to 256, the limit of a bridge")
    if not 0 < options.rate <= 1000 or options.size < LEAST_BYTES or options.window <= 0:
        parser.error(f"--rate is above 0 up to 1000, --size at least {LEAST_BYTES}, --window above 0")
    return options


def run(options: argparse.Namespace, directory: Path) -> tuple[list[Figures], str]:
    """Prints a row for each size. Returns all, and why it stopped before the last size, or an empty text."""
    limits = Options(options.topics, options.rate, options.size, options.real, options.window, options.patience)
    limits = replace(limits, far_desks=options.far_desks, plain_desk=options.plain_desk)
    until = time.monotonic() + options.seconds
    rows: list[Figures] = []
    print(heading(), flush=True)
    for robots in options.robots:
        if time.monotonic() > until:
            return rows, f"{robots} robots: not measured, {options.seconds:.0f} s are over"
        try:
            found = measure(robots, limits, directory)
        except EndFailed as error:
            return rows, f"{robots} robots: {error}"
        rows.append(found)
        print(row(found), flush=True)
        if failed := failure(found):
            return rows, f"{robots} robots: {failed}; ran out: {ran_out(found)}"
    return rows, ""


def main() -> int:
    options = options_of()
    if not (programs() / "orc-broker").exists():
        raise SystemExit(f"{programs()}/orc-broker is missing: tools/dev build, or set ORC_BIN_DIR")
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # the router has two connections for each robot
    print(
        f"{options.topics} topics of each robot, {options.rate:g} samples/s of {options.size} B each; {options.real} "
        f"robots are real, the others simulated (--help)\n{len(os.sched_getaffinity(0))} cores, niceness {os.nice(0)}; "
        "cpu in % of one core; known, steady, desk, lost, ages: the fleet desk, from when it joined\n"
        "one: ages at the desk of one robot; far: the second router, of --far-desks\nclosed: connections the router "
        "lost; bridge, broker: each one; robots: what sends; others: not of this benchmark"
    )
    with tempfile.TemporaryDirectory(prefix="orc-fleet-", dir="/tmp") as directory:
        os.environ["XDG_RUNTIME_DIR"] = directory
        rows, stopped = run(options, Path(directory))
    works = [each for each in rows if not failure(each)]
    print("\n".join(each for each in (per_robot(works), stopped) if each))
    if options.json:
        Path(options.json).write_text(to_json(rows, stopped))
    return 0 if works else 1


if __name__ == "__main__":
    sys.exit(main())
