"""What a session does about types: sends and fetches schemas, and has subscriptions compare."""

from __future__ import annotations

import time
from typing import Callable, Collection, Iterable, Set

from .._type_description import TypeDescription
from . import messages
from .declared import Declared, DeclaredSubscription
from .schema.sentences import escaped
from .schema_exchange import SchemaFetches, SchemaUploads, Send
from .type_checks import TypeChecks

_REST = 9  # after a comparison there is none for so many times as long as it took
_REPORTS_AT_ONCE = 10  # any program can report: then the log gets one per second


class TypeExchange:
    """Lives on the I/O thread."""

    def __init__(self) -> None:
        self._uploads, self._fetches = SchemaUploads(), SchemaFetches()
        self.checks = TypeChecks()
        self._next_comparison = 0.0
        self._reports_paid_until = 0.0

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

    def news_for_publisher(self, report: messages.TypeMismatch) -> str:
        """A subscriber expects another type. Returns what the user should learn; empty: that was too often."""
        now = time.monotonic()
        paid = max(self._reports_paid_until, now - (_REPORTS_AT_ONCE - 1))
        if paid > now:
            return ""
        self._reports_paid_until = paid + 1
        subscriber = escaped(f"{report.participant_name} ({report.pid})")
        text = escaped(report.text).replace("\\\\", "\\")  # the sentence has escaped names already
        return f"topic {report.topic}: subscriber `{subscriber}` expects another type; it says: {text}"

    def step(
        self,
        declared: Iterable[Declared],
        subscriptions: Collection[DeclaredSubscription],
        send: Send,
        log: Callable[[str, str], object],
    ) -> bool:
        """Compares a type whose schema has come, asks for the others, and sends those that the broker lacks.

        A publisher can make comparisons as long as it likes, and as many. So there is one per call, and then a rest:
        the I/O thread has samples to pass on. Returns whether there is more to compare when the rest is over.
        """
        now = time.monotonic()
        has_more = False
        for each in subscriptions:
            awaited = each.gate.awaited
            found = None if awaited is None else self._fetches.want(awaited, now)
            if awaited is None or found is None:
                pass
            elif now < self._next_comparison:
                has_more = True
            else:
                self._compare(each, found)
                self._fetches.release(awaited)
            if (news := each.gate.take_news(now)) is not None:
                log(*news)
        self._fetches.forget_unwanted()
        used: Set[int] = {one.described.reference.hash for one in declared if one.described is not None}
        self._uploads.step(now, used.__contains__, send)
        self._fetches.step(now, send)
        for each in subscriptions:
            report = each.gate.report(now)
            if report and send(messages.TypeMismatch(each.topic, each.id, report, publication=each.of)):
                each.gate.reported(now)
        return has_more

    @property
    def rest_s(self) -> float:
        """How long the rest still is."""
        return max(0.0, self._next_comparison - time.monotonic())

    def _compare(self, subscription: DeclaredSubscription, published: TypeDescription) -> None:
        began = time.monotonic()
        subscription.check_type(published)
        ended = time.monotonic()
        self._next_comparison = ended + _REST * (ended - began)
