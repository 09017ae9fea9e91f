"""Wrong types, closed handles, huge timeouts, options that make no sense."""

from __future__ import annotations

import gc
import logging
import weakref
from typing import Any, Callable

import pytest

from support import run_python, wait_until

HUGE = (2**31, -(2**31) - 1, 2**63, 2**100)


@pytest.mark.parametrize("name", ["recv_msg", "recv_next", "wait_connected"])
def test_timeouts(backend: Any, link: Any, name: str) -> None:
    _, subscriber = link(backend)
    call: Callable[[Any], Any] = getattr(subscriber, name)
    for huge in HUGE:
        with pytest.raises((OverflowError, backend.BadArgument)):
            call(huge)
    for wrong in (None, "5", 1.5, b"5", [1]):
        with pytest.raises(TypeError):
            call(wrong)
    with pytest.raises(backend.BadArgument) as caught:
        call(-2)
    assert caught.value.code == "bad_argument"
    assert isinstance(caught.value, ValueError)
    if name != "wait_connected":
        assert call(0) is None
        assert call(60) is None  # more than a slice


def test_the_largest_timeout_waits(backend: Any, link: Any) -> None:
    publisher, subscriber = link(backend)
    publisher.send_msg(b"x")
    assert bytes(subscriber.recv_msg(2**31 - 1)) == b"x"


@pytest.mark.parametrize("topic", ["", "a b", "ü", "x" * 256])
def test_bad_names(backend: Any, broker: Any, topic: str) -> None:
    with backend.Participant() as participant:
        for call in (participant.register_topic, participant.request_topic):
            with pytest.raises(backend.BadName):
                call(topic)


@pytest.mark.parametrize("topic", [None, 5, b"bytes"])
def test_names_of_wrong_type(backend: Any, broker: Any, topic: Any) -> None:
    with backend.Participant() as participant:
        for call in (participant.register_topic, participant.request_topic, participant.publisher):
            with pytest.raises(TypeError):
                call(topic)
        with pytest.raises(TypeError):
            participant.send_msg(topic, b"")
        with pytest.raises(TypeError):
            participant.recv_msg(topic, 0)


def test_options_that_make_no_sense(backend: Any, broker: Any) -> None:
    with backend.Participant() as participant:
        for options in (
            {"conflate": 2},
            {"conflate": 0, "depth": 65_537},
            {"connected_within_ms": -2},
            {"spin_us": -1},
        ):
            with pytest.raises(backend.BadArgument):
                participant.request_topic("t", **options)
        with pytest.raises(backend.BadArgument, match="carrier-pigeon"):
            participant.register_topic("t", transports=["carrier-pigeon"])
        with pytest.raises(backend.BadArgument):
            participant.register_topic("t", history=0)
        with pytest.raises(TypeError):
            participant.register_topic("t", no_such_option=1)


def test_options_that_contradict_each_other(backend: Any, broker: Any) -> None:
    """depth=100 without conflate=0 kept one sample, silently."""
    with backend.Participant() as participant:
        with pytest.raises(backend.BadArgument, match="depth is the length of the queue with conflate = 0"):
            participant.request_topic("t", depth=100)
        with pytest.raises(backend.BadArgument, match="only, which transports leaves out: add shm"):
            participant.request_topic("t", transports="ipc,tcp", max_messages=3)
        for options in ({"history": 5}, {"lock": True}, {"huge_pages": True}):
            with pytest.raises(backend.BadArgument, match="only, which transports leaves out: add shm"):
                participant.register_topic("t", transports=["ipc"], **options)
        participant.register_topic("t", transports="ipc", expected_size=100)
        participant.request_topic("t", transports="ipc,tcp", conflate=0, spin_us=5)


def test_types_out_of_range(backend: Any, broker: Any) -> None:
    with backend.Participant() as participant:
        for wrong in ({"name": "n" * 256}, {"name": "a\0b"}, {"schema": bytes((1 << 20) + 1)}):
            with pytest.raises(backend.BadArgument):
                participant.register_topic("t", type=backend.TypeDescription(**wrong))
            with pytest.raises(backend.BadArgument):
                participant.request_topic("t", type=backend.TypeDescription(**wrong))
        with pytest.raises(backend.BadArgument, match="on or off"):
            participant.request_topic("t", type_check="maybe")
        participant.register_topic("t", type=backend.TypeDescription("robot.State", "json", "json", b"{}"))


