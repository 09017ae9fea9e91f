"""Runs the callbacks of calls on a thread of Python."""

from __future__ import annotations

import itertools
import threading
import time
from typing import Callable, Dict, Optional

import orc._native as _native

from .._log import logger

_IDLE_MS = 1000
_LOOK = 0  # a token that no call has


class Callbacks:
    """Of one participant. Its thread lasts while calls with callbacks are open. Any thread may call.

    The threads of C++ do not run them: the participant's close() waits for these threads, and never for a callback.
    """

    def __init__(self) -> None:
        self._ends = _native.CallEnds()
        self._tokens = itertools.count(_LOOK + 1)
        self._lock = threading.RLock()  # guards the rest; reentrant for signal handlers
        self._pending: Dict[int, Callable[[], object]] = {}
        self._thread: Optional[threading.Thread] = None
        self._is_closed = False

    def add(self, call: _native.Call, ended: Callable[[], object]) -> None:
        """Calls `ended` at the end of the call. Its exceptions, and SystemExit, go to the log."""
        with self._lock:
            token = next(self._tokens)
            self._pending[token] = ended
            try:
                if self._thread is None:
                    thread = threading.Thread(target=self._work, name="orc callbacks", daemon=True)
                    thread.start()
                    self._thread = thread
                call.notify(self._ends, token)
            except BaseException:
                self._pending.pop(token, None)
                raise

    def close(self, until: float) -> None:
        """Waits for the callbacks of calls that have ended, at most until then."""
        self._is_closed = True
        thread = self._thread
        if thread is not None and thread.is_alive() and thread is not threading.current_thread():
            self._ends.push(_LOOK)
            thread.join(max(0.0, until - time.monotonic()))

    def _work(self) -> None:
        while True:
            token = self._ends.next(_IDLE_MS)
            if token is None or token == _LOOK:
                with self._lock:
                    if not self._pending and (token is None or self._is_closed):
                        self._thread = None
                        return
                continue
            ended = self._pending.pop(token, None)
            if ended is not None:
                try:
                    ended()
                except BaseException:
                    logger.exception("callback of a call")
                del ended  # it may refer to the participant
