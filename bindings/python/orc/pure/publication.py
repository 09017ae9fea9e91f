"""The sending end of a topic: a ROUTER, its readers, and the last value (schemas/PROTOCOL.md, "Samples").

`publish` runs on users' threads and only leaves its bytes in a tray. The I/O thread numbers and sends them, and owns
everything else. So there is no lock for which a signal handler or a finalizer could wait; both may run at any moment.

ROUTER_MANDATORY with SNDHWM 1 makes newest-wins per reader. A send that would block returns EAGAIN for that reader
alone, which then is *behind*. ZMQ_FD reports that some connection takes more. Then all readers that are behind are
tried again, with the sample that is the newest then. They are also tried every 1 to 50 ms, because such an event may be
lost. connections.py bounds what peers can do to the ROUTER.
"""

from __future__ import annotations

import collections
import contextlib
import os
import random
import threading
import time
from typing import Any, Callable, Deque, Dict, List, Optional, Sequence, Tuple

import zmq

from .._errors import Closed, SystemFailure
from .._typed import Typed
from . import endpoints, link, messages
from .admission import Admission
from .announcement import Announcement
from .connections import Connections
from .described_type import DescribedType
from .identity import Id, draw_id
from .interval_meter import IntervalMeter
from .reactor import Reactor
from .reader import Reader, Sample
from .session import Log, Session

IPC, TCP = 2, 3
_MAX_READERS = 4096
_MAX_READERS_OF_ONE = 1024  # one address, or one local process
_BATCH = 256
_MAX_USELESS = 3  # frames in a batch that are of no reader
_PARTING_S = 0.3
_CHECK_S = 0.05
_RETRY_S = 0.001
_MAX_RETRY_S = 0.05
_TOS = {"bulk": 1 << 2, "normal": 0, "control": 32 << 2}  # DSCP: LE, CS4 (orc/options.h)
_MAX_BYTES_IN_TRAY = 64 * 1024 * 1024


class _Sent:
    __slots__ = "frame", "stamp_ns"

    def __init__(self, frame: bytearray) -> None:
        self.frame: Optional[bytearray] = frame  # header space and payload; None: skipped
        self.stamp_ns = time.time_ns()


