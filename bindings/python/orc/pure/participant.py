"""The API: Participant, Publisher, Subscriber. The native classes of the same names have all the help."""

from __future__ import annotations

import contextlib
import inspect
import os
import time
import weakref
from typing import Any, Callable, Dict, Generic, Iterable, Iterator, List, Optional, Tuple

from .. import _commands
from .. import _errors as errors
from .._log import log_to_logging
from .._program import program_name
from .._typed import Typed, makes_same, typed
from .._typed.loan import TypedLoan
from .._typed.variables import T, T_co
from .._types import LinkInfo, PublisherInfo, link_text
from .._waiting import Waiting
from . import endpoints, options
from .link import MAX_PAYLOAD
from .message import Message
from .options import Transports, native_only
from .publication import Publication
from .reactor import Log
from .session import Session, wait_for
from .subscription import Subscription

_WITHDRAWAL_S = 1.0


class Publisher(Generic[T]):
    """The sending end of a topic. Any thread may make any call. Calls raise Closed after unregister_topic or close."""

    def __init__(self, participant: Participant, publication: Publication, codec: Optional[Typed[Any]]) -> None:
        self._participant = participant  # lives as long as its handles
        self._not_forked, self._publication, self._codec = participant._core.not_forked, publication, codec
        self.topic = publication.topic

    def send_msg(self, data: Any, stamp_ns: Optional[int] = None) -> None:
        """Sends one sample to every subscriber and returns. Never waits. `data`: any C-contiguous buffer.

        stamp_ns: when it was sent, in ns since 1970, if that is not now: in another network, or in a recording.
        """
        payload = options.payload(data)
        _check_size(payload.nbytes)
        if stamp_ns is not None:
            stamp_ns = options.number("stamp_ns", stamp_ns, 1, 2**63 - 1)
        self._not_forked()
        self._publication.publish(payload, stamp_ns)

    def send(self, value: Any) -> None:
        """Sends a value of the type that register_topic was given, or bytes. Also raises BadSample."""
        self.send_msg(value if self._codec is None else self._codec.encode(value))

    def loan(self, size: Optional[int] = None) -> Any:
        """`with publisher.loan(size) as memory:` gives writable bytes; leaving sends them, unless by an exception.

        Without a size it gives a value of the topic's type, which is a struct. Raises BadArgument, Closed, Forked.
        """
        if size is None and self._codec is not None:
            return TypedLoan(self._codec, self.loan(self._codec.memory_size()))
        if size is None:
            raise errors.BadArgument(f"topic {self.topic} has no type: say how many bytes, loan(size)")
        _check_size(options.number("size", size, 0, 2**63 - 1))
        self._not_forked()
        if self._publication.closed:
            raise errors.Closed()
        return self._loan(size)

    @contextlib.contextmanager
    def _loan(self, size: int) -> Iterator[memoryview]:
        memory = bytearray(size + 1)  # one byte to take off: only memory without views lets it go
        with memoryview(memory) as whole, whole[:size] as view:
            yield view
        try:
            memory.pop()
        except BufferError:
            raise BufferError("nothing was sent: views of the loan are still there; drop them in the block") from None
        self.send_msg(memory)

    @property
    def readers(self) -> int:
        """How many links are up."""
        return self._publication.readers

    def wait_readers(self, count: int, timeout_ms: int) -> bool:
        """Waits until at least `count` links are up, at most timeout_ms (-1: for ever). Raises Closed, Forked."""
        count, seconds = options.number("count", count, 0, 2**63 - 1), options.seconds("timeout_ms", timeout_ms)
        self._not_forked()
        its = self._publication
        with its.changed:
            wait_for(its.changed, lambda: its.closed or its.readers >= count, seconds)
            if its.closed:
                raise errors.Closed()
            return its.readers >= count

    def __repr__(self) -> str:
        return f"<orc.Publisher {self.topic!r}, {self.readers} reader{'' if self.readers == 1 else 's'}>"


