"""Services as viewers see and call them that speak Foxglove's WebSocket protocols.

usage: foxglove_services_test.py [CASE…]

Runs the functions case_… below, all of them without arguments. Each has a system of its own.
"""

from __future__ import annotations

import json
import struct
import sys
import threading
import time
from dataclasses import dataclass
from typing import Any, Iterable

import foxglove_test
from cases import run_cases

MISSING = foxglove_test.MISSING or foxglove_test.MISSING_NATIVE
if not MISSING:
    import websockets.exceptions as closed
    from foxglove_requests import Requests
    from foxglove_test import POLICY_VIOLATION, SDK, WEBSOCKET, Client, native
    from system import PATIENCE_S, System, serving
else:
    Client = object  # every case is skipped


@dataclass
class Request:
    force: float = 0


@dataclass
class Reply:
    width: float = 0


def request(service: int, call: int, data: bytes, encoding: bytes = b"json") -> bytes:
    return struct.pack("<BIII", 2, service, call, len(encoding)) + encoding + data


class Caller(Client):
    """A viewer that calls services."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.services: dict[str, dict[str, Any]] = {}  # by name
        super().__init__(*arguments, **options)

    def next(self, patience: float = 0) -> dict[str, Any]:
        message = super().next(patience)
        if message["op"] == "advertiseServices":
            self.services.update({each["name"]: each for each in message["services"]})
        elif message["op"] == "unadvertiseServices":
            self.services = {name: each for name, each in self.services.items() if each["id"] not in message["serviceIds"]}
        return message

    def service(self, name: str) -> dict[str, Any]:
        end = time.monotonic() + PATIENCE_S
        while name not in self.services:
            self.next(max(0.01, end - time.monotonic()))
        return self.services[name]

    def call(self, name: str, call: int, value: Any) -> None:
        self.socket.send(request(self.service(name)["id"], call, json.dumps(value).encode()))

    def reply(self, call: int) -> Any:
        message = self.until("reply", lambda each: each["call"] == call)
        assert message["encoding"] == "json", message
        return json.loads(message["bytes"])

    def failure(self, call: int) -> str:
        return str(self.until("serviceCallFailure", lambda each: each["callId"] == call)["message"])


class Program:
    """A program with services."""

    def __init__(self, system: System) -> None:
        self._participant = native(system)
        self.go_on = threading.Event()
        self.waiting = threading.Semaphore(0)
        self.cancelled = threading.Semaphore(0)

    def __enter__(self) -> Program:
        participant = self._participant.__enter__()
        participant.serve("gripper/close", self.close, request=Request, reply=Reply)
        participant.serve("echo", lambda value: value)
        participant.serve("wait", self.wait, threads=16)
        participant.serve("tell", self.tell, threads=2)
        participant.serve("large", lambda value: "x" * value)
        participant.serve("bytes", lambda data: bytes(data), request=bytes, reply=bytes)
        return self

    def __exit__(self, *error: Any) -> None:
        self.go_on.set()
        self._participant.__exit__(*error)

    @staticmethod
    def close(request: Request) -> Reply:
        if request.force <= 0:
            raise ValueError("the force must be above 0 N")
        return Reply(request.force / 4)

    def tell(self, value: Any, call: Any) -> Any:
        call.feedback({"step": 1})
        self.go_on.wait(PATIENCE_S)
        return value

    def wait(self, value: Any, call: Any) -> Any:
        self.waiting.release()
        while not self.go_on.wait(0.01):
            if call.cancelled():
                self.cancelled.release()
                return None
        return value


def calls_over(protocol: str) -> None:
    with serving("--allow-publish") as system, Program(system), Caller(system, protocol) as client:
        assert "services" in client.info["capabilities"], client.info
        found = client.service("gripper/close")
        assert found["request"]["encoding"] == found["response"]["encoding"] == "json", found
        assert json.loads(found["request"]["schema"])["type"] == "object", found
        client.service("echo")
        assert not {"bytes"} & client.services.keys(), client.services  # no viewer can write its requests
        client.call("gripper/close", 1, {"force": 20})
        assert client.reply(1) == {"width": 5.0}
        client.call("gripper/close", 2, {})
        assert "above 0 N" in client.failure(2)
        client.call("gripper/close", 3, {"speed": 1})
        assert "speed" in client.failure(3)
        client.call("echo", 4, {"text": "é", "list": [1, 2.5, None]})
        assert client.reply(4) == {"text": "é", "list": [1, 2.5, None]}
        client.call("large", 5, 100_000)
        assert client.reply(5) == "x" * 100_000
        client.call("large", 6, 2 << 20)
        assert "limit" in client.failure(6)
        client.socket.send(request(found["id"], 7, struct.pack("<d", 8), b"struct"))
        assert client.until("reply")["bytes"] == struct.pack("<d", 2)
        client.socket.send(request(found["id"], 8, b"", b"cdr"))
        assert "struct" in client.failure(8)


def case_over_sdk_v1() -> None:  # [memory]
    calls_over(SDK)


def case_over_websocket_v1() -> None:
    calls_over(WEBSOCKET)


def case_foreign_client() -> None:
    with serving("--allow-publish") as system, Program(system), Requests(system, WEBSOCKET) as client:
        known: dict[str, int] = {}
        while "gripper/close" not in known:
            known.update({each["name"]: each["id"] for each in client.until("advertiseServices")})
        for call, value in ((1, '{"force":20}'), (2, '{"force":-1}')):
            client.call("sendServiceCallRequest", {"serviceId": known["gripper/close"], "callId": call, "encoding": "json",
                                                   "data": {"bytes": value}})
        reply = client.until("serviceCallResponse")
        assert (reply["callId"], reply["encoding"], json.loads(reply["data"]["bytes"])) == (1, "json", {"width": 5.0}), reply
        assert "above 0 N" in client.until("serviceCallFailure", lambda value: value["callId"] == 2)["message"]


def case_services_come_and_go() -> None:
    with serving("--allow-publish") as system, Caller(system) as client:
        with Program(system):
            first = client.service("echo")["id"]
        client.until("unadvertiseServices", lambda message: first in message["serviceIds"])
        client.socket.send(request(first, 1, b"{}"))
        assert "does not exist" in client.failure(1)
        with Program(system):
            assert client.service("echo")["id"] > first
            client.call("echo", 2, 5)
            assert client.reply(2) == 5
            system.broker.kill()
            client.call("echo", 3, 6)
            assert client.reply(3) == 6  # the broker is for set-up only


def case_calling_is_off() -> None:
    with serving() as system, Program(system), Caller(system) as client:
        assert "services" not in client.info["capabilities"], client.info
        client.socket.send(request(1, 1, b"{}"))
        assert "--allow-publish" in client.failure(1)
        assert not client.services


def case_a_client_that_leaves_cancels_its_calls() -> None:  # [memory]
    with serving("--allow-publish") as system, Program(system) as program:
        with Caller(system) as client:
            for call in range(3):
                client.call("wait", call, None)
            for _ in range(3):
                assert program.waiting.acquire(timeout=PATIENCE_S)
        for _ in range(3):
            assert program.cancelled.acquire(timeout=PATIENCE_S)


def case_a_client_that_fills_its_calls() -> None:
    with serving("--allow-publish") as system, Program(system) as program, Caller(system) as greedy, Caller(system) as other:
        for call in range(9):
            greedy.call("wait", call, call)
        assert "8 is the limit" in greedy.failure(8)
        other.call("echo", 1, "quick")
        assert other.reply(1) == "quick"
        program.go_on.set()
        assert {greedy.until("reply")["call"] for _ in range(8)} == set(range(8))
        greedy.call("echo", 10, 1)
        assert greedy.reply(10) == 1


def case_a_killed_server() -> None:
    with serving("--allow-publish") as system, Caller(system) as client:
        program = system.publish("service", "hung")
        client.service("hung")
        client.call("hung", 1, 1)
        assert client.reply(1) == 1
        program.stop()
        client.call("hung", 2, 2)
        program.kill()
        assert client.failure(2)
        assert "hung" not in client.services or client.until("unadvertiseServices")


def case_hostile_clients() -> None:  # [memory]
    with serving("--allow-publish") as system, Program(system):
        whole = request(1, 1, b"")
        for size in range(1, len(whole)):
            with Client(system) as client:
                client.socket.send(whole[:size])
                code, reason = client.close_frame()
                assert code == POLICY_VIOLATION and "cut off" in reason, (size, code, reason)
        with Caller(system) as client:
            client.service("echo")
            bad: Iterable[tuple[bytes, str]] = (
                (request(0, 1, b"{}"), "does not exist"), (request(0xffffffff, 1, b"{}"), "does not exist"),
                (request(client.services["echo"]["id"], 1, b"{}", b"\xff\0"), "encoding"),
                (request(client.services["gripper/close"]["id"], 1, b"\xff\xfe"), ""),
                (request(client.services["gripper/close"]["id"], 1, b"[" * 100_000), ""),
                (request(client.services["gripper/close"]["id"], 1, b""), ""))
            for frame, words in bad:
                client.socket.send(frame)
                assert words in client.failure(1)
            client.socket.send(request(client.services["echo"]["id"], 1, b"{}", b"x" * 65))
            client.status("encoding")
            for call in (7, 7):  # the ids of calls are the client's own
                client.call("echo", call, call)
            assert client.reply(7) == client.reply(7) == 7
            service = client.services["echo"]["id"]
        for target in (service, 0):
            with Client(system) as client:
                try:
                    for call in range(10_000):
                        client.socket.send(request(target, call, b'"flood"'))
                except closed.ConnectionClosed:
                    pass
                assert client.close_frame()[0] == POLICY_VIOLATION
        with Caller(system) as client:
            client.call("echo", 1, "after")
            assert client.reply(1) == "after"


if __name__ == "__main__":
    sys.exit(run_cases(globals(), MISSING))
