"""Ages across Zenoh: a bridge answers what its clock shows, and asks the bridges whose samples it gets."""

from __future__ import annotations

import secrets
import threading
import time
from collections import Counter, OrderedDict
from typing import Any, Optional, Tuple

import zenoh

from .._shared.counters import Counters
from .._shared.peer_clock import PeerClock, clock_ns
from .sessions import direct
from .settings import Settings

OWN_CLOCK = secrets.randbits(64) | 1
"""Names clock_ns() of this process. 0 names none."""
_MAX_KNOWN, _MAX_ASKING = 1024, 64
_MAX_ASKING_ROBOT = 4
"""So a robot that names many clocks keeps no other one from being asked."""
_ASK_S = 3.0
_AGAIN_S, _ANEW_S = 1.0, 10.0
_IN_USE_S = 60.0


class _Peer:
    def __init__(self) -> None:
        self.clock = PeerClock()
        self.ask_at = 0.0


class Clocks:
    """Any thread may call."""

    def __init__(self, settings: Settings, session: Any, counters: Counters) -> None:
        self._settings, self._session, self._counters = settings, session, counters
        self._lock = threading.Lock()  # guards the rest
        self._known: OrderedDict[Tuple[str, int], _Peer] = OrderedDict()
        self._asking: Counter[str] = Counter()  # of each robot
        self._queryable: Any = None

    def offer(self) -> None:
        """Answers what the clock shows from now on."""
        key = f"{self._settings.prefix}/{self._settings.robot}/@clock/{OWN_CLOCK:016x}"

        def answer(query: Any) -> None:
            with query:
                query.reply(key, clock_ns().to_bytes(8, "little"), express=True)

        self._queryable = self._session.declare_queryable(key, direct(answer))

    def age_ns(self, robot: str, clock: int, stamp_ns: int) -> Optional[int]:
        """Returns the age of what was sent then by this clock, and asks for the clock if need be. None: not known yet.

        Never too small; see PeerClock. Does not wait.
        """
        peer = self._known.get((robot, clock))
        if peer is None or time.monotonic() >= peer.ask_at:
            peer = self._ask_soon(robot, clock)
        return None if peer is None else peer.clock.age_ns(stamp_ns, clock_ns())

    def _ask_soon(self, robot: str, clock: int) -> Optional[_Peer]:
        now = time.monotonic()
        with self._lock:
            peer = self._known.get((robot, clock))
            if peer is not None and now < peer.ask_at:
                return peer
            is_full = self._asking[robot] >= _MAX_ASKING_ROBOT or sum(self._asking.values()) >= _MAX_ASKING
            if is_full or (peer is None and not self._has_room(now)):
                self._counters.count("clock not asked")
                return peer
            peer = peer or _Peer()
            self._known[robot, clock] = peer
            self._known.move_to_end((robot, clock))
            peer.ask_at = now + _AGAIN_S
            self._asking[robot] += 1
        self._ask(robot, clock, peer)
        return peer

    def _has_room(self, now: float) -> bool:
        """Forgets a clock if need be, but none that was measured and is in use."""
        if len(self._known) < _MAX_KNOWN:
            return True
        for name, peer in self._known.items():
            if peer.clock.ahead_ns(0) is None or now > peer.ask_at + _IN_USE_S:
                del self._known[name]
                return True
        return False

    def _ask(self, robot: str, clock: int, peer: _Peer) -> None:
        key = f"{self._settings.prefix}/{robot}/@clock/{clock:016x}"
        asked_ns = clock_ns()

        def take(reply: Any) -> None:
            data = b"" if reply.ok is None else reply.ok.payload.to_bytes()[:9]
            if len(data) != 8:
                self._counters.drop("no clock", f"{key} gives none")
                return
            with self._lock:
                peer.clock.is_ahead(asked_ns - int.from_bytes(data, "little"), asked_ns)
                peer.ask_at = time.monotonic() + _ANEW_S

        def ended() -> None:
            with self._lock:
                self._asking[robot] -= 1
                if not self._asking[robot]:
                    del self._asking[robot]

        try:
            self._session.get(
                key,
                zenoh.handlers.Callback(take, ended, indirect=False),
                consolidation=zenoh.ConsolidationMode.NONE,
                timeout=_ASK_S,
                congestion_control=zenoh.CongestionControl.DROP,
                express=True,
            )
        except zenoh.ZError as error:
            ended()
            self._counters.drop("no clock", f"{key}: {error}")
