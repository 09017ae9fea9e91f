"""Sends the schemas that the broker lacks, and gets those of other participants' types, in parts.

One part of one schema at a time in each direction (schemas/PROTOCOL.md, "Types").
"""

from __future__ import annotations

import dataclasses
from typing import Callable, Dict, List, Optional

from .._type_description import TypeDescription
from . import messages, wire
from .described_type import DescribedType
from .schema.sentences import escaped

Send = Callable[[messages.Body], int]  # returns the request id; 0: the broker takes nothing now

_REPEAT_S, _MAX_REPEAT_S = 0.3, 2.4  # a message without an answer is repeated, at intervals that double
_LIMIT = 6


class _Upload:
    pause_s = 1.0  # a broker without room is asked again, as long as a topic has the type

    def __init__(self, type: DescribedType, now: float, interval_s: float) -> None:
        self.type = type
        self.furthest = 0  # offset so far
        self.refusals = 0  # since it was furthest
        self.begin(now, interval_s)

    def begin(self, at: float, interval_s: float) -> None:
        self.offset = 0  # of the next part
        self.wait(at, interval_s)

    def wait(self, at: float, interval_s: float) -> None:
        self.copies: Dict[int, float] = {}  # of the part that waits for its answer: when each request was sent
        self.next = at
        self.interval_s = interval_s


class SchemaUploads:
    """Lives on the I/O thread."""

    _MAX_PAUSE_S = 30.0
    _MAX_REFUSALS = 3  # a broker that refuses the parts of a schema this often, and takes no more of it, never gets it
    _MAX_COPIES = 16  # the answers to older copies of a part count no more

    def __init__(self) -> None:
        self._all: List[_Upload] = []  # the first is the one under way
        self._first_interval_s = _REPEAT_S  # of the next part: a broker that answers slowly gets more time

    def add(self, type: DescribedType, now: float) -> None:
        """The broker lacks the schema of this type."""
        if all(each.type.reference.hash != type.reference.hash for each in self._all):
            self._all.append(_Upload(type, now, self._first_interval_s))

    def forget_all(self) -> None:
        """The broker says anew what it lacks."""
        self._all.clear()

    def step(self, now: float, is_used: Callable[[int], bool], send: Send) -> None:
        """Sends the part that is due."""
        self._all = [each for each in self._all if is_used(each.type.reference.hash)]
        current = self._choose(now)
        if current is None:
            return
        schema = current.type.description.schema
        part = schema[current.offset : current.offset + wire.MAX_SCHEMA_PART]
        request = send(messages.SchemaPart(current.type.reference.hash, current.offset, part))
        if request:
            if len(current.copies) == self._MAX_COPIES:
                del current.copies[next(iter(current.copies))]
            current.copies[request] = now
            current.next = now + current.interval_s
            current.interval_s = max(current.interval_s, min(2 * current.interval_s, _MAX_REPEAT_S))

    def on_ack(self, request: int, now: float) -> None:
        """The broker confirmed a request; others than ours are ignored."""
        current = self._awaiting(request)
        if current is None:
            return
        took = now - current.copies[request]
        self._first_interval_s = max(_REPEAT_S, took, min(2 * took, _MAX_REPEAT_S))
        current.offset += wire.MAX_SCHEMA_PART
        if current.offset > current.furthest:
            current.furthest, current.refusals = current.offset, 0
        current.wait(now, self._first_interval_s)
        if current.offset >= len(current.type.description.schema):
            self._all.remove(current)

    def on_error(self, request: int, why: messages.Error, now: float) -> str:
        """The broker refused a request. Returns what the user should learn; empty: nothing."""
        current = self._awaiting(request)
        if current is None:
            return ""
        name = escaped(current.type.reference.name)
        said = f"the broker does not take the schema of type {name}: {escaped(why.text)}"
        if why.code == _LIMIT:
            is_first = current.pause_s == _Upload.pause_s
            self._put_off(current, now)
            return f"{said}; it is sent again later" if is_first else ""
        # A part that was sent twice may have arrived twice, and a broker forgets an upload that pauses.
        if current.offset > 0 or len(current.copies) > 1:
            current.refusals += 1
            if current.refusals < self._MAX_REFUSALS:
                self._put_off(current, now)
                return ""
        self._all.remove(current)
        return said

    def _awaiting(self, request: int) -> Optional[_Upload]:
        """Returns the upload under way, if this is a copy of its part."""
        first = self._all[0] if self._all else None
        return first if first is not None and request in first.copies else None

    def _choose(self, now: float) -> Optional[_Upload]:
        """An upload under way goes on until the broker has all of it or refuses it."""
        if self._all and (self._all[0].copies or self._all[0].offset > 0):
            return self._all[0] if self._all[0].next <= now else None
        due = next((each for each in self._all if each.next <= now), None)
        if due is not None:
            self._all.remove(due)
            self._all.insert(0, due)
        return due

    def _put_off(self, upload: _Upload, now: float) -> None:
        upload.begin(now + upload.pause_s, self._first_interval_s)
        upload.pause_s = min(2 * upload.pause_s, self._MAX_PAUSE_S)
        self._all.append(self._all.pop(0))


