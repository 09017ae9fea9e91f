"""Real routers, bridges and brokers in small fleets. How fast they are is not tested."""

import importlib.util
import json
import os
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import one_fleet
import pytest
import roles
from support.processes import EndFailed, other_process, programs

BENCHMARK = Path(__file__).resolve().parents[1]
WAIT_S = 60.0


@pytest.fixture
def scratch(tmp_path_factory, monkeypatch):
    for library in ("orc", "zenoh"):
        if importlib.util.find_spec(library) is None:
            pytest.skip(f"not installed: {library}; benchmarks/fleet/run makes an environment with all")
    if not (programs() / "orc-broker").exists():
        pytest.skip(f"{programs()}/orc-broker is missing")
    directory = tmp_path_factory.mktemp("f")
    (directory / "orc").mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(directory))
    return directory


def options(**changed):
    return one_fleet.Options(
        **{"topics": 2, "rate": 5.0, "size": 64, "real": 1, "window": 1.0, "patience": WAIT_S, **changed}
    )


def test_counts_the_bytes_of_its_connections():
    with ExitStack() as stack:
        server = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        port = server.getsockname()[1]
        client = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
        accepted = stack.enter_context(server.accept()[0])
        client.sendall(b"x" * 700)
        accepted.sendall(b"y" * 300)
        assert len(accepted.recv(700, socket.MSG_WAITALL)) == 700
        assert len(client.recv(300, socket.MSG_WAITALL)) == 300
        until = time.monotonic() + WAIT_S
        while list((found := roles.tcp_bytes(port)).values()) != [(700, 300)]:  # the acknowledgement may be on its way
            assert time.monotonic() < until, found


def test_simulated_robots_send_what_bridges_send(scratch):
    import zenoh
    from orc.bridge._zenoh.attachment import decode

    heard, both = {}, threading.Event()

    def hear(sample):
        robot = str(sample.key_expr).split("/")[1]
        head = decode(sample.attachment.to_bytes())
        heard.setdefault(robot, set()).add(
            (
                str(sample.key_expr).partition(robot)[2],
                str(sample.encoding),
                str(sample.priority),
                str(sample.kind),
                len(sample.payload),
                (head.type_hash, head.type_name, head.keep_last),
            )
        )
        if len(heard) == 2 and all(len(each) == 2 for each in heard.values()):
            both.set()

    with ExitStack() as stack:
        running = one_fleet.Running(2, options(), scratch, stack)
        config = zenoh.Config.from_file(running.fleet.zenoh_config)
        config.insert_json5("mode", '"client"')
        config.insert_json5("connect/endpoints", json.dumps([running.fleet.router]))
        listener = stack.enter_context(zenoh.open(config))
        listener.declare_subscriber("orc/*/**", hear)
        running.start_robots()
        assert both.wait(WAIT_S), heard
        tokens = {robot: set() for robot in heard}
        for reply in listener.liveliness().get("orc/*/state/*/@adv/**"):
            key = str(reply.ok.key_expr)
            tokens[key.split("/")[1]].add("/".join(key.split("/")[2:6]))
    real, simulated = (heard[roles.robot_name(each)] for each in range(2))
    assert real == simulated
    assert len({len(each) for each in tokens.values()}) == 1
    assert tokens[roles.robot_name(0)] == tokens[roles.robot_name(1)] != set()


def test_a_router_that_dies_ends_the_measurement(scratch, monkeypatch):
    routers = []
    start_robots = one_fleet.Running.start_robots

    def note_router(self):
        routers.append(self.router.process)
        start_robots(self)

    def kill_router(*_):
        routers[0].kill()
        routers[0].join(WAIT_S)
        return 0.0

    monkeypatch.setattr(one_fleet.Running, "start_robots", note_router)
    monkeypatch.setattr(one_fleet, "_wait_until_steady", kill_router)
    with pytest.raises(EndFailed, match="a process of the fleet ended"):
        one_fleet.measure(1, options(), scratch)


def test_a_bridge_that_cannot_start_says_why(scratch):
    fleet = roles.Fleet("orc", "tcp/127.0.0.1:1", str(scratch / "missing.json5"), 1, 1.0, 64)
    with pytest.raises(EndFailed, match="the bridge of r1 did not start: .*No such file"):
        with one_fleet.bridge("r1", "ipc:///nowhere", fleet, scratch / "log", "--topic", "**"):
            pass


def _raise(line):
    line.recv()
    os._exit(5)


def test_asking_a_process_that_ended_says_so():
    with other_process(_raise, None) as process:
        process.send("first")
        process.process.join(WAIT_S)
        with pytest.raises(EndFailed, match="ended with status 5"):
            process.send("second")
            process.receive(WAIT_S)


def test_measures_each_size_or_says_why_not(scratch):
    report = scratch / "fleet.json"
    words = [
        "--far-desks",
        "--robots",
        "2,3",
        "--real",
        "1",
        "--topics",
        "3",
        "--rate",
        "4",
        "--window",
        "2",
        "--json",
        str(report),
    ]
    done = subprocess.run(
        [sys.executable, str(BENCHMARK / "fleet.py"), *words],
        env={**os.environ, "PYTHONPATH": str(BENCHMARK.parent), "TMPDIR": str(scratch)},
        capture_output=True,
        text=True,
        timeout=240,
    )
    found = json.loads(report.read_text())
    assert found["fleets"], done.stdout + done.stderr
    assert len(found["fleets"]) == 2 or found["stopped"], done.stdout
    for each, robots in zip(found["fleets"], (2, 3)):
        assert (each["robots"], each["real"]) == (robots, 1)
        assert each["malformed"] == 0
        assert each["topics_known"] <= 3 * robots
        assert 0 < each["sent_hz"]
        assert 0 < each["delivered"] <= 1
        assert each["p50_ms"] <= each["p99_ms"] <= each["max_ms"]
        assert each["robot_desk_delivered"] > 0
        payload = each["sent_hz"] * 100 * each["delivered"]
        assert each["router_in"] > payload and each["router_out"] > payload
        for size in ("router_bytes", "far_router_bytes", "bridge_bytes", "broker_bytes"):
            assert 1 << 20 < each[size] < 1 << 30
    assert done.stdout.count("\n") >= len(found["fleets"]) + 3
    assert "each robot more" in done.stdout or found["stopped"]
