"""The API: Broker and its handles (liborc/include/orc/broker.h, publisher.h, subscriber.h)."""

from __future__ import annotations

import logging
import os
import weakref
from typing import Any, Callable, Dict, Optional, Tuple

from .. import _errors as errors
from .._types import LinkInfo, TypeInfo
from .._waiting import Waiting
from . import options, places
from .message import Loan, Message
from .options import Transports
from .participant import Owner, Participant
from .publication import Publication
from .subscription import Subscription

_LEVELS = {"error": logging.ERROR, "warning": logging.WARNING, "info": logging.INFO, "debug": logging.DEBUG}
_LARGEST_SAMPLE = (1 << 30) - 16
_REGISTER_DEFAULTS: Dict[str, object] = {
    "transports": (),
    "type": None,
    "keep_last": True,
    "priority": "normal",
}
_REQUEST_DEFAULTS: Dict[str, object] = {"transports": (), "queue": 0, "max_age_ms": 0}


def _log_to_logging(level: str, text: str) -> None:
    logging.getLogger("orc").log(_LEVELS[level], "%s", text)


class Publisher:
    """The sending end of a topic. Safe from any thread. After unregister_topic or close: Closed."""

    def __init__(self, owner: Owner, publication: Publication) -> None:
        self._owner = owner
        self._publication = publication

    @property
    def topic(self) -> str:
        return self._publication.topic

    def send_msg(self, data: Any) -> None:
        """Hands one sample to the links and returns; never waits. `data`: any C-contiguous buffer.

        It is kept as the last value for those that join later. TypeError, BufferError, Closed, Forked.
        """
        payload = options.payload(data)
        _check_size(payload.nbytes)
        self._usable()
        self._publication.publish(payload)

    def loan(self, size: int) -> Loan:
        """`with publisher.loan(size) as memory:` gives `size` writable bytes; leaving sends them, an exception not."""
        _check_size(options.number("size", size, 0, 2**63 - 1))
        self._usable()
        if self._publication.closed:
            raise errors.Closed()
        return Loan(size, self._send_filled)

    def _send_filled(self, frame: bytearray) -> None:
        self._usable()
        self._publication.publish_filled(frame)

    def _usable(self) -> None:
        if self._owner.participant.forked:
            raise errors.Forked()

    @property
    def readers(self) -> int:
        """Links up now. A subscriber that was killed counts until its connection is seen to be gone."""
        return self._publication.readers


class Subscriber(Waiting[Message]):
    """The receiving end of a topic. Safe from any thread; each sample goes to one of those who wait.

    After release_topic or close: Closed. On asyncio: `await subscriber.recv()`, `async for message in subscriber`.
    """

    def __init__(self, owner: Owner, subscription: Subscription) -> None:
        self._owner = owner
        self._subscription = subscription

    @property
    def topic(self) -> str:
        return self._subscription.topic

    def recv_msg(self, timeout_ms: int) -> Optional[Message]:
        """The newest sample that was not returned yet (conflate=0: the next one), waiting for it at most `timeout_ms`.

        0: poll; -1: for ever. None: nothing new, or timed out. Never an older sample after a newer one. Ctrl-C ends the
        wait. Closed, Forked, BadArgument (below -1), OverflowError.
        """
        timeout_ms = options.milliseconds("timeout_ms", timeout_ms)
        self._usable()
        return self._subscription.receive(timeout_ms)

    def recv_next(self, timeout_ms: int) -> Optional[Message]:
        """In order from where it joined. Over ipc and tcp that is the same as recv_msg: with conflate=1 only the newest
        is there."""
        return self.recv_msg(timeout_ms)

    @property
    def connected(self) -> bool:
        """The publication exists, its identity was checked through the link, and samples flow."""
        return self.link.connected

    @property
    def link(self) -> LinkInfo:
        """What links it to its publication, and why that transport."""
        return self._subscription.link

    def wait_connected(self, timeout_ms: int) -> bool:
        """Waits for the link, at most `timeout_ms` (-1: for ever). False when it does not come up in time. Closed."""
        timeout_ms = options.milliseconds("timeout_ms", timeout_ms)
        self._usable()
        return self._subscription.wait_connected(timeout_ms)

    def fileno(self) -> int:
        """Readable when recv_msg(0) may have something, for poll, epoll or asyncio: call it until it gives None.

        Do not read, write or close it. It is readable when the subscription ends; asked for after that: Closed.
        """
        self._usable()
        return self._subscription.fileno()

    def _usable(self) -> None:
        if self._owner.participant.forked:
            raise errors.Forked()