class Subscriber(Waiting["Message[Any]"], Generic[T_co]):
    """The receiving end of a topic. Any thread may make any call. Calls raise Closed after release_topic or close."""

    publishers: List[PublisherInfo] = []  # of shared topics, which orc.pure does not have

    def __init__(self, participant: Participant, subscription: Subscription, codec: Optional[Typed[Any]]) -> None:
        self._participant = participant  # lives as long as its handles
        self._not_forked, self._subscription, self._codec = participant._core.not_forked, subscription, codec
        self._arrivals = subscription.arrivals
        self.topic = subscription.topic

    def recv_msg(self, timeout_ms: int) -> Optional[Message[T_co]]:
        """Returns the newest sample that was not returned yet (conflate=0: the next one), or None.

        Waits for it at most `timeout_ms`; 0 polls, -1 waits for ever. Ctrl-C ends the wait. Raises Closed, Forked.
        """
        seconds = options.seconds("timeout_ms", timeout_ms)
        self._not_forked()
        return self._subscription.receive(seconds, self._codec)

    recv_next = recv_msg  # over ipc and tcp, with conflate=1, only the newest sample is there

    @property
    def connected(self) -> bool:
        """True while a link is up."""
        return self.link.connected

    @property
    def link(self) -> LinkInfo:
        """The link to the publication, as it is now."""
        return self._subscription.link

    def wait_connected(self, timeout_ms: int) -> bool:
        """Waits until a link is up, at most `timeout_ms` (-1: for ever). Raises TypeMismatch, Closed, Forked."""
        seconds = options.seconds("timeout_ms", timeout_ms)
        self._not_forked()
        return self._subscription.wait_connected(seconds)

    def fileno(self) -> int:
        """Returns a descriptor for poll or asyncio that is readable when recv_msg(0) may return a sample, and at the
        end. Then call recv_msg(0) until it returns None. Do not read, write or close it. Raises Closed, Forked."""
        self._not_forked()
        return self._subscription.fileno()

    def __repr__(self) -> str:
        return f"<orc.Subscriber {self.topic!r}, {link_text(self.link)}>"


