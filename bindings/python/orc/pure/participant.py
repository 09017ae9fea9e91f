"""The API: Participant (liborc/include/orc/participant.h)."""

from __future__ import annotations

import functools
import os
import weakref
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, List, Optional, Tuple, Type, Union, overload

from .. import _errors as errors
from .._calls import Calling, Calls, Platform
from .._log import log_to_logging
from .._parameters import Parameters, Tuning
from .._program import program_name
from .._type_description import TypeDescription
from .._typed import Typed, makes_same, typed
from .._typed.variables import V
from . import endpoints, options
from .core import Core, Owner
from .directory import Directory, Watch
from .handles import Publisher, Subscriber
from .message import Loan, Message
from .options import Transports
from .realtime import placement
from .schema import SchemaError, check_types
from .subscription import Subscription

if TYPE_CHECKING:
    import numpy
    from typing_extensions import Unpack

    from .._typed.options import RegisterOptions, RequestOptions

_REGISTER_DEFAULTS: Dict[str, object] = {
    "transports": (),
    "type": None,
    "keep_last": True,
    "priority": "normal",
    "shared": False,
}
_REQUEST_DEFAULTS: Dict[str, object] = {
    "transports": (),
    "queue": 0,
    "spin_us": 0,
    "wait": False,
    "cpu_budget": 0.1,
    "max_age_ms": 0,
    "type": None,
    "checks": True,
    "of_each": False,
}


_warned = False


def _warn_untraced(log: Callable[[str, str], object]) -> None:
    global _warned
    if not _warned:
        _warned = True
        log("warning", "ORC_TRACE: this process is not traced: tracing needs the native backend")