@dataclasses.dataclass
class _Fetch:
    type: messages.Type
    next: float  # when to begin
    pause_s: float
    bytes: bytearray = dataclasses.field(default_factory=bytearray)
    is_wanted: bool = True
    found: Optional[TypeDescription] = None


class SchemaFetches:
    """Lives on the I/O thread. It does not trust the broker: a description counts only when it has the hash."""

    _MIN_PAUSE_S, _MAX_PAUSE_S = 0.1, 1.0  # a schema that the broker lacks: the publisher may be sending it

    def __init__(self) -> None:
        # Types that claim the same hash are different ones, until the hash of one is verified.
        self._all: Dict[messages.Type, _Fetch] = {}
        self._asked: Optional[_Fetch] = None  # one after the other, so that incomplete schemas do not add up
        self._request = 0  # of the question; 0: it is not sent
        self._ask_at = 0.0
        self._interval_s = _REPEAT_S

    def want(self, type: messages.Type, now: float) -> Optional[TypeDescription]:
        """Asks for the schema of this type until forget_unwanted(). Returns the description once it is known.

        While a description is known, no other schema is fetched.
        """
        wanted = self._all.get(type) or self._all.setdefault(type, _Fetch(type, now, self._MIN_PAUSE_S))
        wanted.is_wanted = True
        return wanted.found

    def release(self, type: messages.Type) -> None:
        """The description was used. It is forgotten unless it is wanted again before forget_unwanted()."""
        if (used := self._all.get(type)) is not None:
            used.is_wanted = False

    def forget_unwanted(self) -> None:
        """Forgets the types that were not wanted since the last call."""
        self._all = {type: each for type, each in self._all.items() if each.is_wanted}
        for each in self._all.values():
            each.is_wanted = False
        if self._asked is not None and self._all.get(self._asked.type) is not self._asked:
            self._asked = None

    def begin_again(self, now: float) -> None:
        """The answers to earlier questions are lost: asks again from the beginning of each schema."""
        self._asked = None
        for each in self._all.values():
            each.bytes, each.next, each.pause_s = bytearray(), now, self._MIN_PAUSE_S

    def step(self, now: float, send: Send) -> None:
        """Sends the question that is due."""
        if self._asked is None and all(each.found is None for each in self._all.values()):
            due = [each for each in self._all.values() if each.next <= now]
            self._asked = min(due, key=lambda each: each.next, default=None)
            self._await_next(now)
        current = self._asked
        if current is None or now < self._ask_at:
            return
        request = send(messages.GetSchema(current.type.hash, len(current.bytes)))
        if request:
            self._request, self._ask_at = request, now + self._interval_s
            self._interval_s = min(2 * self._interval_s, _MAX_REPEAT_S)

    def on_part(self, request: int, part: messages.SchemaPart, now: float) -> None:
        current = self._asked
        if current is None or not self._request == request != 0:
            return
        lacks = current.type.schema_size - len(current.bytes)
        is_next = (part.hash, part.offset) == (current.type.hash, len(current.bytes))
        if not is_next or len(part.bytes) != min(lacks, wire.MAX_SCHEMA_PART):
            self._put_off(current, now)
            return
        current.bytes += part.bytes
        self._await_next(now)
        if len(part.bytes) < lacks:
            return
        type, schema = current.type, bytes(current.bytes)
        whole = TypeDescription(type.name, type.schema_encoding, type.message_encoding, schema)
        if whole.hash != type.hash:
            self._put_off(current, now)
            return
        current.found, self._asked = whole, None

    def on_error(self, request: int, now: float) -> None:
        """The broker has no answer to a question; other requests are none of ours."""
        if self._asked is not None and self._request == request != 0:
            self._put_off(self._asked, now)

    def _await_next(self, now: float) -> None:
        self._request, self._interval_s, self._ask_at = 0, _REPEAT_S, now

    def _put_off(self, failed: _Fetch, now: float) -> None:
        failed.bytes, failed.next = bytearray(), now + failed.pause_s
        failed.pause_s = min(2 * failed.pause_s, self._MAX_PAUSE_S)
        self._asked, self._request = None, 0
