"""Runs a fleet of one size, and measures it."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import roles
from support.process_usage import Meter, available_bytes
from support.processes import EndFailed, OtherProcess, broker, other_process

START_S, ANSWER_S = 30.0, 30.0
START_OF_ROBOT_S = 1.0  # more for each
STEADY_P50_MS, STEADY_SHARE = 100.0, 0.9  # then the desk has caught up after it joined
LOOK_AGAIN_S = 0.5
AFTERWARDS_S = 2.0  # the last samples of the window are still on their way
ROBOTS_PER_PROCESS = 25
AGES = ("p50_ms", "p99_ms", "max_ms")


@dataclass(frozen=True)
class Options:
    topics: int
    rate: float
    size: int
    real: int
    window: float
    patience: float
    far_desks: bool = False
    """The desks are at a second router, which is linked to the first."""
    plain_desk: bool = False
    """The fleet desk does not ask for the last samples of before it joined."""


@dataclass
class Figures:
    """Of one size. Rates are per second, usage of processors in cores."""

    robots: int
    real: int
    topics_known: int
    known_s: float
    """After the fleet desk joined."""
    steady_s: float
    """After it joined, until its samples were young."""
    offered_hz: float
    sent_hz: float
    desk_hz: float
    delivered: float
    p50_ms: float
    p99_ms: float
    max_ms: float
    robot_desk_delivered: float
    robot_desk_p50_ms: float
    robot_desk_p99_ms: float
    malformed: int
    router_in: float
    router_out: float
    connections_lost: int
    router_cores: float
    router_bytes: int
    far_router_cores: float
    far_router_bytes: int
    bridge_cores: float
    bridge_bytes: int
    broker_bytes: int
    fleet_desk_cores: float
    robots_cores: float
    simulated_busiest_cores: float
    others_cores: float
    machine_cores: float
    available_bytes: int
    load: float


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextlib.contextmanager
def bridge(robot: str, endpoint: str, fleet: roles.Fleet, log: Path, *arguments: str) -> Iterator[int]:
    """Runs `orc bridge zenoh`. The block begins when it has said that it bridges. Raises EndFailed."""
    command = [sys.executable, "-m", "orc.bridge.zenoh", "--robot", robot, "--prefix", fleet.prefix]
    command += ["--connect", fleet.router, "--zenoh-config", fleet.zenoh_config, "--broker", endpoint, *arguments]
    with open(log, "w") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
    assert process.stdout is not None
    try:
        said, _, _ = select.select([process.stdout], [], [], START_S)
        if not said or not process.stdout.readline():
            raise EndFailed(f"the bridge of {robot} did not start: {log.read_text()[-500:]}")
        yield process.pid
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


class Running:
    """The processes of a fleet, by what they are."""

    def __init__(self, robots: int, options: Options, directory: Path, stack: ExitStack) -> None:
        self.real, self.simulated = min(options.real, robots), max(0, robots - options.real)
        self._robots, self._options, self._directory, self._stack = robots, options, directory, stack
        config = directory / "zenoh.json5"
        roles.write_zenoh_config(config)
        self.fleet = roles.Fleet(
            "orc", f"tcp/127.0.0.1:{free_port()}", str(config), options.topics, options.rate, options.size
        )
        self.desks = self.fleet
        self.far_router: list[int] = []
        self.senders: list[OtherProcess] = []
        self.simulators: list[int] = []
        self.bridges: list[int] = []
        self.desk_bridge: list[int] = []
        self.brokers: list[int] = []
        self.router = self._start(roles.router, self.fleet)
        self.router.receive(START_S)
        if options.far_desks:
            self.desks = replace(self.fleet, router=f"tcp/127.0.0.1:{free_port()}")
            far = self._start(roles.router, self.desks, self.fleet.router)
            far.receive(START_S)
            self.far_router.append(far.pid)

    def _start(self, role: Any, *arguments: Any) -> OtherProcess:
        return self._stack.enter_context(other_process(role, None, *arguments))

    def _broker(self, name: str) -> str:
        endpoint = f"ipc://{self._directory}/orc/{name}"
        self.brokers.append(self._stack.enter_context(broker(endpoint)).pid)
        return endpoint

    def _bridge(self, robot: str, endpoint: str, fleet: roles.Fleet, *arguments: str) -> int:
        log = self._directory / f"bridge-{robot}.log"
        return self._stack.enter_context(bridge(robot, endpoint, fleet, log, *arguments))

    def start_robots(self) -> None:
        """Returns when each has sent each of its topics."""
        endpoints = [self._broker(roles.robot_name(each)) for each in range(self.real)]
        for each, endpoint in enumerate(endpoints):
            rule = ("--topic", "state/**", "--direction", "out")
            self.bridges.append(self._bridge(roles.robot_name(each), endpoint, self.fleet, *rule))
        if endpoints:
            self.senders.append(self._start(roles.real_robots, self.fleet, endpoints))
        for first in range(self.real, self._robots, ROBOTS_PER_PROCESS):
            numbers = range(first, min(self._robots, first + ROBOTS_PER_PROCESS))
            made = self._start(roles.simulated_robots, self.fleet, numbers)
            self.simulators.append(made.pid)
            self.senders.append(made)
        patience = START_S + START_OF_ROBOT_S * self._robots
        for sender in self.senders:
            sender.receive(patience)

    def start_desks(self) -> tuple[OtherProcess, OtherProcess]:
        """A desk for the whole fleet, and one for the first robot, which has a bridge."""
        watched = roles.robot_name(0)
        endpoint = self._broker("desk")
        rule = self._directory / "desk.toml"
        rule.write_text(f'[[topic]]\nname = "state/**"\ndirection = "in"\nfrom = "{watched}"\n')
        self.desk_bridge = [self._bridge("desk", endpoint, self.desks, "--file", str(rule))]
        patience = self._options.patience
        one = self._start(roles.robot_desk, self.desks, endpoint, watched, patience)
        return self._start(roles.fleet_desk, self.desks, self._robots, patience, self._options.plain_desk), one


def measure(robots: int, options: Options, directory: Path) -> Figures:
    """Raises EndFailed."""
    scratch = directory / str(robots)
    (scratch / "orc").mkdir(parents=True)
    with ExitStack() as stack:
        running = Running(robots, options, scratch, stack)
        running.start_robots()
        desk, one = running.start_desks()
        known, known_s = desk.receive(START_S + options.patience)
        one.receive(START_S + options.patience)
        steady_s = known_s + _wait_until_steady(desk, robots * options.topics, options)
        groups = {"router": [running.router.pid], "desk": [desk.pid], "bridges": running.bridges}
        groups |= {"brokers": running.brokers, "robots": [each.pid for each in running.senders]}
        groups |= {"far router": running.far_router, "robot desk": [one.pid, *running.desk_bridge]}
        groups |= {f"simulator {each}": [each] for each in running.simulators}
        try:
            meter, before, begin = Meter(groups), _ask(running.router, "bytes"), time.monotonic_ns()
            time.sleep(options.window)
            end, after, (used, machine) = time.monotonic_ns(), _ask(running.router, "bytes"), meter.read()
        except OSError as error:
            raise EndFailed(f"a process of the fleet ended: {error}") from None
        available = available_bytes()
        time.sleep(AFTERWARDS_S)
        sent = sum(_ask(each, (begin, end)) for each in running.senders)
        all_heard, one_heard = _ask(desk, (begin, end)), _ask(one, (begin, end))
        for each in (desk, one, *running.senders):
            each.send(None)
    seconds = (end - begin) / 1e9
    offered = robots * options.topics * options.rate
    missing = float("inf")
    ours = sum(each.cores for name, each in used.items() if not name.startswith("simulator"))
    count = max(1, len(running.bridges))
    return Figures(
        robots=robots,
        real=running.real,
        topics_known=known,
        known_s=known_s if known == robots * options.topics else missing,
        steady_s=steady_s,
        offered_hz=offered,
        sent_hz=sent / seconds,
        desk_hz=all_heard["count"] / seconds,
        delivered=all_heard["count"] / max(1, sent),
        **{name: all_heard.get(name, missing) for name in AGES},
        robot_desk_delivered=one_heard["count"] / (options.topics * options.rate * seconds),
        robot_desk_p50_ms=one_heard.get("p50_ms", missing),
        robot_desk_p99_ms=one_heard.get("p99_ms", missing),
        malformed=all_heard["malformed"] + one_heard["malformed"],
        router_in=(after[0] - before[0]) / seconds,
        router_out=(after[1] - before[1]) / seconds,
        connections_lost=after[2] - before[2],
        router_cores=used["router"].cores,
        router_bytes=used["router"].bytes,
        far_router_cores=used["far router"].cores,
        far_router_bytes=used["far router"].bytes,
        bridge_cores=used["bridges"].cores / count,
        bridge_bytes=used["bridges"].bytes // count,
        broker_bytes=used["brokers"].bytes // len(running.brokers),
        fleet_desk_cores=used["desk"].cores,
        robots_cores=used["robots"].cores,
        simulated_busiest_cores=max((used[name].cores for name in used if name.startswith("simulator")), default=0.0),
        others_cores=max(0.0, machine - ours),
        machine_cores=machine,
        available_bytes=available,
        load=os.getloadavg()[0],
    )


def _wait_until_steady(desk: OtherProcess, topics: int, options: Options) -> float:
    """Returns the seconds it took, or inf after the patience."""
    began = time.monotonic()
    while (waited := time.monotonic() - began) < options.patience:
        seconds = max(1.0, 1.0 / options.rate)
        end_ns = time.monotonic_ns() - int(1e9)
        heard = _ask(desk, (end_ns - int(seconds * 1e9), end_ns))
        expected = STEADY_SHARE * topics * options.rate * seconds
        if heard["count"] >= expected and heard["p50_ms"] <= STEADY_P50_MS:
            return waited
        time.sleep(LOOK_AGAIN_S)
    return float("inf")


def _ask(process: OtherProcess, what: Any) -> Any:
    process.send(what)
    return process.receive(ANSWER_S)
