"""Queryables of other robots as services of this network. A call is one query, which neither end repeats."""

from __future__ import annotations

import json
import secrets
import threading
import time
from typing import Any, Callable, Dict, List, Optional

import zenoh

from orc import CallErrc, CallError, Error, TypeDescription

from .._shared.counters import Counters
from .._shared.peer_clock import clock_ns
from .call_bytes import Asked, decode_error, encode_asked
from .clocks import OWN_CLOCK
from .follower import Follower, close_all
from .schemas import Schemas
from .sessions import direct
from .settings import ServiceRule, Settings, local_name

_THREADS = 4  # of each service
_MAX_DESCRIPTION = 4096
_DESCRIBED_S = 3.0
_LOOK_S = 0.05


class ReachedServices:
    """Queryables of other robots as services of this network."""

    def __init__(
        self, settings: Settings, participant: Any, session: Any, schemas: Schemas, counters: Counters
    ) -> None:
        self._settings, self._participant, self._session = settings, participant, session
        self._schemas, self._counters = schemas, counters
        self._rules = [each for each in settings.services if each.is_for("in") and each.robot != settings.robot]
        self._watches: List[Any] = []
        self._services: Dict[str, Follower] = {}  # by name here
        self._rule_of: Dict[str, ServiceRule] = {}  # that of several whose service came last
        for rule in self._rules:
            name = local_name(rule, rule.robot, rule.name)
            if name not in self._services:
                self._services[name] = Follower(f"service {name}", self._server(name), lambda made: made.close())

    def start(self) -> None:
        """Begins."""
        for rule in self._rules:
            if rule.stock:
                self._change(rule, True)
                continue

            def changed(sample: Any, rule: ServiceRule = rule) -> None:
                self._change(rule, sample.kind == zenoh.SampleKind.PUT)

            token = f"{self._settings.prefix}/{rule.robot}/@service/{rule.name}"
            watch = self._session.liveliness().declare_subscriber(token, direct(changed), history=True)
            self._watches.append(watch)

    def close(self) -> None:
        """Withdraws the services."""
        for each in self._watches:
            each.undeclare()
        close_all(self._services.values())

    def _change(self, rule: ServiceRule, exists: bool) -> None:
        name = local_name(rule, rule.robot, rule.name)
        if exists:
            self._rule_of[name] = rule
        if self._rule_of.get(name) is rule:
            self._services[name].want(exists)

    def _server(self, name: str) -> Callable[[Follower], Any]:
        return lambda _: self._serve(self._rule_of[name], name)

    def _serve(self, rule: ServiceRule, name: str) -> Any:
        """Returns the service. None: it cannot be now."""
        types = {"request": TypeDescription(), "reply": TypeDescription()} if rule.stock else self._types_of(rule)
        if types is None:
            return None

        def handle(request: bytes, context: Any) -> bytes:
            return self._ask(rule, request, context)

        try:
            request, reply = (each if each else bytes for each in (types["request"], types["reply"]))
            return self._participant.serve(name, handle, request=request, reply=reply, threads=_THREADS)
        except Error as error:
            self._counters.drop("service not reached", f"{name}: {error}")
            return None

    def _types_of(self, rule: ServiceRule) -> Optional[Dict[str, TypeDescription]]:
        key = f"{self._settings.prefix}/{rule.robot}/@service/{rule.name}"
        types = {"request": TypeDescription(), "reply": TypeDescription()}
        for answer in self._session.get(key, zenoh.handlers.FifoChannel(16), timeout=_DESCRIBED_S):
            try:
                if answer.ok is None or len(answer.ok.payload) > _MAX_DESCRIPTION:
                    raise ValueError("it has no answer of this kind")
                hashes = json.loads(answer.ok.payload.to_bytes())
                for part in types:
                    if part in hashes:
                        found = self._schemas.find(rule.robot, int(hashes[part], 16))
                        if found is None:
                            return None
                        types[part] = found
                return types
            except (ValueError, TypeError, LookupError, RecursionError) as error:
                self._counters.drop("service not reached", f"{key}: {error}")
        return None

    def _ask(self, rule: ServiceRule, request: bytes, context: Any) -> bytes:
        """A handler of ORC: makes one query, and waits for its reply until the deadline."""
        ended = threading.Event()
        replies: List[Any] = []

        def take(reply: Any) -> None:
            if not replies:
                replies.append(reply)
                ended.set()

        asked_ns = clock_ns()
        left = context.deadline - time.monotonic()
        if left <= 0:
            return _fail(context, CallError(CallErrc.lost, "the deadline had passed before the query"))
        key = f"{self._settings.prefix}/{rule.robot}/{rule.name}"
        asked = Asked(secrets.token_bytes(16), left, OWN_CLOCK, asked_ns, self._settings.robot)
        token = zenoh.CancellationToken()
        self._session.get(
            key,
            zenoh.handlers.Callback(take, ended.set, indirect=False),
            payload=request,
            attachment=encode_asked(asked),
            consolidation=zenoh.ConsolidationMode.NONE,
            timeout=left,
            congestion_control=zenoh.CongestionControl.BLOCK,
            express=True,
            cancellation_token=token,
        )
        while not ended.wait(_LOOK_S):
            if context.cancelled():
                token.cancel()
                return b""
        if not replies:
            return _fail(context, CallError(CallErrc.server_died, f"no reply from {rule.robot}; the call may have run"))
        reply = replies[0]
        if reply.ok is None:
            return _fail(context, decode_error(reply.err.payload.to_bytes()))
        if len(reply.ok.payload) > self._settings.max_bytes:
            return _fail(context, CallError(CallErrc.too_large, f"the reply has {len(reply.ok.payload)} bytes"))
        data: bytes = reply.ok.payload.to_bytes()
        return data


def _fail(context: Any, error: CallError) -> bytes:
    """Ends the call with this error. Codes that only a client itself may state become server_died or lost."""
    if error.code > CallErrc.bad_reply and error.code not in (CallErrc.server_died, CallErrc.no_memory):
        code = CallErrc.server_died if error.code is CallErrc.no_service else CallErrc.lost
        error = CallError(code, f"{error.code.name}: {error.text or str(error)}", error.number)
    elif error.code is CallErrc.ok:
        error = CallError(CallErrc.failed, error.text)
    context._end_with(error)
    return b""
