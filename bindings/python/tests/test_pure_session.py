"""What a participant of the pure backend tells the broker: one thing that cannot be told keeps back nothing else."""

from __future__ import annotations

from typing import Any, List, Tuple

import pytest

pytest.importorskip("zmq")

import orc.pure as orc
from orc.pure import messages, wire
from support import BrokerProcess, run_python, wait_until


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": 5},
        {"schema_encoding": 5},
        {"schema_encoding": None},
        {"message_encoding": b"json"},
        {"schema": 5},
        {"schema": None},
        {"schema": [1, 2]},
    ],
    ids=str,
)
def test_a_type_with_a_wrong_member_is_refused_at_once(broker: BrokerProcess, wrong: Any) -> None:
    """Only the name was looked at: the rest failed in the I/O thread, on every tick, before all that came after it."""
    with orc.Participant(log=lambda *_: None) as participant:
        with pytest.raises(TypeError):
            participant.register_topic("t", type=orc.TypeDescription(**wrong))
        participant.register_topic("t")
        participant.request_topic("t", connected_within_ms=20_000)


def test_what_cannot_be_told_is_refused_alone(broker: BrokerProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    logged: List[Tuple[str, str]] = []
    real = wire.encode

    def encode(envelope: messages.Envelope) -> bytes:
        if isinstance(envelope.body, messages.RegisterTopic) and envelope.body.topic == "unspeakable":
            raise wire.Malformed("too long")
        return real(envelope)

    monkeypatch.setattr(wire, "encode", encode)
    with orc.Participant(log=lambda *entry: logged.append(entry)) as participant:
        with pytest.raises(orc.Refused, match="too long"):
            participant.register_topic("unspeakable")
        participant.register_topic("t")
        participant.request_topic("t", connected_within_ms=20_000)
    assert sum("too long" in text for _, text in logged) == 1


def test_counters_that_cannot_be_told_do_not_cost_the_lease(
    broker: BrokerProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = 0
    real = wire.encode

    def encode(envelope: messages.Envelope) -> bytes:
        nonlocal empty
        if isinstance(envelope.body, messages.Heartbeat):
            if envelope.body.publications:
                raise TypeError("bad number")
            empty += 1
        return real(envelope)

    monkeypatch.setattr(wire, "encode", encode)
    with orc.Participant(log=lambda *_: None) as participant:
        participant.register_topic("t")
        wait_until(lambda: empty >= 2)


def test_out_of_descriptors_refuses_the_one_topic(broker: BrokerProcess) -> None:
    """It kept all that came after it from being told, for ever."""
    done = run_python(
        """
        import os, resource, orc.pure as orc
        b = orc.Participant(log=lambda *_: None)
        b.request_topic("before")
        _, most = limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) - 1, most))
        try:
            b.register_topic("t")
        except orc.NoDescriptors as error:
            print(error.code)
        b.request_topic("other")
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        b.register_topic("t")
        b.request_topic("t", connected_within_ms=20_000)
        print("goes on")
        """
    )
    assert done.stdout == "no_descriptors\ngoes on\n"
