"""The parts of publications and subscriptions that a session needs."""

from __future__ import annotations

from typing import Optional, Protocol, Sequence

from .._type_description import TypeDescription
from . import messages
from .announcement import Announcement
from .described_type import DescribedType
from .identity import Id
from .type_gate import TypeGate


class Declared(Protocol):
    """The parts of a publication or a subscription that a session needs."""

    topic: str
    announcement: Announcement
    described: Optional[DescribedType]


class DeclaredPublication(Declared, Protocol):
    shared: bool

    def counters(self) -> messages.PublicationCounters: ...


class DeclaredSubscription(Declared, Protocol):
    id: Id
    gate: TypeGate

    @property
    def parts(self) -> Sequence[DeclaredSubscription]:
        """Of a shared topic: the subscriptions to its publications."""

    @property
    def of(self) -> Id:
        """The publication that a part is for; else NOBODY."""

    def counters(self) -> messages.SubscriptionCounters: ...

    def apply(self, state: messages.TopicState, pushed: bool) -> None: ...

    def check_type(self, published: TypeDescription) -> None: ...
