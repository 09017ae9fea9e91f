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
SLACK = 300 * MS  # the processor may be taken from a test between two lines


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


KINDS = ("cut", "lost there", "lost back", "flapping", "interface down", "address")
# How the path fails, and the bridge. Each outage also lasts for other times with ORC_TEST_LONG.
CELLS = [
    ("cut", "tcp", 0),
    ("cut", "udp", 1),
    ("cut", "zenoh", 1),
    ("lost there", "udp", 0),
    ("lost back", "tcp", 1),
    ("flapping", "zenoh", 0),
    ("interface down", "udp", 1),
    ("address", "tcp", 0),
    ("address", "zenoh", 1),
]
SECONDS = [2.0]
if LONG:
    CELLS = list(itertools.product(KINDS, ("tcp", "udp", "zenoh"), (0, 1)))
    SECONDS = [1.0, 3.0, 5.0, 8.0, 12.0, 40.0]


@pytest.mark.parametrize("seconds", SECONDS)
@pytest.mark.parametrize(("kind", "bridge", "ahead"), CELLS)
def test_no_old_command_passes_after_the_path_failed(
    two: TwoNetworks, bin_dir: Any, clocks: List[str], kind: str, bridge: str, ahead: int, seconds: float
) -> None:
    """The clock of the end `ahead` is 28 hours ahead. End 0 listens and sends commands to end 1."""
    brokers = [two.broker(end, bin_dir) for end in (0, 1)]
    two.networks[ahead].before += clocks
    if bridge == "zenoh":
        pytest.importorskip("zenoh", reason="eclipse-zenoh is not installed: pip install eclipse-zenoh")
        where = [("--listen", f"tcp/0.0.0.0:{PORT}"), ("--connect", f"tcp/{ADDRESSES[0]}:{PORT}")]
        for end in (0, 1):
            common = ("--robot", f"r{end}", "--topic", "**", "--broker", brokers[end])
            two.bridge(end, "zenoh", *where[end], *common)
    else:
        where = [("--listen", f"{bridge}://*:{PORT}"), ("--connect", f"{bridge}://{ADDRESSES[0]}:{PORT}")]
        bridges = [two.tunnel(end, *where[end], "--topic", "**", "--broker", brokers[end]) for end in (0, 1)]
        wait_until(lambda: all(each.wrote("link to") for each in bridges))
    name = "r0/command" if bridge == "zenoh" else "command"
    assert_no_old_command_passes(brokers[0], brokers[1], name, lambda is_down: fail(two, kind, is_down), seconds)


def fail(two: TwoNetworks, kind: str, is_down: bool) -> None:
    """Called again and again while the path fails, and once at the end."""
    if kind == "interface down":
        two.networks[1].run("ip", "link", "set", "cable", "down" if is_down else "up")
    elif kind == "address":
        if is_down:
            return
        two.networks[1].run("ip", "addr", "flush", "dev", "cable")
        two.networks[1].run("ip", "addr", "add", "10.81.0.7/24", "dev", "cable")
    elif kind == "flapping":
        two.weather(loss=1.0 if is_down and int(4 * time.monotonic()) % 2 else 0.0)
    elif kind in ("lost there", "lost back"):
        two.weather(lost_from=["lost there", "lost back"].index(kind) if is_down else -1)
    else:
        two.weather(loss=1.0 if is_down else 0.0)


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
            now, sent = time.monotonic_ns(), int(bytes(message))
            passed, age = now - sent, message.age_ns
            assert sent > newest[-1], "a sample came twice, or after a newer one"
            newest.append(sent)
            assert age >= passed - SLACK, f"{passed / 1e6:.0f} ms passed, and the age is {age / 1e6:.0f} ms"
            ages.append(age)
        while True:
            message = fresh.recv_msg(0)
            if message is None:
                return bool(ages)
            assert time.monotonic_ns() - int(bytes(message)) <= 1000 * MS + SLACK

    ages: List[int] = []
    newest = [0]

    def crosses() -> bool:
        send()
        return take()

    wait_until(crosses, 60)
    ends = time.monotonic() + seconds

    def is_over() -> bool:
        cut(True)
        crosses()
        return time.monotonic() > ends

    wait_until(is_over, seconds + 60)
    cut(False)
    ages.clear()
    healed = time.monotonic_ns()

    def is_back() -> bool:
        crosses()
        # What waited for a new connection may be older, but not everything is.
        return sum(sent > healed for sent in newest) > 5 and min(ages) < 500 * MS

    wait_until(is_back, 60)
    print(f"back after {(time.monotonic_ns() - healed) / 1e6:.0f} ms")


@pytest.mark.parametrize("kind", KINDS if LONG else ["cut"])
def test_no_call_runs_after_its_deadline_when_the_path_failed(
    two: TwoNetworks, bin_dir: Any, clocks: List[str], kind: str
) -> None:
    """Queries wait in the kernel of the calling end."""
    pytest.importorskip("zenoh", reason="eclipse-zenoh is not installed: pip install eclipse-zenoh")
    brokers = [two.broker(end, bin_dir) for end in (0, 1)]
    two.networks[1].before += clocks
    out, into = two.folder / "out.toml", two.folder / "in.toml"
    out.write_text('[[service]]\nname = "close"\ndirection = "out"\n')
    into.write_text('[[service]]\nname = "close"\ndirection = "in"\nfrom = "r0"\n')
    where = [("--listen", f"tcp/0.0.0.0:{PORT}"), ("--connect", f"tcp/{ADDRESSES[0]}:{PORT}")]
    for end, file in enumerate((out, into)):
        two.bridge(end, "zenoh", *where[end], "--robot", f"r{end}", "--broker", brokers[end], "--file", str(file))
    ran: List[Tuple[int, int]] = []

    def handle(asked_ns: int) -> int:
        ran.append((asked_ns, time.monotonic_ns() - asked_ns))
        return asked_ns

    with orc.Participant(brokers[0]) as server, orc.Participant(brokers[1]) as client:
        server.serve("close", handle, threads=4)
        client.wait_for_service("r0/close", 60.0)

        def call() -> Any:
            return client.call("r0/close", time.monotonic_ns(), deadline=0.5)

        def works() -> bool:
            try:
                return bool(call().result())
            except orc.CallError:
                return False

        wait_until(works, 60)
        for _ in range(6):
            fail(two, kind, True)
            assert not works() or kind in ("flapping", "address")
        fail(two, kind, False)
        wait_until(works, 60)
        wait_until(works, 60)
    assert len({asked for asked, _ in ran}) == len(ran), "a call ran twice"
    assert max(passed for _, passed in ran) <= 1500 * MS
