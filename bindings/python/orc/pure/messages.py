"""The messages of the control plane as values (schemas/orc_protocol.fbs).

`_TABLES` is the schema once more, for the codec in wire.py: of each field its kind and, after "=", what stands for an
absent one. A kind is `id` (not all zero; `id?` may be), `text` (at most 255 bytes; `text!` is not empty), `number`
(also of flags), `bytes`, the name of a table, or one of these in brackets: a list.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Tuple

from .identity import NOBODY, Id

_BODIES = """
Hello participant:id name:text host:text! pid:number start_time:number library:text secret:id?
RegisterTopic topic:text! publication:id endpoints:[Endpoint] type:Type keep_last:number=1 shared:number
UnregisterTopic topic:text! publication:id
RequestTopic topic:text! subscription:id max_age_ms:number type:Type knows_shared:number
ReleaseTopic topic:text! subscription:id
Heartbeat publications:[PublicationCounters] subscriptions:[SubscriptionCounters]
Goodbye
Alive
ListTopics after:text limit:number
DescribeTopic topic:text! after:id?
Welcome epoch:number lease_ms:number heartbeat_ms:number remote:number version:text
Ack
Error code:number text:text!
TopicState topic:text! publication:Publication subscriptions:[Subscription] subscription_count:number more:number\
 lacks_schema:number shared:number publications:[Publication]
TopicList topics:[TopicState] more:number participants:number epoch:number uptime_ms:number rejected:number
Probe
Watch topics:[text!] participants:number epoch:number snapshot:number until:number wait_ms:number own:number
Changes epoch:number snapshot:number until:number reset:number more:number topics:[TopicState]\
 participants:[Participant] host_name:text
SchemaPart hash:number offset:number bytes:bytes
GetSchema hash:number offset:number
TypeMismatch topic:text! subscription:id text:text! participant_name:text pid:number publication:id?
ListPeers
PeerList host_name:text topics:number peers:[Peer]
"""
_TABLES = """
Endpoint transport:number address:text!
Type name:text schema_encoding:text message_encoding:text hash:number schema_size:number
PublicationCounters publication:id sampled_ns:number sent:number bytes:number dropped:number readers:number\
 last_sent_ns:number jitter_ns:number=-1
Prediction period_ns:number hits:number early:number misses:number watched_ns:number
SubscriptionCounters subscription:id sampled_ns:number received:number bytes:number missed:number malformed:number\
 age_ns:number transport:number reason:text stale:number prediction:Prediction
Publication publication:id participant:id participant_name:text host:text pid:number endpoints:[Endpoint] type:Type\
 counters:PublicationCounters received_ago_ms:number keep_last:number=1 host_name:text stale:number age_ms:number
Subscription subscription:id participant:id participant_name:text host:text pid:number counters:SubscriptionCounters\
 received_ago_ms:number max_age_ms:number type:Type
Participant participant:id gone:number name:text host:text pid:number library:text
Peer endpoint:text! host_name:text state:number topics:number silent_ms:number reason:text
"""


class Field(NamedTuple):
    """A field of a table."""

    name: str
    kind: str
    is_list: bool


def _make(line: str) -> Tuple[type, List[Field]]:
    """Returns the class of a table, which is a frozen dataclass, and its fields."""
    name, *words = line.split()
    fields: List[Field] = []
    members: List[Tuple[str, Any, Any]] = []
    for each in words:
        declared, _, default = each.partition("=")
        field, _, kind = declared.partition(":")
        fields.append(Field(field, kind.strip("[]"), kind.startswith("[")))
        absent: Any = {"id": NOBODY, "id?": NOBODY, "text": "", "text!": "", "bytes": b"", "number": 0}.get(kind)
        if kind.startswith("["):
            members.append((field, Any, dataclasses.field(default_factory=list)))
        else:
            members.append((field, Any, dataclasses.field(default=int(default) if default else absent)))
    return dataclasses.make_dataclass(name, members, frozen=True), fields


#: The fields of each table, by its name.
TABLES: Dict[str, List[Field]] = {}
#: The classes of what an envelope may contain, in the order of their numbers, from 1.
BODIES: List[type] = []
for _line in _BODIES.split("\n")[1:-1] + _TABLES.split("\n")[1:-1]:
    _made, TABLES[_line.split()[0]] = _make(_line)
    globals()[_made.__name__] = _made
    if _line in _BODIES.split("\n"):
        BODIES.append(_made)

Body = Any  # one of BODIES

__all__ = ["BODIES", "TABLES", "Body", "Envelope", "Field", "Id"]

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...


@dataclasses.dataclass(frozen=True)
class Envelope:
    """`request` is echoed in an answer; 0 in what the broker pushes."""

    request: int
    body: Any
    version: int = 1
