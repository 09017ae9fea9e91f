"""The LCM tunnel between two networks: stock LCM programs and ORC programs on both ends, over a bad cable."""

from __future__ import annotations

import itertools
import pathlib
import signal
import subprocess
import sys
from typing import Any, Dict, List

import pytest

from lcm_fixtures import ADDRESSES, PORT, TwoNetworks, digest, two, until_carried
from support import environment, wait_until

__all__ = ["two"]
SCHEMES = ("tcp", "udp")


@pytest.mark.parametrize("scheme", SCHEMES)
def test_two_networks_have_equal_logs_over_a_cable_that_loses_a_twentieth(two: TwoNetworks, scheme: str) -> None:
    two.weather(loss=0.05, delay_s=0.002)
    first, second = two.tunnels(scheme, ("--channel", "TO_B.*"), ("--channel", "TO_A.*"))
    ends = [two.peer(0), two.peer(1)]
    until_carried(ends[0], ends[1], "TO_B_READY")
    until_carried(ends[1], ends[0], "TO_A_READY")
    logs = [two.logger(0), two.logger(1)]

    def both_log() -> bool:
        ends[0].send("TO_B_LOGGED", 0)
        return all("TO_B_LOGGED" in log.messages() for log in logs)

    wait_until(both_log, 60)

    sizes = {"TO_B_SMALL": (300, 100, 0.01), "TO_B_MIDDLE": (60, 20_000, 0.03), "TO_B_LARGE": (10, 120_000, 0.1)}
    sent: Dict[str, List[str]] = {}
    for channel, (count, size, pause) in sizes.items():
        back = channel.replace("TO_B", "TO_A")
        if size < 100_000:
            ends[1].start_send(back, 1, count, size, pause)
            sent[channel] = ends[0].send(channel, 2, count, size, pause)
            sent[back] = ends[1].sent()
        else:  # two at once fill the buffers of stock programs
            sent[back] = ends[1].send(back, 1, count, size, pause)
            sent[channel] = ends[0].send(channel, 2, count, size, pause)
    for channel, expected in sent.items():
        there = ends[1 if channel.startswith("TO_B") else 0]
        wait_until(lambda c=channel, e=expected, t=there: len(t.heard(c)) >= len(e), 60)  # type: ignore[misc]
        assert there.heard(channel) == expected, channel
    wait_until(lambda: all(len(log.messages().get(c, [])) >= len(e) for c, e in sent.items() for log in logs))
    written = [{channel: log.messages()[channel] for channel in sent} for log in logs]
    assert written[0] == written[1]
    assert {channel: [digest(each) for each in data] for channel, data in written[0].items()} == sent
    counts = first.end(), second.end()
    assert all(each.get("given up", 0) == 0 for each in counts)
    if scheme == "udp":
        assert sum(each.get("recovered by parity", 0) for each in counts) > 0


@pytest.mark.parametrize("fec", ["0", "1"])
def test_udp_repairs_what_parity_does_not_bring(two: TwoNetworks, fec: str) -> None:
    two.weather(loss=0.2, duplicate=0.05, delay_s=0.002, jitter_s=0.002)
    options = ("--channel", ".*", "--fec", fec, "--max-delay", "5000")
    first, second = two.tunnels("udp", options, options)
    ends = [two.peer(0), two.peer(1)]
    until_carried(ends[0], ends[1], "READY")
    sent = ends[0].send("DATA", 3, 200, 3000, 0.01)
    wait_until(lambda: len(ends[1].heard("DATA")) >= len(sent), 60)
    assert ends[1].heard("DATA") == sent
    assert first.end()["repairs"] > 0 if fec == "0" else second.end()["recovered by parity"] > 0


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("killed", [0, 1])
def test_an_end_that_is_killed_and_starts_again_resumes(two: TwoNetworks, scheme: str, killed: int) -> None:
    bridges = list(two.tunnels(scheme, ("--channel", ".*"), ("--channel", ".*")))
    ends = [two.peer(0), two.peer(1)]
    where = (("--listen", f"{scheme}://*:{PORT}"), ("--connect", f"{scheme}://{ADDRESSES[0]}:{PORT}"))
    for round in range(2):
        until_carried(ends[0], ends[1], f"THERE{round}")
        until_carried(ends[1], ends[0], f"BACK{round}")
        bridges[killed].kill()
        bridges[killed] = two.tunnel(killed, *where[killed], "--channel", ".*")
    until_carried(ends[0], ends[1], "THERE")
    sent = ends[0].send("AFTER", 4, 50, 1000, 0.005)
    wait_until(lambda: len(ends[1].heard("AFTER")) >= 50)
    assert ends[1].heard("AFTER") == sent


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_path_fails_and_returns(two: TwoNetworks, scheme: str) -> None:
    two.tunnels(scheme, ("--channel", ".*"), ())
    ends = [two.peer(0), two.peer(1)]
    until_carried(ends[0], ends[1], "BEFORE")
    two.networks[1].run("ip", "link", "set", "cable", "down")
    ends[0].send("AWAY", 5, 300, 1000, 0.02)  # longer than the lease of a link
    two.networks[1].run("ip", "link", "set", "cable", "up")
    until_carried(ends[0], ends[1], "AFTER")
    sent = ends[0].send("DATA", 6, 20, 1000, 0.01)
    wait_until(lambda: ends[1].heard("DATA") == sent)


