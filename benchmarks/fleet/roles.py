"""The programs of a fleet. Each is a process, and says on its line when it is ready.

A simulated robot is what its bridge is to Zenoh: two sessions, and the bridge's own publishers, keys, attachments and
repetitions. It has no broker, no participants and no process of its own.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import struct
import threading
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from arrivals import Arrivals
from pacer import Pacer

_TCP_INFO_BYTES = struct.Struct("=120xQQ")  # acknowledged, received


@dataclass(frozen=True)
class Fleet:
    """What all programs of one fleet are told."""

    prefix: str
    router: str
    zenoh_config: str
    topics: int
    rate: float
    size: int

    def topic(self, number: int) -> str:
        return f"state/{number:03}"


def robot_name(number: int) -> str:
    return f"robot{number:05}"


def router(line: Connection, fleet: Fleet, connect: str = "") -> None:
    """A router, linked to the one at `connect`.

    Answers each question with the bytes that it received and sent, and how many connections it lost.
    """
    import zenoh

    config = zenoh.Config.from_file(fleet.zenoh_config)
    config.insert_json5("mode", '"router"')
    config.insert_json5("listen/endpoints", f'["{fleet.router}"]')
    if connect:
        config.insert_json5("connect/endpoints", f'["{connect}"]')
    with zenoh.open(config):
        line.send("ready")
        all_ever: Connections = {}
        while line.recv() is not None:
            now_open = tcp_bytes(int(fleet.router.rpartition(":")[2]))
            all_ever |= now_open
            received, sent = (sum(each[way] for each in all_ever.values()) for way in range(2))
            line.send((received, sent, len(all_ever) - len(now_open)))


Connections = dict["tuple[str, int]", "tuple[int, int]"]  # the other end; bytes received and sent


def tcp_bytes(port: int) -> Connections:
    """Returns what the open connections of this process at its port have received and sent."""
    found: Connections = {}
    for entry in os.listdir("/proc/self/fd"):
        try:
            duplicate = os.dup(int(entry))
        except OSError:  # the listing's own
            continue
        try:
            connection = socket.socket(fileno=duplicate)
        except OSError:
            os.close(duplicate)
            continue
        with connection, contextlib.suppress(OSError):  # it may end meanwhile
            if connection.family == socket.AF_INET and connection.type == socket.SOCK_STREAM:
                if connection.getsockname()[1] == port:
                    other_end = connection.getpeername()
                    info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO_BYTES.size)
                    sent, received = _TCP_INFO_BYTES.unpack(info)
                    found[other_end] = received, sent
    return found


class _Sample:
    """A message of ORC, as far as the bridge looks at it."""

    age_ns = 0
    publisher = 0

    def __init__(self, sequence: int, payload: bytes) -> None:
        self.sequence, self._payload = sequence, payload

    def __bytes__(self) -> bytes:
        return self._payload

    def release(self) -> None:
        pass


class _NoSubscription:
    def fileno(self) -> int:
        return -1


class _SimulatedTopic:
    def __init__(self, topic: Any, session: Any, format: Any) -> None:
        self._topic, self._session, self._format = topic, session, format
        self._sequence = 0

    @property
    def repeat_at(self) -> float:
        at: float = self._topic.repeat_at
        return at

    def send(self, payload: bytes) -> None:
        self._sequence += 1
        self._topic.put(_Sample(self._sequence, payload), self._session, self._format, False)

    def repeat(self) -> None:
        self._topic.repeat(self._session)


def _settings(fleet: Fleet, robot: str) -> Any:
    from orc.bridge._zenoh.settings import Settings, TopicRule

    settings = Settings(prefix=fleet.prefix, robot=robot, connect=[fleet.router], zenoh_config=fleet.zenoh_config)
    settings.topics = [TopicRule(name="**", direction="out")]
    settings.check()
    return settings


def simulated_robots(line: Connection, fleet: Fleet, numbers: range) -> None:
    """See Pacer.run."""
    from orc import TypeDescription
    from orc.bridge._shared.counters import Counters
    from orc.bridge._zenoh.formats import format_of
    from orc.bridge._zenoh.out_topic import OutTopic
    from orc.bridge._zenoh.schemas import Schemas
    from orc.bridge._zenoh.sessions import open_session

    stopping, streams, kept = threading.Event(), [], []
    for number in numbers:
        settings = _settings(fleet, robot_name(number))
        small, large = (open_session(settings, each, stopping) for each in (False, True))
        format, schemas = format_of(settings), Schemas(settings, small, Counters(logging.getLogger("fleet")))
        schemas.offer()
        kept += [large, schemas]
        for each in range(fleet.topics):
            name, untyped = fleet.topic(each), TypeDescription()
            topic = OutTopic(
                name, settings.topics[0], format.key(name, untyped), _NoSubscription(), untyped, keep_last=True
            )
            topic.publication = os.urandom(16)
            streams.append(_SimulatedTopic(topic, small, format))
    Pacer(streams, fleet.rate, fleet.size).run(line)
    os._exit(0)  # Python would close one session after the other


class _OrcTopic:
    repeat_at = float("inf")

    def __init__(self, publisher: Any) -> None:
        self.send = publisher.send_msg

    def repeat(self) -> None:
        pass


def real_robots(line: Connection, fleet: Fleet, brokers: list[str]) -> None:
    """The programs of robots with a broker and a bridge: one participant at each broker. See Pacer.run."""
    import orc

    participants = [orc.Participant(each, name="robot") for each in brokers]
    streams = [
        _OrcTopic(each.register_topic(fleet.topic(number))) for each in participants for number in range(fleet.topics)
    ]
    Pacer(streams, fleet.rate, fleet.size).run(line)
    for each in participants:
        each.close()


def _answer(line: Connection, arrivals: Arrivals, began_ns: int, patience: float) -> None:
    """Says how many topics it knows, and when it knew all. Then answers (begin, end), and ends at None."""
    known = arrivals.wait_until_known(patience)
    line.send((known, (arrivals.known_at_ns - began_ns) / 1e9))
    while (asked := line.recv()) is not None:
        line.send(arrivals.between(*asked))


def fleet_desk(line: Connection, fleet: Fleet, robots: int, patience: float, plain: bool) -> None:
    """Receives all topics of all robots, as a bridge does. plain: without the last samples of before."""
    import zenoh.ext as ext
    from orc.bridge._zenoh.formats import format_of
    from orc.bridge._zenoh.sessions import direct, open_session

    settings = _settings(fleet, "desk")
    format, arrivals = format_of(settings), Arrivals(robots * fleet.topics)

    def receive(sample: Any) -> None:
        if sample.attachment is None or format.decode(sample.attachment.to_bytes()) is None:
            arrivals.malformed += 1
        else:
            arrivals.add(str(sample.key_expr), sample.payload.to_bytes())

    session: Any = open_session(settings, False, threading.Event())
    began_ns = time.monotonic_ns()
    keys, handler = f"{fleet.prefix}/*/**", direct(receive)
    subscriber: Any
    if plain:
        subscriber = session.declare_subscriber(keys, handler)
    else:
        history = ext.HistoryConfig(detect_late_publishers=True, max_samples=1)
        subscriber = ext.declare_advanced_subscriber(session, keys, handler, history=history)
    _answer(line, arrivals, began_ns, patience)
    subscriber.undeclare()
    session.close()


def robot_desk(line: Connection, fleet: Fleet, broker: str, robot: str, patience: float) -> None:
    """Receives all topics of one robot from a bridge, over ORC."""
    import orc

    arrivals, lock = Arrivals(fleet.topics), threading.Lock()
    with orc.Participant(broker, name="desk") as participant:
        began_ns = time.monotonic_ns()

        def follow(name: str) -> None:
            def receive(data: Any) -> None:
                with lock:
                    arrivals.add(name, bytes(data))

            participant.request_topic(name).on_message(receive)

        for number in range(fleet.topics):
            follow(f"{robot}/{fleet.topic(number)}")
        _answer(line, arrivals, began_ns, patience)


def write_zenoh_config(path: Path) -> None:
    """All processes are on one host. Without this, Zenoh would look for others, and pass samples by shared memory."""
    path.write_text("{transport: {shared_memory: {enabled: false}}, scouting: {multicast: {enabled: false}}}")
