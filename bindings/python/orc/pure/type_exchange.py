"""What a session does about types: sends and fetches schemas, and has subscriptions compare."""

from __future__ import annotations

import time
from typing import Callable, Iterable, Set

from . import messages
from .declared import Declared, DeclaredSubscription
from .schema_exchange import SchemaFetches, SchemaUploads, Send
from .type_checks import TypeChecks


class TypeExchange:
    """Lives on the I/O thread."""

    def __init__(self) -> None:
        self._uploads, self._fetches = SchemaUploads(), SchemaFetches()
        self.checks = TypeChecks()

    def begin_again(self) -> None:
        """The session starts over: the answers to its declarations say what the broker lacks."""
        self._uploads.forget_all()
        self._fetches.begin_again(time.monotonic())

    def lacks_schema(self, declared: Declared) -> None:
        """The broker lacks the schema of the type that this declares."""
        if declared.described is not None:
            self._uploads.add(declared.described, time.monotonic())

    def answered(self, request: int, body: messages.Body) -> str:
        """Takes an answer, if it is to a message of step(). Returns what the user should learn; empty: nothing."""
        now = time.monotonic()
        if isinstance(body, messages.SchemaPart):
            self._fetches.on_part(request, body, now)
        elif isinstance(body, messages.Ack):
            self._uploads.on_ack(request, now)
        elif isinstance(body, messages.Error):
            self._fetches.on_error(request, now)
            return self._uploads.on_error(request, body, now)
        return ""

    def step(
        self,
        declared: Iterable[Declared],
        subscriptions: Iterable[DeclaredSubscription],
        send: Send,
        log: Callable[[str, str], object],
    ) -> None:
        """Compares the types whose schemas have come, asks for the others, and sends those that the broker lacks."""
        now = time.monotonic()
        for each in subscriptions:
            awaited = each.awaited_type
            found = None if awaited is None else self._fetches.want(awaited, now)
            if found is not None:
                each.check_type(found)
            if (news := each.take_news()) is not None:
                log(*news)
        self._fetches.forget_unwanted()
        used: Set[int] = {one.described.reference.hash for one in declared if one.described is not None}
        self._uploads.step(now, used.__contains__, send)
        self._fetches.step(now, send)
