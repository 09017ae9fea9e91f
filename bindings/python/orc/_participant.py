"""The native backend: the extension, and those of its parts that are simpler in Python."""

from __future__ import annotations

import threading
import time
import weakref
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, Optional, Type, Union, overload

import orc._commands as _commands
import orc._native as _native
from orc._calls.callbacks import Callbacks
from orc._calls.calling import Calling
from orc._directory import Directory
from orc._errors import BadArgument, Error, NoBroker
from orc._log import log_to_logging
from orc._native import Message
from orc._parameters import Tuning
from orc._program import program_name
from orc._type_description import TypeDescription
from orc._typed import Typed, makes_same, typed
from orc._typed.loan import TypedLoan
from orc._typed.variables import T, T_co, V
from orc._types import link_text
from orc._waiting import Waiting

if TYPE_CHECKING:
    import numpy
    from typing_extensions import Buffer, Unpack

    from orc._typed.options import CommandOptions, RegisterOptions, RequestOptions

__all__ = ["Participant", "Message", "Publisher", "Subscriber"]

Log = Callable[[str, str], object]

_CALLBACKS_S = 0.5  # for callbacks that run still


Directory._engine = _native.Directory


Transports = Union[str, Iterable[str]]


class Publisher(_native.Publisher[T]):
    __doc__ = _native.Publisher.__doc__

    def __init__(self, same: _native.Publisher[Any], codec: Optional[Typed[Any]]) -> None:
        super().__init__(same)
        self._codec = codec

    def send(self, value: Union[T, Buffer]) -> None:
        """Sends a value of the type that register_topic was given, or bytes, as send_msg does.

        Also raises BadSample (no value of that type).
        """
        sample: Any = value if self._codec is None else self._codec.encode(value)
        self.send_msg(sample)

    @overload
    def loan(self, size: int) -> _native.Loan: ...
    @overload
    def loan(self) -> TypedLoan[T]: ...
    def loan(self, size: Optional[int] = None) -> Union[_native.Loan, TypedLoan[T]]:
        """Returns memory for a sample, to fill in place: `with publisher.loan() as state:`, or of `size` bytes.

        Without a size it is a value of the topic's type, which is a struct. Raises BadArgument (another type),
        NoMemory, Closed, Forked.
        """
        if size is not None:
            return super().loan(size)
        if self._codec is None:
            raise BadArgument(f"topic {self.topic} has no type: say how many bytes, loan(size)")
        return TypedLoan(self._codec, super().loan(self._codec.memory_size()))


class Subscriber(_native.Subscriber[T_co]):
    __doc__ = _native.Subscriber.__doc__

    # Waiting is no base class, because a class over the extension's types has one base only.
    recv = Waiting.recv
    _arrivals: Dict[Any, Any]
    __aiter__ = Waiting.__aiter__
    __anext__ = Waiting.__anext__
    on_message = Waiting.on_message

    def __repr__(self) -> str:
        return f"<orc.Subscriber {self.topic!r}, {link_text(self.link)}>"


