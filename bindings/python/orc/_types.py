"""Plain values of the API, for both backends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional


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
