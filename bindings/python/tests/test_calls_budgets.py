"""What one greedy client of a service of Python costs the service and its other clients. The budgets are C++'s."""

from __future__ import annotations

import pathlib
import re
import subprocess
from typing import Any, Iterator

import pytest

import call_messages as message
from call_messages import CallTypes, Kind
from calls_fixtures import SERVICE, Sides
from orc._type_description import TypeDescription
from support import run_python, start_python, wait_until
from test_calls_hostile import MINUTE_NS, Liar

BYTES = TypeDescription("", "", "", b"")
TYPES = CallTypes(BYTES, BYTES)
MAX_CLIENTS = 32
MIB = 1 << 20

SERVER = """
    import sys, threading
    import orc
    participant = orc.Participant(name="server", transports=["ipc"])
    released = threading.Event()
    def handle(request):
        if bytes(request[:4]) == b"hold":
            released.wait(60)
        return request[:8]
    options = {"threads": 2, "max_clients": int(sys.argv[2])}
    service = participant.serve(sys.argv[1], handle, request=bytes, reply=bytes, **options)
    print("ready", flush=True)
    sys.stdin.readline()
"""

HONEST = """
    import sys
    import orc
    participant = orc.Participant(name="honest", transports=["ipc"])
    for n in range(20):
        reply = participant.call(sys.argv[1], b"%d" % n, reply=bytes, deadline=20).result()
        assert bytes(reply) == b"%d" % n
"""


@pytest.fixture
def server(some_sides: Sides) -> Iterator[subprocess.Popen[str]]:
    process = start_python(SERVER, SERVICE, str(MAX_CLIENTS))
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    yield process
    process.kill()
    process.communicate()


def figure(process: subprocess.Popen[str], name: str) -> int:
    """Of /proc/PID/status."""
    found = re.search(rf"^{name}:\s+(\d+)", pathlib.Path(f"/proc/{process.pid}/status").read_text(), re.MULTILINE)
    assert found
    return int(found[1])


def honest_calls_succeed() -> None:
    run_python(HONEST, SERVICE)


def liar(sides: Sides) -> Liar:
    made = Liar(sides.client, message.call_topic(SERVICE, 1), message.reply_topic(SERVICE, 1))
    made.next(Kind.WELCOME)
    return made


def test_silent_registrations_take_no_more_than_their_share(some_sides: Sides, server: subprocess.Popen[str]) -> None:
    before = figure(server, "Threads")
    for n in range(200):
        some_sides.client.register_topic(f"/{SERVICE}/.call/{n:016x}")
    wait_until(lambda: figure(server, "Threads") > before)
    honest_calls_succeed()
    # Half of the places; and those of clients that learn that they are refused.
    assert figure(server, "Threads") <= before + MAX_CLIENTS // 2 + 16 + 2


def test_large_requests_wait_within_the_budget(some_sides: Sides, server: subprocess.Popen[str]) -> None:
    before = figure(server, "VmRSS")
    client: Any = some_sides.client
    held = [client.call(SERVICE, b"hold", reply=bytes, deadline=60) for _ in range(2)]
    large = [client.call(SERVICE, bytes(32 * MIB), reply=bytes, deadline=60) for _ in range(12)]
    wait_until(lambda: sum(each.ready() for each in large) >= 8)  # busy, or lost on the way
    assert figure(server, "VmHWM") <= before + 400 * 1024
    for each in [*held, *large]:
        each.cancel()


def test_a_flood_of_requests_leaves_room_for_others(some_sides: Sides, server: subprocess.Popen[str]) -> None:
    greedy = liar(some_sides)
    greedy.send(Kind.HELLO, 1, message.encode_types(TYPES))
    greedy.next(Kind.ACCEPTED)
    for id in range(1, 3_000):
        greedy.send(Kind.REQUEST, id, b"flood", time_ns=MINUTE_NS, type=0)
    honest_calls_succeed()


def test_who_says_large_hellos_is_let_go(some_sides: Sides, server: subprocess.Popen[str]) -> None:
    greedy = liar(some_sides)
    for number in range(1, 66):
        greedy.send(Kind.HELLO, number, bytes(2 * MIB))
        greedy.next(Kind.REFUSED)
    honest_calls_succeed()
    greedy.next(Kind.BYE)
