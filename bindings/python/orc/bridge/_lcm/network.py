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
from typing import Callable, List, Optional, Tuple

from .._shared.counters import Counters
from .._shared.settings_file import SettingsError
from .buffers import set_receive_buffer
from .datagrams import MAX_CHANNEL, Reassembly, Source, datagrams, max_payload
from .hosts import Hosts
from .loop import READ, Loop
from .urls import LcmUrl

BEACON = b"ORCT\x01"
_BEACON_S = 0.5
_TUNNEL_LEASE_S = 5.0
_MAX_TUNNELS = 4096
_ANSWER_S = 0.05
_DATAGRAMS_A_TURN = 256
_LOCAL_DATAGRAM = 65000
_LEARN_S = 0.3
_IP_MTU, _IP_MULTICAST_ALL = 14, 49
_STALE = {errno.ENETDOWN, errno.ENETUNREACH, errno.ENODEV, errno.EADDRNOTAVAIL, errno.EINVAL}
"""Errors of a socket whose address or interface is gone. Others, such as a full queue, no new socket mends."""
_MREQN = struct.Struct("=4s4si")


class LcmNetwork:
    """The thread of the loop alone calls it. on_message: called with channel and payload of what a program sent."""

    def __init__(
        self, url: LcmUrl, wanted: Callable[[bytes], bool], on_message: Callable[[bytes, bytes], None],
        max_message: int, loop: Loop, counters: Counters,
    ) -> None:  # fmt: skip
        self._url, self._on_message, self._loop, self._counters = url, on_message, loop, counters
        self._reassembly = Reassembly(wanted, max_message, 2 * max_message, counters)
        self._tunnels: Hosts[float] = Hosts()  # until when
        self._number = 0
        self._buffer = bytearray(65536)
        self._beacon_at = self._answered = 0.0
        self._hears_itself = False
        self._heard_at = 0.0  # anything
        self._began = time.monotonic()
        try:
            self._use(*_open(url))
        except OSError as error:
            raise SettingsError(
                f"cannot use {url.group}:{url.port} ({error}); `orc doctor --multicast URL` finds the reason"
            ) from None
        loop.advance_also(self._advance)

    def close(self) -> None:
        """Leaves the network."""
        self._loop.forget(self._receiver)
        self._receiver.close()
        self._sender.close()

    def _advance(self, now: float) -> float:
        """Sends a beacon when it is due. Returns when to call again."""
        if now >= self._beacon_at:
            self._beacon_at = now + _BEACON_S
            # An interface that returned with the same index. Its own beacon alone may be lost in a flood.
            if self._hears_itself and now - self._heard_at > 1.5 * _BEACON_S:
                _leave_network(self._receiver, self._url)
            if not self._is_joined() or self._send(BEACON) in _STALE:
                self._renew(now)
        return self._beacon_at

    def _is_joined(self) -> bool:
        """Joins again when the interface was made again."""
        try:
            _join_all(self._receiver, self._url)
            return True
        except (OSError, SettingsError):
            return False

    def _renew(self, now: float) -> None:
        """Each socket keeps the address and the interface that it found first, and they may be gone."""
        try:
            made = _open(self._url)
        except (OSError, SettingsError) as error:
            self._counters.drop("LCM network", str(error))
            return
        self._tunnels.put(self._self, now + _TUNNEL_LEASE_S)  # what the old socket sent may still come
        self.close()
        self._use(*made)
        self._send(BEACON)

    def _use(self, receiver: socket.socket, sender: socket.socket) -> None:
        self._receiver, self._sender = receiver, sender
        self._self: Source = sender.getsockname()[:2]
        self._datagram_bytes = _datagram_bytes(sender, self._url)
        self._loop.watch(receiver, READ, lambda _: self._receive())

    def _receive(self) -> None:
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
            self._heard_at = now
            self._take(memoryview(self._buffer)[:size], source[:2], now)

    def send(self, channel: bytes, payload: bytes) -> bool:
        """Sends a message that came from elsewhere. Returns whether the kernel took it."""
        if not 0 < len(channel) <= MAX_CHANNEL or b"\0" in channel or len(payload) > max_payload(self._datagram_bytes):
            self._counters.drop("not sent", f"a message of {len(payload)} bytes does not fit this network")
            return False
        number, self._number = self._number, self._number + 1  # also when a fragment is not sent: others were
        return all(self._send(each) == 0 for each in datagrams(number, channel, payload, self._datagram_bytes))

    def _take(self, datagram: memoryview, source: Source, now: float) -> None:
        if source == self._self:  # the loop back of our own
            self._hears_itself = True
            return
        if datagram[: len(BEACON)] == BEACON:
            self._heard_tunnel(source, now)
            return
        found = self._reassembly.add(datagram, source, now)
        if found is None:
            return
        if self._is_tunnel(source, now):
            self._counters.count("loop")
        elif now - self._began < _LEARN_S:
            self._counters.count("too early")  # it may be a tunnel's, whose beacon comes still
        else:
            self._on_message(*found)

    def _is_tunnel(self, source: Source, now: float) -> bool:
        until = self._tunnels.get(source)
        return until is not None and until > now

    def _heard_tunnel(self, source: Source, now: float) -> None:
        is_news = not self._is_tunnel(source, now)
        self._tunnels.put(source, now + _TUNNEL_LEASE_S)
        if len(self._tunnels) > _MAX_TUNNELS:
            self._tunnels.pop(self._tunnels.longest_unmoved())
        if is_news and now - self._answered >= _ANSWER_S:  # it must not take us for a program
            self._answered = now
            self._send(BEACON)

    def _send(self, datagram: bytes) -> int:
        """Returns 0, or the error."""
        try:
            self._sender.send(datagram)
            return 0
        except OSError as error:
            self._counters.drop("not sent", f"to {self._url.group}: {error}")
            return error.errno or errno.EIO


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


