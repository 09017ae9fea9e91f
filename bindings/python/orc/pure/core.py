"""What a participant and its handles share: the I/O thread, the session, and the topics."""

from __future__ import annotations

import inspect
import os
import threading
import time
import weakref
from typing import Any, Dict, Optional, Tuple

from .. import _errors as errors
from .._typed import Typed
from . import endpoints
from .admission import Admission
from .described_type import DescribedType
from .publication import Publication
from .reactor import Reactor
from .realtime import Placement
from .session import Log, Session
from .subscription import Subscription

_TICK_S = 0.1
_CLOSE_S = 0.9
_WITHDRAWAL_S = 1.0
_CHECK_S = 0.5  # for the check of the types, when a request does not wait for the link


class Core:
    """Any thread may make any call. No call waits under a lock. Call `usable` before each: it raises Closed, Forked."""

    def __init__(
        self,
        broker: str,
        name: str,
        prefix: str,
        broker_timeout_ms: int,
        advertise: str,
        ports: Optional[range],
        placement: Placement,
        log: Log,
    ) -> None:
        self._prefix = prefix  # of the participant's names; here all names are full ones
        self._pid = os.getpid()
        self._patience = None if broker_timeout_ms < 0 else broker_timeout_ms / 1000
        log = _weakly(log)
        self._advertise, self._ports, self._log = advertise, ports, log
        self._setup = threading.RLock()  # reentrant: a finalizer or a signal handler may close it at any moment
        self._closed = False
        self._parting = False  # I/O thread only
        self._parted = threading.Event()
        self.publications: Dict[str, Publication] = {}
        self.subscriptions: Dict[str, Subscription] = {}
        self._reactor = Reactor(
            "orc", placement, lambda error: log("error", f"orc.pure: {type(error).__name__}: {error}")
        )
        self._admission = Admission(self._reactor)
        self.session = Session(self._reactor, broker, name, log)
        directory = endpoints.socket_directory(self.session.offered_for)
        if directory is not None:
            endpoints.sweep(directory)
        self._reactor.post(self.session.start)
        self._reactor.post(self._tick)

    @property
    def forked(self) -> bool:
        return os.getpid() != self._pid

    def _spelled(self, topic: str) -> str:
        """A full name as the program gives it to the participant."""
        return repr(f"/{topic}" if self._prefix else topic)

    def usable(self) -> None:
        if self.forked:
            raise errors.Forked()
        if self._closed:
            raise errors.Closed()

    def register(
        self,
        topic: str,
        transports: Tuple[str, ...],
        described: Optional[DescribedType],
        codec: Optional[Typed[Any]],
        keep_last: bool,
        priority: str,
        shared: bool,
    ) -> Publication:
        with self._setup:
            found = self.publications.get(topic) or self.publications.setdefault(
                topic,
                Publication(
                    self._reactor,
                    self._admission,
                    self.session,
                    topic,
                    transports,
                    described,
                    codec,
                    keep_last,
                    priority,
                    shared,
                    self._advertise,
                    self._ports,
                    self._log,
                ),
            )
            self.usable()
            self._reactor.check_placement()
            self._reactor.post(lambda: self.session.publish(found))  # each time: Ctrl-C may have prevented the first
        error = found.announcement.wait(self._patience)
        if error is not None:
            if found.announcement.settled_badly:
                self._forget_publication(found)
            raise errors.kept(
                error, f"the topic stays registered: Participant.publisher({self._spelled(topic)}) is its handle"
            )
        return found

    def request(
        self,
        topic: str,
        transports: Tuple[str, ...],
        depth: int,
        max_age_ms: int,
        connected_within_ms: int,
        described: Optional[DescribedType],
        checks_type: bool,
        codec: Optional[Typed[Any]],
        of_each: bool,
    ) -> Subscription:
        deadline = time.monotonic() + connected_within_ms / 1000
        with self._setup:
            found = self.subscriptions.get(topic) or self.subscriptions.setdefault(
                topic,
                Subscription(
                    self._reactor,
                    self.session,
                    topic,
                    transports,
                    depth,
                    max_age_ms,
                    described,
                    checks_type,
                    codec,
                    self._log,
                    of_each,
                ),
            )
            self.usable()
            self._reactor.check_placement()
            self._reactor.post(lambda: self.session.subscribe(found))
        error = found.announcement.wait(self._patience)
        if error is not None:
            if found.announcement.settled_badly:
                self._forget_subscription(found)
            raise errors.kept(error, f"the request stays: Participant.subscriber({self._spelled(topic)}) is its handle")
        if connected_within_ms == 0:
            found.wait_checked(_CHECK_S if self._patience is None else min(self._patience, _CHECK_S))
        else:
            left_ms = -1 if connected_within_ms < 0 else max(0, int((deadline - time.monotonic()) * 1000))
            if not found.wait_connected(left_ms):
                raise errors.TimedOut(
                    f"no link to topic {topic} within {connected_within_ms} ms ({found.link.reason}); "
                    f"the request stays: Participant.subscriber({self._spelled(topic)}) is its handle"
                )
        return found

    def unregister(self, topic: str) -> None:
        self.usable()
        publication = self.publications.get(topic)
        if publication is None:
            raise errors.NotRegistered()
        self._forget_publication(publication)
        patience = _WITHDRAWAL_S if self._patience is None else min(self._patience, _WITHDRAWAL_S)
        if self.session.broker_endpoint:
            publication.withdrawal.wait(patience)

    def release(self, topic: str) -> None:
        self.usable()
        subscription = self.subscriptions.get(topic)
        if subscription is None:
            raise errors.NotRequested()
        self._forget_subscription(subscription)

    def close(self) -> None:
        """Ends everything within a second. Harmless after fork, and when called again."""
        if self.forked:
            return
        with self._setup:
            self._closed = True
            for subscription in list(self.subscriptions.values()):
                subscription.close()
            for publication in list(self.publications.values()):
                publication.close()
            self._reactor.post(self._part)
        if not self._reactor.inside():
            self._parted.wait(_CLOSE_S)
            self._reactor.stop(_CLOSE_S)

    def _forget_publication(self, publication: Publication) -> None:
        with self._setup:
            if self.publications.get(publication.topic) is publication:
                del self.publications[publication.topic]
        publication.close()
        self._reactor.post(lambda: self.session.unpublish(publication, publication.withdrawal))
        self._reactor.post(lambda: publication.part(lambda: None))

    def _forget_subscription(self, subscription: Subscription) -> None:
        with self._setup:
            if self.subscriptions.get(subscription.topic) is subscription:
                del self.subscriptions[subscription.topic]
        subscription.close()
        self._reactor.post(subscription.part)
        self._reactor.post(lambda: self.session.unsubscribe(subscription, subscription.withdrawal))

    def _tick(self) -> None:
        if not self._closed:
            self._reactor.after(_TICK_S, self._tick)
            now = time.monotonic()
            for subscription in list(self.subscriptions.values()):
                subscription.tick(now)
            for publication in list(self.publications.values()):
                publication.tick()

    def _part(self) -> None:
        if self._parting:
            return
        self._parting = True
        publications = list(self.publications.values())
        for subscription in list(self.subscriptions.values()):
            subscription.part()
        self.session.close()
        left = len(publications)

        def parted() -> None:
            nonlocal left
            left -= 1
            if left <= 0:
                self._parted.set()
                self._reactor.stop(0)

        for publication in publications:
            publication.part(parted)
        if not publications:
            parted()


class Owner:
    """Held by a participant and its handles. The participant ends with the last of them, or with the program."""

    def __init__(self, core: Core) -> None:
        self.core = core
        self._end = weakref.finalize(self, core.close)


def _weakly(log: Log) -> Log:
    """Holds a method weakly: the I/O thread holds `log`, and a method would keep its object, and so the participant."""
    if not inspect.ismethod(log):
        return log
    try:
        method = weakref.WeakMethod(log)
    except TypeError:  # its class has __slots__ without __weakref__
        return log

    def call(level: str, text: str) -> None:
        alive = method()
        if alive is not None:
            alive(level, text)

    return call