def test_only_named_channels_cross(two: TwoNetworks) -> None:
    first, _ = two.tunnels("tcp", ("--channel", "POSE", "--channel", "CAMERA_[0-9]"), ())
    ends = [two.peer(0), two.peer(1)]
    until_carried(ends[0], ends[1], "POSE")
    others = ("POSE2", "XPOSE", "CAMERA_X", "CAMERA_12", "OTHER")
    for channel in others:
        ends[0].send(channel, 0, 3)
    ends[1].send("POSE_BACK", 9)  # that end sends nothing
    until_carried(ends[0], ends[1], "CAMERA_2")
    assert [ends[1].heard(channel) for channel in others] == [[]] * len(others)
    assert ends[0].heard("POSE_BACK") == [] and "messages received" not in first.end()


def test_the_receiving_end_refuses_what_it_does_not_accept(two: TwoNetworks) -> None:
    first, second = two.tunnels("udp", ("--channel", ".*"), ("--accept", "GOOD.*"))
    ends = [two.peer(0), two.peer(1)]
    until_carried(ends[0], ends[1], "GOOD1")
    ends[0].send("BAD", 0, 5)
    until_carried(ends[0], ends[1], "GOOD2")
    assert ends[1].heard("BAD") == []
    assert second.end()["not accepted"] == 5


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_rate_lets_the_newest_through(two: TwoNetworks, scheme: str) -> None:
    two.tunnels(scheme, ("--channel", "FAST", "--rate", "4"), ())
    ends = [two.peer(0), two.peer(1)]
    until_carried(ends[0], ends[1], "FAST")
    before = len(ends[1].heard("FAST"))
    sent = ends[0].send("FAST", 7, 400, 50, 0.005)
    wait_until(lambda: ends[1].heard("FAST")[-1:] == sent[-1:])
    heard = ends[1].heard("FAST")[before:]
    order = [sent.index(each) for each in heard if each in sent]
    assert order == sorted(set(order))
    assert len(order) < 100  # of 400, however slow the machine is: it would take 25 s


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_slow_link_gets_the_newest_and_gives_nothing_up(two: TwoNetworks, scheme: str) -> None:
    two.weather(bytes_per_s=64_000, delay_s=0.02)
    rates = '[[channel]]\nname = "IMAGE"\nmax_rate = 2.0\n[[channel]]\nname = "POSE|READY"\nmax_rate = 50.0\n'
    (two.folder / "rates.toml").write_text(rates)
    first, second = two.tunnels(scheme, ("--file", str(two.folder / "rates.toml")), ())
    ends, more = [two.peer(0), two.peer(1)], two.peer(0)
    until_carried(ends[0], ends[1], "READY")
    more.start_send("IMAGE", 12, 20, 60_000, 0.2)  # five times as much as the link takes
    poses = ends[0].send("POSE", 13, 400, 100, 0.01)
    images = more.sent()
    for channel, sent in (("POSE", poses), ("IMAGE", images)):
        wait_until(lambda c=channel, s=sent: ends[1].heard(c)[-1:] == s[-1:], 60)  # type: ignore[misc]
        order = [sent.index(each) for each in ends[1].heard(channel)]
        assert order == sorted(set(order)) and len(order) < len(sent)
    counts = first.end(), second.end()
    assert [each.get("given up", 0) + each.get("lost on the link", 0) for each in counts] == [0, 0]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_stalled_end_costs_bounded_memory_and_gets_the_newest(two: TwoNetworks, scheme: str) -> None:
    first, second = two.tunnels(scheme, ("--channel", ".*"), ())
    ends = [two.peer(0), two.peer(1)]
    until_carried(ends[0], ends[1], "READY")
    second.process.send_signal(signal.SIGSTOP)
    try:
        before = _resident(first)
        sent = ends[0].send("BIG", 8, 800, 60_000, 0.001)  # 48 MB
        assert _resident(first) - before < 24 << 20
    finally:
        second.process.send_signal(signal.SIGCONT)
    until_carried(ends[0], ends[1], "AGAIN")
    assert set(ends[1].heard("BIG")) <= set(sent)
    last = ends[0].send("BIG", 9, 1, 60_000)
    wait_until(lambda: ends[1].heard("BIG")[-1:] == last)


