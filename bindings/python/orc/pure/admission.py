"""Limits how often peers connect to the ROUTERs of a participant: the ZAP handler of its context (ZeroMQ RFC 27).

libzmq asks before it ends a handshake, and before the peer has a routing id. It disconnects a peer that gets no answer
when ZMQ_HANDSHAKE_IVL has passed. ZAP shows the peer's address (over ipc none), and not the routing id that it claims.
"""

from __future__ import annotations

import ipaddress
from typing import Dict, Optional, Tuple

import zmq

from .allowance import Allowance
from .reactor import Reactor

_AT_ONCE = 256
_PER_SECOND = 100
_WITHHELD_S = 5.0
_MAX_ADDRESSES = 1024
_ADDRESS = "inproc://zeromq.zap.01"


def client_of(address: str) -> str:
    """Returns the client that an address belongs to: an IPv4 address (also over IPv6), or an IPv6 /64 network."""
    if ":" not in address:
        return address
    try:
        number = ipaddress.IPv6Address(address.partition("%")[0])
    except ValueError:
        return address
    return str(number.ipv4_mapped or ipaddress.IPv6Network((number, 64), strict=False))


class Admission:
    """Belongs to the I/O thread; one per reactor. Keeps an allowance for each address at each ROUTER."""

    def __init__(self, reactor: Reactor) -> None:
        self._reactor = reactor
        self._socket: Optional[zmq.Socket[bytes]] = None
        self._allowances: Dict[Tuple[bytes, str], Allowance] = {}

    def guard(self, router: zmq.Socket[bytes], name: str) -> None:
        """Guards a router, which must not be bound yet. `name` is unique to it."""
        if self._socket is None:
            self._socket = self._reactor.socket(zmq.ROUTER)
            self._socket.bind(_ADDRESS)
            self._reactor.watch(self._socket, self._serve)
        router.setsockopt(zmq.ZAP_DOMAIN, name.encode())

    def withhold(self, name: str, address: str) -> None:
        """Keeps the address from connecting to that router for a few seconds."""
        allowance = self._allowance(name.encode(), address)
        if allowance is not None:
            allowance.withhold(_WITHHELD_S)

    def _serve(self) -> None:
        while self._socket is not None and not self._socket.closed:
            try:
                request = self._socket.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                return
            if len(request) < 6:
                continue
            peer, _, version, number, name, address = request[:6]
            allowance = self._allowance(name, address.decode("ascii", "replace"))
            if allowance is not None and allowance.take():
                self._socket.send_multipart([peer, b"", version, number, b"200", b"OK", b"", b""], zmq.NOBLOCK)

    def _allowance(self, name: bytes, address: str) -> Optional[Allowance]:
        """Returns None when there are too many addresses."""
        address = client_of(address)
        known = self._allowances.get((name, address))
        if known is None:
            if len(self._allowances) >= _MAX_ADDRESSES:
                self._allowances = {k: a for k, a in self._allowances.items() if not a.untouched}
            if len(self._allowances) >= _MAX_ADDRESSES:
                return None
            known = self._allowances[name, address] = Allowance(_AT_ONCE, _PER_SECOND)
        return known
