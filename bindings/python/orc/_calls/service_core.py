"""A service: the handler, its waiting calls, its threads and its clients."""

from __future__ import annotations

import contextlib
import json
import secrets
import threading
import time
import weakref
from dataclasses import asdict, dataclass
from typing import Any, Dict, List, Optional, Tuple

from .._directory_types import PublicationState
from .._errors import Error, Forked, NoBroker, SystemFailure
from .._type_description import TypeDescription
from .errors import CallErrc, CallError
from .handler import Handler
from .message import CallTypes, absolute
from .platform import CheckTypes, Participant
from .process import Process
from .recorder import Recorder
from .service_call import ServiceCall
from .service_client import ServiceClient
from .turns import Turns
from .waiting_calls import WaitingCalls

_MAX_REFUSED_CLIENTS = 32  # that learn why
_BETWEEN_FIGURES_S = 1.0


@dataclass(frozen=True)
class ServiceFigures:
    """What a service did since it was made."""

    clients: int
    """Connected now."""
    waiting: int
    """Requests that wait now."""
    calls: int
    """Handlers that ran to their end."""
    failed: int
    """Of these: ended by an exception or fail()."""
    refused: int
    """Requests that never ran: busy, replaced, cancelled, lost, too late, of another type."""
    dropped: int
    """Messages that violate the protocol, and requests whose id came before."""


@dataclass(frozen=True)
class ServiceOptions:
    """See Participant.serve."""

    threads: int
    queue: int
    replace_waiting: bool
    max_clients: int
    interfaces: Tuple[str, ...]
    transports: Tuple[str, ...]
    recorded: bool


