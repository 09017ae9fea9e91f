"""The calls of a channel that have not ended, and those whose callbacks are due."""

from __future__ import annotations

import heapq
import itertools
import math
from collections import deque
from typing import Callable, Deque, Dict, Iterator, List, Optional, Tuple

from .call import Call
from .errors import CallError
from .negotiation import TypePair
from .wakeup import Wakeup

_MIN_KEPT = 64


class OpenCalls:
    """Guarded by the lock of its channel."""

    def __init__(self) -> None:
        self.sent: Dict[int, Call] = {}  # by rising ids
        self.attended = 0  # calls for which the channel's thread receives
        self.due: Deque[Callable[[], object]] = deque()  # callbacks of ended calls
        self.waiting: Dict[Wakeup, Call] = {}  # threads that wait while another one receives
        self._unsent: Dict[Call, None] = {}
        self._deadlines: List[Tuple[float, int, Call]] = []  # a heap; some have ended
        self._order = itertools.count()

    def __len__(self) -> int:
        return len(self.sent) + len(self._unsent)

    @property
    def has_unsent(self) -> bool:
        return bool(self._unsent)

    def keep(self, call: Call) -> None:
        """Adds one that is to be sent later."""
        self._unsent[call] = None
        self._add_deadline(call)

    def count_sent(self, call: Call) -> None:
        if self._unsent.pop(call, call) is call:
            self._add_deadline(call)
        self.sent[call.id] = call

    def unsent_of(self, pair: TypePair) -> List[Call]:
        return [call for call in self._unsent if call.pair is pair]

    def attend(self, call: Call) -> None:
        if not call.attended and not call.done:
            call.attended = True
            self.attended += 1

    def end(self, call: Call, why: Optional[CallError]) -> None:
        """`why`: None when it has a reply."""
        if call.done:
            return
        call.done, call.error, call.unsent = True, why, None
        self._unsent.pop(call, None)
        if call.id:
            self.sent.pop(call.id, None)
        if call.attended:
            self.attended -= 1
        call.alert()
        for wakeup, waits_for in list(self.waiting.items()):
            if waits_for is call:
                wakeup.ring()
        if call.callbacks:
            self.due.extend(call.callbacks)
            call.callbacks = None

    def end_sent(self, why: CallError) -> None:
        for call in list(self.sent.values()):
            self.end(call, why)

    def end_all(self, why: CallError) -> None:
        self.end_sent(why)
        for call in list(self._unsent):
            self.end(call, why)

    def take_late(self, now: float) -> Iterator[Call]:
        """Returns the calls whose deadline has passed, once."""
        while self._deadlines and self._deadlines[0][0] <= now:
            call = heapq.heappop(self._deadlines)[2]
            if not call.done:
                yield call

    def next_deadline(self) -> float:
        while self._deadlines and self._deadlines[0][2].done:
            heapq.heappop(self._deadlines)
        return self._deadlines[0][0] if self._deadlines else math.inf

    def _add_deadline(self, call: Call) -> None:
        if len(self._deadlines) > _MIN_KEPT + 2 * len(self):
            self._deadlines = [each for each in self._deadlines if not each[2].done]
            heapq.heapify(self._deadlines)
        heapq.heappush(self._deadlines, (call.deadline, next(self._order), call))
