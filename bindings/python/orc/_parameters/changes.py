"""The thread that runs the callbacks of a participant's parameters."""

from __future__ import annotations

import threading
from collections import deque
from typing import Callable, Deque, Optional

from .._calls.wakeup import Wakeup
from .._errors import SystemFailure


class Changes:
    """Any thread may call. Refers to no participant: the thread must not keep that alive."""

    def __init__(self) -> None:
        self._due: Deque[Callable[[], None]] = deque()
        self._wakeup = Wakeup()
        self._lock = threading.Lock()  # guards the start of the thread
        self._thread: Optional[threading.Thread] = None
        self._has_ended = False

    def start(self) -> None:
        """Starts the thread, unless it runs. Raises SystemFailure."""
        with self._lock:
            if self._thread is not None or self._has_ended:
                return
            thread = threading.Thread(target=self._run, name="orc parameters", daemon=True)
            try:
                thread.start()
            except RuntimeError as error:
                raise SystemFailure(f"cannot start the thread of callbacks: {error}") from None
            self._thread = thread

    def add(self, run: Callable[[], None]) -> None:
        """Lets the thread run this. The caller keeps each parameter to one entry."""
        self._due.append(run)
        self._wakeup.ring()

    def end(self) -> None:
        """For finalizers: takes no lock."""
        self._has_ended = True
        self._wakeup.ring()

    def join(self, seconds: float) -> None:
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(seconds)

    def _run(self) -> None:
        while not self._has_ended:
            self._wakeup.wait(None)
            while self._due and not self._has_ended:
                self._due.popleft()()
        self._due.clear()
