"""What a process asks of Linux so that it is on time. What is not permitted is said, and the process goes on."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import threading
import time
from collections.abc import Iterable

NS_PER_S = 1_000_000_000
_libc = ctypes.CDLL(None, use_errno=True)


class _Timespec(ctypes.Structure):
    _fields_ = (("tv_sec", ctypes.c_long), ("tv_nsec", ctypes.c_long))


def sleep_until(due_ns: int) -> None:
    """Sleeps until CLOCK_MONOTONIC (time.monotonic_ns) shows due_ns: absolute, so that errors do not add up."""
    until = _Timespec(due_ns // NS_PER_S, due_ns % NS_PER_S)
    timer_abstime = 1
    while _libc.clock_nanosleep(time.CLOCK_MONOTONIC, timer_abstime, ctypes.byref(until), None) != 0:
        pass  # a signal


def fifo_permitted(priority: int) -> bool:
    """Whether a thread of this program may have SCHED_FIFO."""
    granted = []

    def attempt() -> None:  # for this thread alone
        with contextlib.suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
            granted.append(True)

    trial = threading.Thread(target=attempt)
    trial.start()
    trial.join()
    return bool(granted)


def prepare(priority: int, cpus: Iterable[int] = ()) -> list[str]:
    """SCHED_FIFO at `priority` (0: stays as it is), memory that is not swapped out, `cpus` if any, no collection.

    For the calling thread (the memory: for the process). Returns what was not permitted, in words.
    """
    refused = []
    gc.collect()
    gc.freeze()
    gc.disable()
    cpu_set = set(cpus)
    if cpu_set:
        try:
            os.sched_setaffinity(0, cpu_set)
        except OSError as error:
            refused.append(f"pinning to cpus {sorted(cpu_set)}: {error.strerror}")
    if priority > 0:
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
        except OSError as error:
            refused.append(
                f"SCHED_FIFO {priority}: {error.strerror}; allow it with ulimit -r {priority} or CAP_SYS_NICE"
            )
        current_and_future = 3
        if _libc.mlockall(current_and_future) != 0:
            refused.append(f"mlockall: {os.strerror(ctypes.get_errno())}; allow it with ulimit -l unlimited")
    return refused
