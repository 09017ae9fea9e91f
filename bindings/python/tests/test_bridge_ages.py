"""Ages cross every bridge, although clocks disagree and whatever failed on the way: no old command passes."""

from __future__ import annotations

import itertools
import os
import subprocess
import time
from typing import Any, Callable, List, Tuple

import pytest

import orc
from lcm_fixtures import ADDRESSES, PORT, TwoNetworks, two
from orc.bridge._shared.peer_clock import PeerClock
from support import wait_until

__all__ = ["two"]
LONG = bool(os.environ.get("ORC_TEST_LONG"))
MS = 1_000_000


def test_an_age_is_never_too_small_in_any_order_of_measurements() -> None:
    """Two clocks with an offset and a drift; each packet takes its own time; each order of hearing of them."""
    for offset, drift in itertools.product((-(10**15), 0, 10**15), (-150e-6, 0.0, 150e-6)):

        def theirs(now: int, offset: int = offset, drift: float = drift) -> int:
            return now + offset + int(now * drift)

        # Of each measurement: when this end asked, when the other one read its clock, when the answer came.
        times = [(0, 30 * MS, 31 * MS), (5_000 * MS, 5_001 * MS, 9_000 * MS), (60_000 * MS, 60_002 * MS, 60_003 * MS)]
        for order in itertools.permutations(times):
            clock, came = PeerClock(), 0
            assert clock.age_ns(0, 0) is None
            for asked, read, answered in order:
                came = max(came, answered)
                clock.is_ahead(asked - theirs(read), asked)
                for sent in range(0, came, 7_777 * MS):
                    age = clock.age_ns(theirs(sent), came)
                    assert age is not None and age >= came - sent
        age = clock.age_ns(theirs(60_100 * MS), 60_200 * MS)
        assert age is not None and 100 * MS <= age < 150 * MS  # the best round trip took 3 ms


def has_time_namespaces() -> bool:
    return subprocess.run(["unshare", "--time", "--boottime", "1", "true"], capture_output=True).returncode == 0


@pytest.fixture
def clocks() -> Any:
    """Words before a command whose clock is far ahead of this one's."""
    if not has_time_namespaces():
        pytest.skip("no time namespaces")
    return ["unshare", "--time", "--fork", "--kill-child", "--boottime", "100000", "--"]


@pytest.mark.parametrize("scheme", ["tcp", "udp"])
@pytest.mark.parametrize("seconds", [3.0] if not LONG else [1.0, 3.0, 5.0, 8.0, 12.0, 40.0])
@pytest.mark.parametrize("ahead", [0, 1])
def test_no_old_command_passes_the_lcm_tunnel_after_an_outage(
    two: TwoNetworks, bin_dir: Any, clocks: List[str], scheme: str, seconds: float, ahead: int
) -> None:
    """One end's clock is 28 hours ahead. The path is cut one way: what was sent waits in the kernel."""
    brokers = [two.broker(end, bin_dir) for end in (0, 1)]
    ends = [("--listen", f"{scheme}://*:{PORT}"), ("--connect", f"{scheme}://{ADDRESSES[0]}:{PORT}")]
    bridges = []
    for end in (0, 1):
        two.networks[end].before += clocks if end == ahead else []
        bridges.append(two.tunnel(end, *ends[end], "--broker", brokers[end], "--topic", "**"))
    wait_until(lambda: all(each.wrote("link to") for each in bridges))
    assert_no_old_command_passes(brokers[0], brokers[1], "command", lambda down: cut(two, down), seconds)


def cut(two: TwoNetworks, down: bool) -> None:
    two.weather(loss=1.0 if down else 0.0)


def assert_no_old_command_passes(here: str, there: str, name: str, cut: Callable[[bool], None], seconds: float) -> None:
    """Sends before, during and after an outage; compares each age with the time that passed since it was sent."""
    with orc.Participant(here) as sender, orc.Participant(there) as controller, orc.Participant(there) as logger:
        commands = sender.register_topic("command", keep_last=False)
        fresh = controller.request_topic(name, max_age_ms=1000)
        every = logger.request_topic(name, conflate=False, depth=10_000)
        _send_and_compare(commands, fresh, every, cut, seconds)


def _send_and_compare(commands: Any, fresh: Any, every: Any, cut: Callable[[bool], None], seconds: float) -> None:
    def send() -> None:
        commands.send_msg(b"%d" % time.monotonic_ns())

    def take() -> bool:
        while True:
            message = every.recv_msg(0)
            if message is None:
                break
            now = time.monotonic_ns()
            passed, age = now - int(bytes(message)), message.age_ns
            assert age >= passed - 2 * MS, f"{passed / 1e6:.0f} ms passed, and the age is {age / 1e6:.0f} ms"
            ages.append((age, passed))
        while True:
            message = fresh.recv_msg(0)
            if message is None:
                return bool(ages)
            assert time.monotonic_ns() - int(bytes(message)) <= 1000 * MS + 20 * MS

    ages: List[Tuple[int, int]] = []

    def crosses() -> bool:
        send()
        return take()

    wait_until(crosses, 60)
    cut(True)
    ends = time.monotonic() + seconds

    def is_over() -> bool:
        crosses()
        return time.monotonic() > ends

    wait_until(is_over, seconds + 60)
    cut(False)
    ages.clear()
    back: List[int] = []

    def is_back() -> bool:
        crosses()
        back.extend(passed for age, passed in ages if passed < 200 * MS)
        return len(back) > 5

    wait_until(is_back, 60)
    assert min(age for age, _ in ages) < 300 * MS  # nor is everything old
