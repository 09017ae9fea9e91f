"""orc-web as viewers see it that speak Foxglove's WebSocket protocols.

usage: foxglove_test.py [CASE…]

Runs the functions case_… below, all of them without arguments. Each has a system of its own.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Callable

from cases import Skipped, run_cases
from system import PACKAGE

SOURCE = Path(__file__).resolve().parents[2]
sys.path.insert(0, PACKAGE)
MISSING = ""
#: Why this machine runs no program with services, parameters or shared topics, which orc.pure does not have.
MISSING_NATIVE = ""
try:
    import foxglove_types as types
    import orc
    import websockets.exceptions as closed
    from websockets.sync.client import ClientConnection, connect
    from system import BIN, HERE, PATIENCE_S, System, port_of, serving
    if orc.backend == "pure":
        MISSING_NATIVE = "the extension of the Python package is not installed (tools/dev test does it)"
except ImportError as error:
    MISSING = f"no Python package {error.name} (tools/dev setup)"

SDK, WEBSOCKET = "foxglove.sdk.v1", "foxglove.websocket.v1"
NODE_MODULES = Path(os.environ.get("ORC_FOXGLOVE_NODE", SOURCE / "build/foxglove-node/node_modules"))
POLICY_VIOLATION, TOO_BIG = 1008, 1009
WARNING, ERROR = 1, 2


class Client:
    """A viewer."""

    def __init__(self, system: System, protocol: str = SDK, path: str = "", **options: Any) -> None:
        address = system.address.replace("http://", "ws://") + path
        self.socket: ClientConnection = connect(address, subprotocols=[protocol], max_size=None, compression=None,
                                                open_timeout=PATIENCE_S, close_timeout=1, **options).__enter__()
        assert self.socket.subprotocol == protocol
        self.channels: dict[str, dict[str, Any]] = {}  # by topic
        self.ended: list[int] = []  # ids of channels
        self.info = self.until("serverInfo")

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *error: object) -> None:
        self.socket.close()

    def send(self, op: str, **fields: Any) -> None:
        self.socket.send(json.dumps({"op": op, **fields}))

    def send_data(self, channel: int, data: bytes) -> None:
        self.socket.send(struct.pack("<BI", 1, channel) + data)

    def next(self, patience: float = 0) -> dict[str, Any]:
        data = self.socket.recv(patience or PATIENCE_S)
        message = json.loads(data) if isinstance(data, str) else binary(data)
        if message["op"] == "advertise":
            self.channels.update({each["topic"]: each for each in message["channels"]})
        elif message["op"] == "unadvertise":
            self.ended += message["channelIds"]
            self.channels = {name: each for name, each in self.channels.items() if each["id"] not in message["channelIds"]}
        return message

    def until(self, op: str, good: Callable[[dict[str, Any]], bool] = lambda message: True) -> dict[str, Any]:
        """The next message of this kind that is good."""
        end = time.monotonic() + PATIENCE_S
        while True:
            message = self.next(max(0.01, end - time.monotonic()))
            if message["op"] == op and good(message):
                return message

    def until_all(self, *wanted: Callable[[dict[str, Any]], bool]) -> None:
        """Until each of these has been true of a message, in any order."""
        missing = list(wanted)
        end = time.monotonic() + PATIENCE_S
        while missing:
            message = self.next(max(0.01, end - time.monotonic()))
            missing = [each for each in missing if not each(message)]

    def channel(self, topic: str, good: Callable[[dict[str, Any]], bool] = lambda channel: True) -> dict[str, Any]:
        """The channel of this topic, as soon as it is there."""
        end = time.monotonic() + PATIENCE_S
        while topic not in self.channels or not good(self.channels[topic]):
            self.next(max(0.01, end - time.monotonic()))
        return self.channels[topic]

    def subscribe(self, identity: int, topic: str) -> None:
        self.send("subscribe", subscriptions=[{"id": identity, "channelId": self.channel(topic)["id"]}])

    def data(self, identity: int, good: Callable[[dict[str, Any]], bool] = lambda message: True) -> dict[str, Any]:
        return self.until("data", lambda message: message["id"] == identity and good(message))

    def status(self, words: str) -> dict[str, Any]:
        return self.until("status", lambda message: words in message["message"])

    def close_frame(self) -> tuple[int, str]:
        """The code and the reason with which the server closes."""
        try:
            while True:
                self.next()
        except closed.ConnectionClosed as end:
            assert end.rcvd is not None, end
            return end.rcvd.code, end.rcvd.reason


def binary(data: bytes) -> dict[str, Any]:
    if data[0] == 1:
        identity, stamp = struct.unpack_from("<IQ", data, 1)
        return {"op": "data", "id": identity, "stamp": stamp, "bytes": data[13:]}
    if data[0] == 3:
        service, call, size = struct.unpack_from("<III", data, 1)
        return {"op": "reply", "service": service, "call": call, "encoding": data[13:13 + size].decode(), "bytes": data[13 + size:]}
    if data[0] == 2:
        return {"op": "time", "now": struct.unpack_from("<Q", data, 1)[0]}
    assert data[0] == 5, data[:20]
    status, now, rate, seeks, size = struct.unpack_from("<BQfBI", data, 1)
    assert len(data) == 19 + size
    return {"op": "playback", "status": status, "now": now, "rate": rate, "seeks": seeks, "request": data[19:].decode()}


def native(system: System) -> Any:
    """A participant in this process."""
    return orc.Participant(broker=system.environment["ORC_BROKER"], name="listener")


def messages_over(protocol: str) -> None:
    with serving() as system:
        expected = types.topics(Path(system.path("")))
        system.publish("encodings", system.path(""), "0.01")  # one sample of each: the last one
        system.publish("untyped", "bytes")
        with Client(system, protocol) as client:
            assert client.info["name"].startswith("orc-web ") and client.info["sessionId"], client.info
            assert client.info["capabilities"] == ["parameters", "parametersSubscribe", "connectionGraph"], client.info
            assert "supportedEncodings" not in client.info
            for index, topic in enumerate(expected):
                client.subscribe(index, topic)
            found: dict[int, dict[str, Any]] = {}
            while len(found) < len(expected):
                message = client.until("data")
                found[message["id"]] = message
            for index, (topic, sent) in enumerate(expected.items()):
                channel = client.channels[topic]
                data = found[index]["bytes"]
                assert abs(found[index]["stamp"] * 1e-9 - time.time()) < 60
                if topic in ("in/struct", "in/lcm"):
                    assert (channel["encoding"], channel["schemaEncoding"]) == ("cdr", "ros2msg"), channel
                    assert "float64 x" in channel["schema"] and "string name" in channel["schema"], channel
                    assert channel["schemaName"].startswith("orc/msg/"), channel
                    assert data == types.cdr_sample(types.X, types.NAME), (topic, data)
                    continue
                assert channel["encoding"] == sent.type.message_encoding and channel["schemaName"] == sent.type.name, channel
                assert channel.get("schemaEncoding", "") == sent.type.schema_encoding, channel
                assert data == sent.sample, (topic, data)
            assert "bytes" not in client.channels
            client.send("unsubscribe", subscriptionIds=list(range(len(expected))))
            client.subscribe(100, "in/json")  # the last value again
            client.data(100)


def case_messages_over_sdk_v1() -> None:  # [memory]
    messages_over(SDK)


def case_messages_over_websocket_v1() -> None:
    messages_over(WEBSOCKET)


def case_foreign_client() -> None:
    if not (NODE_MODULES / "@foxglove/ws-protocol").exists() or not shutil.which("node"):
        raise Skipped(f"no @foxglove/ws-protocol in {NODE_MODULES}: tools/dev setup installs it where npm is")
    with serving("--allow-publish") as system:
        expected = types.topics(Path(system.path("")))
        system.publish("encodings", system.path(""), "50")
        for protocol in (WEBSOCKET, SDK):
            command = ["node", str(HERE / "foxglove_client.js"), str(NODE_MODULES), system.address.replace("http", "ws"), protocol,
                       str(len(expected))]
            with native(system) as participant, subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                                                 text=True) as node:
                assert node.stdin and node.stdout
                topics = {each: participant.request_topic(f"out/{each}") for each in ("json", "flatbuffer", "protobuf", "cdr")}
                values = {}
                for line in node.stdout:
                    message = json.loads(line)
                    assert "error" not in message and "status" not in message, message
                    if "topic" in message:
                        values[message["topic"]] = message["value"]
                    if "protocol" in message:
                        assert message["protocol"] == protocol, message
                    if "published" in message:
                        break
                assert values == {topic: {"x": types.X, "name": types.NAME} for topic in expected}, values
                samples = {}
                for encoding, subscriber in topics.items():
                    message = subscriber.recv_msg(int(PATIENCE_S * 1000))
                    assert message is not None, encoding
                    samples[encoding] = bytes(message)
                assert json.loads(samples["json"]) == {"x": 2.5, "name": "node"}
                assert samples["protobuf"] == types.protobuf_sample(2.5, "node")
                assert samples["cdr"] == types.cdr_sample(2.5, "node")
                assert b"node" in samples["flatbuffer"]
                node.stdin.close()
                assert node.wait(PATIENCE_S) == 0


def case_topics_come_and_go() -> None:
    with serving() as system:
        with Client(system, path="any/path") as client:
            assert client.until("advertise")["channels"] == []
            with native(system) as participant:
                participant.register_topic("pose", type=types.POSE_TYPE).send_msg(types.pose_bytes(1))
                first = client.channel("pose")
                client.subscribe(1, "pose")
                client.data(1, lambda message: message["bytes"][4:12] == struct.pack("<d", 1))
            # a publisher that restarts with the same type keeps its channel
            with native(system) as participant:
                participant.register_topic("pose", type=types.POSE_TYPE).send_msg(types.pose_bytes(2))
                client.data(1, lambda message: message["bytes"][4:12] == struct.pack("<d", 2))
                assert not client.ended and client.channels["pose"] == first, client.channels
            # another type is another channel
            with native(system) as participant:
                participant.register_topic("pose", type=dict).send({"x": 3})
                second = client.channel("pose", lambda channel: channel["id"] != first["id"])
                assert second["id"] > first["id"] and client.ended == [first["id"]], (client.ended, second)
                client.subscribe(1, "pose")
                assert json.loads(client.data(1)["bytes"]) == {"x": 3}
            # and ends some seconds after its publisher
            client.until("unadvertise", lambda message: message["channelIds"] == [second["id"]])
            with native(system) as participant:
                participant.register_topic("pose", type=dict)
                assert client.channel("pose")["id"] > second["id"]


def case_topics_of_orc_itself() -> None:
    for arguments, names in ([], {"pose"}), (["--all"], {"own/.topic", "pose"}):
        with serving(*arguments) as system, native(system) as participant, Client(system, path="any/path") as client:
            for topic in ("own/.topic", "pose"):
                participant.register_topic(topic, type=types.POSE_TYPE).send_msg(types.pose_bytes(1))
            client.channel("pose")
            assert client.channels.keys() == names, client.channels


def case_slow_client_beside_a_fast_one() -> None:
    with serving() as system:
        system.publish("many", "30", "50")
        with Client(system) as fast, Client(system) as slow:
            for client in (fast, slow):
                for index in range(30):
                    client.subscribe(index, f"robot/sensor_{index:03d}")
            slow.socket.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            ages = []
            while len(ages) < 1000:
                ages.append(time.time() - fast.until("data")["stamp"] * 1e-9)
            assert sorted(ages)[len(ages) // 2] < 2, "the fast client waits for the slow one"
            # what the slow one reads at last is new, not what waited since
            end = time.monotonic() + PATIENCE_S
            while time.time() - slow.until("data")["stamp"] * 1e-9 > 1:
                assert time.monotonic() < end, "the slow client never catches up"


def case_connection_graph() -> None:
    with serving() as system:
        publisher = system.publish("node", "driver", "arm/state@50")
        system.publish("node", "planner", "plan@50", "arm/state")
        with Client(system) as client:
            client.send("subscribeConnectionGraph")
            published: dict[str, list[str]] = {}
            subscribed: dict[str, list[str]] = {}
            removed: list[str] = []

            def until(good: Callable[[], bool]) -> None:
                while not good():
                    update = client.until("connectionGraphUpdate")
                    published.update({each["name"]: each["publisherIds"] for each in update["publishedTopics"]})
                    subscribed.update({each["name"]: each["subscriberIds"] for each in update["subscribedTopics"]})
                    removed.extend(update["removedTopics"])

            until(lambda: any("planner" in name for name in subscribed.get("arm/state", [])))
            assert [name.split(" (")[0] for name in published["arm/state"]] == ["driver"], published
            assert [name.split(" (")[0] for name in published["plan"]] == ["planner"], published
            client.subscribe(1, "arm/state")
            until(lambda: any("orc-web" in name for name in subscribed["arm/state"]))
            publisher.kill()
            until(lambda: published["arm/state"] == [])
            client.send("unsubscribeConnectionGraph")
            client.send("fly")
            client.status("fly")


def case_publishing_is_off() -> None:
    with serving() as system, Client(system) as client:
        client.send("advertise", channels=[{"id": 1, "topic": "free", "encoding": "json", "schemaName": ""}])
        assert client.status("--allow-publish")["level"] == ERROR
        client.send_data(1, b"{}")
        client.send("fly")
        client.status("fly")
        client.socket.send(b"\1" + bytes(70_000))
        assert client.close_frame()[0] == TOO_BIG


def case_publishing() -> None:  # [memory]
    with serving("--allow-publish") as system:
        schemas = types.binary_schemas(Path(system.path("")))
        system.publish("state", "taken", "50")
        with native(system) as participant, Client(system) as client, Client(system, WEBSOCKET) as other:
            assert "clientPublish" in client.info["capabilities"], client.info
            assert client.info["supportedEncodings"] == ["json", "flatbuffer", "protobuf", "cdr"], client.info
            subscriber = participant.request_topic("free")

            def received() -> bytes:
                message = subscriber.recv_msg(int(PATIENCE_S * 1000))
                assert message is not None
                return bytes(message)

            ros = {"topic": "free", "encoding": "cdr", "schemaName": "arm/msg/Pose", "schema": types.ROS}
            client.send("advertise", channels=[{"id": 7, **ros}])
            sample = types.cdr_sample(3.5, "viewer")
            client.send_data(7, sample)
            assert received() == sample
            channel = other.channel("free")
            assert (channel["schema"], channel["schemaEncoding"], channel["schemaName"]) == (types.ROS, "ros2msg", "arm/msg/Pose")
            # two clients may publish one topic together, if they agree on its type
            other.send("advertise", channels=[{"id": 1, "topic": "free", "encoding": "json", "schemaName": ""}])
            other.status("another type")
            other.send("unadvertise", channelIds=[1])
            other.send("advertise", channels=[{"id": 1, **ros}])
            other.send_data(1, types.cdr_sample(4.5, "other"))
            assert received() == types.cdr_sample(4.5, "other")
            large = types.cdr_sample(5.5, "x" * 500_000)
            client.send_data(7, large)
            assert received() == large
            # what cannot be published
            client.send("advertise", channels=[{"id": 8, "topic": "taken", "encoding": "json", "schemaName": ""}])
            client.status("state publisher")
            client.send("advertise", channels=[{"id": 9, "topic": "no name", "encoding": "json", "schemaName": ""}])
            client.status("no name")
            client.send("advertise", channels=[{"id": 10, "topic": "bad", "encoding": "protobuf", "schemaName": "a", "schema": "%"}])
            client.status("base64")
            client.send("advertise", channels=[{"id": 10, "topic": "bad", "encoding": "flatbuffer", "schemaName": "arm.Pose",
                                                "schema": "AAAA"}])
            client.status("'bad'")
            client.send("advertise", channels=[{"id": 11, "topic": "bad", "encoding": "ros1", "schemaName": ""}])
            client.status("encoding")
            client.send_data(99, b"")
            client.status("99 is not advertised")
            assert schemas
            # a client may publish 64 topics
            for index in range(100, 163):
                client.send("advertise", channels=[{"id": index, "topic": f"t{index}", "encoding": "json", "schemaName": ""}])
            client.status("64 is the limit")
            # the topic ends with the last client that publishes it
            client.send("unadvertise", channelIds=[7])
            other.send_data(1, sample)
            assert received() == sample
        end = time.monotonic() + PATIENCE_S
        with native(system) as participant:
            while True:
                with contextlib.suppress(Exception):
                    participant.register_topic("free")
                    break
                assert time.monotonic() < end


def case_recording() -> None:  # [memory]
    with System() as system:
        publisher = system.publish("count", "counted", "200")
        file = system.record(1)
        publisher.kill()
        system.start_web(file)
        with Client(system) as client, Client(system, WEBSOCKET) as old:
            assert client.info["capabilities"] == ["time", "rangedPlayback"], client.info
            assert old.info["capabilities"] == ["time"], old.info
            start, end = (client.info[key]["sec"] * 10**9 + client.info[key]["nsec"] for key in ("dataStartTime", "dataEndTime"))
            assert start < end
            assert client.channel("counted")["encoding"] == "cdr"

            def request(command: int, rate: float, seek: int, identity: bytes) -> bytes:
                return struct.pack("<BBfBQI", 3, command, rate, seek != 0, seek, len(identity)) + identity

            client.subscribe(1, "counted")
            client.data(1)
            half = start + (end - start) // 2
            for viewer in (client, old):
                viewer.send("advertise", channels=[{"id": 1, "topic": "free", "encoding": "json", "schemaName": ""}])
                viewer.status("recording")
            client.socket.send(request(1, 1, half, b"half"))
            client.until_all(lambda each: each["op"] == "playback" and (each["request"], each["status"], each["seeks"]) == ("half", 1, 1)
                             and each["now"] == half,
                             lambda each: each["op"] == "time" and each["now"] >= half,
                             lambda each: each["op"] == "data" and half - 10**8 < each["stamp"] <= half)
            old.until("time", lambda each: each["now"] >= half)
            client.socket.send(request(0, 2, 0, b"play"))
            client.until_all(lambda each: each["op"] == "playback" and (each["request"], each["status"], each["rate"]) == ("play", 0, 2),
                             lambda each: each["op"] == "data" and each["stamp"] > half,
                             lambda each: each["op"] == "playback" and each["status"] == 3)
            old.socket.send(request(0, 1, 0, b"x"))
            old.status("control")


def case_foreign_pages() -> None:
    def opened(system: System, origin: str) -> bool:
        try:
            with Client(system, origin=origin):
                return True
        except closed.InvalidStatus as refused:
            assert refused.response.status_code == 403, refused
            return False

    with serving("--allow-origin", "https://app.foxglove.dev", "--allow-origin", "file://") as system:
        assert opened(system, system.address.rstrip("/"))
        assert opened(system, "https://app.foxglove.dev")
        assert opened(system, "file://")
        assert opened(system, "app://viewer")
        for origin in ("https://evil.example", "null", "https://app.foxglove.dev.evil.example", "http://app.foxglove.dev"):
            assert not opened(system, origin), origin
    with serving() as system:
        for nonsense in ("*", "app.foxglove.dev", "https://app.foxglove.dev/path", "null"):
            done = subprocess.run([str(BIN / "orc-web"), "--allow-origin", nonsense], stdin=subprocess.DEVNULL, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE_S, check=False)
            assert done.returncode == 2 and "is no origin" in done.stdout, done.stdout
        assert not opened(system, "https://app.foxglove.dev") and not opened(system, "file://")
        with Client(system):
            pass


def case_hostile_frames() -> None:  # [memory]
    with serving("--allow-publish") as system:
        for bad in (b"", b"\1", b"\1\0\0", b"\2" + bytes(11), b"\3" + bytes(16), "", "nothing", "[]", "[" * 60_000):
            with Client(system) as client:
                client.socket.send(bad)
                code, reason = client.close_frame()
                assert code == POLICY_VIOLATION and reason, (bad[:20], code, reason)
        with Client(system) as client:
            # Its header is enough. The kernel drops the close frame when bytes that the server did not read are left.
            client.socket.socket.sendall(b"\x82\xff" + (2 << 20).to_bytes(8, "big") + bytes(4))
            assert client.close_frame()[0] == TOO_BIG
        with Client(system) as client:
            for bad, words in (({"op": "fly"}, "fly"), ({}, "op"), ({"op": 5}, "op"), ({"op": "fetchAsset"}, "fetchAsset"),
                               ({"op": "subscribe"}, "subscriptions"), ({"op": "subscribe", "subscriptions": [5]}, "id"),
                               ({"op": "subscribe", "subscriptions": [{"id": 1, "channelId": 99}]}, "99"),
                               ({"op": "subscribe", "subscriptions": [{"id": -1, "channelId": 1}]}, "id"),
                               ({"op": "advertise", "channels": {}}, "channels"),
                               ({"op": "unadvertise", "channelIds": [4]}, "4"), ({"op": "x" * 10_000}, "xxx")):
                client.socket.send(json.dumps(bad))
                client.status(words)
            for frame, words in ((b"\xff", "255"), (b"\3\7" + bytes(17), "command")):
                client.socket.send(frame)
                client.status(words)
            client.send("unsubscribe", subscriptionIds=[1, 2, 3])
        with Client(system) as client:
            with contextlib.suppress(closed.ConnectionClosed):
                for _ in range(10_000):
                    client.send("fly")
            assert client.close_frame()[0] == POLICY_VIOLATION
        with Client(system):
            pass


if __name__ == "__main__":
    sys.exit(run_cases(globals(), MISSING))
