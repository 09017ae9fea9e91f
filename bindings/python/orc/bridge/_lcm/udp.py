"""Links over UDP: parity, repairs, and a handshake for which the listening end keeps nothing."""

from __future__ import annotations

import hmac
import os
import socket
import time
from collections import OrderedDict
from typing import Callable, Dict, Optional, Tuple

from .._shared.counters import Counters
from . import frames
from .buffers import set_receive_buffer
from .groups import Groups, SentGroup, decode_shard, shards_of
from .link import Found, Hub, Link, LinkOptions, OwnAddress, Resolve, name_of
from .loop import READ, Loop
from .packets import (
    HELLO_BYTES,
    MAX_DATAGRAM,
    NO_SESSION,
    SESSION_BYTES,
    SHARD,
    Report,
    Seal,
    decode_hello,
    encode_hello,
    new_session,
    why_no_hello,
)

_DATAGRAMS_A_TURN = 256
_BUFFER_BYTES = 4 << 20
_PAUSE_S = 0.01
_EPOCH_S = 10.0
_MAX_USED = 1024
_HELLO_AGAIN_S = 0.25
_NEW_SESSION_S = 3.0
_REPORT_AFTER_GROUPS = 4

Address = Tuple[str, int]


class UdpLink(Link):
    """Not thread-safe. send: returns whether the kernel took the datagram."""

    def __init__(
        self, peer: str, options: LinkOptions, hub: Hub, seal: Seal, counters: Counters, now: float,
        send: Callable[[bytes], bool],
    ) -> None:  # fmt: skip
        super().__init__(peer, options, hub, seal, counters, now)
        self._send_datagram = send
        self._groups = Groups(options.max_delay, counters)
        self._kept: OrderedDict[int, SentGroup] = OrderedDict()  # what is on its way
        self._paused_until = 0.0
        self._probe_s, self._probe_at = 0.0, float("inf")
        self._reported_next = 1

    def begin(self, now: float) -> bool:
        """Works from now on. Returns False when there are too many links."""
        if not self._begin():
            return False
        self._report(now, [])
        return True

    def take(self, packet: bytes, now: float) -> bool:
        """Takes a datagram. Returns False when the other end did not make it."""
        opened = self._seal.open(packet)
        if opened is None:
            return False
        kind, body = opened
        self._take_packet(kind, body, now)
        if kind == SHARD and self.is_up:
            shard = decode_shard(body)
            if shard is None:
                self._counters.drop("malformed packet", f"a shard of {self.peer}")
                return True
            self._groups.add(shard, now)
            self._report_soon(now)
            self._take_batches(now)
        return True

    def advance(self, now: float) -> float:
        """See Link."""
        again_at = super().advance(now)
        if not self.is_up:
            return now
        if self._groups.is_waiting:
            self._take_batches(now)
            wanted = self._groups.wanted(now)
            if wanted:
                self._report(now, wanted)
            again_at = min(again_at, now + _PAUSE_S)
        self._probe(now)
        if self._paused_until > now:
            again_at = min(again_at, self._paused_until)
        return min(again_at, self._probe_at, self._report_at)

    def _take_batches(self, now: float) -> None:
        for batch in self._groups.take(now):
            if batch is None:
                self._incoming.lost()
                continue
            try:
                self._incoming.take(batch, now)
            except frames.Malformed as error:
                self._counters.drop("malformed packet", f"{self.peer}: {error}")
        if self._groups.next - self._reported_next >= _REPORT_AFTER_GROUPS:
            self._report_at = now

    def _probe(self, now: float) -> None:
        """The last packets may be lost, and the other end not know of them."""
        newest = self._window.newest
        if not newest:
            self._probe_at = float("inf")
            return
        if self._probe_at == float("inf") or self._window.progress_at > self._probe_at - self._probe_s:
            self._probe_s = max(0.05, 2 * self._window.round_trip + 0.02)
            self._probe_at = max(now, self._window.progress_at) + self._probe_s
        elif now >= self._probe_at:
            self._counters.count("probes")
            self._send(SHARD, self._kept[newest].shards[0])
            self._probe_s = min(1.0, 2 * self._probe_s)
            self._probe_at = now + self._probe_s

    def _reported(self, report: Report, now: float) -> None:
        while self._kept and next(iter(self._kept)) < report.next:
            self._kept.popitem(last=False)
        for number, there in report.wanted:
            group = self._kept.get(number)
            if group is None or now - self._window.sent_at(number) < max(0.02, self._window.round_trip):
                continue
            missing = [index for index in range(len(group.shards)) if not there >> index & 1]
            needed = max(1, group.k - (len(group.shards) - len(missing)))
            spare = int(len(group.shards) > group.k)
            self._window.repaired(number, now)
            self._counters.count("repairs")
            for index in missing[: needed + spare]:
                self._send(SHARD, group.shards[index])

    def _may_send(self) -> bool:
        return self._paused_until <= time.monotonic()

    def _send(self, kind: int, body: bytes) -> None:
        if not self._send_datagram(self._seal.seal(kind, body)):
            self._paused_until = time.monotonic() + _PAUSE_S

    def _send_batch(self, number: int, batch: bytes, now: float) -> None:
        group = self._kept[number] = shards_of(number, batch, self._options.fec)
        for each in group.shards:
            self._send(SHARD, each)

    def _received(self) -> Tuple[int, int, float]:
        self._reported_next = self._groups.next
        return self._groups.next, self._groups.newest, self._groups.newest_at


