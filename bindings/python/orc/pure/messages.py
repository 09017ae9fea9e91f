"""The control plane's messages as values (schemas/orc_protocol.fbs). Absent tables are None, absent strings empty."""

from __future__ import annotations

import builtins
from dataclasses import dataclass, field
from typing import List, Optional, Union

from .identity import NOBODY, Id


@dataclass(frozen=True)
class Endpoint:
    transport: int
    address: str


@dataclass(frozen=True)
class Type:
    """What the bytes of a topic mean, without the schema, which travels once per hash."""

    name: str = ""
    schema_encoding: str = ""
    message_encoding: str = ""
    hash: int = 0
    schema_size: int = 0


@dataclass(frozen=True)
class Hello:
    participant: Id
    name: str
    host: str
    pid: int
    start_time: int
    library: str
    secret: Id = NOBODY


@dataclass(frozen=True)
class RegisterTopic:
    topic: str
    publication: Id
    endpoints: List[Endpoint]
    type: Optional[Type] = None
    keep_last: bool = True
    shared: bool = False


@dataclass(frozen=True)
class UnregisterTopic:
    topic: str
    publication: Id


@dataclass(frozen=True)
class RequestTopic:
    topic: str
    subscription: Id
    max_age_ms: int = 0
    type: Optional[Type] = None
    knows_shared: bool = True


@dataclass(frozen=True)
class ReleaseTopic:
    topic: str
    subscription: Id


@dataclass(frozen=True)
class PublicationCounters:
    publication: Id
    sampled_ns: int
    sent: int
    bytes: int
    dropped: int
    readers: int
    last_sent_ns: int = 0
    jitter_ns: int = -1


@dataclass(frozen=True)
class Prediction:
    period_ns: int
    hits: int
    early: int
    misses: int
    watched_ns: int


@dataclass(frozen=True)
class SubscriptionCounters:
    subscription: Id
    sampled_ns: int
    received: int
    bytes: int
    missed: int
    malformed: int
    age_ns: int
    transport: int
    reason: str
    stale: int = 0
    prediction: Optional[Prediction] = None


@dataclass(frozen=True)
class Heartbeat:
    publications: List[PublicationCounters]
    subscriptions: List[SubscriptionCounters]


@dataclass(frozen=True)
class Goodbye:
    pass


@dataclass(frozen=True)
class Alive:
    pass


@dataclass(frozen=True)
class ListTopics:
    after: str
    limit: int


@dataclass(frozen=True)
class DescribeTopic:
    topic: str
    after: Id = NOBODY


@dataclass(frozen=True)
class Welcome:
    epoch: int
    lease_ms: int
    heartbeat_ms: int
    remote: bool
    version: str


@dataclass(frozen=True)
class Ack:
    pass


@dataclass(frozen=True)
class Error:
    code: int
    text: str


@dataclass(frozen=True)
class Publication:
    publication: Id
    participant: Id
    participant_name: str
    host: str
    pid: int
    endpoints: List[Endpoint]
    type: Optional[Type]
    counters: Optional[PublicationCounters]
    received_ago_ms: int
    keep_last: bool = True
    host_name: str = ""  # of a peer broker's host; empty: of the broker's own participant
    stale: bool = False  # the peer broker does not answer
    age_ms: int = 0  # to a peer broker


@dataclass(frozen=True)
class Subscription:
    subscription: Id
    participant: Id
    participant_name: str
    host: str
    pid: int
    counters: Optional[SubscriptionCounters]
    received_ago_ms: int
    max_age_ms: int = 0
    type: Optional[Type] = None


@dataclass(frozen=True)
class TopicState:
    topic: str
    publication: Optional[Publication]
    subscriptions: List[Subscription]
    subscription_count: int
    more: bool = False
    lacks_schema: bool = False
    shared: bool = False
    publications: List[Publication] = field(default_factory=list)  # of a shared topic, which has no `publication`


@dataclass(frozen=True)
class TopicList:
    topics: List[TopicState]
    more: bool
    participants: int
    epoch: int
    uptime_ms: int
    rejected: int


@dataclass(frozen=True)
class Probe:
    pass


@dataclass(frozen=True)
class Watch:
    topics: List[str]
    participants: bool = False
    epoch: int = 0
    snapshot: int = 0
    until: int = 0
    wait_ms: int = 0
    own: bool = False  # of a peer broker


@dataclass(frozen=True)
class Participant:
    participant: Id
    gone: bool
    name: str
    host: str
    pid: int
    library: str


@dataclass(frozen=True)
class Changes:
    epoch: int
    snapshot: int
    until: int
    reset: bool
    more: bool
    topics: List[TopicState]
    participants: List[Participant]
    host_name: str = ""  # to a peer broker


@dataclass(frozen=True)
class SchemaPart:
    hash: int
    offset: int
    bytes: builtins.bytes


@dataclass(frozen=True)
class GetSchema:
    hash: int
    offset: int = 0


@dataclass(frozen=True)
class TypeMismatch:
    """Of a subscription, to the broker; and from the broker to the publisher."""

    topic: str
    subscription: Id
    text: str  # the difference, as the subscriber sees it
    participant_name: str = ""
    pid: int = 0
    publication: Id = NOBODY  # of a shared topic: whose type it is


@dataclass(frozen=True)
class ListPeers:
    pass


@dataclass(frozen=True)
class Peer:
    endpoint: str
    host_name: str = ""
    state: int = 0
    topics: int = 0
    silent_ms: int = 0
    reason: str = ""


@dataclass(frozen=True)
class PeerList:
    host_name: str
    topics: int
    peers: List[Peer]


Body = Union[
    Hello,
    RegisterTopic,
    UnregisterTopic,
    RequestTopic,
    ReleaseTopic,
    Heartbeat,
    Goodbye,
    Alive,
    ListTopics,
    DescribeTopic,
    Welcome,
    Ack,
    Error,
    TopicState,
    TopicList,
    Probe,
    Watch,
    Changes,
    SchemaPart,
    GetSchema,
    TypeMismatch,
    ListPeers,
    PeerList,
]


@dataclass(frozen=True)
class Envelope:
    """`request` is echoed in an answer; 0 in what the broker pushes."""

    request: int
    body: Body
    version: int = 1
