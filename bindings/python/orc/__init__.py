"""ORC, Open Robot Communication: the newest sample of each topic, for force controllers.

    import orc

    with orc.Participant() as participant:
        command = participant.register_topic("arm/command")
        state = participant.request_topic("arm/state")
        while (message := state.recv_msg(-1)) is not None:
            command.send_msg(control(numpy.frombuffer(message)))

`orc.backend` is "native" (liborc, all transports) or "pure" (`orc.pure`: topics over ipc and tcp, in Python alone). The
package uses the pure one where the extension was not built, and warns of that (PureBackendWarning). Names and meanings
are those of C++ (liborc/include/orc/*.h). A name that ends in `_ms` is a time in ms, and one in `_ns` a time in ns.
"""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

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
    PureBackendWarning,
    Refused,
    SystemFailure,
    TimedOut,
    TooManyMessages,
    TypeMismatch,
    UnknownTopic,
    UnknownType,
)
from orc._history import History, PastSample
from orc._type_description import TypeDescription
from orc._typed import Field, Typed, flatbuffer, json, struct
from orc._types import LinkInfo, PredictionInfo, PublisherInfo
from orc._waiting import Callback

# An extension that exists but does not load raises its error here. It is no reason to use the other backend.
if TYPE_CHECKING or importlib.util.find_spec("orc._native") is not None:
    from orc._directory import Directory, Watch
    from orc._native import lock_memory, monotonic_ns
    from orc._parameters import Parameter, ParameterDescription, ParameterOutcome, list_parameters
    from orc._participant import Message, Participant, Publisher, Subscriber

    backend = "native"
else:
    import warnings
    from time import monotonic_ns

    from orc.pure import Directory, Message, Participant, Publisher, Subscriber, Watch, lock_memory

    backend = "pure"
    warnings.warn(
        "the extension is not installed, so this is orc.pure: topics over ipc and tcp; services, parameters, shared "
        "topics, shared memory and multicast need the wheel of orc-middleware for Linux",
        PureBackendWarning,
        stacklevel=2,
    )

Broker = Participant  # the ORC paper's name (Listing 1)


def __getattr__(name: str) -> str:
    if name == "__version__":  # of the installed package; looked up only on request
        from importlib.metadata import version

        return version("orc-middleware")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


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
    "Broker",
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
    "Participant",
    "PastSample",
    "ParticipantState",
    "PredictionInfo",
    "PublicationCounters",
    "PublicationState",
    "Publisher",
    "PublisherInfo",
    "PureBackendWarning",
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
    "monotonic_ns",
    "struct",
]

if backend == "pure":
    for _name in ("Parameter", "ParameterDescription", "ParameterOutcome", "list_parameters"):
        __all__.remove(_name)
