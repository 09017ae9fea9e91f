"""Waits on conditions so that Ctrl-C ends the wait.

A signal that arrives just before the thread sleeps does not wake it. So the main thread never sleeps for long.
"""

from __future__ import annotations

import threading
import time
from typing import Callable, Optional

_NAP_S = 0.05


def nap(left: Optional[float]) -> Optional[float]:
    """Returns how long to sleep at a time when `left` seconds are left; None: for ever."""
    if threading.current_thread() is not threading.main_thread():
        return left
    return _NAP_S if left is None else min(left, _NAP_S)


def wait_for(changed: threading.Condition, true: Callable[[], bool], seconds: Optional[float]) -> bool:
    """Same as Condition.wait_for."""
    deadline = None if seconds is None else time.monotonic() + seconds
    while not true():
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left <= 0:
            return False
        changed.wait(nap(left))
    return True