class Participant(_native.Participant):
    """A program's session with ORC (liborc/include/orc/participant.h). Any thread may make any call.

    broker: endpoint of the address broker, or several, separated by commas. "": $ORC_BROKER, else the user's broker,
        the system's broker, tcp://127.0.0.1:5570. "none": no broker; topics use multicast only.
    name: for people; `orc topic list` shows it. "": the script's name.
    broker_timeout_ms: how long a set-up call waits for the broker's answer; -1: for ever.
    advertise: address that other hosts connect to. "": $ORC_ADVERTISE, else the address that routes to the broker; on
        the broker's own host, each address of the host.
    ports: TCP and UDP ports on which topics listen, such as "40000-40100". "": $ORC_PORTS, else any free port.
    transports: of "inproc", "ipc", "tcp", "shm", "multicast", for topics and requests that name none.
    multicast: network of topics on multicast, as a URL in LCM's form.
    namespace: stands before the names of topics, services and parameters that the program uses: "robot7" makes "pose"
        into "robot7/pose". A name that begins with a slash is used without it: "/estop" is "estop". It may have several
        parts, "lab/robot7". "/": none. "": $ORC_NAMESPACE, else none. See `resolve`.
    housekeeping_priority: of the participant's own thread. 1 to 99: SCHED_FIFO with this priority. 0: SCHED_OTHER. -1:
        as the thread that makes the participant. Without the permission, set-up calls raise NoPermission.
    housekeeping_cpus: numbers of the CPUs on which that thread may run; empty: those of the thread that makes the
        participant.
    log: called with a level ("error", "warning", "info", "debug") and a text, on a thread of liborc. It must be quick
        and must not call back. None: the logger "orc".

    The constructor does not wait for a broker, and does not raise without one. The topics end with close(), with the
    `with` block, or when the participant and all its publishers and subscribers are gone. After fork() the child makes
    its own participant: calls on this one raise Forked.
    """

    # Calling and Tuning are no base classes, because a class over the extension's types has one base only.
    serve = Calling.serve
    call = Calling.call
    wait_for_service = Calling.wait_for_service
    parameter = Tuning.parameter
    get_parameter = Tuning.get_parameter
    set_parameter = Tuning.set_parameter
    get_parameters = Tuning.get_parameters
    save_parameters = Tuning.save_parameters
    load_parameters = Tuning.load_parameters

    def __init__(
        self,
        broker: str = "",
        *,
        name: str = "",
        broker_timeout_ms: int = 2000,
        advertise: str = "",
        ports: str = "",
        transports: Transports = (),
        multicast: str = "",
        namespace: str = "",
        housekeeping_priority: int = -1,
        housekeeping_cpus: Iterable[int] = (),
        log: Optional[Log] = None,
    ) -> None:
        self._name = name or program_name()
        super().__init__(
            broker,
            name=self._name,
            broker_timeout_ms=broker_timeout_ms,
            advertise=advertise,
            ports=ports,
            transports=transports,
            multicast=multicast,
            namespace=namespace,
            housekeeping_priority=housekeeping_priority,
            housekeeping_cpus=list(housekeeping_cpus),
            log=log_to_logging if log is None else log,
        )
        # One object per request and class of values.
        self._subscribers: Dict[str, weakref.WeakSet[Subscriber[Any]]] = {}
        self._codecs: Dict[str, Typed[Any]] = {}  # of the first registration that named a type
        self._lock = threading.Lock()
        self._callbacks = Callbacks()

    @overload
    def register_topic(
        self, topic: str, *, type: Union[Typed[V], Type[V]], **options: Unpack[RegisterOptions]
    ) -> Publisher[V]: ...
    @overload
    def register_topic(
        self, topic: str, *, type: numpy.dtype[Any], **options: Unpack[RegisterOptions]
    ) -> Publisher[numpy.void]: ...
    @overload
    def register_topic(
        self, topic: str, *, type: Optional[TypeDescription] = None, **options: Unpack[RegisterOptions]
    ) -> Publisher[bytes]: ...
    def register_topic(
        self,
        topic: str,
        *,
        transports: Transports = (),
        expected_size: int = 0,
        history: int = 1,
        lock: bool = False,
        huge_pages: bool = False,
        multicast: str = "",
        type: Any = None,
        keep_last: bool = True,
        priority: str = "normal",
        shared: bool = False,
    ) -> Publisher[Any]:
        """Declares that this participant publishes `topic` (ORC paper, III.A). Waits for the broker's answer, at most
        broker_timeout_ms.

        transports: of this topic; empty: the participant's.
        expected_size: size of a typical sample in bytes; shm reserves memory for it at once.
        history: shm: how many samples recv_next can go back, 1 to 65536.
        lock, huge_pages: shm: locks its memory, uses huge pages.
        multicast: network of this topic, as a URL.
        type: of the samples: a numpy dtype or a dataclass (as struct), a class of lcm-gen or protoc,
            `orc.flatbuffer(…)`, `dict` or `orc.json(…)`, an `orc.TypeDescription`. Subscriptions that expect another
            type make no link. None: the topic is untyped and matches any subscription.
        keep_last: True: a subscription that joins receives the last sample. False, for commands: a sample reaches only
            the subscriptions that are connected when it is sent.
        priority: "bulk", "normal" or "control", over tcp and multicast.
        shared: True: other participants may publish the topic too, if they also set it; at most 64 in all.

        Raises NoBroker, and the topic stays registered: see `publisher`. Raises NameTaken, BadName, BadArgument,
        Refused, NoPermission, NoDescriptors, NoMemory, SystemFailure, Closed and Forked, and the topic is not
        registered.
        """
        codec = typed(type)
        try:
            made = super().register_topic(
                topic,
                transports=transports,
                expected_size=expected_size,
                history=history,
                lock=lock,
                huge_pages=huge_pages,
                multicast=multicast,
                type=None if codec is None else codec.description,
                keep_last=keep_last,
                priority=priority,
                shared=shared,
            )
        except NoBroker:
            self._remember(topic, codec)
            raise
        self._remember(topic, codec)
        return Publisher(made, codec) if codec is not None else self._publisher(made)

    @overload  # type: ignore[override]
    def request_topic(
        self, topic: str, *, type: Union[Typed[V], Type[V]], **options: Unpack[RequestOptions]
    ) -> Subscriber[V]: ...
    @overload
    def request_topic(
        self, topic: str, *, type: numpy.dtype[Any], **options: Unpack[RequestOptions]
    ) -> Subscriber[numpy.void]: ...
    @overload
    def request_topic(
        self, topic: str, *, type: Optional[TypeDescription] = None, **options: Unpack[RequestOptions]
    ) -> Subscriber[bytes]: ...
    def request_topic(
        self,
        topic: str,
        *,
        conflate: int = 1,
        depth: int = 0,
        connected_within_ms: int = 0,
        transports: Transports = (),
        max_messages: int = 8,
        spin_us: int = 0,
        wait: str = "block",
        cpu_budget: float = 0.1,
        max_age_ms: int = 0,
        type: Any = None,
        type_check: str = "on",
        newest_of: str = "all",
    ) -> Subscriber[Any]:
        """Asks for the samples of `topic`, which need not be registered yet. The link comes up when both ends exist.

        conflate: 1: a receive returns the newest sample. 0: a receive returns every sample in order, of the last
            `depth`.
        depth: 1 to 65536; 0: 64. With conflate=1 it must be 0.
        connected_within_ms: how long to wait for the link; 0: not at all, -1: for ever.
        max_messages: shm: how many messages may exist at a time, 1 to 60.
        spin_us: how long a receive spins before it sleeps, at most 1000000. Other threads of Python go on meanwhile.
        wait: "predictive", for streams with a period: a receive sleeps until shortly before the next sample, and then
            watches for it. `link.prediction` shows what that achieves. A stream without a period is received as with
            "block". No effect on `await subscriber.recv()`, on `fileno`, and on shared topics. Sets the timer slack of
            the receiving thread to 1 ns.
        cpu_budget: the share of a core that watching may cost, above 0 and at most 1.
        max_age_ms: a receive drops samples that are older and goes on waiting; `missed` of the next one counts them.
            0: any age.
        type: that the samples must have, as in `register_topic`. With another type there is no link, and this call or
            `wait_connected` raises TypeMismatch. None: any type.
        type_check: "off": a link is made whatever the types are.
        newest_of: of a shared topic. "all": a receive returns the newest sample of all publishers. "each": the newest
            of each publisher, in turn. With conflate=0 a receive returns every sample of each, in its order.

        Raises NoBroker, TimedOut and TypeMismatch, and the request stays: see `subscriber`. Raises BadName,
        BadArgument, Refused, NoPermission, NoDescriptors, NoMemory, SystemFailure, Closed and Forked, and the topic is
        not requested.
        """
        codec = typed(type)
        made = super().request_topic(
            topic,
            conflate=conflate,
            depth=depth,
            connected_within_ms=connected_within_ms,
            transports=transports,
            max_messages=max_messages,
            spin_us=spin_us,
            wait=wait,
            cpu_budget=cpu_budget,
            max_age_ms=max_age_ms,
            type=None if codec is None else codec.description,
            type_check=type_check,
            codec=codec,
            newest_of=newest_of,
        )
        return self._known(made)

    @overload
    def register_command(
        self, topic: str, *, type: Union[Typed[V], Type[V]], **options: Unpack[RegisterOptions]
    ) -> Publisher[V]: ...
    @overload
    def register_command(
        self, topic: str, *, type: Optional[TypeDescription] = None, **options: Unpack[RegisterOptions]
    ) -> Publisher[bytes]: ...
    def register_command(self, topic: str, **options: Any) -> Publisher[Any]:
        """register_topic for commands, which must not be carried out late: a sample reaches only the subscriptions that
        are connected when it is sent, and goes first over the network (priority "control", unless `transports` names
        neither tcp nor multicast). Also raises BadArgument for options that contradict this."""
        made: Publisher[Any] = self.register_topic(topic, **_commands.offered(options))
        return made

    @overload
    def request_command(
        self, topic: str, max_age_ms: int, *, type: Union[Typed[V], Type[V]], **options: Unpack[CommandOptions]
    ) -> Subscriber[V]: ...
    @overload
    def request_command(
        self, topic: str, max_age_ms: int, *, type: Optional[TypeDescription] = None, **options: Unpack[CommandOptions]
    ) -> Subscriber[bytes]: ...
    def request_command(self, topic: str, max_age_ms: int, **options: Any) -> Subscriber[Any]:
        """request_topic for commands: a receive returns the newest command, and none that is older than `max_age_ms`,
        which is above 0. Also raises BadArgument for conflate=0."""
        made: Subscriber[Any] = self.request_topic(topic, **_commands.wanted(max_age_ms, options))
        return made

    def publisher(self, topic: str) -> Publisher[Any]:
        """Returns the handle of a registered topic. Raises NotRegistered, Closed, Forked."""
        return self._publisher(super().publisher(topic))

    def unregister_topic(self, topic: str) -> None:
        """Withdraws a topic. Gives slow readers up to 300 ms for the last sample, then waits for the broker's answer,
        at most a second. Raises NotRegistered, Closed, Forked."""
        with self._lock:
            self._codecs.pop(self.resolve(topic), None)
        super().unregister_topic(topic)

    def subscriber(self, topic: str) -> Subscriber[Any]:
        """Returns the handle of a requested topic. Raises NotRequested, Closed, Forked."""
        return self._known(super().subscriber(topic))

    def release_topic(self, topic: str) -> None:
        """Withdraws a request. Calls that wait on it raise Closed. Raises NotRequested, Closed, Forked."""
        # This comes first, because Ctrl-C does not stop the call below: it goes on.
        with self._lock:
            self._subscribers.pop(self.resolve(topic), None)
        super().release_topic(topic)

    def close(self) -> None:
        """Ends calls, services, publications and subscriptions, and says goodbye to the broker, within two seconds.

        Handlers and callbacks that run still get half a second of them. Later calls raise Closed.
        """
        super().close()
        self._callbacks.close(time.monotonic() + _CALLBACKS_S)

    def _remember(self, topic: str, codec: Optional[Typed[Any]]) -> None:
        with self._lock:
            if codec is not None:
                self._codecs.setdefault(self.resolve(topic), codec)

    def _publisher(self, made: _native.Publisher[Any]) -> Publisher[Any]:
        with self._lock:
            return Publisher(made, self._codecs.get(made.topic))

    def _known(self, made: _native.Subscriber[Any]) -> Subscriber[Any]:
        with self._lock:
            # `_is`: others are of a subscription that was released
            same = [each for each in self._subscribers.get(made.topic, ()) if each._is(made)]
            for each in same:
                if makes_same(each._codec, made._codec):
                    return each
            added: Subscriber[Any] = Subscriber(made)
            # All asyncio tasks that wait for it share its descriptor.
            added._arrivals = same[0]._arrivals if same else {}
            self._subscribers.setdefault(made.topic, weakref.WeakSet()).add(added)
            return added

    def __repr__(self) -> str:
        try:
            state = self.broker_endpoint or "no broker yet"
        except Error as error:
            state = error.code
        return f"<orc.Participant {self._name!r}, {state}>"

    def __enter__(self) -> Participant:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
