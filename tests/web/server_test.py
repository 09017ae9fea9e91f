"""orc-web as programs see it: its WebSocket, its HTTP, and what hostile clients try.

usage: server_test.py [CASE…]

Runs the functions case_… below, all of them without arguments. Each has a system of its own.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import socket
import statistics
import struct
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, Callable

from cases import run_cases
from system import PACKAGE

sys.path.insert(0, PACKAGE)
MISSING = ""
try:
    import orc.pure as orc
    import websockets.exceptions as closed
    from websockets.sync.client import ClientConnection, connect
    from system import BIN, MANY_TOPICS, PATIENCE_S, System, port_of, serving
    import flatbuffers  # type: ignore[import-untyped]  # noqa: F401
    import numpy  # noqa: F401
except ImportError as error:
    MISSING = f"no Python package {error.name} (tools/dev setup)"

POLICY_VIOLATION, TOO_BIG = 1008, 1009


class Client:
    """A WebSocket of the page's protocol."""

    def __init__(self, system: System, **options: Any) -> None:
        address = system.address.replace("http://", "ws://") + "ws"
        self.socket: ClientConnection = connect(address, subprotocols=["orc.web.v1"], max_size=None, compression=None,
                                                open_timeout=PATIENCE_S, close_timeout=1, **options).__enter__()
        self.states: dict[int, str] = {}  # the newest one of what is open
        self.hello = self.until("hello")

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *error: object) -> None:
        self.socket.close()

    def send(self, op: str, **fields: Any) -> None:
        self.socket.send(json.dumps({"op": op, **fields}))

    def next(self, patience: float = 0) -> dict[str, Any]:
        data = self.socket.recv(patience or PATIENCE_S)
        message = json.loads(data) if isinstance(data, str) else binary(data)
        if message["op"] == "topic":
            self.states[message["id"]] = message["state"]
        return message

    def await_state(self, identity: int, state: str) -> None:
        """It may have come before the sample that the test waited for."""
        while self.states.get(identity) != state:
            self.until("topic", lambda message: message["id"] == identity)

    def until(self, op: str, good: Callable[[dict[str, Any]], bool] = lambda message: True) -> dict[str, Any]:
        """The next message of this kind that is good."""
        end = time.monotonic() + PATIENCE_S
        while True:
            message = self.next(max(0.01, end - time.monotonic()))
            if message["op"] == op and good(message):
                return message

    def sample(self, identity: int, good: Callable[[dict[str, Any]], bool] = lambda message: True) -> dict[str, Any]:
        return self.until("sample", lambda message: message["id"] == identity and good(message))

    def code(self) -> int:
        """The code with which the server closes."""
        try:
            while True:
                self.next()
        except closed.ConnectionClosed as end:
            assert end.rcvd is not None, end
            return end.rcvd.code


def binary(data: bytes) -> dict[str, Any]:
    kind, flags, _, identity = struct.unpack_from("<BBHI", data)
    if kind == 1:
        (count,) = struct.unpack_from("<I", data, 8)
        assert len(data) == 16 + 24 * count, len(data)
        points = [struct.unpack_from("<ddd", data, 16 + 24 * index) for index in range(count)]
        return {"op": "points", "id": identity, "anew": bool(flags & 1), "points": points}
    assert kind == 2, kind
    width, height, stamp = struct.unpack_from("<IIQ", data, 8)
    return {"op": "picture", "id": identity, "format": flags, "width": width, "height": height, "stamp": stamp, "bytes": data[24:]}


def field(sample: dict[str, Any], name: str) -> Any:
    return dict(sample["tree"]["f"])[name]["v"]


def case_rare_topic_beside_busy_ones() -> None:
    with serving() as system:
        system.publish("once", "rare")
        system.publish("many", "40", "20")
        with Client(system) as client:
            for index in range(40):
                client.send("open", id=index, topic=f"robot/sensor_{index:03d}")
            client.sample(0)
            client.send("open", id=100, topic="rare")
            sample = client.sample(100)
            assert field(sample, "number") == 42 and sample["sequence"] == "1", sample
            assert sample["type"]["encoding"] == "json", sample


