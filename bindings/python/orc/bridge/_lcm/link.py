"""A link to another bridge: what tcp and udp have in common."""

from __future__ import annotations

import errno
import ipaddress
import socket
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Callable, List, Optional, Protocol, Tuple

from .._shared.counters import Counters
from .._shared.peer_clock import PeerClock, clock_ns
from .incoming import Incoming
from .outgoing import Outgoing
from .packets import GOODBYE, REPORT, Report, Seal, decode_report, encode_report
from .window import Window

LEASE_S = 4.0
_ALIVE_S = 0.5
_SOON_S = 0.01


@dataclass
class LinkOptions:
    """Of all links of a bridge."""

    shared_key: bytes = b""
    """Empty: none."""
    allow: List[str] = field(default_factory=list)
    """Addresses and networks that may connect; empty: all."""
    max_links: int = 8
    fec: float = 0.25
    """Parity shards for each data shard."""
    max_delay: float = 0.5
    """Seconds that a lost batch holds up those after it, over udp."""
    depth: int = 500
    """Messages of a channel that wait."""
    max_bytes: int = 64 << 20
    """Of a message, and of all that waits for a link."""

    def allows(self, address: str) -> bool:
        """Returns whether packets from this address count."""
        if not self.allow:
            return True
        known = ipaddress.ip_address(address.partition("%")[0])
        if known.version == 6 and known.ipv4_mapped is not None:
            known = known.ipv4_mapped
        return any(known in ipaddress.ip_network(each, strict=False) for each in self.allow)


Found = Tuple[int, Tuple[str, int]]
"""Family and address."""
Resolve = Callable[[Callable[[Optional[Found]], None]], None]
"""Calls back, on the thread of the loop, with the address of the other end. None: it has none now."""


class Hub(Protocol):
    """Where messages come from and go to. The thread of the loop calls it."""

    def link_up(self, link: Link) -> bool:
        """A link works from now on. Returns False when there are too many."""

    def link_down(self, link: Link, why: str) -> None:
        """It works no more."""

    def deliver(self, link: Link, kind: int, name: bytes, payload: bytes) -> None:
        """A message came."""


def name_of(address: Tuple[str, int]) -> str:
    """Returns an address as text."""
    host = address[0].replace("::ffff:", "") if "." in address[0] else address[0]
    return f"[{host}]:{address[1]}" if ":" in host else f"{host}:{address[1]}"


class OwnAddress:
    """Notices that this host has lost the address of a connection: the kernel would go on without an answer."""

    def __init__(self) -> None:
        self._look_at = 0.0

    def is_gone(self, of: socket.socket, now: float) -> bool:
        """Returns whether it is lost. Looks every 0.5 s."""
        if now < self._look_at:
            return False
        self._look_at = now + _ALIVE_S
        try:
            host, _, *scope = of.getsockname()
            with socket.socket(of.family, socket.SOCK_DGRAM) as probe:
                probe.bind((host, 0, *scope))
        except OSError as error:  # such as: it was closed, or the process has too many files
            return error.errno == errno.EADDRNOTAVAIL
        return False


class Link(ABC):
    """Not thread-safe."""

    def __init__(self, peer: str, options: LinkOptions, hub: Hub, seal: Seal, counters: Counters, now: float) -> None:
        self.peer = peer
        self.outgoing = Outgoing(options.depth, options.max_bytes, counters)
        self.is_up = False
        self.clock, self._peers_clock = PeerClock(), PeerClock()
        """How far this host's clock is ahead of the other end's, and how far that one is ahead of this host's."""
        self._options, self._hub, self._seal, self._counters = options, hub, seal, counters
        self._incoming = Incoming(options.max_bytes, self._deliver, counters)
        self._window = Window()
        self._next_number = 1
        self._heard_at = self._report_at = now

    def advance(self, now: float) -> float:
        """Sends what may be sent. Returns when to call again."""
        if now - self._heard_at > LEASE_S:
            self.end("no answer")
            return now
        again_at = min(self.outgoing.advance(now), self._heard_at + LEASE_S + _SOON_S)
        self._pump(now)
        if now >= self._report_at:
            self._report(now, [])
        return min(again_at, self._report_at)

    def end(self, why: str) -> None:
        """It works no more, and says so to the hub and to the other end."""
        if not self.is_up:
            return
        self.is_up = False  # first: sending may find that the socket failed, and end the link
        self._send(GOODBYE, b"")
        self._hub.link_down(self, why)

    # For the transports.

    def _begin(self) -> bool:
        """Returns False when there are too many links."""
        self.is_up = self._hub.link_up(self)
        return self.is_up

    def _pump(self, now: float) -> None:
        while self.outgoing.has_some and self._may_send():
            room = self._window.room
            batch = self.outgoing.next_batch(room, now) if room else b""
            if not batch:
                break
            self._window.sent(self._next_number, len(batch), now)
            self._send_batch(self._next_number, batch, now)
            self._next_number += 1

    def _take_packet(self, kind: int, body: bytes, now: float) -> None:
        self._heard_at = now
        if kind == REPORT:
            report = decode_report(body)
            if report is None:
                self._counters.drop("malformed packet", f"a report of {self.peer}")
                return
            clock = clock_ns()
            if report.behind_ns is not None and report.behind_ns > clock - report.clock_ns:
                self._counters.drop("malformed packet", f"a report of {self.peer} from after it came")
                return
            if self._peers_clock.ahead_ns(clock) is None:
                self._report_soon(now)  # topics of the other end wait for this
            self._peers_clock.is_ahead(report.clock_ns - clock, clock)
            if report.behind_ns is not None:
                self.clock.is_ahead(report.behind_ns, clock)
            self._window.settled(report, now)
            self._reported(report, now)
        elif kind == GOODBYE:
            self.end("the other end ended")

    def _report_soon(self, now: float) -> None:
        self._report_at = min(self._report_at, now + _SOON_S)

    def _report(self, now: float, wanted: List[Tuple[int, int]]) -> None:
        next, newest, newest_at = self._received()
        clock = clock_ns()
        held_us, behind_ns = int((now - newest_at) * 1e6), self._peers_clock.ahead_ns(clock)
        self._send(REPORT, encode_report(Report(next, newest, held_us, clock, behind_ns, wanted)))
        self._report_at = now + _ALIVE_S

    def _deliver(self, kind: int, name: bytes, payload: bytes) -> None:
        self._hub.deliver(self, kind, name, payload)

    # Of each transport.

    @abstractmethod
    def _may_send(self) -> bool:
        """Returns whether the kernel takes more."""

    @abstractmethod
    def _send(self, kind: int, body: bytes) -> None:
        """Sends a packet."""

    @abstractmethod
    def _send_batch(self, number: int, batch: bytes, now: float) -> None:
        """Sends a batch."""

    @abstractmethod
    def _received(self) -> Tuple[int, int, float]:
        """Returns the next batch that is expected, the newest one that came, and when."""

    @abstractmethod
    def _reported(self, report: Report, now: float) -> None:
        """The other end has received this."""
