"""Programs that publish what the tests of the page look at. Prints "ready" when its topics are registered.

usage: publisher.py state TOPIC HZ | many COUNT HZ | count TOPIC HZ | image TOPIC HZ | png TOPIC HZ | once TOPIC |
       silent TOPIC | shared NAME TOPIC HZ | hostile | node NAME TOPIC@HZ,… TOPIC,… | encodings FOLDER HZ | untyped TOPIC |
       parameter NAME | service NAME
"""

from __future__ import annotations

import enum
import importlib
import itertools
import math
import pathlib
import struct
import sys
import time
import zlib
from typing import Iterator

import numpy as np
import orc.pure as orc


class Mode(enum.IntEnum):
    idle = 0
    moving = 1
    fault = 2


STATE = np.dtype([("t", "f8"), ("q", np.dtype("f8", metadata={"unit": "rad"}), 8),
                  ("mode", np.dtype("i4", metadata={"values": Mode})), ("name", "S12")], align=True)
POSE = np.dtype([("position", "f8", 3), ("heading", "f8")], align=True)
SIZE = (160, 120)
IMAGE = np.dtype([("width", "u4"), ("height", "u4"), ("encoding", "S8"), ("data", "u1", SIZE[0] * SIZE[1] * 3)], align=True)
EVIL = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">\u202egnp.exe\u0007"


def ticks(hz: float) -> Iterator[int]:
    """Counts at this rate. What is late is not made up for."""
    begin = time.monotonic()
    for number in itertools.count():
        wait = begin + number / hz - time.monotonic()
        if wait > 0:
            time.sleep(wait)
        elif wait < -0.1:
            begin -= wait
        yield number


def ready() -> None:
    print("ready", flush=True)


def state(participant: orc.Participant, topic: str, hz: str) -> None:
    publisher = participant.register_topic(topic, type=orc.struct("arm.State", STATE))
    ready()
    sample = np.zeros((), STATE)
    sample["name"] = b"left arm"
    sample["mode"] = 2
    for _ in ticks(float(hz)):
        now = time.time()
        sample["t"] = now
        sample["q"] = [math.sin(now * (1 + joint / 3)) * (1 + joint / 4) for joint in range(8)]
        publisher.send(sample[()])


def many(participant: orc.Participant, count: str, hz: str) -> None:
    publishers = [participant.register_topic(f"robot/sensor_{index:03d}", type=orc.json("robot.Sensor"))
                  for index in range(int(count))]
    ready()
    for number in ticks(float(hz)):
        for index, publisher in enumerate(publishers):
            publisher.send({"value": math.sin(number / 10 + index), "unit": "V"})


def count(participant: orc.Participant, topic: str, hz: str) -> None:
    publisher = participant.register_topic(topic, type=orc.struct("test.Count", np.dtype([("number", "i8")])))
    ready()
    sample = np.zeros((), np.dtype([("number", "i8")]))
    begin = time.monotonic()
    for number in itertools.count(1):
        time.sleep(max(0.0, begin + number / float(hz) - time.monotonic()))
        sample["number"] = number
        publisher.send(sample[()])


def pixels(number: int) -> np.ndarray:
    """A picture that moves: columns of colour, and a white bar."""
    x = np.arange(SIZE[0])
    row = np.stack([(x * 2 + number * 3) % 256, (255 - x) % 256, np.full_like(x, 96)], axis=1).astype(np.uint8)
    image = np.repeat(row[np.newaxis], SIZE[1], axis=0)
    image[:, number % SIZE[0]] = 255
    return image


def image(participant: orc.Participant, topic: str, hz: str) -> None:
    publisher = participant.register_topic(topic, type=orc.struct("camera.Image", IMAGE))
    ready()
    sample = np.zeros((), IMAGE)
    sample["width"], sample["height"], sample["encoding"] = *SIZE, b"rgb8"
    for number in ticks(float(hz)):
        sample["data"] = pixels(number).reshape(-1)
        publisher.send(sample[()])


def png_of(image: np.ndarray) -> bytes:
    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    height, width, _ = image.shape
    lines = b"".join(b"\0" + line.tobytes() for line in image)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines, 1)) + chunk(b"IEND", b"")


