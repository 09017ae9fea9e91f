"""Plain values of the API, for both backends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional


@dataclass(frozen=True)
class PredictionInfo:
    """What predictive waiting has done for a subscription since it was made (liborc/include/orc/prediction.h)."""

    period_ns: int = 0
    """Of the stream; 0: none was found."""
    hits: int = 0
    """Samples that a watching thread saw come."""
    early: int = 0
    """Samples that came before that, during a sleep."""
    misses: int = 0
    """Times that a thread watched, and the sample did not come in time."""
    watched_ns: int = 0
    """Time of a core that was spent on watching."""


@dataclass(frozen=True)
class LinkInfo:
    """The link between a subscription and its publication, as it is now (liborc/include/orc/subscriber.h)."""

    connected: bool
    """A link is up."""
    transport: Optional[str]
    """"inproc", "ipc", "tcp", "shm" or "multicast" when connected, else None."""
    reason: str
    """For people. When connected: why this transport was chosen, and why no better one. Else the ways to the publisher
    that failed, with address and cause, or "no publisher"."""
    stale: int = 0
    """Samples dropped because they were older than `max_age_ms`."""
    prediction: PredictionInfo = PredictionInfo()
    """With wait="predictive"."""


@dataclass(frozen=True)
class PublisherInfo:
    """A publisher of a shared topic, as a subscription knows it (liborc/include/orc/subscriber.h)."""

    number: int = 0
    """Message.publisher; a publisher that registers again gets another one."""
    id: str = ""
    """PublicationState.id, the same in all programs."""
    name: str = ""
    """ParticipantState.name"""
    host: str = ""
    """ParticipantState.host"""
    pid: int = 0
    """In its own pid namespace."""
    connected: bool = False
    """A link to it is up."""


def link_text(link: LinkInfo) -> str:
    """For the repr of a subscriber."""
    return f"linked over {link.transport}" if link.connected else f"no link: {link.reason}"