def test_unknown_topics(backend: Any, broker: Any) -> None:
    with backend.Participant() as participant:
        for call in (
            lambda: participant.send_msg("t", b""),
            lambda: participant.publisher("t"),
            lambda: participant.unregister_topic("t"),
        ):
            with pytest.raises(backend.NotRegistered) as caught:
                call()
            assert isinstance(caught.value, LookupError)
        for call in (
            lambda: participant.recv_msg("t", 0),
            lambda: participant.recv_next("t", 0),
            lambda: participant.subscriber("t"),
            lambda: participant.release_topic("t"),
        ):
            with pytest.raises(backend.NotRequested):
                call()


def test_after_close_everything_is_closed(backend: Any, broker: Any) -> None:
    participant = backend.Participant()
    publisher = participant.register_topic("t")
    subscriber = participant.request_topic("t")
    participant.close()
    participant.close()
    for call in (
        lambda: participant.register_topic("u"),
        lambda: participant.request_topic("u"),
        lambda: participant.send_msg("t", b""),
        lambda: participant.recv_msg("t", 0),
        lambda: participant.publisher("t"),
        lambda: participant.subscriber("t"),
        lambda: participant.broker_endpoint,
        lambda: publisher.send_msg(b""),
        lambda: subscriber.recv_msg(-1),
        lambda: subscriber.recv_next(0),
        lambda: subscriber.wait_connected(-1),
    ):
        with pytest.raises(backend.Closed) as caught:
            call()
        assert caught.value.code == "closed"
        assert isinstance(caught.value, backend.Error)


def test_close_right_after_a_set_up_call_ends_the_participant(backend: Any, broker: Any) -> None:
    code = """
        import importlib, os, sys
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # the thread that made the call goes on last
        orc = importlib.import_module(sys.argv[1])
        for number in range(200):
            participant = orc.Participant()
            publisher = participant.register_topic(f"t{number}")
            participant.close()
            try:
                publisher.send_msg(b"")
            except orc.Closed:
                continue
            sys.exit(f"participant {number} still sends")
    """
    run_python(code, backend.__name__)


def test_released_and_unregistered_handles_are_closed(backend: Any, broker: Any) -> None:
    with backend.Participant() as participant:
        publisher = participant.register_topic("t")
        subscriber = participant.request_topic("t")
        participant.unregister_topic("t")
        participant.release_topic("t")
        with pytest.raises(backend.Closed):
            publisher.send_msg(b"")
        with pytest.raises(backend.Closed):
            subscriber.recv_msg(0)
        again = participant.request_topic("t", conflate=0, depth=3)
        assert again.recv_msg(0) is None


def test_a_handle_keeps_its_participant(native: Any, broker: Any) -> None:
    publisher = native.Participant().register_topic("t")
    gc.collect()
    publisher.send_msg(b"alive")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_the_log_goes_to_a_callable_and_errors_in_it_are_survived(native: Any, run_dir: Any) -> None:
    lines = []

    def log(level: str, text: str) -> None:
        lines.append((level, text))
        raise RuntimeError("from the log")

    from support import BrokerProcess

    with native.Participant(log=log, broker_timeout_ms=50) as participant:
        with pytest.raises(native.NoBroker):
            participant.register_topic("t")
        import os
        import pathlib

        from conftest import REPOSITORY

        process = BrokerProcess(
            pathlib.Path(os.environ.get("ORC_BIN_DIR") or REPOSITORY / "build/release/bin"), os.environ["ORC_BROKER"]
        )
        process.start()
        try:
            wait_until(lambda: any(level == "info" and "answers at" in text for level, text in lines))
        finally:
            process.stop()


def test_without_a_callable_the_log_goes_to_logging(native: Any, broker: Any, caplog: Any) -> None:
    with caplog.at_level(logging.DEBUG, "orc"):
        with native.Participant() as participant:
            participant.register_topic("t")
            wait_until(lambda: [record for record in caplog.records if record.name == "orc"])


def test_a_log_callable_that_knows_the_participant_does_not_leak(native: Any, broker: Any) -> None:
    class Owner:
        def __init__(self) -> None:
            self.participant = native.Participant(log=self.log)

        def log(self, level: str, text: str) -> None: ...

    owner = Owner()
    gone = weakref.ref(owner)
    del owner
    gc.collect()
    assert gone() is None