def _bound(made: socket.socket) -> socket.socket:
    """Gives a socket large buffers."""
    made.setblocking(False)
    set_receive_buffer(made, _BUFFER_BYTES)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER_BYTES)
    return made


class UdpListener:
    """Accepts links at a port. The thread of the loop alone calls it.

    It draws its session for a peer from the peer's address and session and the time, so a hello costs no memory. A peer
    that repeats the session proves that it gets our packets.
    """

    def __init__(self, bound: socket.socket, options: LinkOptions, hub: Hub, loop: Loop, counters: Counters) -> None:
        self._socket = _bound(bound)
        self._options, self._hub, self._loop, self._counters = options, hub, loop, counters
        self._secret = os.urandom(32)
        self._links: Dict[Address, UdpLink] = {}
        self._used: OrderedDict[bytes, None] = OrderedDict()  # sessions of peers: no recording of one counts again
        loop.watch(self._socket, READ, lambda _: self._receive())
        loop.advance_also(self._advance)

    def close(self) -> None:
        """Ends all links."""
        for link in list(self._links.values()):
            link.end("closed")
        self._loop.forget(self._socket)
        self._socket.close()

    def _advance(self, now: float) -> float:
        again_at = float("inf")
        for address, link in list(self._links.items()):
            again_at = min(again_at, link.advance(now))
            if not link.is_up:
                del self._links[address]
        return again_at

    def _receive(self) -> None:
        now = time.monotonic()
        for _ in range(_DATAGRAMS_A_TURN):
            try:
                packet, from_ = self._socket.recvfrom(MAX_DATAGRAM + 1)
            except (BlockingIOError, InterruptedError):
                return
            except OSError:
                continue  # the ICMP answer to one of ours
            address = from_[:2]
            link = self._links.get(address)
            if link is not None and link.take(packet, now):
                continue
            self._take_stranger(packet, from_, now)

    def _take_stranger(self, packet: bytes, from_: Address, now: float) -> None:
        name = name_of(from_)
        if not self._options.allows(from_[0]):
            self._counters.drop("not allowed", f"a packet from {name}")
            return
        hello = decode_hello(self._options.shared_key, packet)
        if hello is None:
            self._counters.drop("stranger", f"{why_no_hello(packet)}: {len(packet)} bytes from {name}")
            return
        epoch = int(now / _EPOCH_S)
        if hello.peer == NO_SESSION:
            session = self._session_for(from_, hello.session, epoch)
            self._reply(encode_hello(self._options.shared_key, session, hello.session), from_)
            return
        given = [self._session_for(from_, hello.session, each) for each in (epoch, epoch - 1)]
        if not any(hmac.compare_digest(hello.peer, each) for each in given):
            self._counters.drop("stranger", f"a hello from {name} that answers none of ours")
        elif hello.session not in self._used:
            self._open(from_, hello.session, hello.peer, now)

    def _open(self, address: Address, session: bytes, own: bytes, now: float) -> None:
        self._used[session] = None
        if len(self._used) > _MAX_USED:
            self._used.popitem(last=False)
        before = self._links.pop(address[:2], None)
        if before is not None:
            before.end("the other end began anew")
        seal = Seal(self._options.shared_key, own, session)
        link = UdpLink(
            f"udp://{name_of(address)}", self._options, self._hub, seal, self._counters, now,
            lambda packet: self._reply(packet, address),
        )  # fmt: skip
        if link.begin(now):
            self._links[address[:2]] = link

    def _session_for(self, address: Address, session: bytes, epoch: int) -> bytes:
        text = b"%d %s " % (epoch, repr(address).encode())
        return hmac.digest(self._secret, text + session, "sha256")[:SESSION_BYTES]

    def _reply(self, packet: bytes, address: Address) -> bool:
        try:
            self._socket.sendto(packet, address)
            return True
        except OSError:
            return False


