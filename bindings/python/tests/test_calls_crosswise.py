"""Calls between Python and C++ (tests/support/call_peer_main.cpp), in both directions."""

from __future__ import annotations

import dataclasses
import json
import pathlib
import struct
import subprocess
from typing import Any, Callable, Iterator, List, Optional

import pytest

from calls_fixtures import AMPLE_S, SERVICE, Sides
from support import BrokerProcess, environment, wait_until

pytest.importorskip("numpy")

ECHO, THROW, FAIL, HOLD, HOLD_ANYWAY, WORK, COUNT_UP, EXIT_AT_ONCE, EXIT_NORMALLY, FORK = range(10)


@dataclasses.dataclass
class Position:
    __orc_name__ = "call_peer.position"
    x: float
    y: float


@dataclasses.dataclass
class Distance:
    __orc_name__ = "call_peer.distance"
    meters: float


def order(do: int, argument: int = 0, number: int = 0) -> bytes:
    """call_request of tests/support/call_peers.h."""
    return struct.pack("<IIQ", do, argument, number)


class Peer:
    """The C++ program in one of its roles."""

    def __init__(self, program: pathlib.Path, role: str, broker: BrokerProcess, transport: str, *more: str) -> None:
        command = [str(program), role, broker.endpoint, SERVICE, transport, *more]
        self.process = subprocess.Popen(
            command, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.line()

    def line(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, f"the peer ended with {self.process.wait(20)}"
        return line.rstrip("\n")

    def ask(self, text: str) -> str:
        assert self.process.stdin is not None
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()
        return self.line()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(20)
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()


@pytest.fixture
def sides(far_sides: Sides) -> Sides:
    return far_sides


@pytest.fixture
def peer(bin_dir: pathlib.Path, broker: BrokerProcess) -> Iterator[Callable[..., Peer]]:
    """peer(role, sides): a C++ program that has said its first word."""
    program = bin_dir.parent / "tests/bin/orc_test_call_peer"
    if not program.exists():
        pytest.skip(f"{program} is not there: tools/dev build")
    made: List[Peer] = []

    def start(role: str, sides: Sides, *more: str) -> Peer:
        made.append(Peer(program, role, broker, sides.transport, *more))
        return made[-1]

    yield start
    for each in made:
        each.kill()


def call(sides: Sides, data: bytes, deadline: float = AMPLE_S) -> Any:
    return sides.client.call(SERVICE, data, deadline=deadline)


def test_python_calls_cpp(sides: Sides, peer: Any) -> None:
    peer("serve", sides)
    for size in (16, 5_000, 3_000_000):
        data = order(ECHO, 5).ljust(size, b"\7")
        assert call(sides, data).result() == data


def test_an_exception_of_cpp_arrives_in_python(sides: Sides, peer: Any) -> None:
    peer("serve", sides)
    with pytest.raises(sides.orc.CallError, match="as ordered") as thrown:
        call(sides, order(THROW)).result()
    assert (thrown.value.code, thrown.value.exception_type) == (sides.orc.CallErrc.exception, "std::out_of_range")
    with pytest.raises(sides.orc.CallError, match="as ordered") as failed:
        call(sides, order(FAIL, 42)).result()
    assert (failed.value.code, failed.value.number) == (sides.orc.CallErrc.failed, 42)


def test_feedback_cancellation_and_deadlines_with_a_server_in_cpp(sides: Sides, peer: Any) -> None:
    code = sides.orc.CallErrc
    peer("serve", sides)
    counting = call(sides, order(COUNT_UP, 1000))
    seen = []
    while not counting.wait(0.001):
        seen.append(counting.feedback())
    seen.append(counting.feedback())
    numbers = [struct.unpack("<I", each)[0] for each in seen if each is not None]
    assert numbers == sorted(set(numbers)) and numbers[-1] == 999
    held = call(sides, order(HOLD))
    held.cancel()
    assert sides.code_of(held) is code.cancelled
    assert sides.code_of(call(sides, order(HOLD), deadline=0.05)) is code.deadline_exceeded
    assert call(sides, order(ECHO)).result() == order(ECHO)


def test_death_of_a_server_in_cpp(sides: Sides, peer: Any) -> None:
    died = sides.orc.CallErrc.server_died
    server = peer("serve", sides)
    assert call(sides, order(ECHO)).result() == order(ECHO)
    held = call(sides, order(HOLD))
    assert not held.wait(0.1)
    server.kill()
    assert sides.code_of(held) is died
    peer("serve", sides)
    assert call(sides, order(ECHO)).result() == order(ECHO)
    for end in (EXIT_AT_ONCE, EXIT_NORMALLY):
        assert sides.code_of(call(sides, order(end))) is died
        peer("serve", sides)


def test_cpp_calls_python(sides: Sides, peer: Any) -> None:
    sides.server.serve(SERVICE, lambda request: request, request=bytes, reply=bytes)
    client = peer("ask", sides)
    for data in (b"\0\1\2", b"x" * 5000, b""):
        assert client.ask(data.hex()) == f"0 0 - {data.hex() or '-'}"
    peer("call", sides)  # calls as fast as it can, until it is killed
    assert client.ask("00") == "0 0 - 00"


def test_cpp_calls_python_with_json_in_bytes(sides: Sides, peer: Any) -> None:
    sides.serve()
    client = peer("ask", sides)

    def ask(**request: Any) -> List[str]:
        return client.ask(json.dumps(request).encode().hex()).split()

    code, _, _, reply = ask(number=5)
    assert code == "0" and json.loads(bytes.fromhex(reply)) == {"number": 5}
    code, _, kind, text = ask(do="raise")
    assert (code, kind, bytes.fromhex(text)) == ("1", "IndexError", b"as ordered")
    code, number, _, text = ask(do="fail", number=-7)
    assert (code, number, bytes.fromhex(text)) == ("2", "-7", b"as ordered")
    code, _, _, text = client.ask(b"no json".hex()).split()
    assert code == str(int(sides.orc.CallErrc.bad_request)) and b"no JSON" in bytes.fromhex(text)


def test_exceptions_of_the_program_arrive_in_cpp_with_their_module(some_sides: Sides, peer: Any) -> None:
    class GripperError(ValueError):
        pass

    def handler(request: Any) -> Any:
        raise GripperError("slipped é")

    some_sides.server.serve(SERVICE, handler)
    _, _, kind, text = peer("ask", some_sides).ask(b"1".hex()).split()
    assert kind.startswith("test_calls_crosswise.") and kind.endswith(".GripperError")
    assert bytes.fromhex(text).decode() == "slipped é"


def test_typed_calls_in_both_directions(sides: Sides, peer: Any) -> None:
    server = peer("norm", sides)
    future = sides.client.call(SERVICE, Position(2, 3), deadline=AMPLE_S, reply=Distance)
    assert future.result() == Distance(5.0)
    with pytest.raises(sides.orc.CallError, match="call_peer.position") as other:
        sides.client.call(SERVICE, Distance(1), deadline=AMPLE_S, reply=Distance).result()
    assert other.value.code is sides.orc.CallErrc.type_mismatch
    server.kill()

    def serve() -> Optional[Any]:  # when the broker has noticed the death
        try:
            return sides.server.serve(
                SERVICE, lambda position: Distance(position.x * position.y), request=Position, reply=Distance
            )
        except sides.orc.NameTaken:
            return None

    service = wait_until(serve)
    client = peer("measure", sides)
    assert float(client.ask("7")) == 7.0
    service.close()
    sides.server.serve(SERVICE, lambda position: position, request=Distance, reply=Distance)
    assert "call_peer.position" in client.ask("7")


@pytest.mark.parametrize("threads", [0, 1])
def test_a_handler_in_python_hears_that_its_client_in_cpp_was_killed(sides: Sides, peer: Any, threads: int) -> None:
    started, cancelled = [], []

    def hold(request: bytes, context: Any) -> bytes:
        started.append(request)
        wait_until(context.cancelled)
        cancelled.append(request)
        return request

    service = sides.server.serve(SERVICE, hold, request=bytes, reply=bytes, threads=threads)
    client = peer("hold", sides)
    wait_until(lambda: started)
    client.kill()
    wait_until(lambda: cancelled == started)
    wait_until(lambda: service.figures.clients == 0)


def test_the_description_of_a_service_is_that_of_cpp(some_sides: Sides, peer: Any) -> None:
    directory = some_sides.orc.Directory()

    def description() -> Any:
        (topic,) = [each for each in directory.topics(SERVICE) if each.publication] or [None]
        try:
            return None if topic is None else directory.find_type(topic.publication.type)
        except some_sides.orc.UnknownType:  # the program has not sent it yet
            return None

    in_cpp = peer("norm", some_sides)
    found = wait_until(description)
    (served,) = wait_until(lambda: some_sides.orc.find_services(directory))
    assert (served.name, served.request.name, served.reply.name) == (
        SERVICE,
        "call_peer.position",
        "call_peer.distance",
    )
    in_cpp.kill()

    def serve() -> Optional[Any]:
        try:
            return some_sides.server.serve(SERVICE, lambda position: None, request=Position, reply=Distance)
        except some_sides.orc.NameTaken:
            return None

    wait_until(serve)
    assert wait_until(description) == found
