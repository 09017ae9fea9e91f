"""A declaration to the broker: repeated until the broker answers, and again for each new broker."""

from __future__ import annotations

import enum
import threading
from typing import Callable, Optional

from .._errors import Error, NoBroker
from . import messages
from .patience import wait_for


class State(enum.Enum):
    UNSENT = 1
    SENT = 2
    CONFIRMED = 3
    REFUSED = 4


class Announcement:
    """`compose` makes the message when it is sent; `answered` gets a good answer. Both run on the I/O thread."""

    def __init__(
        self, compose: Callable[[], messages.Body], answered: Optional[Callable[[messages.Body], None]] = None
    ) -> None:
        self.compose = compose
        self._answered = answered
        self._changed = threading.Condition()
        self._state = State.UNSENT
        self._error: Optional[Error] = None
        self._obstacle: Optional[Error] = None
        self.told = False  # a broker may know of it
        self.lost_to = ""  # what the broker said when it last refused the name; empty after it was ours
        self._waiting = 0

    def wait(self, seconds: Optional[float]) -> Optional[Error]:
        """Waits for the broker's answer. Returns None for yes, NoBroker when none came in time. Any user's thread.

        Ends early when the broker cannot be asked, because it refused the participant.
        """
        with self._changed:
            self._waiting += 1
            try:
                wait_for(self._changed, lambda: self.settled or self._obstacle is not None, seconds)
            finally:
                self._waiting -= 1
            return None if self._state is State.CONFIRMED else self._error or self._obstacle or NoBroker()

    @property
    def unsent(self) -> bool:
        return self._state is State.UNSENT

    @property
    def settled(self) -> bool:
        return self._state in (State.CONFIRMED, State.REFUSED)

    @property
    def settled_badly(self) -> bool:
        return self._state is State.REFUSED

    def explain(self, why: Error) -> None:
        """Sets why there is no answer yet. `wait` returns that instead of NoBroker."""
        with self._changed:
            if not self.settled:
                self._error = why

    def hinder(self, why: Optional[Error]) -> None:
        """Sets why it cannot be sent now. None: it can."""
        with self._changed:
            self._obstacle = why
            self._changed.notify_all()

    def sent(self) -> None:
        self.told = True
        if self._state is State.UNSENT:
            self._settle(State.SENT)

    def expired(self) -> None:
        """No answer came in time."""
        if self._state is State.SENT:
            self._settle(State.UNSENT)

    def again(self) -> None:
        """Sends it again: the broker may have forgotten it, or must learn something new. Refused stays refused."""
        if self._state is not State.REFUSED:
            self._settle(State.UNSENT)

    def confirmed(self, answer: messages.Body) -> None:
        if self._answered is not None:
            self._answered(answer)
        self.lost_to = ""
        self._settle(State.CONFIRMED)

    def refused(self, why: Error) -> None:
        self._settle(State.REFUSED, why)

    def taken(self, why: Error) -> bool:
        """Another participant has the name. False: a user's thread waits and is told, so that is final.

        Else nobody was told, and reopen() may ask for the name again.
        """
        self.lost_to = str(why)
        with self._changed:
            if self._waiting == 0:
                self._state, self._error = State.REFUSED, why
                return True
        self.refused(why)
        return False

    def reopen(self, why: Error) -> None:
        """Asks again after taken(why), unless something else came between."""
        with self._changed:
            if self._state is State.REFUSED and self._error is why:
                self._state = State.UNSENT

    def _settle(self, state: State, why: Optional[Error] = None) -> None:
        with self._changed:
            self._state, self._error = state, why or (self._error if state is State.UNSENT else None)
            self._changed.notify_all()
