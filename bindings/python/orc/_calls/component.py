"""Services and calls of one participant."""

from __future__ import annotations

import threading
import time
import weakref
from typing import Any, Dict, Iterable, List, Optional, Union

from .._errors import BadArgument, Closed, Error, Forked, NameTaken, SystemFailure
from .client_watch import ClientWatch
from .description import service_type
from .errors import CallErrc, CallError
from .future import CallFuture
from .handler import Handler
from .message import CallTypes, full_name
from .open_call import Caller, EndedCall, OpenCall
from .platform import Participant, Platform, seconds
from .process import Process
from .service import Service
from .service_core import ServiceCore, ServiceOptions
from .values import codec_for, codec_of, reply_codec

_LONGEST_DEADLINE_S = 24 * 3600.0
_CLOSE_S = 0.5  # for handlers that run still


class Calls:
    """Any thread may call. Refers to its participant weakly: threads must not keep that alive."""

    def __init__(self, participant: Participant, platform: Platform, caller: Caller) -> None:
        self.participant = weakref.ref(participant)
        self.platform = platform
        self.caller = caller
        self.process = Process()
        self._lock = threading.RLock()  # guards the rest
        self._ended = False
        self._services: Dict[str, ServiceCore] = {}
        self._watch = ClientWatch(self)
        weakref.finalize(participant, self.abandon).atexit = False

    @property
    def has_ended(self) -> bool:
        return self._ended

    def services(self) -> List[ServiceCore]:
        with self._lock:
            return [each for each in self._services.values() if each.is_started]

    def service(self, name: str) -> Optional[ServiceCore]:
        with self._lock:
            found = self._services.get(name)
        return found if found is not None and found.is_started else None

    # The serving end.

    def serve(self, name: str, handler: Any, request: Any, reply: Any, options: ServiceOptions, broker: str) -> Service:
        """Raises the errors of Participant.serve."""
        by = self.participant()
        if by is None:
            raise Closed()
        name = full_name(by, name)
        _check_options(options)
        request_codec, made_reply = codec_of(request), codec_of(reply)
        types = CallTypes(request_codec.description, made_reply.description)
        if broker == "none":
            raise BadArgument("a service needs a broker, and this participant uses none")
        runs = Handler(name, handler, request_codec, made_reply)
        core = ServiceCore(self.participant, self.platform.check_types, name, types, runs, options)
        with self._lock:
            self._usable()
            if name in self._services:
                raise NameTaken(f"this participant serves {name} already")
            self._services[name] = core
        try:
            core.start(service_type(types, options.interfaces))
        except BaseException:
            with self._lock:
                self._services.pop(name, None)
            raise
        try:
            self._watch.services_changed()
        except RuntimeError as error:
            self.withdraw(core)
            raise SystemFailure(f"the thread of the services: {error}") from None
        return Service(self, core)

    def withdraw(self, core: ServiceCore) -> None:
        """Waits until its handlers have returned."""
        with self._lock:
            is_known = self._services.get(core.name) is core
            if is_known:
                del self._services[core.name]
        if is_known:
            self._watch.services_changed()
            core.stop(None)

    # The calling end.

    def call(
        self, participant: Any, name: str, request: Any, deadline: float, reply: Any, type: Any
    ) -> CallFuture[Any]:
        if isinstance(deadline, bool) or not isinstance(deadline, (int, float)):
            raise TypeError(f"a deadline is a number of seconds, not {deadline.__class__.__name__}")
        ends = time.monotonic() + deadline
        request_codec = codec_for(request) if type is None else codec_of(type)
        expected = reply_codec(reply, request_codec)
        if not isinstance(name, str):
            raise TypeError(f"the name of a service is a str, not {name.__class__.__name__}")
        if not 0 < deadline <= _LONGEST_DEADLINE_S:
            why = CallError(CallErrc.bad_argument, "a deadline is above 0 and at most 24 hours")
            return CallFuture(participant, self.caller, EndedCall(why), expected)
        call: OpenCall
        try:
            payload = request_codec.encode(request)
            call = self.caller.start(participant, name, request_codec, expected, payload, ends)
        except CallError as error:
            call = EndedCall(error)
        except Error as error:
            call = EndedCall(CallError(_CODES.get(error.code, CallErrc.bad_argument), str(error)))
        return CallFuture(participant, self.caller, call, expected)

    def wait_for_service(self, participant: Any, name: str, timeout: float) -> None:
        ends = time.monotonic() + seconds("timeout", timeout, 0, _LONGEST_DEADLINE_S)
        full_name(participant, name)
        self.caller.wait_for_service(participant, name, ends)

    # The end.

    def end(self) -> None:
        """Comes before the participant's close(), and ends all calls."""
        if self.process.is_gone:
            return
        with self._lock:
            self.abandon()
        self.caller.end()

    def join(self) -> None:
        """Comes after the participant's close(). Waits for the threads, half a second for handlers."""
        if self.process.is_gone:
            return
        until = time.monotonic() + _CLOSE_S
        self._watch.join(until)
        for core in list(self._services.values()):
            core.stop(until)
        self.caller.join(until)

    def abandon(self) -> None:
        """The participant is gone. Its threads end within a second. For finalizers: takes no lock."""
        self._ended = True
        for core in list(self._services.values()):
            core.abandon()
        self.caller.abandon()

    def _usable(self) -> None:
        if self.process.is_gone:
            raise Forked()
        if self._ended:
            raise Closed()


_CODES = {
    "bad_argument": CallErrc.bad_argument,
    "bad_name": CallErrc.bad_argument,
    "closed": CallErrc.closed,
    "forked": CallErrc.forked,
    "no_memory": CallErrc.no_memory,
}


def options_of(
    threads: int,
    queue: int,
    replace_waiting: bool,
    max_clients: int,
    interfaces: Iterable[str],
    transports: Union[str, Iterable[str]],
    recorded: bool = False,
) -> ServiceOptions:
    if isinstance(interfaces, str):
        raise TypeError("interfaces are a list of names, not one str")
    names = transports.split(",") if isinstance(transports, str) else transports
    chosen = tuple(each.strip() for each in names if each.strip())
    return ServiceOptions(threads, queue, bool(replace_waiting), max_clients, tuple(interfaces), chosen, bool(recorded))


def _check_options(options: ServiceOptions) -> None:
    _check_range("threads", options.threads, 0, 256)
    _check_range("queue", options.queue, 1, 65536)
    _check_range("max_clients", options.max_clients, 1, 1024)
    _check_range("the number of interfaces", len(options.interfaces), 0, 32)
    for each in options.interfaces:
        if not isinstance(each, str):
            raise TypeError(f"an interface is a name, not {type(each).__name__}")
        _check_range("the length of an interface's name", len(each.encode()), 1, 255)
    if "multicast" in options.transports:
        raise BadArgument("calls have one reader per topic, so they do not use multicast: leave it out")


def _check_range(option: str, value: int, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{option} is an int, not {type(value).__name__}")
    if not least <= value <= most:
        raise BadArgument(f"{option} is {least} to {most}, not {value}")
