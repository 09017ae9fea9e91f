"""Counts what a bridge does and drops, and reports drops at most once in 10 s per kind."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from typing import Dict

_BETWEEN_REPORTS_S = 10.0


class Counters:
    """Any thread may call."""

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        self._report_at: Dict[str, float] = {}

    def count(self, what: str) -> None:
        """Counts one of this kind. The kinds are few and fixed."""
        with self._lock:
            self._counts[what] += 1

    def drop(self, kind: str, detail: str) -> None:
        """Counts something that was dropped, and warns."""
        now = time.monotonic()
        with self._lock:
            self._counts[kind] += 1
            number = self._counts[kind]
            if now < self._report_at.get(kind, 0.0):
                return
            self._report_at[kind] = now + _BETWEEN_REPORTS_S
        self._logger.warning("%s: %s (%d so far)", kind, detail[:300], number)

    def snapshot(self) -> Dict[str, int]:
        """Returns the number of each kind."""
        with self._lock:
            return dict(self._counts)