class Broker:
    """A program's session with ORC (ORC paper, Listing 1), in Python alone: transports ipc and tcp.

    All calls are safe from any thread. One I/O thread. Never raises for a missing broker and does not wait for one.
    After fork() a child must make its own: Forked. `close()`, or `with`, ends it within a second.

    `log` is called on the I/O thread, which waits for it. A bound method is held weakly: it does not keep its object,
    and is not called any more when that is gone. Any other function is held: one that refers to the Broker keeps it.
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
        for endpoint in places.named_brokers(broker):
            if problem := places.endpoint_problem(endpoint):
                raise errors.BadArgument(f"the broker's endpoint {problem}")
        if log is not None and not callable(log):
            raise TypeError(f"log is called with level and text; this is {type(log).__name__}")
        self._transports = options.transports(transports) or options.transports_of_environment()
        address = _numeric(options.text("advertise", advertise) or os.environ.get("ORC_ADVERTISE", ""))
        participant = Participant(
            broker,
            options.text("name", name),
            options.milliseconds("broker_timeout_ms", broker_timeout_ms),
            address,
            options.ports(options.text("ports", ports) or os.environ.get("ORC_PORTS", "")),
            log or _log_to_logging,
        )
        self._participant = participant
        self._owner = Owner(participant)
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
        """Declares `topic` as published by this participant, and waits for the broker's answer, at most
        broker_timeout_ms. expected_size, history, lock and huge_pages are for shm, which this backend does not have;
        the last three are refused when `transports` names others.

        keep_last: a subscription that joins receives the last sample. False (for commands): only those that are
        connected when a sample is sent receive it.
        priority: "bulk", "normal" or "control", in the network (tcp). This backend sets the DSCP alone.

        NoBroker: nobody answered; it can be sent to all the same (`publisher`) and is announced when a broker answers.
        NameTaken: a live publication of another participant holds it. BadName, BadArgument, Refused, Closed, Forked.
        """
        topic = options.topic_name(topic)
        self._participant.usable()
        if options.text("multicast", multicast):
            raise errors.BadArgument("multicast needs the native backend; orc.pure has ipc and tcp")
        chosen = options.transports(transports)
        options.number("expected_size", expected_size, 0, 1 << 40)
        options.number("history", history, 1, options.LONGEST_QUEUE)
        options.only_for_shm(chosen, history=history != 1, memory=bool(lock or huge_pages))
        described = options.described(type)
        kept = options.flag("keep_last", keep_last)
        urgency = options.priority(chosen, priority)
        asked: Dict[str, object] = {"transports": chosen, "type": described, "keep_last": kept, "priority": urgency}
        self._same("unregister_topic", topic, topic in self._participant.publications, asked, _REGISTER_DEFAULTS)
        made = self._participant.register(topic, chosen or self._transports, described, kept, urgency)
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
        """Asks for the samples of `topic`, registered or not; the link comes up when both ends exist.

        conflate: 1: a receive returns the newest sample; 0: every one in order, the last `depth` of them (1 to
        65536; 0: 64).
        connected_within_ms: wait for the link; -1: for ever. max_messages and spin_us are for shm, and
        refused when `transports` names others.
        max_age_ms: a receive drops samples that are older and goes on waiting; `missed` of the next one counts them. 0:
        returns samples of any age.

        NoBroker, TimedOut (both: the request stays, see `subscriber`), BadName, BadArgument, Refused, Closed, Forked.
        """
        topic = options.topic_name(topic)
        self._participant.usable()
        within = options.milliseconds("connected_within_ms", connected_within_ms)
        chosen = options.transports(transports)
        kept = options.queue(conflate, depth)
        options.number("max_messages", max_messages, 1, 60)
        options.number("spin_us", spin_us, 0, 1_000_000)
        options.only_for_shm(chosen, max_messages=max_messages != 8, spin_us=spin_us != 0)
        oldest = options.age("max_age_ms", max_age_ms)
        asked: Dict[str, object] = {"transports": chosen, "queue": kept, "max_age_ms": oldest}
        self._same("release_topic", topic, topic in self._participant.subscriptions, asked, _REQUEST_DEFAULTS)
        return self._handle(self._participant.request(topic, chosen or self._transports, kept, oldest, within))

    def _same(self, undo: str, topic: str, known: bool, asked: Dict[str, object], left_out: Dict[str, object]) -> None:
        """Registering or requesting again tells how it stands. Options that are named again must be the same."""
        first = self._asked.get((undo, topic), {})
        if not known:
            self._asked[undo, topic] = asked
        elif any(first.get(name) != value for name, value in asked.items() if value != left_out[name]):
            raise errors.BadArgument(f"{topic} was set up with other options: call {undo} first")

    def send_msg(self, topic: str, data: Any) -> None:
        """Publisher.send_msg by name. NotRegistered."""
        self.publisher(topic).send_msg(data)

    def loan(self, topic: str, size: int) -> Loan:
        """Publisher.loan by name. NotRegistered."""
        return self.publisher(topic).loan(size)

    def recv_msg(self, topic: str, timeout_ms: int) -> Optional[Message]:
        """Subscriber.recv_msg by name. NotRequested."""
        timeout_ms = options.milliseconds("timeout_ms", timeout_ms)
        return self._requested(topic).receive(timeout_ms)

    def recv_next(self, topic: str, timeout_ms: int) -> Optional[Message]:
        """Subscriber.recv_next by name. NotRequested."""
        return self.recv_msg(topic, timeout_ms)

    def publisher(self, topic: str) -> Publisher:
        """The handle of a topic that was registered. NotRegistered."""
        self._participant.usable()
        publication = self._participant.publications.get(_str(topic))
        if publication is None:
            raise errors.NotRegistered()
        return Publisher(self._owner, publication)

    def subscriber(self, topic: str) -> Subscriber:
        """The handle of a topic that was requested. NotRequested."""
        return self._handle(self._requested(topic))

    def unregister_topic(self, topic: str) -> None:
        """Withdraws a topic and waits for the broker's answer, at most a second. NotRegistered."""
        self._participant.unregister(_str(topic))

    def release_topic(self, topic: str) -> None:
        """Withdraws a request; who waits on it gets Closed. NotRequested."""
        self._participant.release(_str(topic))

    @property
    def broker_endpoint(self) -> str:
        """Endpoint of the broker that answered last; empty when none did yet."""
        self._participant.usable()
        return self._participant.session.broker_endpoint

    def close(self) -> None:
        """Ends publications and subscriptions, tells the broker, and returns within a second."""
        self._participant.close()

    def __enter__(self) -> Broker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _requested(self, topic: str) -> Subscription:
        self._participant.usable()
        subscription = self._participant.subscriptions.get(_str(topic))
        if subscription is None:
            raise errors.NotRequested()
        return subscription

    def _handle(self, subscription: Subscription) -> Subscriber:
        """One object per request, so that all who wait for it on asyncio share its descriptor."""
        known = self._handles.get(id(subscription))
        if known is None or known._subscription is not subscription:
            known = self._handles[id(subscription)] = Subscriber(self._owner, subscription)
        return known


def _str(topic: str) -> str:
    return options.text("a topic's name", topic)


def _check_size(size: int) -> None:
    if size > _LARGEST_SAMPLE:
        raise errors.BadArgument(f"a sample of {size} bytes; orc.pure takes at most {_LARGEST_SAMPLE}")


def _numeric(advertise: str) -> str:
    """Looked up once, here."""
    if not advertise:
        return ""
    if known := places.addresses_of(advertise):
        return known[0]
    raise errors.BadArgument(f"advertise: {advertise} is no address or known host")