def png(participant: orc.Participant, topic: str, hz: str) -> None:
    publisher = participant.register_topic(topic)
    ready()
    for number in ticks(float(hz)):
        publisher.send_msg(png_of(pixels(number)))


def once(participant: orc.Participant, topic: str) -> None:
    publisher = participant.register_topic(topic, type=dict)
    publisher.send({"text": "the only one", "number": 42})
    ready()
    time.sleep(600)


def silent(participant: orc.Participant, topic: str) -> None:
    participant.register_topic(topic, type=orc.struct("test.Count", np.dtype([("number", "i8")])))
    ready()
    time.sleep(600)


def shared(participant: orc.Participant, _name: str, topic: str, hz: str) -> None:
    publisher = participant.register_topic(topic, type=dict, shared=True)
    ready()
    for number in ticks(float(hz)):
        publisher.send({"number": number})


def hostile(participant: orc.Participant) -> None:
    publisher = participant.register_topic("hostile", type=orc.json("<script>document.title='owned'</script>"))
    long = participant.register_topic("hostile/" + "a" * 240, type=dict)
    sample = {EVIL: EVIL, "long": "x" * 10_000, "n" * 10_000: 1, "__proto__": {"polluted": 1}, "a.b[0]": 3, "nested": [[[EVIL]]]}
    ready()
    for _ in ticks(20):
        publisher.send(sample)
        long.send({"value": 1})


def node(participant: orc.Participant, name: str, published: str, subscribed: str = "") -> None:
    """A program of a robot: publishes and subscribes."""
    publishers = []
    for each in filter(None, published.split(",")):
        topic, hz = each.split("@")
        publishers.append((participant.register_topic(topic, type=orc.struct("robot.Pose", POSE)), float(hz)))
    subscribers = [participant.request_topic(topic) for topic in filter(None, subscribed.split(","))]
    ready()
    sample = np.zeros((), POSE)
    fastest = max((hz for _, hz in publishers), default=50.0)
    for number in ticks(fastest):
        for subscriber in subscribers:
            subscriber.recv_msg(0)
        angle = time.time()
        sample["position"] = [math.cos(angle) * 2, math.sin(angle * 2), 0.4]
        sample["heading"] = angle % (2 * math.pi)
        for publisher, hz in publishers:
            if number % max(1, round(fastest / hz)) == 0:
                publisher.send(sample[()])


def encodings(participant: orc.Participant, folder: str, hz: str) -> None:
    """A topic of each encoding."""
    import foxglove_types  # needs compilers, which other kinds do not

    topics = foxglove_types.topics(pathlib.Path(folder))
    publishers = [(participant.register_topic(name, type=topic.type), topic.sample) for name, topic in topics.items()]
    for publisher, sample in publishers:
        publisher.send_msg(sample)
    ready()
    for _ in ticks(float(hz)):
        for publisher, sample in publishers:
            publisher.send_msg(sample)


def untyped(participant: orc.Participant, topic: str) -> None:
    participant.register_topic(topic).send_msg(b"bytes")
    ready()
    time.sleep(600)


def parameter(participant: orc.Participant, name: str) -> None:
    participant.parameter(name, 1.0, max=10)
    ready()
    time.sleep(600)


def service(participant: orc.Participant, name: str) -> None:
    """It returns its request."""
    participant.serve(name, lambda value: value)
    ready()
    time.sleep(600)


def main() -> None:
    kind, *arguments = sys.argv[1:]
    kinds = {each.__name__: each for each in (state, many, count, image, png, once, silent, shared, hostile, node, encodings, untyped,
                                              parameter, service)}
    names = {"hostile": EVIL[:200], "node": arguments[0] if arguments else "", "shared": arguments[0] if arguments else ""}
    # Three kinds need the extension: orc.pure has no shared topics, parameters and services.
    package = importlib.import_module("orc" if kind in ("shared", "parameter", "service") else "orc.pure")
    with package.Participant(name=names.get(kind, f"{kind} publisher")) as participant:
        kinds[kind](participant, *arguments)


if __name__ == "__main__":
    main()