def case_plot_has_every_number() -> None:
    with serving() as system:
        system.publish("count", "counted", "1000")
        with Client(system) as client:
            client.send("plot", id=1, topic="counted", field="number", per_second=50)
            points: list[tuple[float, float, float]] = []
            while len(points) < 60:
                message = client.until("points")
                assert message["id"] == 1
                points += message["points"]
            # each number is in one point, and the next point begins where one ends
            gaps = [after[1] - before[2] for before, after in zip(points, points[1:])]
            assert all(gap == 1 for gap in gaps), gaps
            assert all(before[0] < after[0] for before, after in zip(points, points[1:]))
            assert max(high - low for _, low, high in points) >= 10
            client.send("resolution", id=1, per_second=1000)
            client.until("points", lambda message: all(high - low <= 2 for _, low, high in message["points"]))


def case_slow_client_beside_a_fast_one() -> None:
    with serving() as system:
        system.publish("many", "30", "20")
        with Client(system) as fast, Client(system) as slow:
            for client in (fast, slow):
                for index in range(30):
                    client.send("open", id=index, topic=f"robot/sensor_{index:03d}")
            buffer = slow.socket.socket
            buffer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            slow.socket.recv_bufsize = 1024
            ages: list[float] = []
            slow_ages: list[float] = []
            deadline = time.monotonic() + PATIENCE_S
            while len(ages) < 600 or not slow_ages:
                assert time.monotonic() < deadline, (len(ages), len(slow_ages))
                message = fast.next()
                if message["op"] == "sample":
                    ages.append(time.time() - int(message["stamp"]) * 1e-9)
                with contextlib.suppress(TimeoutError):
                    if len(ages) % 100 == 0:
                        message = slow.next(0.001)
                        if message["op"] == "sample":
                            slow_ages.append(time.time() - int(message["stamp"]) * 1e-9)
            assert ages and slow_ages
            # behind what the slow one does not read, they would be as old as the test
            assert statistics.median(ages) < 2, statistics.median(ages)
            # what it reads at last is new, not what waited since
            deadline = time.monotonic() + PATIENCE_S
            while time.monotonic() < deadline:
                message = slow.next()
                if message["op"] == "sample" and time.time() - int(message["stamp"]) * 1e-9 < 1:
                    return
            raise AssertionError("the slow client never catches up")


def case_old_sample() -> None:
    with serving() as system:
        system.publish_natively("old", "rare", "3600")  # sent an hour ago, and nothing since
        with Client(system) as client:
            client.send("open", id=1, topic="rare")
            sample = client.sample(1)
            assert field(sample, "number") == 42 and 3600 <= sample["age"] < 3600 + 2 * PATIENCE_S, sample
            client.send("system", on=True)

            def of_reader(message: dict[str, Any]) -> list[float]:
                return [each["age"] for topic in message["topics"] for each in topic["subscriptions"] if each["age"] is not None]

            (age,) = of_reader(client.until("system", lambda message: bool(of_reader(message))))
            assert 3600 <= age < 3600 + 2 * PATIENCE_S, age


def case_many_topics() -> None:
    with serving() as system:
        system.publish_natively("many", str(MANY_TOPICS))
        with Client(system) as client:
            begin = time.monotonic()
            client.send("system", on=True)
            all_known = client.until("system", lambda message: len(message["topics"]) == MANY_TOPICS)
            took = time.monotonic() - begin
            assert [each["name"] for each in all_known["topics"]] == [f"many/{index:05d}" for index in range(MANY_TOPICS)]
            client.until("system", lambda message: all(each["rate"] is not None for each in message["topics"]))
            size = len(json.dumps(all_known, separators=(",", ":")))
            assert size < 1000 * MANY_TOPICS, size
            print(f"{MANY_TOPICS} topics: {size / 1e6:.2f} MB after {took * 1000:.0f} ms")
            # the figures do not delay a sample
            client.send("open", id=1, topic=f"many/{MANY_TOPICS - 1:05d}")
            assert field(client.sample(1), "number") == 42


def case_topics_of_orc_itself() -> None:
    for arguments, names in ([], ["rare"]), (["--all"], ["own/.topic", "rare"]):
        with serving(*arguments) as system:
            system.publish("once", "own/.topic")
            system.publish("once", "rare")
            with Client(system) as client:
                client.send("system", on=True)
                known = client.until("system", lambda message: bool(message["topics"]))
                assert [each["name"] for each in known["topics"]] == names, known


