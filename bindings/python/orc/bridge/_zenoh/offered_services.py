"""Services of this network as queryables of Zenoh. A call is one query, which neither end repeats."""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Dict, List

from orc import CallErrc, CallError, TopicState, UnknownType
from orc._calls.description import CallTypes, types_in

from .._shared.counters import Counters
from .call_bytes import decode_asked, encode_error
from .log import logger
from .schemas import Schemas
from .sessions import direct
from .settings import Settings

_DEFAULT_DEADLINE_S = 10.0  # of a query without our attachment
_MAX_ATTACHMENT = 512
_MAX_OPEN = 64
_MAX_REMEMBERED = 4096
_DESCRIBED_S = 10.0
_LOOK_S = 0.05


class OfferedServices:
    """Services of this network as queryables."""

    def __init__(
        self, settings: Settings, participant: Any, session: Any, directory: Any, schemas: Schemas, counters: Counters
    ) -> None:
        self._settings, self._participant, self._session = settings, participant, session
        self._directory, self._schemas, self._counters = directory, schemas, counters
        self._rules = {each.name: each for each in settings.services if each.is_for("out")}
        self._present: Dict[str, List[Any]] = {}
        self._descriptions: Dict[str, bytes] = {}
        self._lock = threading.Lock()  # guards the rest
        self._open = 0
        self._seen: OrderedDict[bytes, None] = OrderedDict()
        self._pool = ThreadPoolExecutor(_MAX_OPEN, "zenoh call")

    def on_topic(self, topic: TopicState, exists: bool) -> None:
        """A service came, changed or is gone. One thread calls."""
        if topic.name not in self._rules:
            return
        for each in self._present.pop(topic.name, []):
            each.undeclare()
        if exists:
            self._pool.submit(self._offer, topic.name)

    def close(self) -> None:
        """Offers nothing any more."""
        for ends in list(self._present.values()):
            for each in ends:
                each.undeclare()
        self._pool.shutdown(wait=False)

    def _offer(self, name: str) -> None:
        try:
            self._declare(name)
        except Exception as error:
            self._counters.drop("service not offered", f"{name}: {error}")

    def _declare(self, name: str) -> None:
        described = {}
        for part, type in self._types_of(name)._asdict().items():
            if type:
                self._schemas.add(type)
                described[part] = f"{type.hash:016x}"
        self._descriptions[name] = json.dumps(described).encode()
        key = f"{self._settings.prefix}/{self._settings.robot}"

        def serve(query: Any) -> None:
            self._serve(name, query)

        def describe(query: Any) -> None:
            with query:
                query.reply(f"{key}/@service/{name}", self._descriptions[name])

        made = [
            self._session.declare_queryable(f"{key}/{name}", direct(serve), complete=True),
            self._session.declare_queryable(f"{key}/@service/{name}", direct(describe), complete=True),
            self._session.liveliness().declare_token(f"{key}/@service/{name}"),
        ]
        for each in self._present.pop(name, []):
            each.undeclare()
        self._present[name] = made

    def _types_of(self, name: str) -> CallTypes:
        """Waits until the service describes itself. Raises Error, ValueError."""
        ends = time.monotonic() + _DESCRIBED_S
        while True:
            publication = self._directory.describe(name).publication
            if publication is None or publication.type is None:
                raise ValueError("this is no service")
            try:
                return types_in(self._directory.find_type(publication.type))
            except UnknownType:
                if time.monotonic() > ends:
                    raise
            time.sleep(_LOOK_S)

    def _serve(self, name: str, query: Any) -> None:
        """Zenoh's thread: must not wait."""
        asked = None if query.attachment is None else decode_asked(query.attachment.to_bytes()[:_MAX_ATTACHMENT])
        if query.attachment is not None and asked is None:
            self._refuse(query, CallError(CallErrc.bad_request, "the attachment is malformed"))
            return
        payload = query.payload
        if payload is not None and len(payload) > self._settings.max_bytes:
            self._refuse(query, CallError(CallErrc.too_large, f"at most {self._settings.max_bytes} bytes"))
            return
        id, deadline = asked or (secrets.token_bytes(16), _DEFAULT_DEADLINE_S)
        with self._lock:
            if id in self._seen:
                self._counters.count("repeated call")
                query.drop()
                return
            if self._open >= _MAX_OPEN:
                self._refuse(query, CallError(CallErrc.busy, f"{_MAX_OPEN} calls are open in the bridge"))
                return
            self._open += 1
            self._seen[id] = None
            if len(self._seen) > _MAX_REMEMBERED:
                self._seen.popitem(last=False)
        self._pool.submit(self._call, name, query, time.monotonic() + deadline)

    def _call(self, name: str, query: Any, ends: float) -> None:
        try:
            with query:
                try:
                    request = b"" if query.payload is None else query.payload.to_bytes()
                    left = ends - time.monotonic()
                    reply = self._participant.call(name, request, deadline=max(0.001, left), reply=bytes).result()
                    query.reply(f"{self._settings.prefix}/{self._settings.robot}/{name}", reply, express=True)
                except CallError as error:
                    query.reply_err(encode_error(error), encoding="application/json")
        except Exception:
            logger.exception("a call of %s", name)
        finally:
            with self._lock:
                self._open -= 1

    def _refuse(self, query: Any, error: CallError) -> None:
        self._counters.drop("call refused", str(error))
        with query:
            query.reply_err(encode_error(error), encoding="application/json")
