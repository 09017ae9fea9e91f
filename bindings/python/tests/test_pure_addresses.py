"""IPv6 and names with several addresses."""

from __future__ import annotations

import pathlib
import socket
from typing import Any, List

import pytest

import orc.pure as orc
from orc.pure import endpoints
from support import BrokerProcess, free_tcp_endpoint


def _has_v6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
            return True
    except OSError:
        return False


def test_a_name_stands_for_all_its_addresses(bin_dir: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only one address of it was tried, of IPv4."""
    endpoint = free_tcp_endpoint()
    broker = BrokerProcess(bin_dir, endpoint)
    broker.start()
    real = socket.getaddrinfo

    def getaddrinfo(host: Any, *arguments: Any, **options: Any) -> List[Any]:
        if host != "robot.test":
            return real(host, *arguments, **options)
        return [(socket.AF_INET6, 1, 6, "", ("::1", 0, 0, 0)), (socket.AF_INET, 1, 6, "", ("127.0.0.1", 0))]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    try:
        with orc.Participant(broker=endpoint.replace("127.0.0.1", "robot.test"), log=lambda *_: None) as participant:
            participant.register_topic("t")
            participant.request_topic("t", connected_within_ms=20_000)
    finally:
        broker.stop()


@pytest.mark.parametrize("address", ["::1", "127.0.0.1"])
def test_data_ports_listen_for_both_families(bin_dir: pathlib.Path, address: str) -> None:
    if not _has_v6():
        pytest.skip("this host has no IPv6")
    port = free_tcp_endpoint().rpartition(":")[2]
    broker = BrokerProcess(bin_dir, f"tcp://127.0.0.1:{port}", f"tcp://[::1]:{port}", f"tcp://*:{int(port) ^ 1}")
    broker.start()
    try:
        with orc.Participant(broker=f"tcp://{endpoints.in_url(address)}:{port}", advertise=address) as participant:
            participant.register_topic("t", transports="tcp")
            subscription = participant.request_topic("t", connected_within_ms=20_000)
            assert subscription.link is not None
    finally:
        broker.stop()


def test_names_are_told_from_numbers() -> None:
    for endpoint in ("tcp://robot:5570", "tcp://localhost:1", "tcp://1.2.3:4"):
        assert endpoints.is_name(endpoint)
    for endpoint in ("tcp://127.0.0.1:1", "tcp://[::1]:1", "ipc:///run/orc/broker", "tcp://5570", "tcp://*:1", "none"):
        assert not endpoints.is_name(endpoint)
        assert endpoints.numeric_endpoints(endpoint) == [endpoint]
