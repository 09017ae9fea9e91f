"""Brings something to the state that is wanted, whatever is wanted meanwhile."""

from __future__ import annotations

import threading
import time
from typing import Any, Callable, Collection, Optional

from .log import logger

_TRY_AGAIN_S = 1.0
_CLOSE_S = 2.0


class Follower:
    """Has one thread, from the first want() on, which alone begins and ends the thing.

    begin: returns what `end` takes, or None: it cannot be now, and is tried again after 1 s. It may wait, and then asks
    is_wanted() now and then.
    """

    def __init__(self, name: str, begin: Callable[[Follower], Any], end: Callable[[Any], object]) -> None:
        self._name, self._begin, self._end = name, begin, end
        self._changed = threading.Condition()  # guards the next three
        self._is_wanted = self._is_closing = False
        self._turn = 0
        self._seen = 0  # the rest belongs to the thread
        self._made: Any = None
        self._thread: Optional[threading.Thread] = None

    def want(self, exists: bool) -> None:
        """It must be there, made anew after each call; or not be there. Any thread may call."""
        with self._changed:
            self._is_wanted, self._turn = exists, self._turn + 1
            self._changed.notify()
            if exists and self._thread is None and not self._is_closing:
                self._thread = threading.Thread(target=self._run, name=f"zenoh {self._name}", daemon=True)
                self._thread.start()

    def is_wanted(self) -> bool:
        """Returns whether what begin() makes is still wanted. The thread calls it."""
        with self._changed:
            return self._is_wanted and self._turn == self._seen and not self._is_closing

    def stop(self) -> None:
        """Ends it. Does not wait."""
        with self._changed:
            self._is_closing = True
            self._changed.notify()

    def join(self, seconds: float) -> None:
        """Waits for the thread, after stop()."""
        if self._thread is not None:
            self._thread.join(max(0.0, seconds))

    def _run(self) -> None:
        while self.step():
            with self._changed:
                if not self._is_closing and self._turn == self._seen:
                    self._changed.wait(_TRY_AGAIN_S if self._is_wanted and self._made is None else None)

    def step(self) -> bool:
        """Does what is wanted now. Returns whether to go on. The thread calls it."""
        with self._changed:
            is_new, self._seen = self._turn != self._seen, self._turn
            begins, goes_on = self._is_wanted and not self._is_closing, not self._is_closing
        try:
            if self._made is not None and (is_new or not goes_on):
                made, self._made = self._made, None
                self._end(made)
            if begins and self._made is None:
                self._made = self._begin(self)
        except Exception:
            logger.exception("%s", self._name)
        return goes_on


def close_all(followers: Collection[Follower]) -> None:
    """Ends them. Waits at most 2 s for all."""
    ends = time.monotonic() + _CLOSE_S
    for each in followers:
        each.stop()
    for each in followers:
        each.join(ends - time.monotonic())
