"""The API: Participant and its handles (liborc/include/orc/participant.h, publisher.h, subscriber.h)."""

from __future__ import annotations

import os
import weakref
from typing import Any, Callable, Dict, Optional, Tuple

from .. import _errors as errors
from .._log import log_to_logging
from .._program import program_name
from .._types import LinkInfo, TypeInfo, link_text
from .._waiting import Waiting
from . import endpoints, options
from .core import Core, Owner
from .message import Loan, Message
from .options import Transports
from .patience import wait_for
from .publication import Publication
from .subscription import Subscription

_MAX_SAMPLE_BYTES = (1 << 30) - 16
_REGISTER_DEFAULTS: Dict[str, object] = {
    "transports": (),
    "type": None,
    "keep_last": True,
    "priority": "normal",
}
_REQUEST_DEFAULTS: Dict[str, object] = {"transports": (), "queue": 0, "max_age_ms": 0}


class Publisher:
    """The sending end of a topic. Any thread may make any call. Calls raise Closed after unregister_topic or close."""

    def __init__(self, owner: Owner, publication: Publication) -> None:
        self._owner = owner
        self._publication = publication

    @property
    def topic(self) -> str:
        return self._publication.topic

    def send_msg(self, data: Any) -> None:
        """Sends one sample to every subscriber and returns. Never waits. `data`: any C-contiguous buffer.

        Keeps the sample for subscribers that join later, unless keep_last is False. Raises TypeError (no buffer),
        BufferError (not contiguous), BadArgument (larger than 1 GiB less 16 bytes), Closed, Forked.
        """
        payload = options.payload(data)
        _check_size(payload.nbytes)
        self._usable()
        self._publication.publish(payload)

    def loan(self, size: int) -> Loan:
        """`with publisher.loan(size) as memory:` gives `size` writable bytes. Leaving sends them, an exception not.

        Raises BadArgument (too large), Closed, Forked.
        """
        _check_size(options.number("size", size, 0, 2**63 - 1))
        self._usable()
        if self._publication.closed:
            raise errors.Closed()
        return Loan(size, self._send_filled)

    def _send_filled(self, frame: bytearray) -> None:
        self._usable()
        self._publication.publish_filled(frame)

    def _usable(self) -> None:
        if self._owner.core.forked:
            raise errors.Forked()

    @property
    def readers(self) -> int:
        """How many links are up. A killed subscriber counts until its connection is seen to be gone."""
        return self._publication.readers

    def wait_readers(self, count: int, timeout_ms: int) -> bool:
        """Waits until at least `count` links are up, at most timeout_ms (-1: for ever). Returns False when fewer came
        up. Raises Closed, Forked, BadArgument (timeout_ms below -1).
        """
        count = options.number("count", count, 0, 2**63 - 1)
        timeout_ms = options.milliseconds("timeout_ms", timeout_ms)
        self._usable()
        publication = self._publication
        with publication.joined:
            seconds = None if timeout_ms < 0 else timeout_ms / 1000
            wait_for(publication.joined, lambda: publication.closed or publication.readers >= count, seconds)
            if publication.closed:
                raise errors.Closed()
            return publication.readers >= count

    def __repr__(self) -> str:
        readers = self.readers
        return f"<orc.Publisher {self.topic!r}, {readers} reader{'' if readers == 1 else 's'}>"


