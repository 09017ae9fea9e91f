"""The process in which something was made. For _parameters."""

from __future__ import annotations

import os


class Process:
    def __init__(self) -> None:
        self._pid = os.getpid()

    @property
    def is_gone(self) -> bool:
        """Whether this is a child of it: its threads and locks are not here."""
        return os.getpid() != self._pid
