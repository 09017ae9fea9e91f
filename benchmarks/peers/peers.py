"""The field side by side: ORC, other middlewares and the kernel's floors do the same work.

A round is every peer once, in turn; then again. The tables have the medians over the rounds, and the median over the
rounds of each peer's ratio to its floor. Each peer's file in benchmarks/peers states what it was set to.

  echo    a sample and its echo between two processes (two threads for inproc), 10 B to 10 MB
  fanout  one publisher, 1 to 16 subscribers: age, publish call, processor time, memory
  sweep   100 Hz to 50 kHz, newest only and with a queue: delivered share, age
  chain   2 to 32 processes that hand a sample on, at a tenth of --hz

Publisher and measuring end run on the first core, the others on the second; chains alternate. A peer's own threads run
where its process does. Ctrl-C ends the benchmark with what it has.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import field
import measures
from field import Peer
from measures import Case, Measure, Options
from results import Results, report, to_json
from support.command_line import sizes_of
from support.processes import EndFailed, cores_of, private_broker
from trial import Trial

ROS_NETWORK = {"ROS_MASTER_URI": f"http://127.0.0.1:{field.ROS_MASTER[-1]}", "ROS_IP": "127.0.0.1"}
NAMES = tuple(measure.name for measure in measures.MEASURES)


def _names_of(text: str) -> list[str]:
    names = text.split(",")
    if unknown := set(names).difference(NAMES):
        raise argparse.ArgumentTypeError(f"{', '.join(sorted(unknown))}: it is one of {', '.join(NAMES)}")
    return names


def _peers_of(text: str) -> list[Peer]:
    try:
        return field.named(text.split(","))
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _counts_of(lowest: int, highest: int):  # type: ignore[no-untyped-def]
    def counts(text: str) -> list[int]:
        found = sizes_of(text)
        if not all(lowest <= each <= highest for each in found):
            raise argparse.ArgumentTypeError(f"{text}: each is from {lowest} to {highest}")
        return found

    return counts


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="benchmarks/peers/run", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = made.add_argument
    add("--peers", type=_peers_of, default=list(field.PEERS), metavar="NAME,…", help="default: all; floors come along")
    add("--measures", type=_names_of, default=list(NAMES), metavar="NAME,…", help=f"default: {','.join(NAMES)}")
    add("--size", type=sizes_of, default="10,100,1k,10k,100k,1M,10M", metavar="SIZE,…", help="echo; %(default)s")
    add("--subscribers", type=_counts_of(1, 64), default="1,2,4,8,16", metavar="N,…", help="fanout; %(default)s")
    add("--rates", type=_counts_of(1, 1_000_000), default="100,1k,10k,50k", metavar="HZ,…", help="sweep; %(default)s")
    add("--processes", type=_counts_of(2, 64), default="2,4,8,16,32", metavar="N,…", help="chain; %(default)s")
    add(
        "--stream-size", type=_counts_of(16, 10_000_000), default="1k", metavar="SIZE", help="all but echo; %(default)s"
    )
    add("--hz", type=float, default=1000, help="of fanout; default: %(default)s")
    add("--rounds", type=int, default=5, help="default: %(default)s")
    add("--seconds", type=float, default=0.5, help="per trial; default: %(default)s")
    add("--cpu", default="", metavar="A,B|none", help="default: the first two allowed cores")
    add("--json", metavar="FILE", help="write the figures to FILE, for benchmarks/plot")
    return made


@contextmanager
def daemon(command: Sequence[str]) -> Iterator[None]:
    """A program that a peer needs, for as long as it lasts."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            yield
        finally:
            process.terminate()


def absent(peers: list[Peer], binaries: Path) -> dict[str, str]:
    """Returns why peers cannot run at all, by name."""
    return {peer.name: "it is not installed" for peer in peers if not (binaries / f"peer_{peer.program}").is_file()}


def measure_all(
    chosen: list[Measure], peers: list[Peer], options: Options, arguments: argparse.Namespace, binaries: Path
) -> tuple[Results, dict[str, list[Case]]]:
    results = Results()
    cores = cores_of(arguments.cpu)
    missing = absent(peers, binaries)
    cases = {measure.name: measure.cases(options) for measure in chosen}
    for peer, why in missing.items():
        results.left_out["all", (), peer] = why
    there = [peer for peer in peers if peer.name not in missing]
    rounds = [
        (measure, case, number)
        for measure in chosen
        for case in cases[measure.name]
        for number in range(arguments.rounds)
    ]
    try:
        for measure, case, number in rounds:
            print(f"{measure.name} {measure.label(case)}, round {number + 1}", file=sys.stderr)
            for peer in there:
                key = measure.name, case, peer.name
                if not measure.can(peer, case) or key in results.left_out:
                    continue
                if measure.size(case, options) > peer.largest:
                    results.left_out[key] = peer.limit
                    continue
                trial = Trial(peer, binaries, cores, arguments.seconds)
                try:
                    results.add(measure.name, case, peer, number, measure.run(trial, case, options))
                except EndFailed as error:
                    print(f"  {peer.name}: {error}", file=sys.stderr)
                    results.left_out[key] = str(error)
    except KeyboardInterrupt:
        print("interrupted: this is what was measured until then", file=sys.stderr)
    return results, cases


def main() -> int:
    arguments = parser().parse_args()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    binaries = Path(os.environ["ORC_PEERS_BIN"])
    options = Options(
        sizes=arguments.size,
        subscribers=arguments.subscribers,
        rates=arguments.rates,
        processes=arguments.processes,
        stream_size=arguments.stream_size[0],
        hz=arguments.hz,
    )
    chosen = list(measures.named(arguments.measures))
    load_before = os.getloadavg()
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="orc_peers_")))
        stack.enter_context(private_broker(directory))
        os.environ |= ROS_NETWORK
        missing = absent(arguments.peers, binaries)
        for command in dict.fromkeys(peer.daemon for peer in arguments.peers if peer.name not in missing):
            if command:
                stack.enter_context(daemon(command))
        results, cases = measure_all(chosen, arguments.peers, options, arguments, binaries)
    load = [f"{each[0]:.1f}" for each in (load_before, os.getloadavg())]
    cores = len(os.sched_getaffinity(0))
    date = time.strftime("%Y-%m-%d")
    print(
        f"# {date}, {cores} cores, load {load[0]} before and {load[1]} after, {arguments.rounds} rounds of "
        f"{arguments.seconds:g} s\n# samples of fanout, sweep and chain: {options.stream_size} B\n"
    )
    print(report(results, chosen, cases, arguments.peers), end="")
    if arguments.json:
        facts = {
            "benchmark": "peers",
            "date": date,
            "cores": cores,
            "load": [float(each) for each in load],
            "rounds": arguments.rounds,
            "seconds": arguments.seconds,
            "stream_size": options.stream_size,
        }
        Path(arguments.json).write_text(to_json(results, chosen, arguments.peers, facts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