class Subscriber(Waiting[Message]):
    """The receiving end of a topic. Any thread may make any call. When several threads wait, each sample goes to one.

    Calls raise Closed after release_topic or close. On asyncio: `await subscriber.recv()`, `async for message in
    subscriber`.
    """

    def __init__(self, owner: Owner, subscription: Subscription) -> None:
        self._owner = owner
        self._subscription = subscription

    @property
    def topic(self) -> str:
        return self._subscription.topic

    def recv_msg(self, timeout_ms: int) -> Optional[Message]:
        """Returns the newest sample that was not returned yet (conflate=0: the next one), or None.

        Waits for it at most `timeout_ms`; 0 polls, -1 waits for ever. Never returns an older sample after a newer one.
        Ctrl-C ends the wait. Raises Closed, Forked, BadArgument (timeout_ms below -1), OverflowError.
        """
        timeout_ms = options.milliseconds("timeout_ms", timeout_ms)
        self._usable()
        return self._subscription.receive(timeout_ms)

    def recv_next(self, timeout_ms: int) -> Optional[Message]:
        """Same as recv_msg: over ipc and tcp, with conflate=1, only the newest sample is there."""
        return self.recv_msg(timeout_ms)

    @property
    def connected(self) -> bool:
        """True while a link is up: the publication exists, its identity was checked, and samples flow."""
        return self.link.connected

    @property
    def link(self) -> LinkInfo:
        """The link to the publication, as it is now."""
        return self._subscription.link

    def wait_connected(self, timeout_ms: int) -> bool:
        """Waits until a link is up, at most `timeout_ms` (-1: for ever). Returns False when none came up.

        Raises Closed, Forked, BadArgument (timeout_ms below -1).
        """
        timeout_ms = options.milliseconds("timeout_ms", timeout_ms)
        self._usable()
        return self._subscription.wait_connected(timeout_ms)

    def fileno(self) -> int:
        """Returns a descriptor for poll, epoll or asyncio that is readable when recv_msg(0) may return a sample.

        When it is readable, call recv_msg(0) until it returns None. Do not read, write or close it. It also becomes
        readable when the subscription ends. After that, this call raises Closed.
        """
        self._usable()
        return self._subscription.fileno()

    def __repr__(self) -> str:
        return f"<orc.Subscriber {self.topic!r}, {link_text(self.link)}>"

    def _usable(self) -> None:
        if self._owner.core.forked:
            raise errors.Forked()