def case_restarts_heal() -> None:
    with serving() as system:
        publisher = system.publish("once", "rare")
        with Client(system) as client:
            client.send("open", id=1, topic="rare")
            client.send("open", id=2, topic="later")
            client.sample(1)
            client.await_state(1, "up")
            publisher.kill()
            client.await_state(1, "gone")
            publisher = system.publish("state", "rare", "50")  # of another type
            sample = client.sample(1, lambda message: message["type"] and message["type"]["name"] == "arm.State")
            assert field(sample, "mode") == "fault" and field(sample, "name") == "left arm", sample
            client.await_state(1, "up")
            system.broker.kill()
            system.broker = system.start_broker()
            system.publish("once", "later")
            assert field(client.sample(2, lambda message: message["type"]), "number") == 42  # once the broker has said it
            assert field(client.sample(1), "mode") == "fault"


def case_the_last_sample_keeps_its_type() -> None:
    with serving() as system:
        publisher = system.publish("once", "rare")
        with Client(system) as client:
            client.send("open", id=1, topic="rare")
            first = client.sample(1)
            publisher.kill()
            client.until("topic", lambda message: message["id"] == 1 and message["state"] == "gone")
            system.publish("silent", "rare")  # of another type
            client.until("topic", lambda message: message["id"] == 1 and message["state"] == "up")
            client.send("system", on=True)
            for _ in range(2):
                client.until("system", lambda message: [each["type"] for each in message["topics"]] == ["test.Count"])
            client.send("open", id=2, topic="rare")
            last = client.sample(2)
            assert last["type"] == first["type"] and last["tree"] == first["tree"], last


def case_publishing_is_off() -> None:
    with serving() as system, Client(system) as client:
        assert client.hello["publish"] is False
        client.send("publish", topic="free", value=1)
        assert "--allow-publish" in client.until("error")["message"]


def case_publishing() -> None:  # [memory]
    with serving("--allow-publish") as system:
        system.publish("state", "arm/state", "50")
        with Client(system) as client, Client(system) as other:
            assert client.hello["publish"] is True
            client.send("publish", topic="free", keep=True, value={"text": "ä\0<b>", "big": 2**63})
            client.until("published")
            other.send("open", id=1, topic="free")
            sample = other.sample(1)
            assert field(sample, "text") == "ä\0<b>" and field(sample, "big") == str(2**63), sample
            other.send("open", id=2, topic="typed")
            other.until("topic", lambda message: message["id"] == 2)
            client.send("publish", topic="typed", like="arm/state", value={"nothing": 1})
            assert "nothing" in client.until("error")["message"]
            with orc.Participant(broker=system.environment["ORC_BROKER"]) as robot:  # what cannot be sent has not taken the name
                robot.register_topic("typed")
                robot.unregister_topic("typed")
            client.send("publish", topic="typed", like="arm/state", value={"t": 1.5, "mode": 3})
            client.until("published", lambda message: message["topic"] == "typed")
            assert field(other.sample(2), "t") == 1.5  # it waited for the topic
            with orc.Participant(broker=system.environment["ORC_BROKER"]) as robot:  # a command of yesterday does not reach it
                late = robot.request_topic("typed", connected_within_ms=int(1000 * PATIENCE_S))
                assert late.recv_msg(300) is None
                client.send("unpublish", topic="typed")
                end = time.monotonic() + PATIENCE_S
                while late.connected and time.monotonic() < end:
                    late.recv_msg(50)
                assert not late.connected
            client.send("publish", topic="arm/state", value=1)
            assert "state publisher" in client.until("error")["message"]
            client.send("publish", topic="no name", value=1)
            client.until("error")
            for index in range(63):
                client.send("publish", topic=f"many{index}", value=index)
                client.until("published")
            client.send("publish", topic="many63", value=63)
            assert "64 is the limit" in client.until("error")["message"]
            other.send("publish", topic="many63", value=63)
            other.until("published")
        with Client(system) as client:  # the topics ended with their client
            end = time.monotonic() + PATIENCE_S
            while True:
                client.send("publish", topic="free", value=2)
                answer = client.next()
                if answer["op"] == "published":
                    break
                assert time.monotonic() < end, answer


