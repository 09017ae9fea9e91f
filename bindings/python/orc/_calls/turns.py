"""Handlers of a service without threads run one after the other."""

from __future__ import annotations

import enum
import threading
from typing import Callable

_SLICE_S = 0.1  # between two looks whether the service ends


class Turn(enum.Enum):
    AT_ONCE = enum.auto()
    AFTER_A_WAIT = enum.auto()
    NEVER = enum.auto()  # the service ends


class Turns:
    def __init__(self, is_stopping: Callable[[], bool]) -> None:
        self._is_stopping = is_stopping
        self._turn = threading.Lock()

    def take(self) -> Turn:
        """Waits until no other handler runs."""
        turn = Turn.AT_ONCE
        taken = self._turn.acquire(blocking=False)
        while not taken:
            if self._is_stopping():
                return Turn.NEVER
            turn = Turn.AFTER_A_WAIT
            taken = self._turn.acquire(timeout=_SLICE_S)
        if self._is_stopping():
            self._turn.release()
            return Turn.NEVER
        return turn

    def take_free(self) -> bool:
        """Takes the turn if no other handler runs and the service does not end."""
        if not self._turn.acquire(blocking=False):
            return False
        if self._is_stopping():
            self._turn.release()
            return False
        return True

    def give(self) -> None:
        self._turn.release()
