"""Tunnels on the loopback of this host, without root, and bare datagrams for their networks."""

from __future__ import annotations

import contextlib
import pathlib
import socket
import struct
from typing import Any, Dict, Iterator, List, Sequence, Tuple

import pytest

import orc
from bridge_process import Bridge, free_port
from support import BrokerProcess, wait_until


class Loopback:
    """Tunnels on this host, each with a multicast network of its own: without root. Ends what a test makes."""

    def __init__(self, folder: pathlib.Path, bin_dir: pathlib.Path) -> None:
        self._folder, self._bin_dir = folder, bin_dir
        self.port = free_port()
        self.urls = [f"udpm://239.255.76.67:{free_port()}?ttl=0" for _ in range(2)]
        self._brokers: Dict[int, BrokerProcess] = {}
        self._closing = contextlib.ExitStack()

    def broker(self, end: int) -> str:
        if end not in self._brokers:
            made = self._brokers[end] = BrokerProcess(self._bin_dir, f"ipc://{self._folder}/orc/end{end}")
            made.start()
        return self._brokers[end].endpoint

    def participant(self, end: int, **options: Any) -> Any:
        made = orc.Participant(self.broker(end), **options)
        self._closing.callback(made.close)
        return made

    def tunnel(self, end: int, *arguments: str, broker: bool = True) -> Bridge:
        more = ["--broker", self.broker(end)] if broker else []
        made = Bridge("lcm", "--lcm-url", self.urls[end], *more, *arguments)
        self._closing.callback(made.kill)
        made.wait_ready()
        return made

    def tunnels(self, scheme: str, first: Sequence[str], second: Sequence[str]) -> Tuple[Bridge, Bridge]:
        """A tunnel at each end, with a link between them."""
        listening = self.tunnel(0, "--listen", f"{scheme}://127.0.0.1:{self.port}", *first)
        connecting = self.tunnel(1, "--connect", f"{scheme}://127.0.0.1:{self.port}", *second)
        wait_until(lambda: listening.wrote("link to") and connecting.wrote("link to"))
        return listening, connecting

    def wire(self, end: int) -> Wire:
        made = Wire(self.urls[end])
        self._closing.callback(made.close)
        return made

    def file(self, text: str) -> str:
        """The path of a settings file."""
        path = self._folder / f"tunnel{len(list(self._folder.iterdir()))}.toml"
        path.write_text(text)
        return str(path)

    def close(self) -> None:
        self._closing.close()
        for broker in self._brokers.values():
            broker.stop()


@pytest.fixture
def loopback(run_dir: pathlib.Path, bin_dir: pathlib.Path) -> Iterator[Loopback]:
    made = Loopback(run_dir, bin_dir)
    yield made
    made.close()


class Wire:
    """A program on the multicast network of a Loopback's end, which sends and hears bare datagrams over lo."""

    def __init__(self, url: str) -> None:
        group, port = url.split("://")[1].split("?")[0].split(":")
        self._to = (group, int(port))
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._hearer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        lo = struct.pack("=4s4si", socket.inet_aton(group), bytes(4), socket.if_nametoindex("lo"))
        self.socket.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, lo)
        self._hearer.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._hearer.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self._hearer.bind(self._to)
        self._hearer.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, lo)
        self._hearer.setblocking(False)
        self._heard: List[bytes] = []

    def send(self, channel: bytes, payload: bytes) -> None:
        """As one datagram of LCM."""
        self.send_bare(b"LC02" + bytes(4) + channel + b"\0" + payload)

    def send_bare(self, datagram: bytes) -> None:
        self.socket.sendto(datagram, self._to)

    def heard(self, channel: bytes) -> List[bytes]:
        """Payloads of this channel so far."""
        while True:
            try:
                self._heard.append(self._hearer.recv(65536))
            except BlockingIOError:
                break
        head = channel + b"\0"
        return [each[8 + len(head) :] for each in self._heard if each[:4] == b"LC02" and each[8:].startswith(head)]

    def close(self) -> None:
        self.socket.close()
        self._hearer.close()


def until_crossed(sender: Wire, receiver: Wire, channel: bytes) -> None:
    """Sends until something arrives."""

    def arrives() -> bool:
        sender.send(channel, b"x")
        return bool(receiver.heard(channel))

    wait_until(arrives, 60)
