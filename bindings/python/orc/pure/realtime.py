"""Where the I/O thread runs, and memory that stays in place (liborc/include/orc/realtime.h)."""

from __future__ import annotations

import ctypes
import errno
import os
from dataclasses import dataclass
from typing import FrozenSet, Iterable, Optional

from .._errors import BadArgument, Error, NoMemory, NoPermission, SystemFailure
from .options import number

_LARGEST_SIZE = 2**63 - 1
_CURRENT_AND_FUTURE = 3  # MCL_CURRENT | MCL_FUTURE
_M_TRIM_THRESHOLD, _M_MMAP_MAX = -1, -4  # malloc.h


@dataclass(frozen=True)
class Placement:
    """Of a thread. priority 1 to 99: SCHED_FIFO; 0: SCHED_OTHER; -1: as it is. No CPUs: as it is."""

    priority: int
    cpus: FrozenSet[int]

    @property
    def changes(self) -> bool:
        return self.priority >= 0 or bool(self.cpus)

    def apply(self) -> Optional[Error]:
        """Places the calling thread, and returns what prevented it. Threads that it starts inherit it."""
        try:
            if self.cpus:
                os.sched_setaffinity(0, self.cpus)
                if os.sched_getaffinity(0) != self.cpus:  # the kernel leaves out silently what it does not have
                    return _no_such_cpus(self.cpus)
        except OSError as error:
            if error.errno == errno.EINVAL:
                return _no_such_cpus(self.cpus)
            return SystemFailure(f"housekeeping_cpus: {error.strerror}")
        if self.priority < 0:
            return None
        policy = os.SCHED_OTHER if self.priority == 0 else os.SCHED_FIFO
        try:
            os.sched_setscheduler(0, policy, os.sched_param(self.priority))
        except PermissionError:
            return NoPermission(
                f"housekeeping_priority {self.priority}: SCHED_FIFO is not allowed here; allow it with "
                f"ulimit -r {self.priority}, with LimitRTPRIO={self.priority} in the systemd unit, or with CAP_SYS_NICE"
            )
        except OSError as error:
            return SystemFailure(f"housekeeping_priority {self.priority}: {error.strerror}")
        return None


def placement(priority: int, cpus: Iterable[int]) -> Placement:
    """Of a participant's options. Raises BadArgument, TypeError."""
    most = os.sysconf("SC_NPROCESSORS_CONF")
    numbers = frozenset(number("a CPU of housekeeping_cpus", each, 0, most - 1) for each in cpus)
    return Placement(number("housekeeping_priority", priority, -1, 99), numbers)


def lock_memory(*, stack_bytes: int = 256 << 10, heap_bytes: int = 16 << 20) -> None:
    """Locks the memory of the process, now and in the future (mlockall): no page is swapped out.

    Freed memory stays with the process from then on. Call it once, before participants are made.

    stack_bytes: without effect in orc.pure: the native backend touches as much of the calling thread's stack.
    heap_bytes: of heap that are taken now and stay with the process.

    Raises NoPermission (ulimit -l, LimitMEMLOCK=infinity or CAP_IPC_LOCK is missing), NoMemory, SystemFailure,
    BadArgument.
    """
    number("stack_bytes", stack_bytes, 0, _LARGEST_SIZE)
    number("heap_bytes", heap_bytes, 0, _LARGEST_SIZE)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mlockall(_CURRENT_AND_FUTURE) != 0:
        failed = ctypes.get_errno()
        why = f"mlockall: {os.strerror(failed)}"
        if failed in (errno.EPERM, errno.ENOMEM):
            raise NoPermission(
                f"{why}; allow it with ulimit -l unlimited, with LimitMEMLOCK=infinity in the systemd unit, or with "
                "CAP_IPC_LOCK"
            )
        raise SystemFailure(why)
    if hasattr(libc, "mallopt"):
        libc.mallopt(_M_TRIM_THRESHOLD, 2**31 - 1)
        libc.mallopt(_M_MMAP_MAX, 0)
    libc.calloc.restype = ctypes.c_void_p
    libc.calloc.argtypes = (ctypes.c_size_t, ctypes.c_size_t)
    libc.free.argtypes = (ctypes.c_void_p,)
    taken = libc.calloc(heap_bytes, 1)  # locked memory is there as soon as it is mapped
    if not taken and heap_bytes != 0:
        raise NoMemory()
    libc.free(taken)


def _no_such_cpus(cpus: FrozenSet[int]) -> BadArgument:
    return BadArgument(f"housekeeping_cpus: this host does not have all of {sorted(cpus)} for this process")
