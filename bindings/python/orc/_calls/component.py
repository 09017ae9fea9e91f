"""For _parameters: calls and services of a participant."""

from __future__ import annotations

import weakref
from typing import Any

from .future import CallFuture
from .service import Service


class Calls:
    def __init__(self, participant: Any) -> None:
        self._participant = weakref.ref(participant)

    def serve(self, name: str, handler: Any, request: Any, reply: Any, options: Any, broker: str) -> Service:
        by: Any = self._participant()
        made: Service = by.serve(name, handler, request=request, reply=reply, **options)
        return made

    def call(
        self, participant: Any, name: str, request: Any, deadline: float, reply: Any, type: Any
    ) -> CallFuture[Any]:
        made: CallFuture[Any] = participant.call(name, request, deadline=deadline, reply=reply, type=type)
        return made


def options_of(threads: int, queue: int, replace_waiting: bool, max_clients: int, *_: Any) -> Any:
    return {"threads": threads, "queue": queue, "replace_waiting": replace_waiting, "max_clients": max_clients}
