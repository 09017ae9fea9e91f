"""The calls of all clients that wait for a handler."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Dict, List, NamedTuple, Optional

from .service_call import ServiceCall

if TYPE_CHECKING:
    from .service_client import ServiceClient


_SLICE_S = 1.0


class Admission(NamedTuple):
    is_admitted: bool
    replaced: Optional[ServiceCall]  # an older call, which waits no more


class WaitingCalls:
    """First in, first out. Any thread may call."""

    def __init__(self, limit: int, replaces: bool) -> None:
        self._limit, self._replaces = limit, replaces
        self._changed = threading.Condition()
        self._all: Dict[ServiceCall, None] = {}
        self._by_client: Dict[ServiceClient, Dict[ServiceCall, None]] = {}
        self.is_closed = False  # finalizers set it without the lock

    def __len__(self) -> int:
        return len(self._all)

    def admit(self, call: ServiceCall) -> Admission:
        """Adds a call, unless there is no place. `replaces`: it takes the place of the client's waiting one."""
        with self._changed:
            older = self._first_of(call.client) if self._replaces else None
            if older is not None:
                self._remove(older)
            if len(self._all) >= self._limit:
                return Admission(False, older)
            self._all[call] = None
            self._by_client.setdefault(call.client, {})[call] = None
            self._changed.notify()
            return Admission(True, older)

    def next_of(self, client: ServiceClient) -> Optional[ServiceCall]:
        with self._changed:
            return self._first_of(client)

    def wait_for_any(self) -> Optional[ServiceCall]:
        """Waits for a call, and removes it. None: the service ends."""
        with self._changed:
            while not self._all and not self.is_closed:
                self._changed.wait(_SLICE_S)
            if self.is_closed:
                return None
            call = next(iter(self._all))
            self._remove(call)
            return call

    def withdraw(self, call: ServiceCall) -> bool:
        """Removes a call. False: it does not wait."""
        with self._changed:
            return call in self._all and self._remove(call)

    def withdraw_all(self, client: ServiceClient) -> List[ServiceCall]:
        with self._changed:
            calls = list(self._by_client.get(client, ()))
            for call in calls:
                self._remove(call)
            return calls

    def close(self) -> None:
        """Ends all waits."""
        with self._changed:
            self.is_closed = True
            self._changed.notify_all()

    def _first_of(self, client: ServiceClient) -> Optional[ServiceCall]:
        return next(iter(self._by_client.get(client, ())), None)

    def _remove(self, call: ServiceCall) -> bool:
        del self._all[call]
        of_client = self._by_client[call.client]
        del of_client[call]
        if not of_client:
            del self._by_client[call.client]
        return True
