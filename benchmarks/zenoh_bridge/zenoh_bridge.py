"""Control beside images over a slow uplink: through the bridge to Zenoh, and with a plain publisher of Zenoh.

Two network namespaces, a cable with `tc tbf` between them: robot and station. The robot sends 100 B at 50 Hz and 1 MB
at 2 Hz. Needs root, iproute2, and the programs of tools/dev build. All processes run on this host.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
from typing import Any, Dict, Iterator, List, Tuple

HERE = pathlib.Path(__file__).resolve().parent
BIN = pathlib.Path(os.environ.get("ORC_BIN_DIR") or HERE.parents[1] / "build/release/bin")
ROBOT, STATION = "orc-zb-robot", "orc-zb-station"
ROUTER = "tcp/10.79.0.2:7447"
SETTLE_S = 5.0


def run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True)


@contextlib.contextmanager
def network(rate: str, queue: str, congestion: str) -> Iterator[None]:
    for each in (ROBOT, STATION):
        subprocess.run(["ip", "netns", "del", each], capture_output=True)
        run("ip", "netns", "add", each)
    try:
        run("ip", "link", "add", "zb", "netns", ROBOT, "type", "veth", "peer", "name", "zb", "netns", STATION)
        for number, each in ((1, ROBOT), (2, STATION)):
            run("ip", "-n", each, "addr", "add", f"10.79.0.{number}/24", "dev", "zb")
            for link in ("lo", "zb"):
                run("ip", "-n", each, "link", "set", link, "up")
        for each in (ROBOT, STATION) if congestion else ():
            run("ip", "netns", "exec", each, "sysctl", "-w", f"net.ipv4.tcp_congestion_control={congestion}")
        # Segmentation offload would make packets of 64 kB, which no modem sends.
        for each in (ROBOT, STATION):
            run("ip", "-n", each, "link", "set", "zb", "gso_max_segs", "1")
        shape = ["tbf", "rate", rate, "burst", "3000", "limit", queue]
        run("ip", "netns", "exec", ROBOT, "tc", "qdisc", "add", "dev", "zb", "root", *shape)
        yield
    finally:
        for each in (ROBOT, STATION):
            subprocess.run(["ip", "netns", "del", each], capture_output=True)


class Program:
    """A process in a namespace. It is ready when it has written a line."""

    def __init__(self, where: str, *command: str, log: Any, ready: bool = True) -> None:
        self.process = subprocess.Popen(
            ["ip", "netns", "exec", where, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
        )
        if ready and not self.line():
            raise SystemExit(f"{' '.join(command)} ended: see {log.name}")

    def line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def ask(self) -> Dict[str, Any]:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        answer: Dict[str, Any] = json.loads(self.line())
        return answer

    def finish(self) -> Dict[str, Any]:
        assert self.process.stdin is not None
        self.process.stdin.close()
        answer: Dict[str, Any] = json.loads(self.line())
        return answer

    def end(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(20)


def measure(kind: str, options: argparse.Namespace, folder: pathlib.Path) -> Dict[str, Any]:
    programs: List[Program] = []
    (folder / "orc").mkdir(exist_ok=True)
    log = open(folder / f"{kind}.log", "w")

    def start(where: str, *command: str, ready: bool = True) -> Program:
        programs.append(Program(where, *command, log=log, ready=ready))
        return programs[-1]

    def end_of(where: str, role: str, *arguments: str) -> Program:
        return start(where, sys.executable, str(HERE / "ends.py"), role, *arguments)

    try:
        end_of(STATION, "router", ROUTER)
        if kind == "bridge":
            brokers = [f"ipc://{folder}/orc/{each}" for each in ("robot", "station")]
            for where, broker in zip((ROBOT, STATION), brokers):
                start(where, str(BIN / "orc-broker"), "--log-level", "warning", "--listen", broker, ready=False)
            settings = folder / "bridge.toml"
            settings.write_text(
                '[[topic]]\nname = "control"\npriority = "real_time"\n[[topic]]\nname = "image"\npriority = "background"\n'
            )
            # Otherwise Zenoh would pass large samples by shared memory: both ends are on this host.
            zenoh_config = folder / "zenoh.json5"
            zenoh_config.write_text("{transport: {shared_memory: {enabled: false}}, scouting: {multicast: {enabled: false}}}")
            for where, name, broker in zip((ROBOT, STATION), ("robot", "station"), brokers):
                command = ["-m", "orc.bridge.zenoh", "--robot", name, "--broker", broker, "--file", str(settings)]
                command += ["--connect", ROUTER, "--zenoh-config", str(zenoh_config), "--verbose"]
                start(where, sys.executable, *command)
            receiver = end_of(STATION, "receive_orc", brokers[1])
            sender = end_of(ROBOT, "publish_orc", brokers[0])
        else:
            receiver = end_of(STATION, "receive_zenoh", ROUTER)
            sender = end_of(ROBOT, "publish_zenoh", ROUTER)
        time.sleep(SETTLE_S)
        steady = (time.monotonic(), time.monotonic() + options.seconds)
        time.sleep(options.seconds)
        down = time.monotonic()
        if options.outage:
            run("ip", "-n", STATION, "link", "set", "zb", "down")
            time.sleep(options.outage)
            run("ip", "-n", STATION, "link", "set", "zb", "up")
        up = time.monotonic()
        time.sleep(options.seconds)
        last = sender.ask()["last"]
        stopped = time.monotonic()
        time.sleep(options.seconds)
        heard = receiver.finish()
        return summary(heard, steady, (down, up, stopped), last)
    finally:
        for each in reversed(programs):
            each.end()
        log.close()


def summary(heard: Dict[str, Any], steady: Tuple[float, float], outage: Tuple[float, ...], last: int) -> Dict[str, Any]:
    control = [tuple(each) for each in heard["control"]]
    down, up, stopped = outage
    first = next((when for when, _, age in control if when > up and age < 1.0), None)

    def ages(begin: float, end: float) -> Dict[str, float]:
        found = sorted(age for when, _, age in control if begin <= when < end)
        if not found:
            return {"p50_ms": -1, "p99_ms": -1, "hz": 0}
        at = [found[min(len(found) - 1, int(share * len(found)))] for share in (0.5, 0.99)]
        return {"p50_ms": at[0] * 1e3, "p99_ms": at[1] * 1e3, "hz": len(found) / (end - begin)}

    images = [age for when, _, age in heard["images"] if steady[0] <= when < steady[1]]
    return {
        "steady": ages(*steady),
        "after": ages((first or stopped) + 2.0, stopped),
        "back_s": None if first is None else first - up,
        "images": len(images),
        "image_age_s": max(images, default=-1),
        "last_came": any(number == last for _, number, _ in control),
        "backwards": sum(b[1] <= a[1] for a, b in zip(control, control[1:])),
    }


def show(kind: str, found: Dict[str, Any]) -> None:
    steady, after = found["steady"], found["after"]
    back = "never" if found["back_s"] is None else f"{found['back_s']:.1f} s"
    print(
        f"{kind:8} {steady['p50_ms']:9.0f} {steady['p99_ms']:9.0f} {steady['hz']:6.1f}   {back:>8} {after['p99_ms']:9.0f}"
        f"   {'yes' if found['last_came'] else 'no':>4} {found['backwards']:9} {found['images']:7}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=30.0, help="of each part: before, after, at the end (30)")
    parser.add_argument("--outage", type=float, default=60.0, help="seconds without the cable (60)")
    parser.add_argument("--rate", default="256kbit", help="of the uplink (256kbit)")
    parser.add_argument("--queue", default="64kb", help="of the uplink's modem (64kb: 2 s)")
    parser.add_argument("--congestion", default="", help="of tcp: reno, cubic, bbr (the system's)")
    parser.add_argument("--only", choices=("bridge", "zenoh"), help="one of the two")
    parser.add_argument("--json", action="store_true", help="one line per publisher")
    options = parser.parse_args()
    if os.geteuid() != 0:
        raise SystemExit("network namespaces need root")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="orc-zb-", dir="/tmp"))
    os.environ["XDG_RUNTIME_DIR"] = str(folder)
    if not options.json:
        print(f"uplink {options.rate}, queue {options.queue}; ages of 100 B at 50 Hz beside 1 MB at 2 Hz; logs in {folder}")
        print("           p50 ms    p99 ms     Hz   back in  p99 after   last  backwards  images")
    for kind in [options.only] if options.only else ["bridge", "zenoh"]:
        with network(options.rate, options.queue, options.congestion):
            found = measure(kind, options, folder)
        print(json.dumps({"publisher": kind, **found})) if options.json else show(kind, found)


if __name__ == "__main__":
    main()
