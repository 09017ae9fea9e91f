"""Services of this network as queryables of Zenoh. A call is one query, which neither end repeats."""

from __future__ import annotations

import contextlib
import json
import secrets
import threading
import time
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, Optional

from orc import CallErrc, CallError, TopicState, UnknownType
from orc._calls.description import CallTypes, types_in

from .._shared.counters import Counters
from .call_bytes import Asked, decode_asked, encode_error
from .clocks import Clocks
from .follower import Follower, close_all
from .log import logger
from .schemas import Schemas
from .sessions import direct
from .settings import Settings

_DEFAULT_DEADLINE_S = 10.0  # of a query without our attachment
_MAX_ATTACHMENT = 512
_MAX_OPEN = 64
_MAX_REMEMBERED = 4096
_LOOK_S, _ASK_LOOK_S = 0.05, 0.005
_AGE_S = 3.0
"""A call waits for its age so long: the sender may have no clock that answers."""


class OfferedServices:
    """Services of this network as queryables."""

    def __init__(
        self, settings: Settings, participant: Any, session: Any, directory: Any, schemas: Schemas, clocks: Clocks,
        counters: Counters,
    ) -> None:  # fmt: skip
        self._settings, self._participant, self._session = settings, participant, session
        self._directory, self._schemas, self._clocks, self._counters = directory, schemas, clocks, counters
        self._rules = {each.name: each for each in settings.services if each.is_for("out")}
        self._offers = {
            name: Follower(f"service {name}", self._offerer(name), lambda made: made.close()) for name in self._rules
        }
        self._lock = threading.Lock()  # guards the rest
        self._open = 0
        self._seen: OrderedDict[bytes, None] = OrderedDict()
        self._closing = threading.Event()
        self._pool = ThreadPoolExecutor(_MAX_OPEN, "zenoh call")

    def on_topic(self, topic: TopicState, exists: bool) -> None:
        """A service came, changed or is gone. One thread calls."""
        offer = self._offers.get(topic.name)
        if offer is not None:
            offer.want(exists)

    def close(self) -> None:
        """Offers nothing any more."""
        self._closing.set()
        close_all(self._offers.values())
        self._pool.shutdown(wait=False)

    def _offerer(self, name: str) -> Callable[[Follower], Any]:
        def offer(by: Follower) -> Any:
            try:
                return self._declare(name, by)
            except Exception as error:
                self._counters.drop("service not offered", f"{name}: {error}")
                return None

        return offer

    def _declare(self, name: str, by: Follower) -> Optional[contextlib.ExitStack]:
        """Returns what undeclares it. None: it is wanted no more. Raises Error, ValueError, zenoh.ZError."""
        types = self._types_of(name, by)
        if types is None:
            return None
        described = {}
        for part, type in types._asdict().items():
            if type:
                self._schemas.add(type)
                described[part] = f"{type.hash:016x}"
        description = json.dumps(described).encode()
        key = f"{self._settings.prefix}/{self._settings.robot}"

        def serve(query: Any) -> None:
            self._serve(name, query)

        def describe(query: Any) -> None:
            with query:
                query.reply(f"{key}/@service/{name}", description)

        with contextlib.ExitStack() as made:
            declare, token = self._session.declare_queryable, self._session.liveliness().declare_token
            made.callback(declare(f"{key}/{name}", direct(serve), complete=True).undeclare)
            made.callback(declare(f"{key}/@service/{name}", direct(describe), complete=True).undeclare)
            made.callback(token(f"{key}/@service/{name}").undeclare)
            return made.pop_all()

    def _types_of(self, name: str, by: Follower) -> Optional[CallTypes]:
        """Waits until the service describes itself. None: it is wanted no more. Raises Error, ValueError."""
        while by.is_wanted():
            publication = self._directory.describe(name).publication
            if publication is None or publication.type is None:
                raise ValueError("this is no service")
            try:
                return types_in(self._directory.find_type(publication.type))
            except UnknownType:
                time.sleep(_LOOK_S)
        return None

    def _serve(self, name: str, query: Any) -> None:
        """Zenoh's thread: must not wait."""
        asked = None if query.attachment is None else decode_asked(query.attachment.to_bytes()[:_MAX_ATTACHMENT])
        if query.attachment is not None and asked is None:
            self._refuse(query, CallError(CallErrc.bad_request, "the attachment is malformed, or of another version"))
            return
        payload = query.payload
        if payload is not None and len(payload) > self._settings.max_bytes:
            self._refuse(query, CallError(CallErrc.too_large, f"at most {self._settings.max_bytes} bytes"))
            return
        asked = asked or Asked(secrets.token_bytes(16), _DEFAULT_DEADLINE_S)
        with self._lock:
            if asked.id in self._seen:
                self._counters.count("repeated call")
                query.drop()
                return
            if self._open >= _MAX_OPEN:
                self._refuse(query, CallError(CallErrc.busy, f"{_MAX_OPEN} calls are open in the bridge"))
                return
            self._open += 1
            self._seen[asked.id] = None
            if len(self._seen) > _MAX_REMEMBERED:
                self._seen.popitem(last=False)
        self._pool.submit(self._call, name, query, asked, time.monotonic())

    def _call(self, name: str, query: Any, asked: Asked, arrived: float) -> None:
        try:
            with query:
                try:
                    request = b"" if query.payload is None else query.payload.to_bytes()
                    left = asked.deadline_s - self._age_s(asked, arrived)
                    if left <= 0:
                        raise CallError(CallErrc.lost, "the deadline had passed before the call came")
                    reply = self._participant.call(name, request, deadline=left, reply=bytes).result()
                    query.reply(f"{self._settings.prefix}/{self._settings.robot}/{name}", reply, express=True)
                except CallError as error:
                    query.reply_err(encode_error(error), encoding="application/json")
        except Exception:
            logger.exception("a call of %s", name)
        finally:
            with self._lock:
                self._open -= 1

    def _age_s(self, asked: Asked, arrived: float) -> float:
        """Waits until it is known, but not for long. Raises CallError."""
        if not asked.clock:
            return time.monotonic() - arrived
        until = arrived + min(asked.deadline_s, _AGE_S)
        while True:
            age_ns = self._clocks.age_ns(asked.robot, asked.clock, asked.clock_ns)
            if age_ns is not None:
                return age_ns / 1e9
            if time.monotonic() >= until or self._closing.wait(_ASK_LOOK_S):
                raise CallError(CallErrc.lost, "the age of the call is not known")

    def _refuse(self, query: Any, error: CallError) -> None:
        self._counters.drop("call refused", str(error))
        with query:
            query.reply_err(encode_error(error), encoding="application/json")
