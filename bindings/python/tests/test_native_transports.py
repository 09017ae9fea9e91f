"""What the native backend alone has: inproc, shm and multicast, and the options that belong to them."""

from __future__ import annotations

import time
from typing import Any

import pytest

from support import wait_until


@pytest.mark.parametrize("transport", ["inproc", "ipc", "tcp", "shm"])
def test_the_transport_that_is_named(native: Any, link: Any, transport: str) -> None:
    publisher, subscriber = link(native, transport)
    assert subscriber.connected
    assert publisher.readers == 1
    assert subscriber.link.connected and subscriber.link.transport == transport
    assert isinstance(subscriber.link.reason, str)
    publisher.send_msg(b"x")
    assert bytes(subscriber.recv_msg(20000)) == b"x"


@pytest.mark.parametrize("names", ["shm, ipc", ["shm", "ipc"], ("ipc", "shm"), {"shm", "ipc"}, iter(["shm", "ipc"])])
def test_transports_are_an_iterable_or_a_text(native: Any, link: Any, names: Any) -> None:
    _, subscriber = link(native, names)
    assert subscriber.link.transport == "shm"


def test_over_shm_recv_next_goes_back(native: Any, broker: Any) -> None:
    with native.Participant() as participant:
        publisher = participant.register_topic("t", transports="shm", history=8, expected_size=1000)
        subscriber = participant.request_topic("t", connected_within_ms=20000)
        for number in range(8):
            publisher.send_msg(b"%d" % number)
        got = [subscriber.recv_next(20000) for _ in range(3)]
        numbers = [int(bytes(each)) for each in got]
        assert numbers == list(range(numbers[0], numbers[0] + 3))
        assert bytes(subscriber.recv_msg(20000)) == b"7"
        assert subscriber.recv_next(0) is None


@pytest.mark.parametrize("transport", ["inproc", "ipc", "tcp", "shm"])
def test_spinning_receives_the_same(native: Any, link: Any, transport: str) -> None:
    publisher, subscriber = link(native, transport, spin_us=1000)
    for number in range(20):
        publisher.send_msg(b"%d" % number)
        assert bytes(subscriber.recv_msg(20000)) == b"%d" % number
    assert subscriber.recv_msg(120) is None


def test_multicast_without_a_broker(native: Any, run_dir: Any) -> None:
    url = "udpm://239.255.76.83:17683?ttl=0&interface=lo"
    with native.Participant("none", multicast=url, transports="multicast") as one:
        with native.Participant("none", multicast=url, transports="multicast") as other:
            publisher = one.register_topic("t")
            subscriber = other.request_topic("t")
            for _ in range(1000):
                publisher.send_msg(b"heard")
                message = subscriber.recv_msg(20)
                if message is not None:
                    break
            assert message is not None and bytes(message) == b"heard"


def test_the_type_is_shown(native: Any, broker: Any, bin_dir: Any) -> None:
    import subprocess

    with native.Participant() as participant:
        kind = native.TypeDescription("geometry.Pose", "jsonschema", "json", b"{}")
        participant.register_topic("t", type=kind)
        shown = subprocess.run([bin_dir / "orc", "topic", "info", "t"], capture_output=True, text=True, timeout=20)
        assert "geometry.Pose" in shown.stdout
        with pytest.raises(TypeError):
            participant.register_topic("u", type=native.TypeDescription(name=5))


def test_a_sender_of_another_type_does_not_end_the_wait_on_open_multicast(native: Any, run_dir: Any) -> None:
    """It ended after 50 ms, with the first slice. Another sender may have the type, at any time until the timeout."""
    options = {"multicast": "udpm://239.255.76.83:17684?ttl=0&interface=lo", "transports": "multicast"}
    here, there = (native.TypeDescription(name, "", "json") for name in ("a.Config", "b.Config"))
    with native.Participant("none", **options) as other, native.Participant("none", **options) as receiving:
        publisher = other.register_topic("t", type=there)
        subscriber = receiving.request_topic("t", type=here)

        def heard() -> bool:
            publisher.send_msg(b"{}")
            return "b.Config" in subscriber.link.reason

        wait_until(heard)
        began = time.monotonic()
        with pytest.raises(native.TypeMismatch, match="b.Config"):
            subscriber.wait_connected(400)
        assert time.monotonic() - began >= 0.4
        with native.Participant("none", **options) as right:
            matching = right.register_topic("t", type=here)
            wait_until(lambda: matching.send_msg(b"{}") or subscriber.recv_msg(20))
            assert subscriber.wait_connected(20_000)
