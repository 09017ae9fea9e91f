"""The multicast network: hears LCM's datagrams, sends messages, and knows which come from tunnels.

LCM names no sender. What this bridge sent comes back by the kernel, and is known by its address and port. What another
tunnel of the network sent is known by that tunnel's beacons, which come from the same address and port.
"""

from __future__ import annotations

import contextlib
import errno
import socket
import struct
import time
from collections import OrderedDict
from typing import Callable, List, Optional

from .._shared.counters import Counters
from .._shared.settings_file import SettingsError
from .buffers import set_receive_buffer
from .datagrams import MAX_CHANNEL, Reassembly, Source, datagrams, max_payload
from .urls import LcmUrl

BEACON = b"ORCT\x01"
_BEACON_S = 0.5
_TUNNEL_LEASE_S = 5.0
_MAX_TUNNELS = 256
_ANSWER_S = 0.05
_DATAGRAMS_A_TURN = 256
_LOCAL_DATAGRAM = 65000
_LEARN_S = 0.3
_IP_MTU, _IP_MULTICAST_ALL = 14, 49
_MREQN = struct.Struct("=4s4si")


class LcmNetwork:
    """The thread of the loop alone calls it. on_message: called with channel and payload of what a program sent."""

    def __init__(
        self, url: LcmUrl, wanted: Callable[[bytes], bool], on_message: Callable[[bytes, bytes], None],
        max_message: int, counters: Counters,
    ) -> None:  # fmt: skip
        self._url, self._on_message, self._counters = url, on_message, counters
        self._reassembly = Reassembly(wanted, max_message, 2 * max_message, counters)
        self._tunnels: OrderedDict[Source, float] = OrderedDict()  # until when
        self._number = 0
        self._buffer = bytearray(65536)
        self._beacon_at = self._answered = 0.0
        self._began = time.monotonic()
        index = _interface_of(url)
        try:
            self._receiver = _receiver(url, index)
            self._sender = _sender(url, index)
        except OSError as error:
            raise SettingsError(
                f"cannot use {url.group}:{url.port} ({error}); `orc doctor --multicast URL` finds the reason"
            ) from None
        self._self: Source = self._sender.getsockname()[:2]
        self._datagram_bytes = _LOCAL_DATAGRAM
        if url.ttl:
            mtu = self._sender.getsockopt(socket.IPPROTO_IP, _IP_MTU)
            self._datagram_bytes = max(548, min(mtu - 28, _LOCAL_DATAGRAM))

    def fileno(self) -> int:
        """Readable: call receive()."""
        return self._receiver.fileno()

    def close(self) -> None:
        """Leaves the network."""
        self._receiver.close()
        self._sender.close()

    def advance(self, now: float) -> float:
        """Sends a beacon when it is due. Returns when to call again."""
        if now >= self._beacon_at:
            self._send(BEACON)
            self._beacon_at = now + _BEACON_S
        return self._beacon_at

    def receive(self) -> None:
        """Takes what has arrived, but not more than one turn's worth."""
        now = time.monotonic()
        for _ in range(_DATAGRAMS_A_TURN):
            try:
                size, source = self._receiver.recvfrom_into(self._buffer)
            except (BlockingIOError, InterruptedError):
                return
            except OSError as error:  # such as ENETDOWN
                self._counters.drop("LCM network", str(error))
                return
            self._take(memoryview(self._buffer)[:size], source[:2], now)

    def send(self, channel: bytes, payload: bytes) -> bool:
        """Sends a message that came from elsewhere. Returns whether the kernel took it."""
        if not 0 < len(channel) <= MAX_CHANNEL or b"\0" in channel or len(payload) > max_payload(self._datagram_bytes):
            self._counters.drop("not sent", f"a message of {len(payload)} bytes does not fit this network")
            return False
        for each in datagrams(self._number, channel, payload, self._datagram_bytes):
            if not self._send(each):
                return False
        self._number += 1
        return True

    def _take(self, datagram: memoryview, source: Source, now: float) -> None:
        if source == self._self:
            return  # the loop back of our own
        if datagram[: len(BEACON)] == BEACON:
            self._heard_tunnel(source, now)
            return
        found = self._reassembly.add(datagram, source, now)
        if found is None:
            return
        if self._tunnels.get(source, 0.0) > now:
            self._counters.count("loop")
        elif now - self._began < _LEARN_S:
            self._counters.count("too early")  # it may be a tunnel's, whose beacon comes still
        else:
            self._on_message(*found)

    def _heard_tunnel(self, source: Source, now: float) -> None:
        is_news = self._tunnels.get(source, 0.0) <= now
        self._tunnels[source] = now + _TUNNEL_LEASE_S
        self._tunnels.move_to_end(source)
        if len(self._tunnels) > _MAX_TUNNELS:
            self._tunnels.popitem(last=False)
        if is_news and now - self._answered >= _ANSWER_S:  # it must not take us for a program
            self._answered = now
            self._send(BEACON)

    def _send(self, datagram: bytes) -> bool:
        try:
            self._sender.send(datagram)
            return True
        except OSError as error:
            self._counters.drop("not sent", f"to {self._url.group}: {error}")
            return False


def _interface_of(url: LcmUrl) -> Optional[int]:
    """Returns the index of the interface that the URL names, or lo with ttl 0. None: the kernel's route decides."""
    if not url.interface:
        return socket.if_nametoindex("lo") if url.ttl == 0 else None
    with contextlib.suppress(OSError):
        return socket.if_nametoindex(url.interface)
    for index, name in socket.if_nameindex():
        if url.interface in _addresses_of(name):
            return index
    raise SettingsError(f"this host has no interface {url.interface!r}")


def _addresses_of(interface: str) -> List[str]:
    import fcntl

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe, contextlib.suppress(OSError):
        asked = struct.pack("256s", interface.encode()[:15])
        return [socket.inet_ntoa(fcntl.ioctl(probe, 0x8915, asked)[20:24])]  # SIOCGIFADDR
    return []


def _receiver(url: LcmUrl, index: Optional[int]) -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.setblocking(False)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    made.setsockopt(socket.IPPROTO_IP, _IP_MULTICAST_ALL, 0)
    set_receive_buffer(made, url.recv_buf_size)
    made.bind((url.group, url.port))
    # As ORC's subscriptions: on lo, where ttl 0 sends, and where LCM programs send.
    _join(made, url, socket.if_nametoindex("lo"))
    try:
        _join(made, url, index or 0)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:  # joined already
            raise
    if url.ttl == 0:
        with contextlib.suppress(OSError):  # no route
            _join(made, url, 0)
    return made


def _join(receiver: socket.socket, url: LcmUrl, index: int) -> None:
    request = _MREQN.pack(socket.inet_aton(url.group), bytes(4), index)
    receiver.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, request)


def _sender(url: LcmUrl, index: Optional[int]) -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, url.ttl)
    made.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_LOOP, 1)
    if index is not None:
        request = _MREQN.pack(socket.inet_aton(url.group), bytes(4), index)
        made.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, request)
    made.connect((url.group, url.port))
    return made
