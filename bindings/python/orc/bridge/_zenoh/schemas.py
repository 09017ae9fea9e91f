"""Types of topics: a bridge answers for its own, and asks others for theirs, once per hash."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from typing import Any, Dict, Optional, Tuple

import zenoh

from orc import TypeDescription

from .._shared.counters import Counters
from .._shared.type_bytes import decode_type, encode_type
from .sessions import direct
from .settings import Settings

_MAX_KNOWN = 1024
_ASK_S = 3.0
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.5, 60.0


class Schemas:
    """Any thread may call."""

    def __init__(self, settings: Settings, session: Any, counters: Counters) -> None:
        self._settings, self._session, self._counters = settings, session, counters
        self._lock = threading.Lock()  # guards the rest
        self._own: OrderedDict[int, bytes] = OrderedDict()
        self._known: OrderedDict[int, TypeDescription] = OrderedDict()
        self._ask_again: OrderedDict[Tuple[str, int], Tuple[float, float]] = OrderedDict()  # when, and the pause
        self._queryable: Any = None

    def offer(self) -> None:
        """Answers for the types of this bridge from now on."""
        key = f"{self._settings.prefix}/{self._settings.robot}/@schema/*"
        handler = direct(self._answer)
        self._queryable = self._session.declare_queryable(key, handler)

    def add(self, type: TypeDescription) -> None:
        """A type that this bridge sends."""
        with self._lock:
            self._own[type.hash] = encode_type(type)
            self._own.move_to_end(type.hash)
            while len(self._own) > _MAX_KNOWN:
                self._own.popitem(last=False)

    def find(self, robot: str, hash: int) -> Optional[TypeDescription]:
        """Returns the type of a robot's topic, and asks the robot if need be, for at most 3 s.

        None: there is no answer with this hash now. Asks again after a pause that doubles, up to 60 s.
        """
        asked = (robot, hash)
        with self._lock:
            known = self._known.get(hash)
            when, pause = self._ask_again.get(asked, (0.0, _FIRST_PAUSE_S))
            if known is not None or time.monotonic() < when:
                return known
            self._ask_again[asked] = (time.monotonic() + pause, min(2 * pause, _LONGEST_PAUSE_S))
            while len(self._ask_again) > _MAX_KNOWN:
                self._ask_again.popitem(last=False)
        found = self._ask(robot, hash)
        if found is not None:
            with self._lock:
                self._ask_again.pop(asked, None)
                self._known[hash] = found
                while len(self._known) > _MAX_KNOWN:
                    self._known.popitem(last=False)
        return found

    def _ask(self, robot: str, hash: int) -> Optional[TypeDescription]:
        key = f"{self._settings.prefix}/{robot}/@schema/{hash:016x}"
        try:
            # The consolidation keeps one answer per key, which might be a stranger's: look at each.
            replies = self._session.get(
                key,
                zenoh.handlers.FifoChannel(16),
                target=zenoh.QueryTarget.ALL,
                consolidation=zenoh.ConsolidationMode.NONE,
                timeout=_ASK_S,
            )
            for reply in replies:
                found = None if reply.ok is None else decode_type(reply.ok.payload.to_bytes(), hash)
                if found is not None:
                    return found
                self._counters.drop("schema refused", f"{key}: an answer is malformed or has another hash")
        except zenoh.ZError:
            pass
        return None

    def _answer(self, query: Any) -> None:
        with query:
            text = str(query.key_expr).rpartition("/")[2]
            with self._lock:
                wanted: Dict[int, bytes] = self._own if text == "*" else {}
                if len(text) == 16 and set(text) <= set("0123456789abcdef"):
                    hash = int(text, 16)
                    wanted = {hash: self._own[hash]} if hash in self._own else {}
                answers = list(wanted.items())
            for hash, data in answers:
                key = f"{self._settings.prefix}/{self._settings.robot}/@schema/{hash:016x}"
                query.reply(key, data, encoding="application/octet-stream")
