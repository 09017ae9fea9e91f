"""Round trips of calls between two Python programs: ORC, and the field beside it, interleaved in one run.

Each end is a process on a core of its own and sleeps while it waits. The reply has the bytes of the request. The peers:
pyzmq (DEALER and ROUTER), Zenoh (a queryable and Session.get between peers) and iceoryx2 (request and response over
shared memory, each end woken by an event). `ORC, C++` is the call of build/release/bin/call_rtt. A peer that is not
installed, or fails, is left out and named.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from support.command_line import TRANSPORTS, parser_of, size_label
from support.processes import EndFailed, cores_of, private_broker, programs
from support.round_trips import MARK, summary
from trial import Trial, run

FIGURES = ("p50_us", "p99_us")
Row = dict[str, float]
Case = tuple[str, int]  # transport, size


@dataclass(frozen=True)
class Implementation:
    title: str
    library: str  # that Python imports
    ends: str  # the module of its two ends; none: call_rtt
    transports: tuple[str, ...]


ORC = Implementation("ORC, Python", "orc", "orc_ends", TRANSPORTS)
IMPLEMENTATIONS = (
    Implementation("ORC, C++", "", "", TRANSPORTS),
    ORC,
    Implementation("pyzmq", "zmq", "pyzmq_ends", ("ipc", "tcp")),
    Implementation("Zenoh", "zenoh", "zenoh_ends", ("tcp",)),
    Implementation("iceoryx2", "iceoryx2", "iceoryx2_ends", ("shm",)),
)


class Results:
    """What was measured, per repetition, and what was left out."""

    def __init__(self) -> None:
        self.rows: dict[Case, dict[Implementation, dict[int, Row]]] = defaultdict(lambda: defaultdict(dict))
        self.left_out: dict[tuple[Implementation, Case], str] = {}

    def median(self, case: Case, which: Implementation, figure: str) -> float:
        return statistics.median(row[figure] for row in self.rows[case][which].values())

    def share_of_orc(self, case: Case, which: Implementation) -> float | None:
        """Returns the median of each repetition's ratio, p50 of ORC in Python by p50 of that one."""
        others, own = self.rows[case][which], self.rows[case][ORC]
        ratios = [own[each]["p50_us"] / others[each]["p50_us"] for each in others if each in own]
        return statistics.median(ratios) if ratios else None


def call_rtt(case: Case, options: argparse.Namespace) -> Row:
    """Raises EndFailed."""
    transport, size = case
    command = [programs() / "call_rtt", "--transport", transport, "--size", str(size), "--repetitions", "1"]
    command += ["--seconds", str(options.seconds), "--json", "-", *(["--cpu", options.cpu] if options.cpu else [])]
    try:
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60 + 10 * options.seconds)
    except (OSError, subprocess.SubprocessError) as error:
        raise EndFailed(str(error)) from None
    row = json.loads(done.stdout)[0]
    return {figure: row[f"call_{figure}"] for figure in FIGURES}


def measure_one(which: Implementation, case: Case, repetition: int, options: argparse.Namespace, scratch: Path) -> Row:
    """Raises EndFailed."""
    if not which.ends:
        return call_rtt(case, options)
    if importlib.util.find_spec(which.library) is None:
        raise EndFailed("it is not installed")
    name = f"python_calls/{os.getpid()}/{which.library}/{case[0]}/{case[1]}/{repetition}"
    trial = Trial(which.ends, which.library, *case, options.seconds, name, str(scratch))
    return summary(run(trial, cores_of(options.cpu)), ways=1)


@contextlib.contextmanager
def scratch_directory() -> Iterator[Path]:
    """A directory that is removed with all shared memory that has its name as prefix."""
    with tempfile.TemporaryDirectory(prefix="orc-python-calls-") as directory:
        try:
            yield Path(directory)
        finally:
            for left in Path("/dev/shm").glob(f"{Path(directory).name}*"):
                left.unlink(missing_ok=True)


def measure(options: argparse.Namespace, scratch: Path) -> Results:
    results = Results()
    for repetition in range(options.repetitions):
        for case in [(transport, max(size, MARK)) for transport in options.transport for size in options.size]:
            print(f"repetition {repetition + 1}: {case[0]} {size_label(case[1])}", file=sys.stderr)
            able = [each for each in IMPLEMENTATIONS if case[0] in each.transports]
            turn = repetition % len(able)  # so that none always runs on what another one warmed up
            for which in able[turn:] + able[:turn]:
                if (which, case) in results.left_out:
                    continue
                try:
                    results.rows[case][which][repetition] = measure_one(which, case, repetition, options, scratch)
                except EndFailed as failure:
                    print(f"{which.title}: {failure}", file=sys.stderr)
                    results.left_out[which, case] = str(failure)
    return results


def show(results: Results, load: tuple[float, float]) -> None:
    print(f"\nload average when it began and ended: {load[0]:.1f}, {load[1]:.1f}")
    print("round trip of a call, microseconds, and ORC's p50 in Python by this p50\n")
    print(f"{'':28}{'p50':>10}{'p99':>10}{'ORC / it':>10}")
    for case, found in results.rows.items():
        for which in [each for each in IMPLEMENTATIONS if found.get(each)]:
            line = f"{case[0]:4}{size_label(case[1]):>8}  {which.title:14}"
            line += "".join(f"{results.median(case, which, figure):10.1f}" for figure in FIGURES)
            share = results.share_of_orc(case, which)
            print(line + (f"{share:10.2f}" if share is not None and which is not ORC else ""))
    for (which, case), reason in results.left_out.items():
        print(f"left out: {which.title}, {case[0]} {size_label(case[1])}: {reason}")


def to_json(results: Results, load: tuple[float, float]) -> str:
    calls = [
        {
            "implementation": which.title,
            "transport": case[0],
            "size": case[1],
            "repetitions": len(rows),
            **{figure: results.median(case, which, figure) for figure in FIGURES},
            "p50_ratio_of_orc": results.share_of_orc(case, which),
        }
        for case, found in results.rows.items()
        for which, rows in found.items()
        if rows
    ]
    left_out = [
        {"implementation": which.title, "transport": case[0], "size": case[1], "reason": reason}
        for (which, case), reason in results.left_out.items()
    ]
    return json.dumps({"load": load, "calls": calls, "left_out": left_out}, indent=1) + "\n"


def main() -> int:
    parser = parser_of("benchmarks/python_calls/run", __doc__, sizes="10,1k,100k,1M", repetitions=5)
    options = parser.parse_args()
    before = os.getloadavg()[0]
    with scratch_directory() as scratch, private_broker(scratch):
        results = measure(options, scratch)
    load = (before, os.getloadavg()[0])
    show(results, load)
    if options.json:
        Path(options.json).write_text(to_json(results, load))
    return 1 if any(which is ORC for which, _ in results.left_out) else 0


if __name__ == "__main__":
    sys.exit(main())
