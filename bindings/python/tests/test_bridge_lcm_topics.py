"""ORC topics of other transports through the LCM tunnel: by name, with types, the newest sample."""

from __future__ import annotations

import dataclasses
import struct
import time
from typing import Any

import numpy as np
import pytest

import orc
from bridge_process import receive
from lcm_loopback import Loopback, loopback, until_crossed
from support import wait_until

__all__ = ["loopback"]
BOTH = ("--topic", "**")


@dataclasses.dataclass
class State:
    __orc_name__ = "robot.State"
    position: np.float64
    mode: np.int32


@pytest.mark.parametrize("scheme", ["tcp", "udp"])
def test_typed_samples_of_all_sizes_cross_both_ways(loopback: Loopback, scheme: str) -> None:
    loopback.tunnels(scheme, BOTH, BOTH)
    for sending, receiving in ((0, 1), (1, 0)):
        sender, receiver = loopback.participant(sending), loopback.participant(receiving)
        state = sender.register_topic(f"arm/of{sending}", type=State)
        state.send(State(1.5, 3))  # type: ignore[call-arg]
        there = receiver.request_topic(f"arm/of{sending}", type=State)
        assert wait_until(lambda there=there: there.recv_msg(100)).value() == State(1.5, 3)  # type: ignore[misc]

        image, images = sender.register_topic(f"image/of{sending}"), receiver.request_topic(f"image/of{sending}")
        for size in (10, 1_000, 65_537, 1_000_000, 10_000_000, 10):
            data = bytes([size % 251]) * size
            image.send_msg(data)
            receive(images, data)


def test_a_late_joiner_and_a_late_link_get_the_last_sample(loopback: Loopback) -> None:
    first = loopback.tunnel(0, "--listen", f"tcp://127.0.0.1:{loopback.port}", *BOTH)
    sender = loopback.participant(0)
    sender.register_topic("state").send_msg(b"last")
    fleeting = sender.register_topic("command", keep_last=False)
    again = loopback.participant(0).request_topic("state")
    receive(again, b"last")
    for _ in range(2):
        second = loopback.tunnel(1, "--connect", f"tcp://127.0.0.1:{loopback.port}", *BOTH)
        receive(loopback.participant(1).request_topic("state"), b"last")
        commands = loopback.participant(1).request_topic("command")

        def arrives(commands: Any = commands) -> bool:
            fleeting.send_msg(b"now")
            return commands.recv_msg(50) is not None

        wait_until(arrives)
        second.kill()
        wait_until(lambda: first.wrote("link lost"))
    late = loopback.tunnel(1, "--connect", f"tcp://127.0.0.1:{loopback.port}", *BOTH)
    receive(loopback.participant(1).request_topic("state"), b"last")
    sent_twice = late.end()["samples received"]
    assert sent_twice == 1  # the command is old, and stays away


OUT = """
[[topic]]
name = "arm/**"
direction = "out"
max_rate = 50
[[topic]]
name = "old"
direction = "out"
"""
IN = """
[[topic]]
name = "arm/**"
direction = "in"
as = "robot/{topic}"
[[topic]]
name = "old"
max_age_ms = 1
"""


def test_directions_names_and_ages(loopback: Loopback) -> None:
    sender, receiver = loopback.participant(0), loopback.participant(1)
    sender.register_topic("old").send_msg(b"from before the tunnel")
    _, second = loopback.tunnels("udp", ("--file", loopback.file(OUT)), ("--file", loopback.file(IN)))
    sender.register_topic("arm/state").send_msg(b"there")
    receive(receiver.request_topic("robot/arm/state"), b"there")
    receiver.register_topic("arm/back").send_msg(b"never")
    sender.register_topic("other").send_msg(b"never")
    sender.register_topic("arm/more").send_msg(b"later")
    receive(receiver.request_topic("robot/arm/more"), b"later")
    assert _topics_of(loopback, 0) == {"arm/state", "arm/more", "other", "old"}
    assert _topics_of(loopback, 1) == {"robot/arm/state", "robot/arm/more", "arm/back"}
    assert second.end()["too old"] == 1


def _topics_of(loopback: Loopback, end: int) -> Any:
    with orc.Directory(loopback.broker(end)) as directory:
        return {each.name for each in directory.topics() if each.publication is not None}


def test_samples_do_not_go_round(loopback: Loopback) -> None:
    bridges = loopback.tunnels("tcp", BOTH, BOTH)
    parallel = loopback.port
    loopback.port = _other_port(parallel)
    bridges += loopback.tunnels("udp", BOTH, BOTH)
    state = loopback.participant(0).register_topic("state")
    there = loopback.participant(1).request_topic("state")
    for number in range(20):
        state.send_msg(b"%d" % number)
        receive(there, b"%d" % number)
    wait_until(lambda: any(each.wrote("published in this network already") for each in bridges))
    counts = [each.end() for each in bridges]
    assert sum(each.get("samples sent", 0) for each in counts) <= 2 * 20


def _other_port(port: int) -> int:
    return port + 1 if port < 65000 else port - 1


def test_a_name_that_is_taken_is_left_to_its_owner(loopback: Loopback) -> None:
    _, second = loopback.tunnels("tcp", (*BOTH, "--direction", "out"), (*BOTH, "--direction", "in"))
    own = loopback.participant(1).register_topic("state")
    own.send_msg(b"own")
    there = loopback.participant(1).request_topic("state")
    receive(there, b"own")
    loopback.participant(0).register_topic("state").send_msg(b"foreign")
    wait_until(lambda: second.wrote("published in this network already"))
    own.send_msg(b"still own")
    assert receive(there, b"still own") == [b"still own"]


def test_a_rate_keeps_the_newest_sample(loopback: Loopback) -> None:
    loopback.tunnels("udp", ("--topic", "state", "--rate", "4"), BOTH)
    state = loopback.participant(0).register_topic("state")
    there = loopback.participant(1).request_topic("state", conflate=False, depth=1000)
    state.send_msg(struct.pack("<i", -1))
    receive(there, struct.pack("<i", -1))
    began = time.monotonic()
    for number in range(100):
        state.send_msg(struct.pack("<i", number))
    numbers = [struct.unpack("<i", each)[0] for each in receive(there, struct.pack("<i", 99))]
    assert numbers == sorted(set(numbers)) and len(numbers) <= 2 + 4 * (time.monotonic() - began)


def test_channels_need_no_broker(loopback: Loopback) -> None:
    loopback.tunnel(0, "--listen", f"tcp://127.0.0.1:{loopback.port}", "--channel", ".*", broker=False)
    loopback.tunnel(1, "--connect", f"tcp://127.0.0.1:{loopback.port}", broker=False)
    until_crossed(loopback.wire(0), loopback.wire(1), b"CHANNEL")