class Participant:
    """A program's session with ORC (ORC paper, Listing 1), in Python alone: transports ipc and tcp.

    Any thread may make any call. A participant has one I/O thread. The constructor does not wait for a broker, and does
    not raise without one. After fork() the child makes its own participant: calls on this one raise Forked. `close()`,
    or the `with` block, ends it within a second.

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
        address = _numeric(options.text("advertise", advertise) or os.environ.get("ORC_ADVERTISE", ""))
        self._name = options.text("name", name) or program_name()
        core = Core(
            broker,
            self._name,
            options.milliseconds("broker_timeout_ms", broker_timeout_ms),
            address,
            options.ports(options.text("ports", ports) or os.environ.get("ORC_PORTS", "")),
            log or log_to_logging,
        )
        self._core = core
        self._owner = Owner(core)
        self._asked: Dict[Tuple[str, str], Dict[str, object]] = {}
        self._handles: weakref.WeakValueDictionary[int, Subscriber] = weakref.WeakValueDictionary()

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
        type: Optional[TypeInfo] = None,
        keep_last: bool = True,
        priority: str = "normal",
    ) -> Publisher:
        """Declares that this participant publishes `topic`. Waits for the broker's answer, at most broker_timeout_ms.

        expected_size, history, lock, huge_pages: for shm, which this backend does not have. The last three are a
            BadArgument when `transports` names others.
        keep_last: True: a subscription that joins receives the last sample. False, for commands: a sample reaches only
            the subscriptions that are connected when it is sent.
        priority: "bulk", "normal" or "control", over tcp. This backend sets the DSCP only.

        Raises NoBroker, and the topic stays registered: see `publisher`. Raises NameTaken, when a live publication of
        another participant holds the topic. Raises BadName, BadArgument, Refused, Closed, Forked.
        """
        topic = options.topic_name(topic)
        self._core.usable()
        if options.text("multicast", multicast):
            raise errors.BadArgument("multicast needs the native backend; orc.pure has ipc and tcp")
        chosen = options.transports(transports)
        options.number("expected_size", expected_size, 0, 1 << 40)
        options.number("history", history, 1, options.MAX_QUEUE_DEPTH)
        options.only_for_shm(chosen, history=history != 1, memory=bool(lock or huge_pages))
        described = options.described(type)
        kept = options.flag("keep_last", keep_last)
        urgency = options.priority(chosen, priority)
        asked: Dict[str, object] = {"transports": chosen, "type": described, "keep_last": kept, "priority": urgency}
        self._same("unregister_topic", topic, topic in self._core.publications, asked, _REGISTER_DEFAULTS)
        made = self._core.register(topic, chosen or self._transports, described, kept, urgency)
        return Publisher(self._owner, made)

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
        max_age_ms: int = 0,
    ) -> Subscriber:
        """Asks for the samples of `topic`, which need not be registered yet. The link comes up when both ends exist.

        conflate: 1: a receive returns the newest sample. 0: a receive returns every sample in order, of the last
            `depth`.
        depth: 1 to 65536; 0: 64. With conflate=1 it must be 0.
        connected_within_ms: how long to wait for the link; 0: not at all, -1: for ever.
        max_messages, spin_us: for shm; a BadArgument when `transports` names others.
        max_age_ms: a receive drops samples that are older and goes on waiting; `missed` of the next one counts them.
            0: any age.

        Raises NoBroker and TimedOut, and the request stays: see `subscriber`. Raises BadName, BadArgument, Refused,
        Closed, Forked.
        """
        topic = options.topic_name(topic)
        self._core.usable()
        within = options.milliseconds("connected_within_ms", connected_within_ms)
        chosen = options.transports(transports)
        kept = options.queue(conflate, depth)
        options.number("max_messages", max_messages, 1, 60)
        options.number("spin_us", spin_us, 0, 1_000_000)
        options.only_for_shm(chosen, max_messages=max_messages != 8, spin_us=spin_us != 0)
        oldest = options.age("max_age_ms", max_age_ms)
        asked: Dict[str, object] = {"transports": chosen, "queue": kept, "max_age_ms": oldest}
        self._same("release_topic", topic, topic in self._core.subscriptions, asked, _REQUEST_DEFAULTS)
        return self._handle(self._core.request(topic, chosen or self._transports, kept, oldest, within))

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

    def recv_msg(self, topic: str, timeout_ms: int) -> Optional[Message]:
        """Same as Subscriber.recv_msg, by name. Also raises NotRequested."""
        timeout_ms = options.milliseconds("timeout_ms", timeout_ms)
        return self._requested(topic).receive(timeout_ms)

    def recv_next(self, topic: str, timeout_ms: int) -> Optional[Message]:
        """Same as Subscriber.recv_next, by name. Also raises NotRequested."""
        return self.recv_msg(topic, timeout_ms)

    def publisher(self, topic: str) -> Publisher:
        """Returns the handle of a registered topic. Raises NotRegistered, Closed, Forked."""
        self._core.usable()
        publication = self._core.publications.get(_str(topic))
        if publication is None:
            raise errors.NotRegistered()
        return Publisher(self._owner, publication)

    def subscriber(self, topic: str) -> Subscriber:
        """Returns the handle of a requested topic. Raises NotRequested, Closed, Forked."""
        return self._handle(self._requested(topic))

    def unregister_topic(self, topic: str) -> None:
        """Withdraws a topic. Waits for the broker's answer, at most a second. Raises NotRegistered, Closed, Forked."""
        self._core.unregister(_str(topic))

    def release_topic(self, topic: str) -> None:
        """Withdraws a request. Calls that wait on it raise Closed. Raises NotRequested, Closed, Forked."""
        self._core.release(_str(topic))

    @property
    def broker_endpoint(self) -> str:
        """Endpoint of the broker that answered last; empty when no broker has answered yet."""
        self._core.usable()
        return self._core.session.broker_endpoint

    def close(self) -> None:
        """Ends publications and subscriptions, says goodbye to the broker, and returns within a second."""
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

    def _requested(self, topic: str) -> Subscription:
        self._core.usable()
        subscription = self._core.subscriptions.get(_str(topic))
        if subscription is None:
            raise errors.NotRequested()
        return subscription

    def _handle(self, subscription: Subscription) -> Subscriber:
        """One object per request, so that all asyncio tasks that wait for it share its descriptor."""
        known = self._handles.get(id(subscription))
        if known is None or known._subscription is not subscription:
            known = self._handles[id(subscription)] = Subscriber(self._owner, subscription)
        return known


def _str(topic: str) -> str:
    return options.text("a topic's name", topic)


def _check_size(size: int) -> None:
    if size > _MAX_SAMPLE_BYTES:
        raise errors.BadArgument(f"a sample of {size} bytes; orc.pure takes at most {_MAX_SAMPLE_BYTES}")


def _numeric(advertise: str) -> str:
    """Looks the name up once: subscribers get a number."""
    if not advertise:
        return ""
    if known := endpoints.addresses_of(advertise):
        return known[0]
    raise errors.BadArgument(f"advertise: {advertise} is no address or known host")