class UdpConnector:
    """Keeps one link to a listening end. The thread of the loop alone calls it.

    resolve: calls back with the address of the other end.
    """

    def __init__(
        self, name: str, resolve: Resolve,
        options: LinkOptions, hub: Hub, loop: Loop, counters: Counters,
    ) -> None:  # fmt: skip
        self._name, self._resolve, self._options, self._hub = name, resolve, options, hub
        self._loop, self._counters = loop, counters
        self._socket: Optional[socket.socket] = None
        self._link: Optional[UdpLink] = None
        self._session = self._peer = NO_SESSION
        self._own_address = OwnAddress()
        self._hello_at, self._renew_at = 0.0, 0.0
        self._is_resolving = False
        loop.advance_also(self._advance)

    def close(self) -> None:
        """Ends the link."""
        if self._link is not None:
            self._link.end("closed")
        self._forget_socket()

    def _advance(self, now: float) -> float:
        if self._socket is not None and self._own_address.is_gone(self._socket, now):
            self._renew_at = now
            if self._link is not None:
                self._link.end("this host's address is gone")
        if self._link is not None and self._link.is_up:
            return self._link.advance(now)
        if self._link is not None:
            self._link, self._renew_at = None, now
        if now >= self._renew_at and not self._is_resolving:
            self._renew_at = now + _NEW_SESSION_S
            self._forget_socket()
            self._is_resolving = True
            self._resolve(self._resolved)
        if self._socket is not None and now >= self._hello_at:
            self._hello_at = now + _HELLO_AGAIN_S
            self._send(encode_hello(self._options.shared_key, self._session, self._peer))
        return min(self._renew_at, self._hello_at) if self._socket is not None else max(now + 0.05, self._renew_at)

    def _resolved(self, found: Optional[Found]) -> None:
        self._is_resolving = False
        if found is None:
            return
        family, address = found
        made = socket.socket(family, socket.SOCK_DGRAM)
        try:
            made.connect(address)
        except OSError as error:
            made.close()
            self._renew_at = time.monotonic() + _HELLO_AGAIN_S  # there is no route now
            self._counters.drop("not connected", f"{self._name}: {error}")
            return
        self._socket = _bound(made)
        self._session, self._peer, self._hello_at = new_session(), NO_SESSION, 0.0
        self._loop.watch(self._socket, READ, lambda _: self._receive())

    def _forget_socket(self) -> None:
        if self._socket is not None:
            self._loop.forget(self._socket)
            self._socket.close()
            self._socket = None

    def _receive(self) -> None:
        now = time.monotonic()
        for _ in range(_DATAGRAMS_A_TURN):
            if self._socket is None:
                return
            try:
                packet = self._socket.recv(MAX_DATAGRAM + 1)
            except (BlockingIOError, InterruptedError):
                return
            except OSError:  # nobody listens there yet
                return
            self._take(packet, now)

    def _take(self, packet: bytes, now: float) -> None:
        if self._link is not None and self._link.is_up:
            if not self._link.take(packet, now) and len(packet) != HELLO_BYTES:
                self._counters.drop("stranger", f"a packet of {len(packet)} bytes from {self._name}, without our key")
            return
        hello = decode_hello(self._options.shared_key, packet)
        if hello is not None:
            if hello.peer == self._session and self._peer == NO_SESSION:
                self._peer, self._hello_at = hello.session, 0.0
                self._advance(now)
            return
        if self._peer == NO_SESSION:
            self._counters.drop("stranger", f"{why_no_hello(packet)}: {len(packet)} bytes from {self._name}")
            return
        seal = Seal(self._options.shared_key, self._session, self._peer)
        if seal.open(packet) is None:
            return
        self._link = UdpLink(self._name, self._options, self._hub, seal, self._counters, now, self._send)
        if self._link.begin(now):
            self._link.take(packet, now)
        else:
            self._link = None

    def _send(self, packet: bytes) -> bool:
        try:
            assert self._socket is not None
            self._socket.send(packet)
            return True
        except OSError:
            return False
