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

ROOT = Path(__file__).resolve().parents[2]
UNITS = {"k": 1000, "M": 1_000_000}
Row = dict[str, Any]
Key = tuple[str, int, bool]  # transport, size, in place
FIGURES = ("p50_us", "p99_us", "p999_us", "max_us")
TITLES = {"C++": "ORC, C++", "orc": "ORC, Python", "pyzmq": "pyzmq", "orc.pure": "orc.pure"}


def size_of(text: str) -> int:
    return int(text[:-1]) * UNITS[text[-1]] if text[-1] in UNITS else int(text)


def size_label(size: int) -> str:
    return f"{size // 1_000_000} MB" if size >= 1_000_000 else f"{size // 1000} kB" if size >= 1000 else f"{size} B"


def one_way_us(times_ns: list[int]) -> Row:
    times = sorted(times_ns)
    at = [times[min(len(times) - 1, int(len(times) * share))] / 2000 for share in (0.5, 0.99, 0.999)]
    return {"p50_us": at[0], "p99_us": at[1], "p999_us": at[2], "max_us": times[-1] / 2000, "messages": len(times)}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="benchmarks/python_rtt/run", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--transport", default="ipc,tcp,shm", help="default: %(default)s")
    parser.add_argument(
        "--size", default="10,1k,100k,1M,10M", help="bytes; k and M are 1000 and 1000000; default: %(default)s"
    )
    parser.add_argument("--repetitions", type=int, default=3, help="of each, alternating; default: %(default)s")
    parser.add_argument("--seconds", type=float, default=0.5, help="per repetition; default: %(default)s")
    parser.add_argument(
        "--cpu", default="", metavar="A,B|none", help="cores of the two ends; default: the first two allowed ones"
    )
    parser.add_argument("--pure", action="store_true", help="measure the backend in pure Python too (ipc, tcp)")
    parser.add_argument("--json", metavar="FILE", help="write the figures to FILE")
    return parser.parse_args()


def cores_of(text: str) -> tuple[int | None, int | None]:
    if text == "none":
        return None, None
    if text:
        first, second = text.split(",")
        return int(first), int(second)
    allowed = sorted(os.sched_getaffinity(0))
    return allowed[0], allowed[-1 if len(allowed) < 2 else 1]


def cpp(programs: Path, transport: str, size: int, in_place: bool, seconds: float, cpu: str) -> Row:
    command = [
        programs / "orc",
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


def measure(options: argparse.Namespace, programs: Path, scratch: Path) -> dict[str, dict[Key, Row]]:
    cores = cores_of(options.cpu)
    cases: list[Key] = [(t, size_of(s), False) for t in options.transport.split(",") for s in options.size.split(",")]
    cases += [("shm", size, True) for transport, size, _ in cases if transport == "shm"]
    found: dict[str, dict[Key, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for repetition in range(options.repetitions):
        for case in cases:
            transport, size, in_place = case
            print(
                f"repetition {repetition + 1}: {transport} {size_label(size)}" + (" in place" if in_place else ""),
                file=sys.stderr,
            )
            found["C++"][case].append(cpp(programs, *case, options.seconds, options.cpu))
            kinds = ["orc"]
            if transport != "shm":
                kinds += ["pyzmq"] + (["orc.pure"] if options.pure else [])
            for kind in kinds:
                port = 28_000 + os.getpid() % 20_000
                endpoint = f"tcp://127.0.0.1:{port}" if transport == "tcp" else f"ipc://{scratch}/pyzmq"
                trial = Trial(
                    kind, transport, size, in_place, options.seconds, endpoint, f"{kind}/{size}/{repetition}/{in_place}"
                )
                found[kind][case].append(one_way_us(run(trial, cores)))
    medians: dict[str, dict[Key, Row]] = {}
    for kind, per_case in found.items():
        medians[kind] = {
            case: {
                name: statistics.median(row[name] for row in rows) for name in ("p50_us", "p99_us", "p999_us", "max_us")
            }
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


def stalls(programs: Path, options: argparse.Namespace) -> dict[str, Any]:
    import orc

    publisher = subprocess.Popen(
        [programs / "orc", "topic", "pub", "python_rtt/steady", "--rate", "1000", "--hex", "00" * 100],
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
    programs = Path(os.environ.get("ORC_BIN_DIR", ROOT / "build/release/bin"))
    with tempfile.TemporaryDirectory(prefix="orc-python-rtt-") as directory:
        scratch = Path(directory)
        os.environ["ORC_BROKER"] = f"ipc://{scratch}/broker"
        broker = subprocess.Popen(
            [programs / "orc-broker", "--listen", os.environ["ORC_BROKER"], "--log-level", "warning"]
        )
        try:
            medians = measure(options, programs, scratch)
            show(medians)
            threads = stalls(programs, options)
        finally:
            broker.terminate()
            broker.wait()
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
