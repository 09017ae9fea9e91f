"""Where one thread waits for a ring of any other. For _parameters."""

from __future__ import annotations

import contextlib
import threading
from typing import Optional


class Wakeup:
    """Signal handlers and finalizers may ring: no lock is taken, so none is waited for.

    A ring before the wait ends the wait at once. So: look at what is waited for, then wait.
    """

    def __init__(self) -> None:
        self._gate = threading.Lock()
        self._gate.acquire()

    def ring(self) -> None:
        with contextlib.suppress(RuntimeError):  # it rings already
            self._gate.release()

    def wait(self, seconds: Optional[float]) -> None:
        """Waits for a ring, at most so long; None: for ever. May return early."""
        if seconds is None:
            self._gate.acquire()
        else:
            self._gate.acquire(timeout=min(max(0.0, seconds), threading.TIMEOUT_MAX))
