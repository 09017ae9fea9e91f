"""The programs of the benchmark: each runs one role in a network namespace, until its input ends.

A sample begins with its number and the time at which it was sent. Namespaces of one host share the monotonic clock.
"""

from __future__ import annotations

import json
import struct
import sys
import threading
import time
from typing import Any, List, Tuple

HEAD = struct.Struct("<Qq")
CONTROL_BYTES, CONTROL_HZ = 100, 50
IMAGE_BYTES, IMAGE_HZ = 1_000_000, 2


def session(mode: str, *endpoints: str) -> Any:
    import zenoh

    config = zenoh.Config()
    where = "listen" if mode == "router" else "connect"
    settings = {"mode": mode, f"{where}/endpoints": list(endpoints), "scouting/multicast/enabled": False}
    settings["transport/shared_memory/enabled"] = False  # no network has it
    for key, value in settings.items():
        config.insert_json5(key, json.dumps(value))
    return zenoh.open(config)


def publish(send_control: Any, send_image: Any) -> None:
    """Sends until the input ends, and says the number of the last control sample."""
    ending = threading.Event()

    def control() -> int:
        number, due = 0, time.monotonic()
        while not ending.is_set():
            number += 1
            send_control(HEAD.pack(number, time.monotonic_ns()).ljust(CONTROL_BYTES, b"\0"))
            due = max(due + 1 / CONTROL_HZ, time.monotonic())
            time.sleep(due - time.monotonic() if due > time.monotonic() else 0)
        return number

    def images() -> None:
        number = 0
        while not ending.wait(1 / IMAGE_HZ):
            number += 1
            send_image(HEAD.pack(number, time.monotonic_ns()).ljust(IMAGE_BYTES, b"\0"))

    threads = [threading.Thread(target=images, daemon=True)]
    last: List[int] = []
    threads.append(threading.Thread(target=lambda: last.append(control()), daemon=True))
    for each in threads:
        each.start()
    print("ready", flush=True)
    sys.stdin.readline()
    ending.set()
    threads[1].join()
    print(json.dumps({"last": last[0]}), flush=True)
    sys.stdin.read()  # the last sample may still be on its way


def publish_orc(broker: str) -> None:
    import orc

    with orc.Participant(broker, name="robot") as participant:
        control = participant.register_topic("control", priority="control")
        image = participant.register_topic("image", priority="bulk")
        publish(control.send_msg, image.send_msg)


def publish_zenoh(endpoint: str) -> None:
    opened = session("client", endpoint)
    control, image = (opened.declare_publisher(f"orc/robot/{each}") for each in ("control", "image"))
    publish(control.put, image.put)
    opened.close()


class Ages:
    """What arrived, and when."""

    def __init__(self) -> None:
        self.control: List[Tuple[float, int, float]] = []  # when, number, age in s
        self.images: List[Tuple[float, int, float]] = []

    def add(self, data: Any) -> None:
        now = time.monotonic_ns()
        number, sent = HEAD.unpack_from(data)
        kind = self.control if len(data) == CONTROL_BYTES else self.images
        kind.append((now / 1e9, number, (now - sent) / 1e9))

    def report(self) -> None:
        print("ready", flush=True)
        sys.stdin.read()
        print(json.dumps({"control": self.control, "images": self.images}), flush=True)


def receive_orc(broker: str) -> None:
    import orc

    ages = Ages()
    with orc.Participant(broker, name="station") as participant:
        for topic in ("control", "image"):
            participant.request_topic(f"robot/{topic}").on_message(ages.add)
        ages.report()


def receive_zenoh(endpoint: str) -> None:
    ages = Ages()
    opened = session("client", endpoint)
    opened.declare_subscriber("orc/robot/*", lambda sample: ages.add(sample.payload.to_bytes()))
    ages.report()
    opened.close()


def router(endpoint: str) -> None:
    with session("router", endpoint):
        print("ready", flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    {each.__name__: each for each in (publish_orc, publish_zenoh, receive_orc, receive_zenoh, router)}[sys.argv[1]](
        *sys.argv[2:]
    )
