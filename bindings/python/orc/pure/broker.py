"""The connection to the address broker: finds it, and finds it again (schemas/PROTOCOL.md, "Connection")."""

from __future__ import annotations

import functools
import itertools
import os
import threading
import time
from typing import Callable, Dict, List, Optional

from .._errors import Error, Refused
from . import endpoints, messages, wire
from .connection import Connection, connect
from .link import Frame
from .reactor import Log, Reactor

_PATIENCE_S, _MAX_PATIENCE_S = 0.3, 1.0  # for one endpoint; it doubles in each further round
_SILENCE_S = 3.0  # of a broker that has taken the connection and does not answer, when there is no other
_AGAIN_S = 0.1
_LOOK_UP_S = 1.0


class BrokerLink:
    """Lives on the I/O thread, which calls `tick` about ten times a second.

    `received` gets each message, the first of which is a Welcome; `lost` runs when the connection has ended after that;
    `failed` gets why no broker can be spoken with.
    """

    def __init__(self, reactor: Reactor, named: str, log: Log) -> None:
        self.received: Callable[[messages.Envelope], None] = lambda envelope: None
        self.lost: Callable[[], None] = lambda: None
        self.failed: Callable[[Error], None] = lambda error: None
        self.candidates = endpoints.broker_candidates(named)
        self.up = False
        self.endpoint = self.candidates[0]  # of the broker, or the one that is tried
        self.heard = 0.0
        self._reactor, self._log = reactor, log
        self._is_searched = not endpoints.named_brokers(named)
        self._numbers: Dict[str, List[str]] = {each: [each] for each in self.candidates if not endpoints.is_name(each)}
        self._has_names = len(self._numbers) < len(set(self.candidates))
        self._looking_up = self._closed = False
        self._look_up_at = self._again_at = self._until = 0.0
        self._next = 0
        self._patience_s = _PATIENCE_S
        self._requests = itertools.count(1)
        self._connection: Optional[Connection] = None

    def tick(self, now: float) -> None:
        its = self._connection
        if its is not None and not self.up and now >= self._until:
            if len(self._addresses()) > 1 or not its.is_ready or now >= self._until + _SILENCE_S:
                self.lose()
        if self._connection is None and not self._closed and now >= self._again_at:
            self._again_at = now + _AGAIN_S
            self._connect(now)

    def send(self, body: messages.Body, request: int = 0) -> int:
        """Sends a message. Returns its request id; 0: the broker takes none now. Raises Malformed."""
        request = request or next(self._requests)
        frame = wire.encode(messages.Envelope(request, body))
        if self._connection is None or not self.up or not self._connection.idle:
            return 0
        self._connection.send(frame)
        return request

    def lose(self, why: str = "") -> None:
        """Leaves the broker, which is silent or gone, and looks for another."""
        its, self._connection = self._connection, None
        if its is not None:
            its.close()
        if self.up:
            self.up, self._next, self._patience_s, self._again_at = False, 0, _PATIENCE_S, 0.0
            self.lost()

    def close(self) -> None:
        self._closed = True
        if self._connection is not None:
            self._connection.close()

    def _addresses(self) -> List[str]:
        return [address for each in self.candidates for address in self._numbers.get(each, [])]

    def _connect(self, now: float) -> None:
        if self._has_names and not self._looking_up and now >= self._look_up_at:
            self._looking_up, self._look_up_at = True, now + _LOOK_UP_S
            threading.Thread(target=self._look_up, name="orc names", daemon=True).start()
        addresses = self._addresses()
        for _ in addresses:
            address = addresses[self._next % len(addresses)]
            self._next = (self._next + 1) % len(addresses)
            if self._next == 0:
                self._patience_s = min(2 * self._patience_s, _MAX_PATIENCE_S)
            is_found = self._is_searched and address.startswith("ipc://")
            if is_found and not endpoints.trusted(os.path.dirname(address[len("ipc://") :])):
                continue
            try:
                made = connect(self._reactor, address, wire.MAX_FRAME, is_found)
            except (Error, ValueError):
                continue
            made.ready = functools.partial(made.send, b"")  # the probe, which the broker answers with a Welcome
            made.frame, made.ended = self._received, self.lose
            self._connection, self.endpoint, self._until = made, address, now + self._patience_s
            return

    def _look_up(self) -> None:
        """Looks the names up, repeatedly, because addresses change. On a thread, because it may take seconds."""
        found = {each: endpoints.numeric_endpoints(each) for each in self.candidates}
        self._reactor.post(lambda: self._looked_up(found))

    def _looked_up(self, found: Dict[str, List[str]]) -> None:
        # A name server may be away for longer than the broker: keep the known addresses.
        self._numbers.update({name: addresses for name, addresses in found.items() if addresses})
        self._looking_up, self._again_at = False, 0.0

    def _received(self, frame: Optional[Frame]) -> None:
        try:
            envelope = wire.decode(bytes(frame or b""))
        except wire.WrongVersion as error:
            self.failed(Refused(f"the broker at {self.endpoint} speaks another version: {error}"))
            return
        except wire.Malformed as error:
            self._log("debug", f"a frame of the broker at {self.endpoint} was dropped: {error}")
            return
        self.heard = time.monotonic()
        self.up = self.up or isinstance(envelope.body, messages.Welcome)
        if self.up:
            self.received(envelope)
