"""Round trips between two Python programs: ORC, pyzmq written by hand, and beside them C++ ORC, interleaved in one run.

Median, over the repetitions, of the one-way latency (round trip / 2). The last columns are ratios of p50. Samples are
numpy arrays. `made in place` (shm): both ends write the first 8 bytes on loan and nothing is copied, in C++
`orc bench rtt --loan`. Then: how much a thread that receives takes from one that computes.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import gil
from echo import Trial, run
from support.command_line import parser_of, size_label
from support.processes import cores_of, private_broker, programs
from support.round_trips import summary

Row = dict[str, Any]
Key = tuple[str, int, bool]  # transport, size, in place
FIGURES = ("p50_us", "p99_us", "p999_us", "max_us")
TITLES = {"C++": "ORC, C++", "orc": "ORC, Python", "pyzmq": "pyzmq", "orc.pure": "orc.pure"}


def arguments() -> argparse.Namespace:
    parser = parser_of("benchmarks/python_rtt/run", __doc__, sizes="10,1k,100k,1M,10M", repetitions=3)
    parser.add_argument("--pure", action="store_true", help="measure the backend in pure Python too (ipc, tcp)")
    return parser.parse_args()


def cpp(transport: str, size: int, in_place: bool, seconds: float, cpu: str) -> Row:
    command = [
        programs() / "orc",
        "bench",
        "rtt",
        "--transport",
        transport,
        "--size",
        str(size),
        "--seconds",
        str(seconds),
    ]
    command += ["--json", "-", *(["--cpu", cpu] if cpu else []), *(["--loan"] if in_place else [])]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    row: Row = json.loads(done.stdout)[0]
    return row


def measure(options: argparse.Namespace, scratch: Path) -> dict[str, dict[Key, Row]]:
    cores = cores_of(options.cpu)
    cases: list[Key] = [(t, size, False) for t in options.transport for size in options.size]
    cases += [("shm", size, True) for transport, size, _ in cases if transport == "shm"]
    found: dict[str, dict[Key, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for repetition in range(options.repetitions):
        for case in cases:
            transport, size, in_place = case
            print(
                f"repetition {repetition + 1}: {transport} {size_label(size)}" + (" in place" if in_place else ""),
                file=sys.stderr,
            )
            found["C++"][case].append(cpp(*case, options.seconds, options.cpu))
            kinds = ["orc"]
            if transport != "shm":
                kinds += ["pyzmq"] + (["orc.pure"] if options.pure else [])
            for kind in kinds:
                port = 28_000 + os.getpid() % 20_000
                endpoint = f"tcp://127.0.0.1:{port}" if transport == "tcp" else f"ipc://{scratch}/pyzmq"
                trial = Trial(
                    kind, transport, size, in_place, options.seconds, endpoint, f"{kind}/{size}/{repetition}/{in_place}"
                )
                found[kind][case].append(summary(run(trial, cores), ways=2))
    medians: dict[str, dict[Key, Row]] = {}
    for kind, per_case in found.items():
        medians[kind] = {
            case: {name: statistics.median(row[name] for row in rows) for name in FIGURES}
            for case, rows in per_case.items()
        }
    return medians


def cell(row: Row | None) -> str:
    if row is None:
        return ""
    return " / ".join(f"{row[name]:.1f}" if row[name] < 1000 else f"{row[name]:.0f}" for name in FIGURES)


def show(medians: dict[str, dict[Key, Row]]) -> None:
    kinds = [kind for kind in TITLES if kind in medians]
    print("\none way, microseconds: p50 / p99 / p99.9 / max")
    print(f"{'':18}" + "".join(f"{TITLES[kind]:>31}" for kind in kinds) + f"{'/ C++':>8}{'/ pyzmq':>9}")
    for case, row in medians["orc"].items():
        transport, size, in_place = case
        line = f"{transport + ' ' + size_label(size) + (' in place' if in_place else ''):18}"
        line += "".join(f"{cell(medians[kind].get(case)):>31}" for kind in kinds)
        line += f"{row['p50_us'] / medians['C++'][case]['p50_us']:8.2f}"
        other = medians.get("pyzmq", {}).get(case)
        print(line + (f"{row['p50_us'] / other['p50_us']:9.2f}" if other else ""))


def stalls(options: argparse.Namespace) -> dict[str, Any]:
    import orc

    publisher = subprocess.Popen(
        [programs() / "orc", "topic", "pub", "python_rtt/steady", "--rate", "1000", "--hex", "00" * 100],
        stdout=subprocess.DEVNULL,
    )
    try:
        with orc.Participant(name="python_rtt") as broker:
            return gil.stalls(broker, "python_rtt/steady", max(0.2, options.seconds))
    finally:
        publisher.terminate()
        publisher.wait()


def main() -> int:
    options = arguments()
    with tempfile.TemporaryDirectory(prefix="orc-python-rtt-") as directory:
        scratch = Path(directory)
        with private_broker(scratch):
            medians = measure(options, scratch)
            show(medians)
            threads = stalls(options)
    print("\na thread of pure Python, its speed beside a receiving thread (alone: 1)")
    print(f"  that waits in vain           {threads['waiting']:.2f}")
    for name, interval in gil.INTERVALS.items():
        got = threads[name]
        print(
            f"  that gets 1000 samples/s     {got['speed']:.2f}; their age p50 {got['age_p50_us']:.0f}, "
            f"p99 {got['age_p99_us']:.0f} us (sys.setswitchinterval({interval}))"
        )
    if options.json:
        rows = [
            {"implementation": kind, "transport": t, "size": s, "in_place": p, **row}
            for kind, per_case in medians.items()
            for (t, s, p), row in per_case.items()
        ]
        Path(options.json).write_text(json.dumps({"round_trips": rows, "threads": threads}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
