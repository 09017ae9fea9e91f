"""The states that a directory returns, for both backends (liborc/include/orc/directory.h)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import List, Optional

from orc._types import PredictionInfo


@dataclass(frozen=True)
class ParticipantState:
    """A program's session with ORC, as other programs see it."""

    id: str
    """32 hexadecimal digits. The broker makes it up, and another one after it restarts."""
    name: str
    """For people."""
    host: str
    """Equal for programs on the same host and in the same pid namespace."""
    pid: int
    """In its own pid namespace."""
    library: str = ""
    """As in "liborc 0.1.0"; empty in the states of topics."""


@dataclass(frozen=True)
class HostState:
    """A host on which participants run."""

    id: str
    """ParticipantState.host"""
    participants: int
    """That run on it."""


@dataclass(frozen=True)
class Endpoint:
    """An address at which a publication listens."""

    transport: str
    """That connects to it: "ipc", "tcp", …"""
    address: str
    """As the publication registered it: tcp://10.0.0.2:40000, ipc:///run/…"""


@dataclass(frozen=True)
class PublicationCounters:
    """The counters of a publication since it was made. Participants report them once a second."""

    sampled_ns: int
    """The publisher's monotonic clock when it reported."""
    age_ms: int
    """Time since the broker received the report."""
    sent: int
    """Samples."""
    bytes: int
    """Of these samples."""
    dropped: int
    """Samples that a newer one replaced before a reader took them."""
    readers: int
    """Links up."""
    last_sent_ns: Optional[int]
    """The publisher's monotonic clock when it sent its newest sample. Its age is sampled_ns - last_sent_ns + age_ms.
    None: it sent none, or its library is older than this counter."""
    jitter_ns: Optional[int]
    """Standard deviation of the intervals between the samples since the report before. While there are fewer than two
    intervals, they count for the next report. None: fewer than two, the publisher's clock was set meanwhile, or its
    library is older than this counter."""


@dataclass(frozen=True)
class TopicType:
    """The type of a topic, without the bytes of its schema: Directory.find_type has them."""

    name: str
    """The parts of orc.TypeDescription."""
    schema_encoding: str
    """See there."""
    message_encoding: str
    """See there."""
    hash: int
    """TypeDescription.hash"""
    schema_size: int
    """Bytes."""


@dataclass(frozen=True)
class PublicationState:
    """The sending end of a topic."""

    id: str
    """32 hexadecimal digits; a new one each time the topic is registered."""
    participant: ParticipantState
    """The publisher."""
    endpoints: List[Endpoint]
    """Addresses at which subscribers reach it."""
    type: Optional[TopicType]
    """None: untyped."""
    keep_last: bool
    """As given to register_topic."""
    counters: Optional[PublicationCounters]
    """None: not reported yet, or from a watch."""


@dataclass(frozen=True)
class SubscriptionCounters:
    """The counters of a subscription since it was made."""

    age_ms: int
    """Time since the broker received the report."""
    received: int
    """Samples."""
    bytes: int
    """Of these samples."""
    missed: int
    """Samples that it never received."""
    malformed: int
    """Messages of the publisher that violate the protocol."""
    stale: int
    """Dropped because they were older than max_age_ms."""
    sample_age_ns: Optional[int]
    """Of the newest sample when it arrived."""
    transport: Optional[str]
    """Of the link in use."""
    reason: str
    """Why this transport."""
    sampled_ns: int
    """The subscriber's monotonic clock when it reported."""
    prediction: Optional[PredictionInfo]
    """None: it does not wait predictively."""


@dataclass(frozen=True)
class SubscriptionState:
    """A receiving end of a topic."""

    id: str
    """32 hexadecimal digits."""
    participant: ParticipantState
    """The subscriber."""
    max_age_ms: int
    """As given to request_topic; 0: any age."""
    type: Optional[TopicType]
    """That it expects; None: any."""
    counters: Optional[SubscriptionCounters]
    """None: not reported yet."""


@dataclass(frozen=True)
class TopicState:
    """A topic that is published, requested, or both."""

    name: str
    """Of the topic."""
    publication: Optional[PublicationState]
    """None: no participant publishes it. Of a shared topic: the first of all."""
    subscription_count: int
    """All of them."""
    subscriptions: List[SubscriptionState]
    """From describe all, from topics at most 16, from a watch none."""
    shared: bool = False
    """As given to register_topic."""
    others: List[PublicationState] = field(default_factory=list)
    """Of a shared topic: the other publications, by their ids."""


@dataclass(frozen=True)
class BrokerState:
    """The address broker that answers."""

    endpoint: str
    """At which it answered, as a numeric address."""
    version: str
    """As in "orc-broker 0.1.0"."""
    epoch: int
    """Random per run of the broker."""
    uptime_ms: int
    """Since it started."""
    participants: int
    """Connected now."""
    rejected: int
    """Malformed messages dropped."""


@dataclass(frozen=True)
class Change:
    """One change. It carries the new state, not a difference.

    kind:
    "topic": came, or its publication, endpoints, type or number of subscriptions changed;
    "topic_gone": no participant publishes or requests it any more; only its name is set;
    "participant": came; "participant_gone": ended, or its lease did;
    "host": its first participant came, or the number of its participants changed; "host_gone": its last one is gone;
    "complete": everything that exists has been reported; comes again each time the broker is back;
    "broker_lost": the broker does not answer; earlier changes may be out of date until "complete".
    """

    kind: str
    """See above."""
    topic: Optional[TopicState] = None
    """For "topic" and "topic_gone"."""
    participant: Optional[ParticipantState] = None
    """For "participant" and "participant_gone"."""
    host: Optional[HostState] = None
    """For "host" and "host_gone"."""