class Publication:
    def __init__(
        self,
        reactor: Reactor,
        admission: Admission,
        session: Session,
        topic: str,
        transports: Tuple[str, ...],
        described: Optional[DescribedType],
        codec: Optional[Typed[Any]],
        keep_last: bool,
        priority: str,
        shared: bool,
        advertise: str,
        ports: Optional[range],
        log: Log,
    ) -> None:
        self.topic = topic
        self.described, self.codec = described, codec
        self.id = draw_id()
        self.announcement = Announcement(self._compose)
        self.withdrawal = Announcement(lambda: messages.UnregisterTopic(topic, self.id))
        self._reactor, self._admission, self._session, self._log = reactor, admission, session, log
        self._transports, self._advertise = transports, advertise
        self._keep_last = keep_last
        self.shared = shared
        self._priority = priority
        self._ports = ports
        self._tray: Deque[_Sent] = collections.deque()
        self._readers: Dict[bytes, Reader] = {}
        self._newest: Optional[Sample] = None
        self._sequence = 0
        self._bytes = 0
        self._dropped = 0
        self._intervals = IntervalMeter()
        self._called = False
        self.closed = False
        self.joined = threading.Condition()  # notified when a reader joins, and by close()
        self._connections: Optional[Connections] = None
        self._bound: Dict[str, str] = {}
        self._files: List[str] = []
        self._parted: Optional[Callable[[], None]] = None
        self._part_by = 0.0
        self._checks = 0
        self._retrying = False
        self._retry_s = _RETRY_S

    # Users' threads.

    def publish(self, payload: memoryview) -> None:
        """Copies the bytes and leaves them for the I/O thread. Never blocks. Raises Closed."""
        frame = bytearray(link.HEADER_BYTES)
        frame += payload
        self.publish_filled(frame)

    def publish_filled(self, frame: bytearray) -> None:
        """Same, with one copy less: the frame has 16 bytes for the header, then the payload."""
        if self.closed:
            raise Closed()
        self._tray.append(_Sent(frame))
        if len(self._tray) * len(frame) > _MAX_BYTES_IN_TRAY:
            self._thin_out(len(frame))
        if not self._called:
            self._called = True  # after an exception here, such as Ctrl-C, `tick` serves
            self._reactor.post(self._serve)

    def _thin_out(self, size: int) -> None:
        """Skips and counts the oldest samples, while something such as a log function blocks the I/O thread."""
        with contextlib.suppress(IndexError):  # the I/O thread has just taken them
            self._tray[-1 - max(1, _MAX_BYTES_IN_TRAY // size)].frame = None

    @property
    def readers(self) -> int:
        return len(self._readers)

    def close(self) -> None:
        """From now on `publish` raises Closed. `part` does the rest."""
        self.closed = True
        with self.joined:
            self.joined.notify_all()

    # I/O thread.

    def counters(self) -> messages.PublicationCounters:
        dropped = self._dropped + sum(reader.dropped for reader in self._readers.values())
        now_ns = time.monotonic_ns()
        newest_ns, jitter_ns = self._intervals.take(now_ns, time.time_ns())
        return messages.PublicationCounters(
            self.id, now_ns, self._sequence, self._bytes, dropped, len(self._readers), newest_ns, jitter_ns
        )

    def tick(self) -> None:
        """Runs about ten times a second. Serves samples whose call was lost by an exception."""
        if self._tray:
            self._serve()

    def part(self, parted: Callable[[], None]) -> None:
        """Ends the publication. Readers that are behind get up to 300 ms. Calls `parted` at the end."""
        self._parted, self._part_by = parted, time.monotonic() + _PARTING_S
        self._reactor.after(_PARTING_S, self._serve)
        self._reactor.post(self._serve)

    def _compose(self) -> messages.RegisterTopic:
        type = None if self.described is None else self.described.reference
        return messages.RegisterTopic(self.topic, self.id, self._offer(), type, self._keep_last, self.shared)

    def _offer(self) -> List[messages.Endpoint]:
        """Listens where subscribers of the current broker look, and returns the endpoints."""
        broker = self._session.offered_for
        offered = []
        if not self._transports or "ipc" in self._transports:
            offered += self._listen_ipc(broker)
        if "tcp" in self._transports or (
            not self._transports and (self._session.remote or broker.startswith("tcp://"))
        ):
            offered += self._listen_tcp(broker)
        return offered

    def _listen_ipc(self, broker: str) -> List[messages.Endpoint]:
        directory = endpoints.socket_directory(broker)
        path = None if directory is None else directory / f"{self.id.hi:016x}"
        if path is None or not endpoints.fits(path):
            self._log("warning", f"{self.topic}: no ipc, for there is no place for its socket beside {broker}")
            return []
        return self._listen(IPC, f"ipc://{path}", str(path))

    def _listen_tcp(self, broker: str) -> List[messages.Endpoint]:
        if not self._session.remote:
            return self._listen(TCP, "tcp://127.0.0.1:*")
        addresses = endpoints.own_addresses(broker, self._advertise)
        if not addresses:
            self._log("warning", f"{self.topic}: no tcp, for {broker} is reached from a link-local address")
            return []
        return self._listen(TCP, "tcp://*:*", addresses=addresses)

    def _bind(self, where: str) -> str:
        router = self._make_router()
        if not where.endswith(":*") or self._ports is None:
            return router.listen(where)
        start = random.randrange(len(self._ports))  # so that programs that start together try different ports
        for port in [*self._ports[start:], *self._ports[:start]]:
            try:
                return router.listen(f"{where[:-1]}{port}")
            except zmq.ZMQError as error:
                if error.errno != zmq.EADDRINUSE:
                    raise
        first, last = self._ports[0], self._ports[-1]
        taken = f"all {len(self._ports)} ports of {first}-{last} (ORC_PORTS) are taken"
        raise SystemFailure(f"{taken}: each topic needs one")

    def _listen(
        self, transport: int, where: str, path: str = "", addresses: Sequence[str] = ()
    ) -> List[messages.Endpoint]:
        try:
            if where not in self._bound:
                self._bound[where] = self._bind(where)
                if path:
                    self._files.append(path)
                    os.chmod(path, 0o660)
        except (zmq.ZMQError, OSError) as error:
            self._log("warning", f"{self.topic}: cannot listen at {where}: {error}")
            return []
        found = self._bound[where]
        port = found.rpartition(":")[2]
        return [messages.Endpoint(transport, each) for each in [f"tcp://{a}:{port}" for a in addresses] or [found]]

    def _make_router(self) -> Connections:
        if self._connections is None:
            connections = Connections(self._reactor, self._admission, str(self.id), self._connection_ended)
            router = connections.router
            router.setsockopt(zmq.ROUTER_MANDATORY, 1)
            router.setsockopt(zmq.SNDHWM, 1)
            router.setsockopt(zmq.RCVHWM, 16)
            router.setsockopt(zmq.MAXMSGSIZE, link.MAX_FROM_SUBSCRIBER)
            router.setsockopt(zmq.HANDSHAKE_IVL, 1000)
            router.setsockopt(zmq.TCP_KEEPALIVE, 1)
            router.setsockopt(zmq.TCP_KEEPALIVE_IDLE, 5)
            router.setsockopt(zmq.TCP_KEEPALIVE_INTVL, 1)
            router.setsockopt(zmq.TCP_KEEPALIVE_CNT, 5)
            router.setsockopt(zmq.BACKLOG, 4096)
            router.setsockopt(zmq.TOS, _TOS[self._priority])
            self._connections = connections
            self._reactor.watch(router, self._serve)
        return self._connections

    def _serve(self) -> None:
        self._empty_tray()
        connections = self._connections
        if connections is not None:
            router = connections.router
            more = self._take_in(connections)
            behind, sent = self._send_all(router)
            if behind:
                self._try_again(sent)
            if sent or more or int(router.getsockopt(zmq.EVENTS)) & zmq.POLLIN:
                self._reactor.post(self._serve)
        if self._parted is not None and (time.monotonic() >= self._part_by or self._all_have_all()):
            parted, self._parted = self._parted, None
            self._end()
            parted()

    def _empty_tray(self) -> None:
        self._called = False  # first: a send from now on calls again
        for _ in range(len(self._tray)):
            sent = self._tray.popleft()
            frame = sent.frame
            self._sequence += 1
            self._intervals.add(sent.stamp_ns)
            if frame is not None:
                link.pack_header_into(frame, self._sequence, sent.stamp_ns)
                self._newest = Sample(self._sequence, frame)
                self._bytes += self._newest.size
                for reader in self._readers.values():
                    reader.push(self._newest)
            else:
                self._dropped += len(self._readers)

    def _all_have_all(self) -> bool:
        return not self._tray and all(reader.idle for reader in self._readers.values())

    def _end(self) -> None:
        for file in self._files:
            with contextlib.suppress(OSError):
                os.unlink(file)
        if self._connections is not None:
            self._connections.close(int(_PARTING_S * 1000))
            self._connections = None
        self._readers.clear()
        self._tray.clear()

    def _take_in(self, connections: Connections) -> bool:
        """Takes frames. Returns whether there may be more.

        It takes a few frames of strangers at a time, so that samples go out in between: a reader may get only one each
        time (SNDHWM 1).
        """
        useless = 0
        for _ in range(_BATCH):
            parts = connections.take()
            if parts is None:
                return False
            useless += not self._hear(connections, parts)
            if useless >= _MAX_USELESS:
                break
        return True

    def _hear(self, connections: Connections, parts: List[zmq.Frame]) -> bool:
        """Returns whether the sender is or was a reader. Cuts a stranger that sends anything but a hello."""
        peer = parts[0].bytes
        reader = self._readers.get(peer)
        message = link.unpack_link(parts[1].buffer) if len(parts) == 2 else None
        kind = 0 if message is None else message.kind
        if reader is not None and (kind == link.GOODBYE or not reader.may_speak()):
            self._forget(peer)
        elif reader is None and connections.claims(peer):
            connections.distrust(int(parts[-1].get(zmq.SRCFD)))
        elif message is not None and kind == link.HELLO:
            self._greeted(connections, peer, int(parts[1].get(zmq.SRCFD)), message)
        elif reader is None:
            connections.reject(int(parts[-1].get(zmq.SRCFD)))
        return reader is not None or peer in self._readers

    def _greeted(self, connections: Connections, peer: bytes, descriptor: int, hello: link.LinkMessage) -> None:
        known = self._readers.get(peer)
        if known is None and hello.publication == self.id:
            self._join(connections, peer, descriptor, hello)
        elif hello.publication != self.id:
            self._refuse(connections, peer, descriptor, hello)
        elif known is not None and known.subscription == hello.subscription:
            known.owes_welcome = True

    def _refuse(self, connections: Connections, peer: bytes, descriptor: int, hello: link.LinkMessage) -> None:
        if peer in self._readers or connections.refused(descriptor):
            self._answer(connections.router, peer, link.REFUSED, hello.publication, hello.subscription)

    def _join(self, connections: Connections, peer: bytes, descriptor: int, hello: link.LinkMessage) -> None:
        for other, reader in list(self._readers.items()):
            if hello.secret and (reader.subscription, reader.secret) == (hello.subscription, hello.secret):
                self._forget(other)
        owner = connections.owner(descriptor)
        of_one = sum(reader.owner == owner for reader in self._readers.values())
        if len(self._readers) >= _MAX_READERS or of_one >= _MAX_READERS_OF_ONE:
            self._refuse(connections, peer, descriptor, hello)
            return
        connections.introduced(descriptor)
        reader = Reader(hello, descriptor, owner)
        if self._keep_last and self._newest is not None and hello.newest < self._newest.sequence:
            reader.push(self._newest)
        self._readers[peer] = reader
        with self.joined:
            self.joined.notify_all()

    def _forget(self, peer: bytes) -> None:
        """Removes a reader and ends its connection: a connection without a reader belongs to a stranger."""
        gone = self._readers.pop(peer, None)
        if gone is not None:
            self._dropped += gone.dropped
            if self._connections is not None and gone.descriptor >= 0:
                self._connections.cut(gone.descriptor)

    def _connection_ended(self, descriptor: int) -> None:
        """Removes the reader of an ended connection.

        Its hello may not have been taken yet. So new readers are welcomed twice more soon, because a ROUTER refuses to
        send to a peer that is gone.
        """
        for peer, reader in list(self._readers.items()):
            if reader.descriptor == descriptor:
                reader.descriptor = -1
                self._forget(peer)
        checking, self._checks = self._checks > 0, 2
        if not checking:
            self._reactor.after(_CHECK_S, self._welcome_new)

    def _welcome_new(self) -> None:
        for reader in self._readers.values():
            if reader.checks > 0:
                reader.checks -= 1
                reader.owes_welcome = True
        self._serve()
        self._checks -= 1
        if self._checks > 0:
            self._reactor.after(_CHECK_S, self._welcome_new)

    def _try_again(self, sent: bool) -> None:
        """Tries again after a while: any call into libzmq may consume the event that a connection takes more."""
        self._retry_s = _RETRY_S if sent else min(2 * self._retry_s, _MAX_RETRY_S)
        if not self._retrying:
            self._retrying = True
            self._reactor.after(self._retry_s, self._retry)

    def _retry(self) -> None:
        self._retrying = False
        self._serve()

    def _send_all(self, router: zmq.Socket[bytes]) -> Tuple[bool, bool]:
        """Returns whether readers are behind now, and whether one of those got something."""
        behind = sent = False
        for peer, reader in list(self._readers.items()):
            before = reader.next()
            try:
                self._catch_up(router, peer, reader)
            except zmq.Again:
                behind, sent = True, sent or reader.next() is not before
            except zmq.ZMQError:
                self._forget(peer)
        return behind, sent

    def _catch_up(self, router: zmq.Socket[bytes], peer: bytes, reader: Reader) -> None:
        if reader.owes_welcome:
            newest = self._newest.sequence if self._newest is not None else 0
            newest += not self._keep_last  # the first one that it can get
            welcome = link.LinkMessage(link.WELCOME, self.id, reader.subscription, 0, newest)
            router.send_multipart([peer, link.pack_link(welcome)], zmq.NOBLOCK)
            reader.owes_welcome = False
        while True:
            sample = reader.next()
            if sample is None:
                return
            router.send(peer, zmq.NOBLOCK | zmq.SNDMORE)
            router.send(sample.frame, zmq.NOBLOCK, copy=False)
            reader.pop()

    def _answer(self, router: zmq.Socket[bytes], peer: bytes, kind: int, publication: Id, subscription: Id) -> None:
        answer = link.pack_link(link.LinkMessage(kind, publication, subscription, 0, 0))
        with contextlib.suppress(zmq.ZMQError):  # it is gone, or slow and asks again
            router.send_multipart([peer, answer], zmq.NOBLOCK)