def _open(url: LcmUrl) -> Tuple[socket.socket, socket.socket]:
    """Returns a receiver and a sender. Raises OSError, SettingsError."""
    receiver = _receiver(url)
    try:
        _join_all(receiver, url)
        return receiver, _sender(url)
    except (OSError, SettingsError):
        receiver.close()
        raise


def _receiver(url: LcmUrl) -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.setblocking(False)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    made.setsockopt(socket.IPPROTO_IP, _IP_MULTICAST_ALL, 0)
    set_receive_buffer(made, url.recv_buf_size)
    made.bind((url.group, url.port))
    return made


def _join_all(receiver: socket.socket, url: LcmUrl) -> None:
    """As ORC's subscriptions: on lo, where ttl 0 sends, and where LCM programs send. Raises OSError, SettingsError."""
    _join(receiver, url, socket.if_nametoindex("lo"))
    _join(receiver, url, _interface_of(url) or 0)
    if url.ttl == 0:
        with contextlib.suppress(OSError):  # no route
            _join(receiver, url, 0)


def _leave_network(receiver: socket.socket, url: LcmUrl) -> None:
    """But not on lo, which stays. The kernel counts no members of an interface any more that was gone, but the socket
    keeps its own entry and cannot join."""
    with contextlib.suppress(OSError, SettingsError):
        asked = _membership(url, "0.0.0.0", _interface_of(url) or 0)
        receiver.setsockopt(socket.IPPROTO_IP, socket.IP_DROP_MEMBERSHIP, asked)


def _join(receiver: socket.socket, url: LcmUrl, index: int) -> None:
    try:
        receiver.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, _membership(url, "0.0.0.0", index))
    except OSError as error:
        if error.errno != errno.EADDRINUSE:  # joined already
            raise


def _membership(url: LcmUrl, address: str, index: int) -> bytes:
    return _MREQN.pack(socket.inet_aton(url.group), socket.inet_aton(address), index)


def _sender(url: LcmUrl) -> socket.socket:
    """Raises OSError, SettingsError."""
    index = _interface_of(url)
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        made.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, url.ttl)
        made.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_LOOP, 1)
        if index is not None:
            # The kernel would send by lo from another interface's address, which may change.
            source = "127.0.0.1" if index == socket.if_nametoindex("lo") else "0.0.0.0"
            made.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, _membership(url, source, index))
        made.connect((url.group, url.port))
    except OSError:
        made.close()
        raise
    return made


def _datagram_bytes(sender: socket.socket, url: LcmUrl) -> int:
    if not url.ttl:
        return _LOCAL_DATAGRAM
    mtu = sender.getsockopt(socket.IPPROTO_IP, _IP_MTU)
    return max(548, min(mtu - 28, _LOCAL_DATAGRAM))
