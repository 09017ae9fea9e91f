"""A call of a client, from its start to its end."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Callable, Deque, Optional

from .._bell import Bell
from .errors import CallError
from .wakeup import Wakeup

if TYPE_CHECKING:
    from .negotiation import TypePair


class Call:
    """Guarded by the lock of its channel."""

    __slots__ = (
        "__weakref__",
        "attended",
        "bell",
        "callbacks",
        "deadline",
        "done",
        "error",
        "feedback",
        "id",
        "pair",
        "reply",
        "unsent",
        "waiter",
    )

    def __init__(self, deadline: float, pair: Optional[TypePair]) -> None:
        self.deadline = deadline  # time.monotonic()
        self.pair = pair
        self.id = 0  # not sent yet
        self.unsent: Optional[bytes] = None  # the payload, while not sent
        self.done = False
        self.error: Optional[CallError] = None
        self.reply = b""
        self.feedback: Optional[bytes] = None
        self.attended = False  # the channel's thread receives for it
        self.waiter: Optional[Wakeup] = None  # of the thread that waits while another one receives
        self.bell: Optional[Bell] = None  # of the descriptor, if there is one
        self.callbacks: Optional[Deque[Callable[[], object]]] = None

    def fileno(self) -> int:
        """Returns a descriptor that is readable when there is feedback, and from the end on."""
        if self.bell is None:
            self.bell = Bell()
        return self.bell.fileno(self._rings)

    def alert(self) -> None:
        if self.bell is not None:
            self.bell.ring()

    def take_feedback(self) -> Optional[bytes]:
        newest, self.feedback = self.feedback, None
        if self.bell is not None and not self.done:
            self.bell.quieten(self._rings)
        return newest

    def _rings(self) -> bool:
        return self.done or self.feedback is not None


class Process:
    """The process in which something was made."""

    def __init__(self) -> None:
        self._pid = os.getpid()

    @property
    def is_gone(self) -> bool:
        """Whether this is a child of it: its threads and locks are not here."""
        return os.getpid() != self._pid