def _resident(bridge: Any) -> int:
    text = pathlib.Path(f"/proc/{bridge.process.pid}/statm").read_text()
    return int(text.split()[1]) * 4096


@pytest.mark.parametrize("schemes", [("tcp", "udp"), ("udp", "udp")])
def test_two_tunnels_in_parallel_do_not_storm(two: TwoNetworks, schemes: Any) -> None:
    bridges = []
    for number, scheme in enumerate(schemes):
        bridges += two.tunnels(scheme, ("--channel", ".*"), ("--channel", ".*"), port=PORT + number)
    ends = [two.peer(0), two.peer(1)]
    until_carried(ends[0], ends[1], "THERE")
    until_carried(ends[1], ends[0], "BACK")
    seeds = itertools.count()

    def both_carry() -> bool:
        ends[0].send("BOTH", next(seeds))
        heard = ends[1].heard("BOTH")
        return len(set(heard)) < len(heard)

    wait_until(both_carry, 60)
    sent = ends[0].send("DATA", 10, 100, 200, 0.005)
    until_carried(ends[0], ends[1], "END")
    wait_until(lambda: len(ends[1].heard("DATA")) >= 2 * len(sent))
    until_carried(ends[1], ends[0], "END_BACK")
    assert len(ends[0].heard("DATA")) == len(sent)  # none came back
    assert len(ends[1].heard("DATA")) == 2 * len(sent)  # one by each tunnel
    counts = [each.end() for each in bridges]
    assert sum(each.get("loop", 0) for each in counts) >= 2 * len(sent)


def test_the_own_messages_do_not_come_back(two: TwoNetworks) -> None:
    two.tunnels("udp", ("--channel", ".*"), ("--channel", ".*"))
    ends = [two.peer(0), two.peer(1)]
    until_carried(ends[0], ends[1], "READY")
    sent = ends[0].send("DATA", 11, 50, 100, 0.005)
    until_carried(ends[1], ends[0], "BACK")
    wait_until(lambda: len(ends[1].heard("DATA")) >= len(sent))
    assert ends[0].heard("DATA") == ends[1].heard("DATA") == sent


def test_programs_of_orc_on_multicast_take_part_on_both_sides(two: TwoNetworks, bin_dir: pathlib.Path) -> None:
    two.tunnels("udp", ("--channel", ".*"), ("--channel", ".*"))
    ends = [two.peer(0), two.peer(1)]
    until_carried(ends[0], ends[1], "READY")
    without_broker = {"ORC_BROKER": "none", "ORC_MULTICAST": "udpm://239.255.76.67:7667?ttl=0"}

    echo = two.orc(1, bin_dir, "topic", "echo", "POSE", **without_broker)

    def is_heard() -> bool:
        publish = two.orc(0, bin_dir, "topic", "pub", "POSE", "hello of orc", **without_broker)
        publish.wait(30)
        return digest(b"hello of orc") in ends[1].heard("POSE")

    wait_until(is_heard, 60)
    assert echo.stdout is not None
    assert "hello of orc" in echo.stdout.readline()


def test_usage(bin_dir: pathlib.Path) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [str(bin_dir / "orc"), "bridge", "lcm", *arguments]
        return subprocess.run(command, env=environment(ORC_PYTHON=sys.executable), capture_output=True, text=True)

    assert run("--help").stdout.startswith("usage: orc bridge lcm")
    none = run("--channel", "A")
    assert none.returncode == 2 and "--connect" in none.stderr
