"""The native backend: the extension, and those of its parts that are simpler in Python."""

from __future__ import annotations

import threading
import weakref
from typing import Callable, Iterable, Optional, Union

from orc import _native
from orc._errors import Error
from orc._log import log_to_logging
from orc._native import Message, Publisher
from orc._program import program_name
from orc._types import link_text
from orc._waiting import Waiting

__all__ = ["Participant", "Message", "Publisher", "Subscriber"]

Log = Callable[[str, str], object]
Transports = Union[str, Iterable[str]]


class Subscriber(_native.Subscriber):
    __doc__ = _native.Subscriber.__doc__

    # Waiting is no base class, because a class over the extension's types has one base only.
    recv = Waiting.recv
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
    log: called with a level ("error", "warning", "info", "debug") and a text, on a thread of liborc. It must be quick
        and must not call back. None: the logger "orc".

    The constructor does not wait for a broker, and does not raise without one. The topics end with close(), with the
    `with` block, or when the participant and all its publishers and subscribers are gone. After fork() the child makes
    its own participant: calls on this one raise Forked.
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
            log=log_to_logging if log is None else log,
        )
        # One object per request, so that all asyncio tasks that wait for it share its descriptor.
        self._subscribers: weakref.WeakValueDictionary[str, Subscriber] = weakref.WeakValueDictionary()
        self._lock = threading.Lock()

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
        max_messages: shm: how many messages may exist at a time, 1 to 60.
        spin_us: shm: how long a receive spins before it sleeps, at most 1000000.
        max_age_ms: a receive drops samples that are older and goes on waiting; `missed` of the next one counts them.
            0: any age.

        Raises NoBroker and TimedOut, and the request stays: see `subscriber`. Raises BadName, BadArgument, Refused,
        NoPermission, NoDescriptors, NoMemory, SystemFailure, Closed and Forked, and the topic is not requested.
        """
        made = super().request_topic(
            topic,
            conflate=conflate,
            depth=depth,
            connected_within_ms=connected_within_ms,
            transports=transports,
            max_messages=max_messages,
            spin_us=spin_us,
            max_age_ms=max_age_ms,
        )
        return self._known(made)

    def subscriber(self, topic: str) -> Subscriber:
        """Returns the handle of a requested topic. Raises NotRequested, Closed, Forked."""
        return self._known(super().subscriber(topic))

    def release_topic(self, topic: str) -> None:
        """Withdraws a request. Calls that wait on it raise Closed. Raises NotRequested, Closed, Forked."""
        # This comes first, because Ctrl-C does not stop the call below: it goes on.
        with self._lock:
            self._subscribers.pop(topic, None)
        super().release_topic(topic)

    def _known(self, made: _native.Subscriber) -> Subscriber:
        with self._lock:
            known = self._subscribers.get(made.topic)
            if known is None or not known._is(made):  # `known` is of a subscription that was released
                known = self._subscribers[made.topic] = Subscriber(made)
            return known

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
