"""ORC in Python alone, on pyzmq: the same API and the same contract as `orc`, over ipc and tcp.

This is a second, independent implementation of the protocol, written from schemas/PROTOCOL.md. It is for machines
without the native extension, and differs from it in these points:

- Other transports, and broker "none", raise BadArgument.
- A sample passes through two more threads, the I/O thread of the participant and that of libzmq. Its latency is about
  100 µs longer.
- `spin_us` and `wait="predictive"` have no effect: a receive sleeps until the sample wakes it.
- For a reader that lags, libzmq holds a few samples of its own (a batch of 8 KiB and the kernel's buffer). They are
  older than the newest sample.

Strangers: libzmq ends the process when a peer claims the routing id that libzmq gives to the next one. Each publication
calls C's srand() with random bits, so that this id is unpredictable. It also limits strangers and new connections. Two
weaknesses remain: on average, one abort in a week of uninterrupted attack from one address; and memory without limit
for a local reader that never ends a message (schemas/PROTOCOL.md, "Newest wins with a ROUTER"). The native backend has
neither: prefer it where strangers reach the port of a publication.
"""

try:
    import flatbuffers as _flatbuffers  # type: ignore[import-untyped]  # noqa: F401
    import zmq as _zmq  # noqa: F401
except ImportError as error:
    raise ImportError(f"orc.pure needs pyzmq and flatbuffers: pip install orc-middleware[pure] ({error})") from error

from orc._calls import (
    CallClient,
    CallContext,
    CallErrc,
    CallError,
    CallFuture,
    Service,
    ServiceDescription,
    ServiceFigures,
    find_services,
)
from orc._directory_types import (
    BrokerState,
    Change,
    Endpoint,
    HostState,
    ParticipantState,
    PublicationCounters,
    PublicationState,
    SubscriptionCounters,
    SubscriptionState,
    TopicState,
    TopicType,
)
from orc._errors import (
    BadArgument,
    BadName,
    BadSample,
    Closed,
    Error,
    Forked,
    NameTaken,
    NoBroker,
    NoDescriptors,
    NoMemory,
    NoPermission,
    NotRegistered,
    NotRequested,
    Refused,
    SystemFailure,
    TimedOut,
    TooManyMessages,
    TypeMismatch,
    UnknownTopic,
    UnknownType,
)
from orc._history import History, PastSample
from orc._parameters import Parameter, ParameterDescription, ParameterOutcome, list_parameters
from orc._type_description import TypeDescription
from orc._typed import Field, Typed, flatbuffer, json, struct
from orc._types import LinkInfo, PredictionInfo, PublisherInfo
from orc._waiting import Callback
from orc.pure.directory import Directory, Watch
from orc.pure.handles import Publisher, Subscriber
from orc.pure.message import Message
from orc.pure.participant import Participant
from orc.pure.realtime import lock_memory

backend = "pure"

__all__ = [
    "CallClient",
    "CallContext",
    "CallErrc",
    "CallError",
    "CallFuture",
    "Service",
    "ServiceDescription",
    "ServiceFigures",
    "find_services",
    "Parameter",
    "ParameterDescription",
    "ParameterOutcome",
    "list_parameters",
    "BadArgument",
    "BadName",
    "BadSample",
    "Participant",
    "BrokerState",
    "Callback",
    "Change",
    "Closed",
    "Directory",
    "Endpoint",
    "Error",
    "Field",
    "Forked",
    "History",
    "HostState",
    "LinkInfo",
    "Message",
    "NameTaken",
    "NoBroker",
    "NoDescriptors",
    "NoMemory",
    "NoPermission",
    "NotRegistered",
    "NotRequested",
    "ParticipantState",
    "PastSample",
    "PredictionInfo",
    "PublicationCounters",
    "PublicationState",
    "Publisher",
    "PublisherInfo",
    "Refused",
    "Subscriber",
    "SubscriptionCounters",
    "SubscriptionState",
    "SystemFailure",
    "TimedOut",
    "TooManyMessages",
    "TopicState",
    "TopicType",
    "TypeDescription",
    "Typed",
    "TypeMismatch",
    "UnknownTopic",
    "UnknownType",
    "Watch",
    "backend",
    "flatbuffer",
    "json",
    "lock_memory",
    "struct",
]
