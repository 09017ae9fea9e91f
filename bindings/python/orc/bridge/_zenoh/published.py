"""A topic of this network that samples from Zenoh are published on."""

from __future__ import annotations

import contextlib
import threading
from typing import Any, Callable, List, NamedTuple, Optional

import zenoh

from orc import NoBroker, TypeDescription


class _Registered(NamedTuple):
    publisher: Any
    type_hash: int
    keep_last: bool


class Published:
    """Owns the registration of one name. Any thread may call; register and leave wait for each other."""

    def __init__(self, name: str, participant: Any) -> None:
        self.name = name
        self.keys = 0
        """Keys of Zenoh that are this topic here. Its owner counts them."""
        self._participant = participant
        self._lock = threading.Lock()  # of who registers and unregisters
        self._registered: Optional[_Registered] = None
        self._tokens: List[Any] = []

    def publisher(self, type_hash: int, keep_last: bool) -> Any:
        """Returns the publisher. None: it is not registered so. Sending raises Closed when that has just ended."""
        registered = self._registered
        if registered is None or (registered.type_hash, registered.keep_last) != (type_hash, keep_last):
            return None
        return registered.publisher

    @property
    def type_hash(self) -> int:
        """Returns the hash of its type. 0: it has none."""
        registered = self._registered
        return 0 if registered is None else registered.type_hash

    def register(self, type: TypeDescription, type_hash: int, keep_last: bool, tokens: Callable[[], List[Any]]) -> None:
        """Registers it, instead of what was registered. tokens: declares those of it. Raises Error."""
        with self._lock:
            if self.publisher(type_hash, keep_last) is not None:
                return
            self._end()
            try:
                made = self._participant.register_topic(self.name, type=type or None, keep_last=keep_last)
            except NoBroker:  # it stays registered: a broker that answers later learns of it
                made = self._participant.publisher(self.name)
            self._registered = _Registered(made, type_hash, keep_last)
            self._tokens = tokens()

    def leave(self, is_unused: Callable[[], bool]) -> None:
        """Unregisters it, unless it is used again. Raises Error."""
        with self._lock:
            if is_unused():
                self._end()

    def withdraw(self) -> None:
        """Withdraws its tokens."""
        tokens, self._tokens = self._tokens, []
        for each in tokens:
            with contextlib.suppress(zenoh.ZError):  # the session has ended
                each.undeclare()

    def _end(self) -> None:
        self.withdraw()
        if self._registered is not None:
            self._registered = None
            self._participant.unregister_topic(self.name)