class ServiceCore:
    """Any thread may call."""

    def __init__(
        self,
        participant: weakref.ReferenceType[Participant],
        check_types: CheckTypes,
        name: str,
        types: CallTypes,
        handler: Handler,
        options: ServiceOptions,
    ) -> None:
        self.participant = participant
        self.check_types = check_types
        self.name = name
        self.types = types
        self.options = options
        self.instance = secrets.randbits(64)  # distinguishes it from its predecessor
        self.process = Process()
        self.is_stopping = False
        self.is_started = False
        self.error: Optional[NoBroker] = None  # when it was registered
        self.queue = WaitingCalls(options.queue, options.replace_waiting)
        self.turns = Turns(lambda: self.is_stopping)
        self.recorder = Recorder(name, types) if options.recorded else None
        self._handler = handler
        self._figures: Any = None  # the publisher
        self._published: Optional[ServiceFigures] = None
        self._publish_at = 0.0
        self._threads: List[threading.Thread] = []
        self._lock = threading.RLock()  # guards the clients
        self._clients: Dict[int, ServiceClient] = {}
        self._counted = threading.Lock()  # guards the counters
        self._calls = self._failed = self._refused = self._dropped = 0

    @property
    def is_inline(self) -> bool:
        return self.options.threads == 0

    def start(self, type: TypeDescription) -> None:
        """Registers the service's own topic, and starts the threads. Raises Error."""
        by = self.participant()
        assert by is not None
        if self.recorder is not None:
            self.recorder.start(by, self.options.transports)
        try:
            by.register_topic(absolute(self.name), transports=self.options.transports, type=type)
        except NoBroker as error:  # one that answers later learns of it
            self.error = error
        except BaseException:
            self._stop_recording()
            raise
        self._figures = by.publisher(absolute(self.name))
        try:
            for _ in range(self.options.threads):
                thread = threading.Thread(target=self._work, name=f"orc serve {self.name}", daemon=True)
                thread.start()
                self._threads.append(thread)
        except RuntimeError as error:
            self.stop(None)
            raise SystemFailure(f"the threads of service {self.name}: {error}") from None
        self.is_started = True

    def stop(self, until: Optional[float]) -> None:
        """Withdraws the service. Waits for its threads, except this one; None: however long the handlers take."""
        self.abandon()
        self.unregister(absolute(self.name))
        with self._lock:
            ending = list(self._clients.values())
            self._clients.clear()
        for client in ending:
            client.end()
        self.queue.close()
        self.join(ending, until)
        self._stop_recording()

    def _stop_recording(self) -> None:
        if self.recorder is not None:
            self.unregister(self.recorder.topic)

    def join(self, ending: List[ServiceClient], until: Optional[float]) -> None:
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(None if until is None else max(0.0, until - time.monotonic()))
        for client in ending:
            client.join(until)

    def abandon(self) -> None:
        """Lets the threads end within a second, for finalizers: takes no lock."""
        self.is_stopping = self.queue.is_closed = True

    def let_go(self) -> None:
        """Drops the handles of topics: they would keep a dropped participant."""
        self._figures = None
        if self.recorder is not None:
            self.recorder.let_go()

    def release(self, topic: str) -> None:
        by = self.participant()
        with contextlib.suppress(Error):
            if by is not None:
                by.release_topic(topic)

    def unregister(self, topic: str) -> None:
        by = self.participant()
        with contextlib.suppress(Error):
            if by is not None:
                by.unregister_topic(topic)

    # Clients.

    def come(self, id: int, publication: PublicationState) -> None:
        """What the broker reports of a client."""
        with self._lock:
            if self.is_stopping:
                return
            known = self._clients.get(id)
            if known is None:
                self._add(id, publication)
            elif known.publication.id == publication.id:
                known.is_listed = True
            else:  # look_after takes it when the old client has ended
                known.successor = publication
                known.end()

    def go(self, id: int) -> None:
        with self._lock:
            known = self._clients.get(id)
            if known is not None:
                known.is_listed = False

    def look_after(self) -> None:
        """Ends clients that are gone, and publishes figures that have changed. Call it a few times a second."""
        with self._lock:
            for client in list(self._clients.values()):
                if client.is_gone and not client.is_leaving:
                    client.end()
            ended = [each for each in self._clients.values() if each.has_ended]
            for client in ended:
                del self._clients[client.id]
        for client in ended:
            if client.successor is not None:
                self.come(client.id, client.successor)
        self._promote_refused()
        self._publish()

    def _add(self, id: int, publication: PublicationState) -> None:
        staying = [each for each in self._clients.values() if not each.is_leaving]
        refused = sum(each.is_refused for each in staying)
        is_full = len(staying) - refused >= self.options.max_clients
        if is_full and refused >= _MAX_REFUSED_CLIENTS:
            return
        client = ServiceClient(self, id, publication, is_full)
        client.start()
        self._clients[id] = client

    def _promote_refused(self) -> None:
        """Gives a free place to a client that was refused. It ends, and comes again."""
        with self._lock:
            staying = [each for each in self._clients.values() if not each.is_leaving]
            refused = [each for each in staying if each.is_refused]
            places = self.options.max_clients - (len(staying) - len(refused))
            for client in refused[: max(0, places)]:
                client.successor = client.publication
                client.end()

    def _publish(self) -> None:
        now = time.monotonic()
        current = self.figures()
        if now < self._publish_at or current == self._published:
            return
        self._published, self._publish_at = current, now + _BETWEEN_FIGURES_S
        with contextlib.suppress(Error):
            self._figures.send_msg(json.dumps(asdict(current)).encode())

    # Calls.

    def admit(self, call: ServiceCall) -> None:
        """Adds a waiting call, or ends it as busy. It may end another call of the client as replaced."""
        is_admitted, replaced = self.queue.admit(call)
        if replaced is not None:
            replaced.client.refuse(replaced, CallError(CallErrc.replaced))
        if not is_admitted:
            text = f"{self.name} is busy: {self.options.queue} requests wait"
            call.client.refuse(call, CallError(CallErrc.busy, text))

    def take_free_turn(self) -> bool:
        """In a service without threads: takes the turn if no other handler runs and no call waits."""
        return self.is_inline and not len(self.queue) and self.turns.take_free()

    def run(self, call: ServiceCall, was_just_heard: bool = False) -> None:
        """Runs the handler and sends the outcome, unless the call is cancelled or late. Raises Forked.

        was_just_heard: the client is there, because its request came just now.
        """
        client = call.client
        is_late = time.monotonic() >= call.deadline
        is_ended = call.cancelled or call.abandoned or self.is_stopping
        if is_late or is_ended or not (was_just_heard or client.is_connected):
            # The client knows already, or cannot be reached.
            client.refuse(call, CallError(CallErrc.lost, "the call was too late to begin"))
            return
        if self.recorder is not None:
            call.started_ns = time.time_ns()
        reply = self._handler.run(call)
        if self.process.is_gone:  # the handler forked, and this is the child: the parent replies
            raise Forked()
        with self._counted:
            self._calls += 1
            self._failed += call.error is not None
        client.finish(call, reply)

    def _work(self) -> None:
        while True:
            call = self.queue.wait_for_any()
            if call is None:
                return
            try:
                self.run(call)
            except Forked:
                return

    def count_refused(self, calls: int = 1) -> None:
        with self._counted:
            self._refused += calls

    def count_dropped(self) -> None:
        with self._counted:
            self._dropped += 1

    def figures(self) -> ServiceFigures:
        with self._lock:
            clients = sum(not each.is_refused and each.is_connected for each in self._clients.values())
        return ServiceFigures(clients, len(self.queue), self._calls, self._failed, self._refused, self._dropped)
