"""Decides whether a subscription may link to the publication that the broker reports."""

from __future__ import annotations

import enum
from typing import NamedTuple, Optional, Tuple

from .._errors import TypeMismatch
from .._type_description import TypeDescription
from . import messages
from .described_type import DescribedType
from .schema.sentences import escaped
from .type_checks import TypeChecks

_BETWEEN_NEWS_S = 1.0  # any publisher can change its type as often as it likes


class Obstacle(NamedTuple):
    """Why a subscription keeps away from a publication."""

    reason: str  # for people
    is_mismatch: bool  # False: it is not known yet whether the types match

    def error(self) -> TypeMismatch:
        return TypeMismatch(self.reason)


class _Verdict(enum.Enum):
    NONE = 1
    UNKNOWN = 2
    MATCH = 3
    MISMATCH = 4


class TypeGate:
    """Lives on the I/O thread. `expected`: None is any type."""

    def __init__(self, topic: str, expected: Optional[DescribedType]) -> None:
        self._topic = topic
        self._expected = expected
        self._verdict = _Verdict.NONE
        self._seen: Tuple[object, ...] = ()  # the publication, its type and its publisher
        self._published = messages.Type()
        self._publisher = ""  # "arm (4711)"
        self._mismatch = ""
        self._reported = ""  # the last mismatch that take_news() has or will return; empty: its end was
        self._news: Optional[Tuple[str, str]] = None
        self._report = ""
        self._next_news = self._next_report = 0.0

    def look_at(self, publication: messages.Publication, checks: TypeChecks) -> None:
        """The broker reports this publication. The verdict about the same one with the same type stays."""
        if self._expected is None:
            return
        published = publication.type or messages.Type()
        publisher = f"{publication.participant_name} ({publication.pid})"
        seen = (publication.publication, published, publisher)
        if self._verdict is not _Verdict.NONE and seen == self._seen:
            return
        self._seen, self._published, self._publisher = seen, published, publisher
        self._verdict = _Verdict.UNKNOWN
        if publication.type is None or published.hash == self._expected.reference.hash:
            self._pass()
            return
        known = checks.find(published.hash, self._expected.reference.hash, publisher)
        if known is not None:
            self._decide(known)
        elif published.schema_size == 0:
            whole = TypeDescription(published.name, published.schema_encoding, published.message_encoding)
            if whole.hash == published.hash:
                self.compare(whole, checks)

    def look_away(self) -> None:
        """The broker reports that there is no publication any more."""
        if self._verdict is _Verdict.UNKNOWN:
            self._verdict = _Verdict.NONE

    @property
    def awaited(self) -> Optional[messages.Type]:
        """The type whose schema it needs for a verdict."""
        return self._published if self._verdict is _Verdict.UNKNOWN else None

    def compare(self, published: TypeDescription, checks: TypeChecks) -> None:
        """Decides with the description that belongs to `awaited`."""
        assert self._expected is not None
        self._decide(checks.compare(published, self._expected.description, self._publisher))

    def closed_by(self) -> Optional[Obstacle]:
        """Returns None when the subscription may link."""
        if self._verdict is _Verdict.MISMATCH:
            return Obstacle(self._mismatch, True)
        if self._verdict is not _Verdict.UNKNOWN:
            return None
        name = escaped(self._published.name) or "the publisher's type"
        return Obstacle(f"waits for the schema of {name}", False)

    def take_news(self, now: float) -> Optional[Tuple[str, str]]:
        """Returns level and text of what the user should learn: a mismatch, and its end.

        At most once a second: then the newest.
        """
        if self._news is None or now < self._next_news:
            return None
        news, self._news = self._news, None
        self._next_news = now + _BETWEEN_NEWS_S
        return news

    def report(self, now: float) -> str:
        """Returns what the publisher should learn, once for each verdict and at most once a second: the mismatch.

        Empty: nothing. Call reported() when it is sent.
        """
        return self._report if now >= self._next_report else ""

    def reported(self, now: float) -> None:
        self._report, self._next_report = "", now + _BETWEEN_NEWS_S

    def _decide(self, outcome: str) -> None:
        if not outcome:
            self._pass()
            return
        self._verdict = _Verdict.MISMATCH
        self._mismatch = f"topic {self._topic}: {outcome}"
        if self._reported != self._mismatch:
            self._news = ("warning", self._mismatch)
        self._report = outcome
        self._reported = self._mismatch

    def _pass(self) -> None:
        self._verdict = _Verdict.MATCH
        self._report = ""
        if self._reported:
            text = f"topic {self._topic}: the type of publisher `{escaped(self._publisher)}` matches now"
            self._news = ("info", text)
        self._reported = ""
