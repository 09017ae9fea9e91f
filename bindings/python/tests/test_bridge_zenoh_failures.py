"""The bridge to Zenoh when the router, a bridge or a broker dies."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from support import wait_until

zenoh = pytest.importorskip("zenoh", reason="eclipse-zenoh is not installed: pip install eclipse-zenoh")

from bridge_fixtures import Fleet, one_fleet, receive  # noqa: E402

__all__ = ["one_fleet"]


def test_streams_return_when_the_router_was_killed(one_fleet: Fleet) -> None:
    fleet = one_fleet
    fleet.bridge("r1", "--topic", "**")
    fleet.bridge("r2", "--topic", "**")
    sender, receiver = fleet.participant("r1"), fleet.participant("r2")
    state, image = sender.register_topic("arm/state"), sender.register_topic("camera")
    states, images = receiver.request_topic("r1/arm/state"), receiver.request_topic("r1/camera")
    for round in range(3):
        state.send_msg(b"before %d" % round)
        receive(states, b"before %d" % round)
        large = b"%d" % round + bytes(200_000)
        image.send_msg(large)
        receive(images, large)
        fleet.router.kill()
        state.send_msg(b"old %d" % round)
        state.send_msg(b"while it was away %d" % round)  # the newest, and nothing follows it
        fleet.router.start()
        receive(states, b"while it was away %d" % round, 60)


def test_a_bridge_starts_before_the_router(one_fleet: Fleet) -> None:
    fleet = one_fleet
    fleet.router.kill()
    first = fleet.bridge("r1", "--topic", "**", ready=False)
    second = fleet.bridge("r2", "--topic", "**", ready=False)
    fleet.participant("r1").register_topic("arm/state").send_msg(b"early")
    wait_until(lambda: first.wrote("no connection to Zenoh yet") and second.wrote("no connection"), 60)
    fleet.router.start()
    receive(fleet.participant("r2").request_topic("r1/arm/state"), b"early", 60)


def test_a_bridge_that_was_killed_resumes(one_fleet: Fleet) -> None:
    fleet = one_fleet
    receiver = fleet.participant("r2")
    there = receiver.request_topic("r1/arm/state")
    state = fleet.participant("r1").register_topic("arm/state")
    for round in range(2):
        bridges = [fleet.bridge("r1", "--topic", "**"), fleet.bridge("r2", "--topic", "**")]
        state.send_msg(b"sent %d" % round)
        receive(there, b"sent %d" % round)
        bridges[round].kill()
        state.send_msg(b"more %d" % round)
        again = fleet.bridge(f"r{round + 1}", "--topic", "**")
        receive(there, b"more %d" % round)
        again.kill()
        bridges[1 - round].kill()


def test_a_publisher_that_restarts_is_heard_again(one_fleet: Fleet) -> None:
    fleet = one_fleet
    fleet.bridge("r1", "--topic", "**")
    fleet.bridge("r2", "--topic", "**")
    there = fleet.participant("r2").request_topic("r1/arm/state")
    for round in range(3):
        with fleet.orc.Participant(fleet.broker("r1")) as sender:
            state = sender.register_topic("arm/state")
            for number in range(5):
                state.send_msg(b"%d %d" % (round, number))
            receive(there, b"%d 4" % round)


def test_a_slow_large_sample_delays_no_small_one(one_fleet: Fleet) -> None:
    """A receiver of large samples that does not read: the large lane waits, the small ones go on."""
    fleet = one_fleet
    fleet.bridge("r1", "--topic", "**")
    session = fleet.session()
    stuck, let_go = threading.Event(), threading.Event()
    small = []

    def take(sample: Any) -> None:
        if len(sample.payload) > 65536:
            stuck.set()
            let_go.wait(60)
        else:
            small.append(sample.payload.to_bytes())

    session.declare_subscriber("orc/r1/**", zenoh.handlers.Callback(take, indirect=False))
    other = fleet.session()
    heard = []
    other.declare_subscriber("orc/r1/arm/state", lambda sample: heard.append(sample.payload.to_bytes()))
    sender = fleet.participant("r1")
    state, image = sender.register_topic("arm/state"), sender.register_topic("camera")

    def both_hear() -> bool:
        state.send_msg(b"first")
        return bool(heard) and bool(small)

    wait_until(both_hear)
    try:
        for _ in range(5):
            image.send_msg(bytes(5_000_000))
        assert stuck.wait(20)
        for number in range(50):
            state.send_msg(b"%d" % number)
            wait_until(lambda number=number: b"%d" % number in heard[-1:])
    finally:
        let_go.set()