class Participant:
    """A program's session with ORC, in Python alone: topics over ipc and tcp.

    Any thread may make any call. The constructor does not wait for a broker, and does not raise without one. After
    fork() the child makes its own participant: calls on this one raise Forked. The options are those of the native
    class. The I/O thread calls `log` and waits for it; it holds a bound method weakly, and any other function.
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
        log: Optional[Log] = None,
    ) -> None:
        if options.text("multicast", multicast):
            raise native_only("multicast")
        if options.number("housekeeping_priority", housekeeping_priority, -1, 99) >= 0 or [*housekeeping_cpus]:
            raise native_only("housekeeping_priority or housekeeping_cpus")
        if log is not None and not callable(log):
            raise TypeError(f"log is called with level and text; this is {type(log).__name__}")
        self._prefix = options.name_space(namespace)
        self._offer = {
            "transports": options.transports(transports) or options.transports_of_environment(),
            "advertise": _numeric(options.text("advertise", advertise) or os.environ.get("ORC_ADVERTISE", "")),
            "ports": options.ports(options.text("ports", ports) or os.environ.get("ORC_PORTS", "")),
        }
        self._name = options.text("name", name) or program_name()
        patience = options.seconds("broker_timeout_ms", broker_timeout_ms)
        log = _weakly(log or log_to_logging)
        if os.environ.get("ORC_TRACE") and _untraced:
            log("warning", _untraced.pop())
        self._core = Session(options.text("broker", broker), self._name, patience, log)
        weakref.finalize(self, errors.close_in_the_end, self._core)
        self._handles: Any = weakref.WeakKeyDictionary()  # of each subscription, weakly

    def register_topic(self, topic: str, *, type: Any = None, **given: Any) -> Publisher[Any]:
        """Declares that this participant publishes `topic`. Waits for the broker's answer, at most broker_timeout_ms.

        Options are those of the native class. What is for shm has no effect here, and `priority` sets the DSCP only.
        Raises NoBroker, and the topic stays registered: see `publisher`. Raises NameTaken, BadName, BadArgument,
        Refused, NoDescriptors, Closed, Forked.
        """
        made, codec = self._declared(topic, typed(type), given, options.register(given), is_published=True)
        return Publisher(self, made, codec)

    def request_topic(
        self, topic: str, *, type: Any = None, connected_within_ms: int = 0, **given: Any
    ) -> Subscriber[Any]:
        """Asks for the samples of `topic`, which need not be registered yet. The link comes up when both ends exist.

        Options are those of the native class; spin_us, wait, cpu_budget and max_messages have no effect here. Types
        match when their hashes are equal. Raises NoBroker, TimedOut and TypeMismatch, and the request stays: see
        `subscriber`. Raises BadName, BadArgument, Refused, Closed, Forked.
        """
        within = options.seconds("connected_within_ms", connected_within_ms)
        deadline = time.monotonic() + (within or 0)
        made, codec = self._declared(topic, typed(type), given, options.request(given), is_published=False)
        if not made.wait_connected(None if within is None else max(0.0, deadline - time.monotonic())) and within != 0:
            why = f"no link to topic {made.topic} within {connected_within_ms} ms ({made.link.reason})"
            raise errors.TimedOut(f"{why}; {made.options['stays']}")
        return self._handle(made, codec)

    def register_command(self, topic: str, *, type: Any = None, **given: Any) -> Publisher[Any]:
        """register_topic for commands, as the native class has it."""
        return self.register_topic(topic, type=type, **_commands.offered(given))

    def request_command(self, topic: str, max_age_ms: int, *, type: Any = None, **given: Any) -> Subscriber[Any]:
        """request_topic for commands, as the native class has it."""
        return self.request_topic(topic, type=type, **_commands.wanted(max_age_ms, given))

    def _declared(
        self, topic: str, codec: Optional[Typed[Any]], given: Dict[str, Any], chosen: Dict[str, Any], is_published: bool
    ) -> Tuple[Any, Optional[Typed[Any]]]:
        full = self.resolve(topic)
        if full.startswith("/"):
            raise errors.BadName("the topic name begins with more than one slash")
        options.topic_name(full)
        self._core.usable()
        topics = self._core.publications if is_published else self._core.subscriptions
        make = Publication if is_published else Subscription
        described = options.described(None if codec is None else codec.description)
        given = {**given, "type": described}
        known = topics.get(full)
        # Declaring again returns the current status. Options that are named again must be the same.
        if known and any(value is not None and known.options["given"].get(n) != value for n, value in given.items()):
            undo = "unregister_topic" if is_published else "release_topic"
            raise errors.BadArgument(f"{full} was set up with other options: call {undo} first")
        what, where = ("topic stays registered", "publisher") if is_published else ("request stays", "subscriber")
        stays = f"the {what}: Participant.{where}({topic!r}) is its handle"
        named = chosen["transports"] or self._offer["transports"]
        chosen = {**chosen, **self._offer, "transports": named, "given": given, "stays": stays}
        made = self._core.declare(topics, make, full, chosen, described, codec)
        return made, codec or made.codec

    def send_msg(self, topic: str, data: Any) -> None:
        """Same as Publisher.send_msg, by name. Also raises NotRegistered."""
        self.publisher(topic).send_msg(data)

    def loan(self, topic: str, size: int) -> Any:
        """Same as Publisher.loan, by name. Also raises NotRegistered."""
        return self.publisher(topic).loan(size)

    def recv_msg(self, topic: str, timeout_ms: int) -> Optional[Message[Any]]:
        """Same as Subscriber.recv_msg, by name. Also raises NotRequested."""
        return self.subscriber(topic).recv_msg(timeout_ms)

    recv_next = recv_msg

    def publisher(self, topic: str) -> Publisher[Any]:
        """Returns the handle of a registered topic. Raises NotRegistered, Closed, Forked."""
        found = self._core.find(self._core.publications, self.resolve(topic), errors.NotRegistered)
        return Publisher(self, found, found.codec)

    def subscriber(self, topic: str) -> Subscriber[Any]:
        """Returns the handle of a requested topic. Raises NotRequested, Closed, Forked."""
        found = self._core.find(self._core.subscriptions, self.resolve(topic), errors.NotRequested)
        return self._handle(found, found.codec)

    def unregister_topic(self, topic: str) -> None:
        """Withdraws a topic. Waits for the broker's answer, at most a second. Raises NotRegistered, Closed, Forked."""
        core, found = self._core, self.publisher(topic)._publication
        core.forget(core.publications, found)
        if core.broker_endpoint:
            found.wait(_WITHDRAWAL_S if core.patience is None else min(core.patience, _WITHDRAWAL_S))

    def release_topic(self, topic: str) -> None:
        """Withdraws a request. Calls that wait on it raise Closed. Raises NotRequested, Closed, Forked."""
        self._core.forget(self._core.subscriptions, self.subscriber(topic)._subscription)

    def resolve(self, name: str) -> str:
        """Returns the full name of a topic; also of a pattern. Does not check it. In the namespace "robot7" the full
        name of "pose" is "robot7/pose", and that of "/estop" is "estop". orc.Directory has full names only."""
        if options.text("a name", name).startswith("/"):
            return name[1:]
        return self._prefix + name if name else ""

    @property
    def broker_endpoint(self) -> str:
        """Endpoint of the broker that answered last; empty when no broker has answered yet."""
        self._core.usable()
        return self._core.broker_endpoint

    def close(self) -> None:
        """Ends publications and subscriptions, says goodbye to the broker, and returns within two seconds."""
        self._core.close()

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

    def _handle(self, subscription: Subscription, codec: Optional[Typed[Any]]) -> Subscriber[Any]:
        """One object per request and class of values."""
        known = self._handles.setdefault(subscription, weakref.WeakSet())
        added: Subscriber[Any] = Subscriber(self, subscription, codec)
        found = next((each for each in known if makes_same(each._codec, codec)), added)
        known.add(found)
        return found