def case_pictures() -> None:  # [memory]
    with serving() as system:
        system.publish("image", "camera", "50")
        system.publish("png", "camera/png", "50")
        with Client(system) as client:
            client.send("image", id=1, topic="camera")
            first = client.until("picture")
            assert (first["format"], first["width"], first["height"]) == (0, 160, 120), first
            assert len(first["bytes"]) == 160 * 120 * 4 and first["bytes"][3] == 255
            # one is on the way at most
            client.send("ping")
            client.until("pong")
            with contextlib.suppress(TimeoutError):
                assert client.next(0.2)["op"] != "picture"
            client.send("shown", id=1)
            assert client.until("picture")["stamp"] > first["stamp"]
            client.send("image", id=2, topic="camera/png")
            picture = client.until("picture", lambda message: message["id"] == 2)
            assert picture["format"] == 2 and picture["bytes"].startswith(b"\x89PNG"), picture
            client.send("image", id=3, topic="camera", field="width")
            client.until("topic", lambda message: message["id"] == 3 and "no array of bytes" in message["message"])


def case_recording() -> None:  # [memory]
    with System() as system:
        publisher = system.publish("count", "counted", "200")
        file = system.record(2)
        publisher.kill()
        system.start_web(file)
        with Client(system) as client:
            start, end = int(client.hello["start"]), int(client.hello["end"])
            assert client.hello["mode"] == "recording" and client.hello["files"] == [os.path.basename(file)] and start < end
            client.send("system", on=True)
            assert [topic["name"] for topic in client.until("system")["topics"]] == ["counted"]
            client.send("seek", time=str(end))
            client.until("time", lambda message: int(message["now"]) == end)
            client.send("open", id=1, topic="counted")
            last = field(client.sample(1), "number")
            client.send("seek", time=str(start + (end - start) // 2))
            middle = field(client.sample(1, lambda message: field(message, "number") < last), "number")
            client.send("plot", id=2, topic="counted", field="number", per_second=50)
            client.send("rate", value=4)
            client.send("play")
            points = client.until("points")["points"]
            assert points[0][1] >= middle, (points, middle)
            client.until("time", lambda message: message["playing"] and message["rate"] == 4)
            client.until("time", lambda message: not message["playing"] and int(message["now"]) == end)
            client.send("open", id=4, topic="counted")
            assert field(client.sample(4), "number") == last
            client.send("open", id=3, topic="none")
            client.until("topic", lambda message: message["id"] == 3 and "does not have" in message["message"])


def case_bad_messages() -> None:  # [memory]
    with serving() as system:
        with Client(system) as client:
            client.send("open", id=1)
            error = client.until("error")
            assert (error["about"], error["id"], error["message"]) == ("open", 1, '"topic" is missing'), error
            client.send("fly")
            assert client.until("error")["about"] == "fly"
            client.send("f" * 4000)
            assert client.until("error")["about"] == "f" * 64
            client.send("open", id=1, topic="a")
            client.send("open", id=1, topic="a")
            assert "open already" in client.until("error")["message"]
            for index in range(2, 258):
                client.send("open", id=index, topic="a")
            assert "256" in client.until("error")["message"]
            client.send("seek", time="0")
            assert "recording" in client.until("error")["message"]
        for bad, code in (("nothing", POLICY_VIOLATION), (b"{}", POLICY_VIOLATION), ("[" * 60_000, POLICY_VIOLATION),
                          ('{"op":"' + "x" * 70_000 + '"}', TOO_BIG)):
            with Client(system) as client:
                client.socket.send(bad)
                assert client.code() == code, bad[:20]
        with Client(system) as client:
            with contextlib.suppress(closed.ConnectionClosed):
                for _ in range(1000):
                    client.send("ping")
            assert client.code() == POLICY_VIOLATION
        with Client(system):
            pass


def case_bad_frames() -> None:  # [memory]
    frames = (b"\xff" * 64, b"\x81\x05hello", b"\x81\xff" + b"\xff" * 12, b"\x83\x80\0\0\0\0", b"\x89\xfe\x10\0" + bytes(4),
              b"\x80\x80\0\0\0\0", b"\x81\x82\0\0\0\0\xff\xff", b"\x88\x81\0\0\0\0\x03")
    with serving() as system:
        for frame in frames:
            raw = upgraded(system)
            raw.sendall(frame)
            raw.settimeout(PATIENCE_S)
            with contextlib.suppress(ConnectionError):
                while raw.recv(65536):
                    pass
            raw.close()
        with Client(system):
            pass


def request(system: System, head: str) -> str:
    """The first line of the answer."""
    with socket.create_connection(("127.0.0.1", port_of(system)), PATIENCE_S) as raw:
        raw.sendall(head.replace("PORT", str(port_of(system))).replace("\n", "\r\n").encode() + b"\r\n\r\n")
        with contextlib.suppress(ConnectionError):
            return raw.recv(65536).decode(errors="replace").split("\r\n")[0]
    return ""


UPGRADE = ("GET /ws HTTP/1.1\nHost: {host}\nConnection: Upgrade\nUpgrade: websocket\nSec-WebSocket-Version: 13\n"
           "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\nSec-WebSocket-Protocol: {protocol}{more}")


def upgraded(system: System, receive_buffer: int = 0) -> socket.socket:
    raw = socket.socket()
    raw.settimeout(PATIENCE_S)
    if receive_buffer:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    raw.connect(("127.0.0.1", port_of(system)))
    head = UPGRADE.format(host=f"localhost:{port_of(system)}", protocol="orc.web.v1", more="")
    raw.sendall(head.replace("\n", "\r\n").encode() + b"\r\n\r\n")
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += raw.recv(1)
    assert b" 101 " in answer, answer
    return raw


def masked(text: str) -> bytes:
    """A text frame of a client."""
    data = text.encode()
    assert len(data) < 126
    return bytes([0x81, 0x80 | len(data)]) + bytes(4) + data


def is_established(server: int, client: int) -> bool:
    """Whether the server's end of a connection is open; both ports are on this machine."""
    for line in Path("/proc/self/net/tcp").read_text().splitlines()[1:]:
        local, remote, state = line.split()[1:4]
        if int(local.split(":")[1], 16) == server and int(remote.split(":")[1], 16) == client:
            return state == "01"
    return False


def case_a_client_that_breaks_the_protocol_and_reads_nothing() -> None:  # [memory]
    with serving() as system:
        system.publish("image", "camera", "50")
        with upgraded(system, receive_buffer=4096) as raw:
            raw.sendall(masked('{"op":"image","id":1,"topic":"camera"}'))
            raw.settimeout(PATIENCE_S)
            # the picture has begun, and is larger than what the kernels hold
            end = time.monotonic() + PATIENCE_S
            while len(raw.recv(4096, socket.MSG_PEEK)) < 1024:
                assert time.monotonic() < end, "there is no picture"
                time.sleep(0.01)
            raw.sendall(masked("nothing"))
            end = time.monotonic() + PATIENCE_S
            while is_established(port_of(system), raw.getsockname()[1]):
                assert time.monotonic() < end, "the server keeps the connection"
                time.sleep(0.05)
        with Client(system):
            pass


def case_foreign_pages() -> None:  # [memory]
    with serving() as system:
        def opened(host: str = "localhost:PORT", protocol: str = "orc.web.v1", more: str = "") -> str:
            return request(system, UPGRADE.format(host=host, protocol=protocol, more=more)).split(" ")[1]

        assert opened() == "101"
        assert opened(more="\nOrigin: http://localhost:PORT") == "101"
        assert opened(protocol="other, orc.web.v1") == "101"
        assert opened(more="\nOrigin: http://evil.example") == "403"
        assert opened(more="\nOrigin: null") == "403"
        assert opened(more="\nOrigin:") == "403"
        assert opened(more="\nOrigin: http://localhost:PORT\nOrigin: http://evil.example") == "403"
        assert opened(more="\nOrigin: http://evil.example\nOrigin: http://localhost:PORT") == "403"
        assert opened(more="\nOrigin: http://localhost:1") == "403"
        assert opened(host="evil.example:PORT", more="\nOrigin: http://evil.example:PORT") == "403"
        assert opened(host="localhost:1") == "403"
        assert opened(protocol="other") == "400"
        for host, status in (("localhost:PORT", "200"), ("127.0.0.1:PORT", "200"), ("evil.example:PORT", "403"), ("", "403")):
            assert request(system, f"GET / HTTP/1.1\nHost: {host}").split(" ")[1] == status, host
        assert request(system, "GET / HTTP/1.0").split(" ")[1] == "403"
        assert request(system, "POST / HTTP/1.1\nHost: localhost:PORT").split(" ")[1] == "405"
        assert request(system, "GET /../../etc/passwd HTTP/1.1\nHost: localhost:PORT").split(" ")[1] == "404"
        assert request(system, "GET /%2e%2e/main.cpp HTTP/1.1\nHost: localhost:PORT").split(" ")[1] == "404"
        request(system, "GET / HTTP/1.1\nHost: localhost:PORT\nX: " + "x" * 20_000)
        request(system, "\0\xff" * 100)
        with urllib.request.urlopen(system.address, timeout=PATIENCE_S) as answer:
            assert "default-src 'self'" in answer.headers["Content-Security-Policy"]
            assert answer.headers["X-Content-Type-Options"] == "nosniff" and answer.headers["Referrer-Policy"] == "no-referrer"
            assert answer.headers["Cache-Control"] == "no-store"
            assert b"<html" in answer.read()


def case_a_thousand_connections() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    with serving() as system:
        system.publish("once", "rare")
        with Client(system) as client:
            client.send("open", id=1, topic="rare")
            client.sample(1)
            halves = []
            for index in range(1000):  # half-open: they send nothing, or half of a request
                raw = socket.create_connection(("127.0.0.1", port_of(system)), PATIENCE_S)
                if index % 2:
                    with contextlib.suppress(ConnectionError):
                        raw.sendall(b"GET / HTTP/1.1\r\nHost:")
                halves.append(raw)
            client.send("ping")
            client.until("pong")
            # within seconds the server gives them up, and has room again
            end = time.monotonic() + PATIENCE_S
            while True:
                with contextlib.suppress(urllib.error.URLError, ConnectionError, TimeoutError):
                    with urllib.request.urlopen(system.address, timeout=1) as answer:
                        assert answer.status == 200
                        break
                assert time.monotonic() < end
            for raw in halves:
                raw.close()
            others = []
            with contextlib.suppress(closed.InvalidStatus, closed.InvalidMessage, EOFError):
                for _ in range(100):
                    others.append(Client(system))
            assert len(others) == 31, len(others)  # a host's share
            client.send("ping")
            client.until("pong")
            for other in others:
                other.socket.close()
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def case_idle_sockets() -> None:
    def loaded(raw: socket.socket) -> bool:
        raw.sendall(f"HEAD / HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n".encode())
        return raw.recv(4096).startswith(b"HTTP/1.1 200")

    with serving() as system:
        port = port_of(system)
        idle = []
        for _ in range(300):  # more than the server has; each is ready for another request
            idle.append(socket.create_connection(("127.0.0.1", port), PATIENCE_S))
            assert loaded(idle[-1]), len(idle)
        assert idle[0].recv(1) == b"", "the oldest is closed"
        for index in range(1, 100):
            assert loaded(idle[-1]), index
        assert idle[-1].recv(1) == b"", "after 100 requests"
        for raw in idle:
            raw.close()


def case_command_line() -> None:
    with serving() as system:
        def run(*words: str, program: str = "orc-web") -> tuple[int, str]:
            done = subprocess.run([str(BIN / program), *words], env=system.environment, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PATIENCE_S, check=False)
            return done.returncode, done.stdout

        code, text = run("--listen", f"127.0.0.1:{port_of(system)}")
        assert code == 1 and "in use" in text and "--listen" in text, text
        code, text = run("--listen", "nowhere")
        assert code == 2 and "not a name" in text, text
        for port in ("99999", "127.0.0.1:99999", "8765x", "localhost:x"):
            code, text = run("--listen", port)
            assert code == 2 and ("0 to 65535" in text or port.endswith(":x")), text
        assert run("--port", "70000")[0] == 2
        code, text = run("--broker", "robot")
        assert code == 2 and "write tcp://robot:5570" in text, text
        assert run("--nothing")[0] == 2
        code, text = run("/does/not/exist.mcap")
        assert code == 1 and "/does/not/exist.mcap" in text, text
        assert run("--version")[1].startswith("orc-web ")
        assert run("web", "--version", program="orc")[1].startswith("orc-web ")
        assert "there is no password" in run("--help")[1].lower()
        process = system.start("orc-web", "--listen", "0.0.0.0:0")
        assert process.line().startswith(f"http://{socket.gethostname()}:")
        with urllib.request.urlopen(process.line(), timeout=PATIENCE_S) as answer:  # at localhost
            assert answer.status == 200
        for words in (("--listen", "localhost:0"), ("--port", "0")):
            process = system.start("orc-web", *words)
            assert process.line().startswith("http://127.0.0.1:")
            process.close()
        process = system.start("orc-web", "--listen", "127.0.0.1:0")
        process.line()
        process.close()
        assert process._process.returncode == 0


if __name__ == "__main__":
    sys.exit(run_cases(globals(), MISSING))
