"""The sending end of a topic: where it listens, its readers, and the last value (schemas/PROTOCOL.md, "Samples").

`publish` runs on users' threads and only leaves its bytes in a tray. The I/O thread numbers and sends them, and owns
everything else. So there is no lock for which a signal handler or a finalizer could wait; both may run at any moment.

Newest wins for each reader: it gets the next sample when its connection has taken the one before.
"""

from __future__ import annotations

import collections
import contextlib
import errno
import functools
import random
import socket
import statistics
import time
from typing import Any, Deque, Dict, List, Optional, Sequence

from .._errors import Closed, NoDescriptors, SystemFailure
from . import connection, endpoints, link, messages
from .connection import Connection, Listener, put_header
from .link import Allowance, Frame
from .reactor import OUT_OF_DESCRIPTORS
from .session import Declared

IPC, TCP = 2, 3
FRAME_BYTES = connection.HEADER_BYTES + link.HEADER.size  # before the payload
_MAX_READERS = 4096
_MAX_READERS_OF_ONE = 1024  # one address, or one local process
_MAX_STRANGERS = 64
_HELLO_WITHIN_S = 1.0
_YOUNG_S = 0.02
_FRAMES_AT_ONCE, _FRAMES_PER_SECOND = 200, 20
_PARTING_S = 0.3
_MAX_KEPT_BYTES = 64 * 1024 * 1024  # of samples, for all readers together; and for the I/O thread
_MAX_BEGUN = 4
_MAX_DEPTH = 65_536
_MAX_INTERVALS = 10_000
_TOS = {"bulk": 1 << 2, "normal": 0, "control": 32 << 2}  # DSCP: LE, CS4 (orc/options.h)


class _Sample:
    __slots__ = "at_ns", "frame", "sequence", "stamp_ns"

    def __init__(self, frame: bytearray, stamp_ns: Optional[int]) -> None:
        self.frame: Optional[bytearray] = frame  # FRAME_BYTES for the I/O thread, then the payload; None: skipped
        self.stamp_ns = time.time_ns() if stamp_ns is None else stamp_ns
        self.at_ns = time.monotonic_ns()
        self.sequence = 0

    @property
    def size(self) -> int:
        """Of the payload."""
        return len(self.frame or b"") - FRAME_BYTES


class _Reader:
    """A connection. It is a stranger until it has said a valid hello."""

    def __init__(self, its: Connection, owner: str) -> None:
        self.connection, self.owner = its, owner
        self.hello: Optional[link.LinkMessage] = None
        self.is_refused = False
        self.depth = self.dropped = 0
        self.queue: Deque[_Sample] = collections.deque()
        self.begun: Optional[_Sample] = None  # what its connection has not taken all of
        self.frames = Allowance(_FRAMES_AT_ONCE, _FRAMES_PER_SECOND)

    def push(self, sample: _Sample, oldest: int) -> None:
        """Queues a sample, and drops those that are too many or before `oldest`."""
        self.queue.append(sample)
        while len(self.queue) > max(1, self.depth) or self.queue[0].sequence < oldest:
            self.queue.popleft()
            self.dropped += 1

    def catch_up(self) -> None:
        """Sends what it lacks, as long as its connection takes it at once."""
        while self.connection.idle and self.connection.socket is not None:
            self.begun = self.queue.popleft() if self.queue else None
            if self.begun is None or self.begun.frame is None:
                return
            self.connection.send_framed(put_header(self.begun.frame))


