"""A cable between two network namespaces that loses, repeats, delays and reorders packets as `tc netem` does.

It works also on kernels without netem. A process of its own: `python3 bad_cable.py PID PID SEED`, with the pids of
processes in the namespaces. Each line on its stdin is a Weather as JSON, for packets that come from now on.
"""

from __future__ import annotations

import ctypes
import dataclasses
import fcntl
import heapq
import json
import os
import random
import selectors
import struct
import sys
import time
from typing import List, Tuple

NAME = "cable"
_TUNSETIFF, _IFF_TUN, _IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
_MAX_PACKET = 2048
_CLONE_NEWNET = 0x40000000


@dataclasses.dataclass
class Weather:
    """Shares are of all packets, from 0 to 1."""

    loss: float = 0.0
    duplicate: float = 0.0
    delay_s: float = 0.0
    jitter_s: float = 0.0
    """The delay of each packet is `delay_s` ± `jitter_s`, so packets overtake each other."""
    bytes_per_s: float = 0.0
    """Of each direction; 0: no limit. Packets queue up for `queue_s` at most, and are then lost."""
    queue_s: float = 2.0
    lost_from: int = -1
    """All packets that come from this end, 0 or 1, are lost."""


def _device_in(pid: int) -> int:
    """Makes the device in the namespace of a process. Returns its descriptor."""
    with open(f"/proc/{pid}/ns/net") as namespace:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.setns(namespace.fileno(), _CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "setns")
    made = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(made, _TUNSETIFF, struct.pack("16sH22x", NAME.encode(), _IFF_TUN | _IFF_NO_PI))
    return made


class _Cable:
    def __init__(self, ends: Tuple[int, int], seed: int) -> None:
        self._ends, self._random, self.weather = ends, random.Random(seed), Weather()
        self._waiting: List[Tuple[float, int, int, bytes]] = []
        self._free_at = [0.0, 0.0]
        self._number = 0

    def take(self, end: int, now: float) -> None:
        for _ in range(256):
            try:
                packet = os.read(self._ends[end], _MAX_PACKET)
            except BlockingIOError:
                return
            self._pass_on(end, packet, now)

    def _pass_on(self, end: int, packet: bytes, now: float) -> None:
        weather, chance = self.weather, self._random.random
        if weather.lost_from == end or chance() < weather.loss:
            return
        at = now
        if weather.bytes_per_s:
            if self._free_at[end] > now + weather.queue_s:
                return
            at = self._free_at[end] = max(now, self._free_at[end]) + len(packet) / weather.bytes_per_s
        for _ in range(1 + (chance() < weather.duplicate)):
            delay = weather.delay_s + weather.jitter_s * (2 * chance() - 1)
            self._number += 1
            heapq.heappush(self._waiting, (at + max(0.0, delay), self._number, self._ends[1 - end], packet))

    def send_due(self, now: float) -> float:
        """Returns in how many seconds the next packet is due."""
        while self._waiting and self._waiting[0][0] <= now:
            _, _, to, packet = heapq.heappop(self._waiting)
            try:
                os.write(to, packet)
            except OSError:
                pass  # the device is down, or its queue full: lost, as on any cable
        return self._waiting[0][0] - now if self._waiting else 1.0


def main() -> None:
    first, second, seed = map(int, sys.argv[1:])
    cable = _Cable((_device_in(first), _device_in(second)), seed)
    selector = selectors.DefaultSelector()
    for end, descriptor in enumerate(cable._ends):
        selector.register(descriptor, selectors.EVENT_READ, end)
    selector.register(0, selectors.EVENT_READ, None)
    print("ready", flush=True)
    while True:
        for key, _ in selector.select(max(0.0, cable.send_due(time.monotonic()))):
            if key.data is not None:
                cable.take(key.data, time.monotonic())
                continue
            line = sys.stdin.readline()
            if not line:
                return
            cable.weather = Weather(**json.loads(line))
            print("set", flush=True)


if __name__ == "__main__":
    main()
