"""What waits for a link: a bounded queue per channel, the newest message alone where a rate limits it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Deque, Dict, List, Optional, Tuple

from .._shared.counters import Counters
from . import frames

_MAX_LINES = 2048
_MAX_LINE_BYTES = 4 << 20


@dataclass
class Pace:
    """How messages of a name are sent."""

    period: float = 0.0
    """Seconds between two; 0: no limit."""
    latest_only: bool = False
    """A newer message replaces one that waits."""


@dataclass(eq=False)
class _Line:
    kind: int
    name: bytes
    pace: Pace
    waiting: Deque[bytes] = field(default_factory=deque)
    bytes: int = 0  # of `waiting`
    due: float = 0.0
    current: Optional[memoryview] = None  # a message that is being sent
    offset: int = 0
    has_turn: bool = False  # it is in one of the lists


class Outgoing:
    """Of one link. Not thread-safe. Lines take turns, piece by piece, so a large message delays no small one.

    When a line is full, its oldest message is dropped: above `depth` messages, or above 4 MiB in several ones. When all
    lines have more than `max_bytes`, the longest one drops its oldest.
    """

    def __init__(self, depth: int, max_bytes: int, counters: Counters) -> None:
        self._depth, self._max_bytes, self._counters = depth, max_bytes, counters
        self._lines: Dict[Tuple[int, bytes], _Line] = {}
        self._ready: Deque[_Line] = deque()  # have something to send now
        self._resting: List[_Line] = []  # wait for their rate
        self._bytes = 0

    def put(self, kind: int, name: bytes, payload: bytes, pace: Pace) -> None:
        """Sends a message when the link takes it."""
        line = self._lines.get((kind, name))
        if line is None:
            line = self._new_line(kind, name, pace)
            if line is None:
                return
        line.pace = pace
        line.waiting.append(payload)
        line.bytes += len(payload)
        self._bytes += len(payload)
        most = 1 if pace.latest_only else self._depth
        while len(line.waiting) > most or (len(line.waiting) > 1 and line.bytes > _MAX_LINE_BYTES):
            self._drop_oldest(line, "replaced" if pace.latest_only else "queue full")
        while self._bytes > self._max_bytes:
            self._drop_oldest(max(self._lines.values(), key=lambda each: each.bytes), "queue full")
        if not line.has_turn:
            line.has_turn = True
            self._resting.append(line)

    def _new_line(self, kind: int, name: bytes, pace: Pace) -> Optional[_Line]:
        if len(self._lines) >= _MAX_LINES:
            self._lines = {k: each for k, each in self._lines.items() if each.has_turn}
        if len(self._lines) >= _MAX_LINES:
            self._counters.drop("too many names", f"{_MAX_LINES} channels and topics wait for the link")
            return None
        made = self._lines[kind, name] = _Line(kind, name, pace)
        return made

    def advance(self, now: float) -> float:
        """Looks whose turn has come. Returns when to call again."""
        due = [each for each in self._resting if each.due <= now]
        if due:
            self._resting = [each for each in self._resting if each.due > now]
            self._ready.extend(due)
        return min((each.due for each in self._resting), default=float("inf"))

    @property
    def has_some(self) -> bool:
        """Returns whether next_batch() has something."""
        return bool(self._ready)

    def next_batch(self, most: int, now: float) -> bytes:
        """Returns frames of at most about this many bytes."""
        made: List[bytes] = []
        left = min(most, frames.MAX_BATCH)
        while self._ready and left > frames.OVERHEAD:
            line = self._ready.popleft()
            frame = self._next_frame(line, left - frames.OVERHEAD, now)
            if frame:
                made.append(frame)
                left -= len(frame)
            if line.current is not None:
                self._ready.append(line)
            elif line.waiting:
                (self._ready if line.due <= now else self._resting).append(line)
            else:
                line.has_turn = False
        return b"".join(made)

    def _next_frame(self, line: _Line, most: int, now: float) -> bytes:
        if line.current is None:
            if not line.waiting:  # dropped
                return b""
            line.current, line.offset = memoryview(line.waiting.popleft()), 0
            line.bytes -= len(line.current)
            if line.pace.period:
                line.due = (line.due if now - line.due < line.pace.period else now) + line.pace.period
        data = line.current[line.offset : line.offset + min(most, frames.MAX_PIECE)]
        made = frames.encode(line.kind, line.name, len(line.current), line.offset, data)
        line.offset += len(data)
        if line.offset == len(line.current):
            self._bytes -= len(line.current)
            line.current = None
        return made

    def _drop_oldest(self, line: _Line, why: str) -> None:
        gone = len(line.waiting.popleft())
        line.bytes -= gone
        self._bytes -= gone
        self._counters.count(why)
