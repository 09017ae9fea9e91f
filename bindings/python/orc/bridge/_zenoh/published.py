"""A topic of this network that samples from Zenoh are published on."""

from __future__ import annotations

import contextlib
import threading
from typing import Any, Callable, List, NamedTuple, Optional

import zenoh

from orc import NoBroker, TypeDescription


class Kind(NamedTuple):
    """What all samples of a registration have in common."""

    type_hash: int
    type_digest: str
    """That of ROS 2, in whose formats samples have no hash."""
    keep_last: bool


class _Registered(NamedTuple):
    publisher: Any
    kind: Kind
    key: str


class Published:
    """Owns the registration of one name. Any thread may call; register and leave wait for each other."""

    def __init__(self, name: str, participant: Any) -> None:
        self.name = name
        self.keys = 0
        """Keys of Zenoh that are this topic here. Its owner counts them."""
        self._participant = participant
        self._lock = threading.Lock()  # of who registers and unregisters
        self._registered: Optional[_Registered] = None
        self._token_lock = threading.Lock()  # guards the rest; who closes must not wait for a broker
        self._tokens: List[Any] = []
        self._is_closed = False

    def publisher(self, kind: Kind) -> Any:
        """Returns the publisher. None: it is not registered so. Sending raises Closed when that has just ended."""
        registered = self._registered
        return registered.publisher if registered is not None and registered.kind == kind else None

    @property
    def type_hash(self) -> int:
        """Returns the hash of its type. 0: it has none."""
        registered = self._registered
        return 0 if registered is None else registered.kind.type_hash

    @property
    def key(self) -> str:
        """Returns the key of Zenoh for which it is registered. Empty: none."""
        registered = self._registered
        return "" if registered is None else registered.key

    def register(self, key: str, type: TypeDescription, kind: Kind, tokens: Callable[[], List[Any]]) -> None:
        """Registers it, instead of what was registered. tokens: declares those of it. Raises Error."""
        with self._lock:
            if self.publisher(kind) is not None:
                return
            self._end()
            try:
                made = self._participant.register_topic(self.name, type=type or None, keep_last=kind.keep_last)
            except NoBroker:  # it stays registered: a broker that answers later learns of it
                made = self._participant.publisher(self.name)
            self._registered = _Registered(made, kind, key)
            with self._token_lock:
                self._tokens = [] if self._is_closed else tokens()

    def leave(self, is_unused: Callable[[], bool]) -> None:
        """Unregisters it, unless it is used again. Raises Error."""
        with self._lock:
            if is_unused():
                self._end()

    def close(self) -> None:
        """Withdraws its tokens, for good."""
        with self._token_lock:
            self._is_closed = True
        self._withdraw()

    def _withdraw(self) -> None:
        with self._token_lock:
            tokens, self._tokens = self._tokens, []
        for each in tokens:
            with contextlib.suppress(zenoh.ZError):  # the session has ended
                each.undeclare()

    def _end(self) -> None:
        self._withdraw()
        if self._registered is not None:
            self._registered = None
            self._participant.unregister_topic(self.name)
