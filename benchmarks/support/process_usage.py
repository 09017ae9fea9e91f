"""What processes and the machine use, from /proc."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid: int) -> float:
    """Returns the processor time of a process. Raises OSError: it has ended."""
    after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(after_name[11]) + int(after_name[12])) / _TICKS


def resident_bytes(pid: int) -> int:
    """Returns the memory of a process that is in RAM, with what it shares. Raises OSError: it has ended."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def machine_cpu_seconds() -> float:
    """Returns the processor time of all processes."""
    user, nice, system, _, _, irq, softirq = map(int, Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:8])
    return (user + nice + system + irq + softirq) / _TICKS


def available_bytes() -> int:
    """Returns the memory that the machine can still give."""
    rows = (line.split() for line in Path("/proc/meminfo").read_text().splitlines())
    return next(int(row[1]) for row in rows if row[0] == "MemAvailable:") * 1024


@dataclass(frozen=True)
class Usage:
    """Of some processes, over a time."""

    cores: float
    """Processor time by time."""
    bytes: int
    """Memory at its end."""


class Meter:
    """Measures named groups of processes from its making on."""

    def __init__(self, groups: Mapping[str, Iterable[int]]) -> None:
        self._groups = {name: list(pids) for name, pids in groups.items()}
        self._cpu = {name: sum(map(cpu_seconds, pids)) for name, pids in self._groups.items()}
        self._machine, self._began = machine_cpu_seconds(), time.monotonic()

    def read(self) -> tuple[dict[str, Usage], float]:
        """Returns the usage of each group, and the cores that all processes of the machine used."""
        seconds = time.monotonic() - self._began
        used = {
            name: Usage(
                (sum(map(cpu_seconds, pids)) - self._cpu[name]) / seconds,
                sum(map(resident_bytes, pids)),
            )
            for name, pids in self._groups.items()
        }
        return used, (machine_cpu_seconds() - self._machine) / seconds
