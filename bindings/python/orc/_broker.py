"""The native backend: the extension, and what of it is better said in Python."""

from __future__ import annotations

import logging
import threading
import weakref
from typing import Callable, Iterable, Optional, Union

from orc import _native
from orc._native import Message, Publisher
from orc._program import program_name
from orc._waiting import Waiting

__all__ = ["Broker", "Message", "Publisher", "Subscriber"]

Log = Callable[[str, str], object]
Transports = Union[str, Iterable[str]]

_levels = {"error": logging.ERROR, "warning": logging.WARNING, "info": logging.INFO, "debug": logging.DEBUG}


def log_to_logging(level: str, text: str) -> None:
    """To the logger "orc"."""
    logging.getLogger("orc").log(_levels[level], "%s", text)


class Subscriber(_native.Subscriber):
    __doc__ = _native.Subscriber.__doc__

    # Not a base class: the extension's types have one base alone.
    recv = Waiting.recv
    __aiter__ = Waiting.__aiter__
    __anext__ = Waiting.__anext__
    on_message = Waiting.on_message


class Broker(_native.Broker):
    """A program's session with ORC (liborc/include/orc/broker.h, ORC paper, Listing 1). All calls from any thread.

    broker: endpoint of the address broker, or several, separated by commas; "": $ORC_BROKER, else the user's, the
    system's, tcp://127.0.0.1:5570; "none": topics on multicast alone.
    name: for people, shown by `orc topic list`; "": the script's name.
    broker_timeout_ms: how long a set-up call waits for a broker that does not answer; -1: for ever.
    advertise: address that other hosts connect to; "": $ORC_ADVERTISE, else what routes to the broker,
        on its own host each address.
    ports: TCP ports on which topics listen, "40000-40100"; "": $ORC_PORTS, else any.
    transports: of "inproc", "ipc", "tcp", "shm", "multicast", for topics and requests that name none.
    multicast: URL of LCM's network.
    log: called with a level ("error", "warning", "info", "debug") and a text from a thread of liborc; it must be quick
    and not call back. None: the logger "orc".

    Never raises for a missing broker and does not wait for one. The topics end with close(), with the `with` block, or
    when the Broker and all its publishers and subscribers are gone. After fork() the child makes its own: Forked.
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
        super().__init__(
            broker,
            name=name or program_name(),
            broker_timeout_ms=broker_timeout_ms,
            advertise=advertise,
            ports=ports,
            transports=transports,
            multicast=multicast,
            log=log_to_logging if log is None else log,
        )
        # One object per request, so that all who wait for it on asyncio share its descriptor.
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
        """Asks for the samples of `topic`, registered or not; the link comes up when both ends exist.

        conflate: 1: a receive returns the newest sample; 0: every one in order, the last `depth` of them (1 to
        65536; 0: 64).
        connected_within_ms: wait for the link; -1: for ever. max_messages: shm: messages alive at a time, 1 to 60.
        spin_us: shm: a receive that waits looks for so long before it sleeps.
        max_age_ms: a receive drops samples that are older and goes on waiting; `missed` of the next one counts them. 0:
        returns samples of any age.

        NoBroker, TimedOut (both: the request stays, see `subscriber`), BadName, BadArgument, Refused, Closed, Forked.
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
        """The handle of a topic that was requested. NotRequested."""
        return self._known(super().subscriber(topic))

    def release_topic(self, topic: str) -> None:
        """Withdraws a request; who waits on it gets Closed. NotRequested."""
        # First: interrupted by Ctrl-C, the call goes on all the same.
        with self._lock:
            self._subscribers.pop(topic, None)
        super().release_topic(topic)

    def _known(self, made: _native.Subscriber) -> Subscriber:
        with self._lock:
            known = self._subscribers.get(made.topic)
            if known is None or not known._is(made):  # another: the subscription that it is of was released
                known = self._subscribers[made.topic] = Subscriber(made)
            return known

    def __enter__(self) -> Broker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
