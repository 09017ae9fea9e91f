"""Batches over UDP: each is a group of shards with parity. What parity does not bring, the receiver asks for."""

from __future__ import annotations

import math
import struct
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Dict, List, NamedTuple, Optional, Tuple

from .._shared.counters import Counters
from . import erasure
from .frames import MAX_BATCH
from .packets import MAX_WANTED

SHARD_BYTES = 1200
_MAX_SHARDS = 64
_HEAD = struct.Struct("<QHBBB")
_SPAN = 1024
_MAX_HELD_BYTES = 4 << 20
_ASK_AFTER_S = 0.01
_ASK_AGAIN_S = 0.03
_ASK_AFTER_GAPS = 4
_LONGEST_GAP_S = 0.25


def _data_shards(size: int) -> int:
    return math.ceil(size / SHARD_BYTES)


class SentGroup(NamedTuple):
    """A group at its sender."""

    k: int
    """Shards that suffice."""
    shards: List[bytes]
    """The bodies of its packets: data, then parity."""


def shards_of(number: int, batch: bytes, fec: float) -> SentGroup:
    """Makes a group of a batch."""
    k = _data_shards(len(batch))
    m = min(_MAX_SHARDS - k, math.ceil(k * fec))
    size = math.ceil(len(batch) / k)
    padded = batch.ljust(k * size, b"\0")
    data = [padded[i * size : (i + 1) * size] for i in range(k)]
    shards = data + erasure.parity(data, m)
    return SentGroup(k, [_HEAD.pack(number, len(batch), k, m, index) + each for index, each in enumerate(shards)])


@dataclass
class Shard:
    """One packet of a group."""

    number: int
    """Of the group, from 1."""
    size: int
    """Of the batch, in bytes."""
    k: int
    m: int
    index: int
    data: bytes


def decode_shard(body: bytes) -> Optional[Shard]:
    """Returns what a body says. None: its numbers contradict each other."""
    if len(body) <= _HEAD.size:
        return None
    number, size, k, m, index = _HEAD.unpack_from(body)
    if not number or not 0 < size <= MAX_BATCH or k != _data_shards(size) or k + m > _MAX_SHARDS or index >= k + m:
        return None
    data = body[_HEAD.size :]
    return Shard(number, size, k, m, index, data) if len(data) == math.ceil(size / k) else None


@dataclass
class _Group:
    changed: float
    """When something of it came, or that it exists was clear."""
    overtaken: Optional[float] = None
    """When something of a newer group came, so the rest of this one is lost or late."""
    asked: float = 0.0
    size: int = 0
    k: int = 0
    m: int = 0
    shards: Dict[int, bytes] = field(default_factory=dict)

    @property
    def there(self) -> int:
        """One bit for each shard."""
        return sum(1 << index for index in self.shards)


class Groups:
    """Shards to batches, in order. Not thread-safe.

    A group that is not complete `max_delay` seconds after a newer one began is given up: what comes after it goes on.
    Holds 1,024 groups and 4 MiB at most.
    """

    def __init__(self, max_delay: float, counters: Counters) -> None:
        self._max_delay, self._counters = max_delay, counters
        self.next, self.newest = 1, 0
        self.newest_at = 0.0
        self._waiting: OrderedDict[int, _Group] = OrderedDict()  # in the order in which they were noticed
        self._complete: Dict[int, bytes] = {}
        self._bytes = 0
        self._gap = 0.0  # seconds between shards of a group, as a rule

    def add(self, shard: Shard, now: float) -> None:
        """A shard arrived."""
        number = shard.number
        if number < self.next or number in self._complete:
            self._counters.count("surplus shards")
            return
        if number >= self.next + _SPAN or self._bytes + len(shard.data) > _MAX_HELD_BYTES:
            self._counters.drop("too far ahead", f"group {number} when {self.next} is the next one")
            return
        if number > self.newest:
            before = self._waiting.get(self.newest)
            if before is not None:
                before.overtaken = now
            for each in range(max(self.newest + 1, self.next), number):
                self._waiting[each] = _Group(now, now)
            self._waiting[number] = _Group(now)
            self.newest, self.newest_at = number, now
        group = self._waiting[number]
        if not group.k:
            group.size, group.k, group.m = shard.size, shard.k, shard.m
        if (group.size, group.k, group.m) != (shard.size, shard.k, shard.m):
            self._counters.drop("malformed packet", f"two shards of group {number} contradict each other")
            return
        if shard.index in group.shards:
            self._counters.count("surplus shards")
            return
        if group.shards:
            self._gap += (min(now - group.changed, _LONGEST_GAP_S) - self._gap) / 8
        group.shards[shard.index], group.changed = shard.data, now
        self._bytes += len(shard.data)
        if len(group.shards) == group.k:
            self._finish(number, group)

    def _finish(self, number: int, group: _Group) -> None:
        del self._waiting[number]
        if any(index >= group.k for index in group.shards):
            self._counters.count("recovered by parity")
            data = erasure.recover(group.k, group.shards)
        else:
            data = [group.shards[index] for index in range(group.k)]
        self._complete[number] = b"".join(data)[: group.size]

    def take(self, now: float) -> List[Optional[bytes]]:
        """Returns the batches whose turn it is. None: one that was given up."""
        made: List[Optional[bytes]] = []
        while self.next <= self.newest:
            batch = self._complete.pop(self.next, None)
            if batch is not None:
                self._bytes -= self._shard_bytes(batch)
                made.append(batch)
            elif self._is_overdue(self._waiting[self.next], now):
                gone = self._waiting.pop(self.next)
                self._bytes -= sum(map(len, gone.shards.values()))
                self._counters.drop("given up", f"a group did not become complete within {self._max_delay} s")
                made.append(None)
            else:
                break
            self.next += 1
        return made

    def _is_overdue(self, group: _Group, now: float) -> bool:
        return group.overtaken is not None and now - group.overtaken >= self._max_delay

    @staticmethod
    def _shard_bytes(batch: bytes) -> int:
        k = _data_shards(len(batch))
        return k * math.ceil(len(batch) / k)

    def wanted(self, now: float) -> List[Tuple[int, int]]:
        """Returns what to ask for now: groups, and the shards that are there."""
        made = []
        for number, group in self._waiting.items():
            # The rest of the newest one may still be on its way, on a slow link.
            is_newest = group.overtaken is None
            after = max(_ASK_AFTER_S, _ASK_AFTER_GAPS * self._gap) if is_newest else _ASK_AFTER_S
            if now - max(group.changed, group.overtaken or 0.0) >= after and now - group.asked >= _ASK_AGAIN_S:
                group.asked = now
                made.append((number, group.there))
                if len(made) == MAX_WANTED:
                    break
        return made

    @property
    def is_waiting(self) -> bool:
        """Returns whether a group is not complete."""
        return bool(self._waiting)
