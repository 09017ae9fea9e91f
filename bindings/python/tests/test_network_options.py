"""priority and ports: what a participant asks of the network."""

from __future__ import annotations

import socket
from types import ModuleType

import pytest

from support import BrokerProcess


def test_a_topic_has_a_priority(backend: ModuleType, broker: BrokerProcess) -> None:
    with backend.Participant() as participant:
        for priority in ("bulk", "normal", "control"):
            participant.register_topic(priority, priority=priority)
            participant.register_topic(priority)
        with pytest.raises(backend.BadArgument):
            participant.register_topic("bulk", priority="control")
        with pytest.raises(backend.BadArgument, match="bulk, normal or control, not high"):
            participant.register_topic("t", priority="high")
        with pytest.raises(backend.BadArgument, match="tcp and multicast only"):
            participant.register_topic("t", priority="bulk", transports="ipc")
        with pytest.raises(TypeError):
            participant.register_topic("t", priority=1)


def test_samples_come_from_a_port_of_the_range(backend: ModuleType, broker: BrokerProcess) -> None:
    with backend.Participant(ports="28770-28779") as publishing, backend.Participant() as subscribing:
        publisher = publishing.register_topic("t", transports="tcp")
        subscriber = subscribing.request_topic("t", transports="tcp", connected_within_ms=5000)
        publisher.send_msg(b"x")
        assert bytes(subscriber.recv_msg(5000)) == b"x"
        with open("/proc/net/tcp", encoding="ascii") as table:
            listening = [int(line.split()[1].rpartition(":")[2], 16) for line in table if " 0A " in line]
        assert any(28770 <= port <= 28779 for port in listening)


@pytest.mark.parametrize("wrong", ["40000-", "0", "70000", "40001-40000", "x"])
def test_a_wrong_range_is_told(
    backend: ModuleType, broker: BrokerProcess, monkeypatch: pytest.MonkeyPatch, wrong: str
) -> None:
    monkeypatch.setenv("ORC_PORTS", wrong)
    with pytest.raises(backend.BadArgument, match="ORC_PORTS"):
        with backend.Participant() as participant:
            participant.register_topic("t")


def test_a_full_range_is_told(backend: ModuleType, broker: BrokerProcess) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with backend.Participant(ports=str(port)) as participant:
            with pytest.raises(backend.SystemFailure, match=str(port)):
                participant.register_topic("t", transports="tcp")