def _missing(what: str) -> Callable[..., Any]:
    def call(*_: object, **__: object) -> Any:
        raise native_only(what)

    return call


for _name in ("serve", "call", "wait_for_service"):
    setattr(Participant, _name, _missing(f"a service (Participant.{_name})"))
for _name in ("parameter", "get_parameter", "set_parameter", "get_parameters", "save_parameters", "load_parameters"):
    setattr(Participant, _name, _missing(f"a parameter (Participant.{_name})"))
Subscriber.publisher_of = _missing("a shared topic (Subscriber.publisher_of)")  # type: ignore[attr-defined]
lock_memory = _missing("lock_memory")
_untraced: List[str] = ["ORC_TRACE: this process is not traced: tracing needs the native backend"]


def _check_size(size: int) -> None:
    if size > MAX_PAYLOAD:
        raise errors.BadArgument(f"a sample of {size} bytes; orc.pure takes at most {MAX_PAYLOAD}")


def _numeric(advertise: str) -> str:
    """Looks the name up once: subscribers get a number."""
    found = endpoints.addresses_of(advertise) if advertise else [""]
    if not found:
        raise errors.BadArgument(f"advertise: {advertise} is no address or known host")
    return found[0]


def _weakly(log: Log) -> Log:
    """Holds a method weakly: the I/O thread holds `log`, and a method would keep its object, and so the participant."""
    try:
        method = weakref.WeakMethod(log) if inspect.ismethod(log) else lambda: log
    except TypeError:  # its class has __slots__ without __weakref__
        return log
    return lambda level, text: (method() or (lambda *_: None))(level, text)