class Participant(Calling, Tuning):
    """A program's session with ORC (ORC paper, Listing 1), in Python alone: transports ipc and tcp.

    Any thread may make any call. A participant has one I/O thread. The constructor does not wait for a broker, and does
    not raise without one. After fork() the child makes its own participant: calls on this one raise Forked. `close()`,
    or the `with` block, ends it within a second.

    namespace: stands before the names that the program uses, as in the native backend. "": $ORC_NAMESPACE, else none.

    housekeeping_priority, housekeeping_cpus: as in the native backend, but of the I/O thread and of libzmq's threads,
    through which samples pass here.

    The I/O thread calls `log` and waits for it. The participant holds a bound method weakly: when its object is gone,
    it calls the method no more. It holds any other function, so a function that refers to the participant keeps it.
    """

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
        log: Optional[Callable[[str, str], object]] = None,
    ) -> None:
        if options.text("multicast", multicast):
            raise errors.BadArgument("multicast needs the native backend; orc.pure has ipc and tcp")
        if (options.text("broker", broker) or os.environ.get("ORC_BROKER")) == "none":
            raise errors.BadArgument("doing without a broker needs the native backend")
        for endpoint in endpoints.named_brokers(broker):
            if problem := endpoints.endpoint_problem(endpoint):
                raise errors.BadArgument(f"the broker's endpoint {problem}")
        if log is not None and not callable(log):
            raise TypeError(f"log is called with level and text; this is {type(log).__name__}")
        self._transports = options.transports(transports) or options.transports_of_environment()
        self._prefix = options.name_space(namespace)
        address = _numeric(options.text("advertise", advertise) or os.environ.get("ORC_ADVERTISE", ""))
        self._name = options.text("name", name) or program_name()
        if os.environ.get("ORC_TRACE"):
            _warn_untraced(log or log_to_logging)
        core = Core(
            broker,
            self._name,
            self._prefix,
            options.milliseconds("broker_timeout_ms", broker_timeout_ms),
            address,
            options.ports(options.text("ports", ports) or os.environ.get("ORC_PORTS", "")),
            placement(housekeeping_priority, housekeeping_cpus),
            log or log_to_logging,
        )
        self._core = core
        self._owner = Owner(core)
        self._asked: Dict[Tuple[str, str], Dict[str, object]] = {}
        self._handles: weakref.WeakKeyDictionary[Subscription, weakref.WeakSet[Subscriber[Any]]]
        self._handles = weakref.WeakKeyDictionary()
        self._calls = Calls(self, Platform(_open_watch, _check_types))
        self._parameters = Parameters(self, self._calls, functools.partial(Directory, broker))

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
        """Declares that this participant publishes `topic`. Waits for the broker's answer, at most broker_timeout_ms.

        expected_size, history, lock, huge_pages: for shm, which this backend does not have. The last three are a
            BadArgument when `transports` names others.
        type: of the samples: a numpy dtype or a dataclass (as struct), a class of lcm-gen or protoc,
            `orc.flatbuffer(…)`, `dict` or `orc.json(…)`, an `orc.TypeDescription`. Subscriptions that expect another
            type make no link. None: the topic is untyped and matches any subscription.
        keep_last: True: a subscription that joins receives the last sample. False, for commands: a sample reaches only
            the subscriptions that are connected when it is sent.
        priority: "bulk", "normal" or "control", over tcp. This backend sets the DSCP only.
        shared: True: other participants may publish the topic too, if they also set it; at most 64 in all.

        Raises NoBroker, and the topic stays registered: see `publisher`. Raises NameTaken, when a live publication of
        another participant holds the topic. Raises BadName, BadArgument, Refused, Closed, Forked.
        """
        topic = self._checked(topic)
        self._core.usable()
        if options.text("multicast", multicast):
            raise errors.BadArgument("multicast needs the native backend; orc.pure has ipc and tcp")
        chosen = options.transports(transports)
        options.number("expected_size", expected_size, 0, 1 << 40)
        options.number("history", history, 1, options.MAX_QUEUE_DEPTH)
        options.only_for_shm(chosen, history=history != 1, memory=bool(lock or huge_pages))
        codec = typed(type)
        described = options.described(None if codec is None else codec.description)
        kept = options.flag("keep_last", keep_last)
        urgency = options.priority(chosen, priority)
        sharing = options.flag("shared", shared)
        asked: Dict[str, object] = {
            "transports": chosen,
            "type": described,
            "keep_last": kept,
            "priority": urgency,
            "shared": sharing,
        }
        self._same("unregister_topic", topic, topic in self._core.publications, asked, _REGISTER_DEFAULTS)
        made = self._core.register(topic, chosen or self._transports, described, codec, kept, urgency, sharing)
        return Publisher(self._owner, made, codec or made.codec)

    @overload
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
        max_messages: for shm; a BadArgument when `transports` names others.
        spin_us, wait, cpu_budget: checked, but without effect: a receive always waits as with "block". Watching gains
            nothing in this backend (liborc/doc/guide/python.md).
        max_age_ms: a receive drops samples that are older and goes on waiting; `missed` of the next one counts them.
            0: any age.
        type: that the samples must have, as in `register_topic`. With another type there is no link, and this call or
            `wait_connected` raises TypeMismatch. None: any type.
        type_check: "off": a link is made whatever the types are.
        newest_of: of a shared topic. "all": a receive returns the newest sample of all publishers. "each": the newest
            of each publisher, in turn. With conflate=0 a receive returns every sample of each, in its order.

        Raises NoBroker, TimedOut and TypeMismatch, and the request stays: see `subscriber`. Raises BadName,
        BadArgument, Refused, Closed, Forked.
        """
        topic = self._checked(topic)
        self._core.usable()
        within = options.milliseconds("connected_within_ms", connected_within_ms)
        chosen = options.transports(transports)
        kept = options.queue(conflate, depth)
        options.number("max_messages", max_messages, 1, 60)
        options.only_for_shm(chosen, max_messages=max_messages != 8)
        spins = options.number("spin_us", spin_us, 0, 1_000_000)
        predicts = options.waits_predictively(wait)
        budget = options.cpu_budget(cpu_budget)
        oldest = options.age("max_age_ms", max_age_ms)
        codec = typed(type)
        described = options.described(None if codec is None else codec.description)
        checks = options.type_check(type_check)
        of_each = options.newest_of(conflate, newest_of)
        asked: Dict[str, object] = {
            "transports": chosen,
            "queue": kept,
            "spin_us": spins,
            "wait": predicts,
            "cpu_budget": budget,
            "max_age_ms": oldest,
            "type": described,
            "checks": checks,
            "of_each": of_each,
        }
        self._same("release_topic", topic, topic in self._core.subscriptions, asked, _REQUEST_DEFAULTS)
        used = chosen or self._transports
        made = self._core.request(topic, used, kept, oldest, within, described, checks, codec, of_each)
        return self._handle(made, codec or made.codec)

    def _same(self, undo: str, topic: str, known: bool, asked: Dict[str, object], left_out: Dict[str, object]) -> None:
        """Registering or requesting again returns the current status. Options that are named again must be the same."""
        first = self._asked.get((undo, topic), {})
        if not known:
            self._asked[undo, topic] = asked
        elif any(first.get(name) != value for name, value in asked.items() if value != left_out[name]):
            raise errors.BadArgument(f"{topic} was set up with other options: call {undo} first")

    def send_msg(self, topic: str, data: Any) -> None:
        """Same as Publisher.send_msg, by name. Also raises NotRegistered."""
        self.publisher(topic).send_msg(data)

    def loan(self, topic: str, size: int) -> Loan:
        """Same as Publisher.loan, by name. Also raises NotRegistered."""
        return self.publisher(topic).loan(size)

    def recv_msg(self, topic: str, timeout_ms: int) -> Optional[Message[Any]]:
        """Same as Subscriber.recv_msg, by name. Also raises NotRequested."""
        timeout_ms = options.milliseconds("timeout_ms", timeout_ms)
        requested = self._requested(topic)
        return requested.receive(timeout_ms, requested.codec)

    def recv_next(self, topic: str, timeout_ms: int) -> Optional[Message[Any]]:
        """Same as Subscriber.recv_next, by name. Also raises NotRequested."""
        return self.recv_msg(topic, timeout_ms)

    def publisher(self, topic: str) -> Publisher[Any]:
        """Returns the handle of a registered topic. Raises NotRegistered, Closed, Forked."""
        self._core.usable()
        publication = self._core.publications.get(self.resolve(topic))
        if publication is None:
            raise errors.NotRegistered()
        return Publisher(self._owner, publication, publication.codec)

    def subscriber(self, topic: str) -> Subscriber[Any]:
        """Returns the handle of a requested topic. Raises NotRequested, Closed, Forked."""
        requested = self._requested(topic)
        return self._handle(requested, requested.codec)

    def unregister_topic(self, topic: str) -> None:
        """Withdraws a topic. Waits for the broker's answer, at most a second. Raises NotRegistered, Closed, Forked."""
        topic = self.resolve(topic)
        self._core.unregister(topic)
        self._asked.pop(("unregister_topic", topic), None)

    def release_topic(self, topic: str) -> None:
        """Withdraws a request. Calls that wait on it raise Closed. Raises NotRequested, Closed, Forked."""
        topic = self.resolve(topic)
        self._core.release(topic)
        self._asked.pop(("release_topic", topic), None)

    def resolve(self, name: str) -> str:
        """Returns the full name of a topic, service or parameter; also of a pattern. Does not check it.

        In the namespace "robot7" the full name of "pose" is "robot7/pose". A slash at the beginning leaves the
        namespace out: that of "/estop" is "estop". orc.Directory has full names only.
        """
        if options.text("a name", name).startswith("/"):
            return name[1:]
        return self._prefix + name if name else ""

    @property
    def broker_endpoint(self) -> str:
        """Endpoint of the broker that answered last; empty when no broker has answered yet."""
        self._core.usable()
        return self._core.session.broker_endpoint

    def close(self) -> None:
        """Ends calls, services, publications and subscriptions, says goodbye to the broker, and returns within two
        seconds. Handlers and callbacks that run still get half a second of them."""
        self._parameters.end()
        self._calls.end()
        self._core.close()
        self._calls.join()
        self._parameters.join()

    def __repr__(self) -> str:
        try:
            state = self.broker_endpoint or "no broker yet"
        except errors.Error as error:
            state = error.code
        return f"<orc.Participant {self._name!r}, {state}>"

    def __enter__(self) -> Participant:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _checked(self, topic: str) -> str:
        """Returns the full name. Raises BadName."""
        full = self.resolve(topic)
        if full.startswith("/"):
            raise errors.BadName("the topic name begins with more than one slash")
        return options.topic_name(full)

    def _requested(self, topic: str) -> Subscription:
        self._core.usable()
        subscription = self._core.subscriptions.get(self.resolve(topic))
        if subscription is None:
            raise errors.NotRequested()
        return subscription

    def _handle(self, subscription: Subscription, codec: Optional[Typed[Any]]) -> Subscriber[Any]:
        """One object per request and class of values."""
        known = self._handles.setdefault(subscription, weakref.WeakSet())
        for each in known:
            if makes_same(each._codec, codec):
                return each
        added: Subscriber[Any] = Subscriber(self._owner, subscription, codec)
        known.add(added)
        return added


def _open_watch(broker: str, topics: List[str]) -> Watch:
    return Directory(broker).watch(topics)


def _check_types(published: TypeDescription, expected: TypeDescription, publisher: str) -> None:
    try:
        difference = check_types(published, expected, publisher)
    except SchemaError as error:
        raise errors.BadArgument(str(error)) from None
    if difference:
        raise errors.TypeMismatch(difference)


def _numeric(advertise: str) -> str:
    """Looks the name up once: subscribers get a number."""
    if not advertise:
        return ""
    if known := endpoints.addresses_of(advertise):
        return known[0]
    raise errors.BadArgument(f"advertise: {advertise} is no address or known host")