class Publication(Declared):
    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._tray: Deque[_Sample] = collections.deque()
        self._called = False
        self._readers: Dict[Connection, _Reader] = {}
        self._strangers: Dict[Connection, _Reader] = {}  # oldest first
        self._newest: Optional[_Sample] = None
        self._kept: Deque[_Sample] = collections.deque()  # the last ones, of at most 64 MiB together
        self._sequence = self._bytes = self._dropped = self._kept_bytes = 0
        self._intervals: Deque[int] = collections.deque(maxlen=_MAX_INTERVALS)  # in ns, since a report
        self._sent_ns = 0
        self._listeners: Dict[str, Listener] = {}
        self._parts = self.ended = False

    # Users' threads.

    def publish(self, payload: memoryview, stamp_ns: Optional[int] = None) -> None:
        """Copies the bytes and leaves them for the I/O thread. Never blocks. Raises Closed. Without a stamp: now."""
        if self.closed:
            raise Closed()
        frame = bytearray(FRAME_BYTES)
        frame += payload
        self._tray.append(_Sample(frame, stamp_ns))
        if len(self._tray) * len(frame) > _MAX_KEPT_BYTES:  # something such as a log function blocks the I/O thread
            with contextlib.suppress(IndexError):  # it has just taken them
                self._tray[-1 - max(1, _MAX_KEPT_BYTES // len(frame))].frame = None
        if not self._called:
            self._called = True  # after an exception here, such as Ctrl-C, `tick` serves
            self.reactor.post(self._serve)

    @property
    def readers(self) -> int:
        return len(self._readers)

    # I/O thread.

    def counters(self) -> messages.Body:
        dropped = self._dropped + sum(reader.dropped for reader in self._readers.values())
        counted = (self._sequence, self._bytes, dropped, len(self._readers), self._sent_ns)
        jitter_ns = -1  # schemas/PROTOCOL.md, "Jitter"
        if len(self._intervals) >= 2:
            jitter_ns = round(statistics.pstdev(map(float, self._intervals)))
            self._intervals.clear()
        return messages.PublicationCounters(self.id, time.monotonic_ns(), *counted, jitter_ns)

    def tick(self, now: float) -> None:
        if self._tray:  # samples whose call was lost by an exception
            self._serve()
        for its in list(self._strangers):
            if now - its.since >= _HELLO_WITHIN_S:
                its.end("it says no hello")
        slow = [reader for reader in self._readers.values() if reader.begun is not None]
        begun = {reader.begun for reader in slow}
        if len(begun) > _MAX_BEGUN and sum(sample.size for sample in begun if sample) > _MAX_KEPT_BYTES:
            min(slow, key=lambda reader: reader.connection.taken).connection.end("it does not read")

    def part(self) -> None:
        """Ends the publication, and sets `ended`. Readers that are behind get up to 300 ms."""
        self._parts = True
        self.reactor.after(_PARTING_S, self._end)
        self.reactor.post(self._serve)

    def withdrawal(self) -> messages.Body:
        return messages.UnregisterTopic(self.topic, self.id)

    def declaration(self) -> messages.Body:
        """Listens where subscribers of the current broker look."""
        broker, remote, named = self.session.endpoint, self.session.remote, self.options["transports"]
        offered: List[messages.Body] = []
        if endpoints.HAS_IPC and (not named or "ipc" in named):
            path = endpoints.socket_path(broker, self.id.hi)
            if path is None:
                self.log("warning", f"{self.topic}: no ipc, for there is no place for its socket beside {broker}")
            else:
                offered += self._listen(IPC, f"ipc://{path}")
        if "tcp" in named or (not named and (remote or broker.startswith("tcp://"))):
            addresses = endpoints.own_addresses(broker, self.options["advertise"]) if remote else ["127.0.0.1"]
            if addresses:
                offered += self._listen(TCP, "tcp://*:0" if remote else "tcp://127.0.0.1:0", addresses)
            else:
                self.log("warning", f"{self.topic}: no tcp, for {broker} is reached from a link-local address")
        keep_last = self.options["keep_last"]
        return messages.RegisterTopic(self.topic, self.id, offered, self.type_reference(), keep_last)

    def _listen(self, transport: int, where: str, addresses: Sequence[str] = ()) -> List[messages.Body]:
        try:
            made = self._listeners[where] = self._listeners.get(where) or self._bind(where)
        except OSError as error:
            if error.errno in OUT_OF_DESCRIPTORS:
                raise NoDescriptors() from None
            self.log("warning", f"{self.topic}: cannot listen at {where}: {error}")
            return []
        made.mark(_TOS[self.options["priority"]])
        port = made.endpoint.rpartition(":")[2]
        found = [f"tcp://{each}:{port}" for each in addresses] or [where]
        return [messages.Endpoint(transport, each) for each in found]

    def _bind(self, where: str) -> Listener:
        listen = functools.partial(Listener, self.reactor, has_room=self._has_room, accepted=self._accepted)
        ports = self.options["ports"]
        if not where.startswith("tcp://") or ports is None:
            return listen(where)
        start = random.randrange(len(ports))  # so that programs that start together try different ports
        for port in [*ports[start:], *ports[:start]]:
            try:
                return listen(f"{where[:-1]}{port}")
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise
        taken = f"all {len(ports)} ports of {ports[0]}-{ports[-1]} (ORC_PORTS) are taken"
        raise SystemFailure(f"{taken}: each topic needs one")

    def _has_room(self) -> bool:
        """Makes room for a newcomer: the oldest stranger goes, first one that has not introduced itself."""
        if len(self._strangers) < _MAX_STRANGERS:
            return True
        oldest = next((each for each in self._strangers if not each.is_ready), next(iter(self._strangers)))
        is_old = time.monotonic() - oldest.since >= _YOUNG_S
        if is_old:
            oldest.end("others want its place")
        return is_old

    def _accepted(self, its: socket.socket) -> None:
        made = Connection(self.reactor, its, "ROUTER", link.MAX_FROM_SUBSCRIBER)
        self._strangers[made] = reader = _Reader(made, connection.owner_of(its))
        made.frame = functools.partial(self._hear, reader)
        made.drained = functools.partial(self._drained, reader)
        made.ended = lambda why: self._forget(made)

    def _forget(self, its: Connection) -> None:
        its.close()
        self._strangers.pop(its, None)
        gone = self._readers.pop(its, None)
        self._dropped += gone.dropped if gone is not None else 0

    def _hear(self, reader: _Reader, frame: Optional[Frame]) -> None:
        """A peer may say few frames. A stranger may say only a hello."""
        said = None if frame is None else link.unpack_link(frame)
        its, known = reader.connection, reader.hello
        if known is not None:
            if (said is not None and said.kind == link.GOODBYE) or not reader.frames.take():
                self._forget(its)
            elif said is not None and said[:3] == known[:3]:
                self._say(reader, link.WELCOME, known)
        elif said is None or said.kind != link.HELLO or reader.is_refused:
            self._forget(its)
        elif said.publication == self.id and self._has_place(reader.owner, said):
            self._join(reader, said)
        else:
            reader.is_refused = True
            self._say(reader, link.REFUSED, said)

    def _has_place(self, owner: str, hello: link.LinkMessage) -> bool:
        for its, other in list(self._readers.items()):
            known = other.hello
            if hello.secret and known and (known.subscription, known.secret) == (hello.subscription, hello.secret):
                self._forget(its)  # the subscription has come back
        of_one = sum(other.owner == owner for other in self._readers.values())
        return len(self._readers) < _MAX_READERS and of_one < _MAX_READERS_OF_ONE

    def _join(self, reader: _Reader, hello: link.LinkMessage) -> None:
        del self._strangers[reader.connection]
        self._readers[reader.connection] = reader
        reader.hello, reader.depth = hello, min(hello.depth, _MAX_DEPTH)
        self._say(reader, link.WELCOME, hello)
        if self.options["keep_last"] and self._newest is not None and hello.newest < self._newest.sequence:
            reader.push(self._newest, 0)
        reader.catch_up()
        with self.changed:
            self.changed.notify_all()

    def _say(self, reader: _Reader, kind: int, hello: link.LinkMessage) -> None:
        newest = self._sequence + (not self.options["keep_last"])  # without the last sample: the first it can get
        answer = link.LinkMessage(kind, hello.publication, hello.subscription, 0, newest)
        reader.connection.send(link.pack_link(answer))

    def _drained(self, reader: _Reader) -> None:
        reader.catch_up()
        if self._parts:
            self._serve()

    def _serve(self) -> None:
        """Numbers and sends what is in the tray."""
        self._called = False  # first: a send from now on calls again
        for _ in range(len(self._tray)):
            sample = self._tray.popleft()
            self._sequence = sample.sequence = self._sequence + 1
            if self._sent_ns:
                self._intervals.append(sample.at_ns - self._sent_ns)
            self._sent_ns = sample.at_ns
            if sample.frame is None:
                self._dropped += len(self._readers)
                continue
            link.HEADER.pack_into(sample.frame, connection.HEADER_BYTES, sample.sequence, sample.stamp_ns)
            self._newest = sample
            self._bytes += sample.size
            self._keep(sample)
            for reader in self._readers.values():
                reader.push(sample, self._kept[0].sequence)
        for reader in list(self._readers.values()):
            reader.catch_up()
        if self._parts and all(r.connection.idle for r in self._readers.values()):
            self._end()

    def _keep(self, sample: _Sample) -> None:
        """Bounds what readers queue: in order, of a stream, for all of them together."""
        if not any(reader.depth for reader in self._readers.values()):
            self._kept.clear()
            self._kept_bytes = 0
        self._kept.append(sample)
        self._kept_bytes += sample.size
        while self._kept_bytes > _MAX_KEPT_BYTES and len(self._kept) > 1:
            self._kept_bytes -= self._kept.popleft().size

    def _end(self) -> None:
        self.ended = True
        ends: List[Any] = [*self._listeners.values(), *self._readers, *self._strangers]
        for each in ends:
            each.close()
        for table in (self._listeners, self._readers, self._strangers):
            table.clear()
