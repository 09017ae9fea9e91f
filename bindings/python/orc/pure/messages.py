"""The messages of the control plane as values (schemas/orc_protocol.fbs).

`_TABLES` is the schema once more, for the codec in wire.py: of each field its kind and, after "=", its default. A kind
is `id` (not all zero; `id?` may be), `text` (at most 255 bytes; `text!` is not empty), `bytes`, a letter of the module
struct for a number, the name of a table, or one of these in brackets: a list. A field follows the one before it, unless
its place in the schema is given after "@".
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Tuple

from .identity import NOBODY, Id

_BODIES = """
Hello participant:id name:text host:text! pid:I start_time:Q library:text secret:id?
RegisterTopic topic:text! publication:id endpoints:[Endpoint] type:Type@5 keep_last:B=1@4 shared:B@6
UnregisterTopic topic:text! publication:id
RequestTopic topic:text! subscription:id max_age_ms:I type:Type knows_shared:B
ReleaseTopic topic:text! subscription:id
Heartbeat publications:[PublicationCounters] subscriptions:[SubscriptionCounters]
Goodbye
Alive
ListTopics after:text limit:I
DescribeTopic topic:text! after:id?
Welcome epoch:Q lease_ms:I heartbeat_ms:I remote:B version:text
Ack
Error code:B text:text!
TopicState topic:text! publication:Publication subscriptions:[Subscription] subscription_count:I more:B\
 lacks_schema:B shared:B publications:[Publication]
TopicList topics:[TopicState] more:B participants:I epoch:Q uptime_ms:Q rejected:Q
Probe
Watch topics:[text!] participants:B epoch:Q snapshot:Q until:Q wait_ms:I own:B
Changes epoch:Q snapshot:Q until:Q reset:B more:B topics:[TopicState] participants:[Participant] host_name:text
SchemaPart hash:Q offset:I bytes:bytes
GetSchema hash:Q offset:I
TypeMismatch topic:text! subscription:id text:text! participant_name:text pid:I publication:id?
ListPeers
PeerList host_name:text topics:I peers:[Peer]
"""
_TABLES = """
Endpoint transport:B address:text!
Type name:text schema_encoding:text message_encoding:text hash:Q schema_size:I
PublicationCounters publication:id sampled_ns:Q sent:Q bytes:Q dropped:Q readers:I last_sent_ns:Q jitter_ns:q=-1
Prediction period_ns:Q hits:Q early:Q misses:Q watched_ns:Q
SubscriptionCounters subscription:id sampled_ns:Q received:Q bytes:Q missed:Q malformed:Q age_ns:q transport:B\
 reason:text stale:Q prediction:Prediction
Publication publication:id participant:id participant_name:text host:text pid:I endpoints:[Endpoint] type:Type@10\
 counters:PublicationCounters@7 received_ago_ms:I keep_last:B=1 host_name:text@11 stale:B age_ms:Q\
 client:text client_pid:I
Subscription subscription:id participant:id participant_name:text host:text pid:I counters:SubscriptionCounters\
 received_ago_ms:I max_age_ms:I type:Type
Participant participant:id gone:B name:text host:text pid:I library:text
Peer endpoint:text! host_name:text state:B topics:I silent_ms:I reason:text
"""


class Field(NamedTuple):
    """A field of a table."""

    name: str
    kind: str
    is_list: bool
    slot: int  # its place in the schema
    default: Any  # what stands for an absent one


def _make(line: str) -> Tuple[type, List[Field]]:
    """Returns the class of a table, which is a frozen dataclass, and its fields."""
    name, *words = line.split()
    fields: List[Field] = []
    members: List[Tuple[str, Any, Any]] = []
    slot = -1
    for each in words:
        declared, _, place = each.partition("@")
        declared, _, default = declared.partition("=")
        field, _, kind = declared.partition(":")
        slot = int(place or slot + 1)
        absent: Any = {"id": NOBODY, "id?": NOBODY, "text": "", "text!": "", "bytes": b""}.get(kind)
        is_list = kind.startswith("[")
        absent = [] if is_list else int(default or 0) if len(kind) == 1 else absent
        fields.append(Field(field, kind.strip("[]"), is_list, slot, absent))
        made = dataclasses.field(default_factory=list) if is_list else dataclasses.field(default=absent)
        members.append((field, Any, made))
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
