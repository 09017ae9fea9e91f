"""The identity of this process, and unique ids (schemas/PROTOCOL.md, "Participants")."""

from __future__ import annotations

import os
import re
import socket
from typing import NamedTuple


class Id(NamedTuple):
    """128 bits; never all zero for a participant, a publication, or a subscription."""

    hi: int
    lo: int

    def __str__(self) -> str:
        return f"{self.hi:016x}{self.lo:016x}"


NOBODY = Id(0, 0)


def draw_id() -> Id:
    """Returns a random id from the kernel, so that a forked child draws others than its parent."""
    while True:
        drawn = Id(int.from_bytes(os.urandom(8), "little"), int.from_bytes(os.urandom(8), "little"))
        if drawn.hi and drawn.lo:
            return drawn


def host_identity() -> str:
    """Returns the host identity: processes with the same one see the same pids. Where there is no /proc, it is the
    name of the host."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            boot = file.read().strip()
        namespace = re.search(r"\[(\d+)\]", os.readlink("/proc/self/ns/pid"))
        return f"{boot}:{namespace.group(1) if namespace else 0}"
    except OSError:
        return f"{socket.gethostname() or 'unknown'}:0"


def start_time() -> int:
    """Returns when this process started, in clock ticks since boot; 0 where /proc does not show it."""
    try:
        with open("/proc/self/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return 0
