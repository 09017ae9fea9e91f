"""The part of a participant that serves and calls."""

from __future__ import annotations

import time
from typing import Any, Callable, Iterable, Type, TypeVar, Union, overload

import orc._native as _native

from .._errors import BadArgument, Error
from .._timeouts import LONGEST_S, checked_timeout
from .._typed import Typed
from .callbacks import Callbacks
from .errors import CallErrc
from .future import CallFuture
from .handler import runner, takes_call
from .service import Service
from .values import codec_for, codec_of, reply_codec

V = TypeVar("V")


class Calling:
    """Mix-in of a participant. A class over the extension's types takes the functions instead."""

    _callbacks: Callbacks

    def serve(
        self: Any,
        name: str,
        handler: Callable[..., Any],
        *,
        request: Any = None,
        reply: Any = None,
        threads: int = 0,
        queue: int = 64,
        replace_waiting: bool = False,
        max_clients: int = 128,
        interfaces: Iterable[str] = (),
        transports: Union[str, Iterable[str], None] = None,
        recorded: bool = False,
    ) -> Service:
        """Offers a service: others call `handler` under `name` (liborc/include/orc/calls.h).

        name: a topic name of at most 231 bytes. One program at a time has it.
        handler: takes the request and returns the reply. With a second parameter it also takes the orc.CallContext.
            It runs at most once per call, on a thread of ORC, and never for a call that was cancelled, or whose
            deadline passed, before it starts. What it raises ends the call as CallErrc.exception, and goes to the
            logger "orc" at the level of debug. It may call services, but not its own one without threads.
        request, reply: their types. None: JSON values (dict, list, str, number, bool, None), at most 16 MiB of text.
            bytes: bytes. Else what register_topic takes as `type`.
        threads: that run the handler, at most 256. 0: the thread that received the request runs it, which is fastest;
            calls of all clients then run one after the other.
        queue: how many requests may wait, of all clients together, 1 to 65536. A further one ends as CallErrc.busy.
        replace_waiting: a client's newer call replaces its waiting one, which ends as CallErrc.replaced.
        max_clients: at a time, 1 to 1024; each takes a thread and two topics. Further ones get CallErrc.refused.
        interfaces: names of the interfaces that it implements, for orc.find_services: at most 32.
        transports: of the replies, and those over which requests may come; None: the participant's. Not multicast.
        recorded: publishes a record of each call that ends, as JSON, on the topic NAME/.calls, for recordings and
            `orc service echo` (schemas/PROTOCOL.md, "Recorded calls"). Subscribers that read in order get each record.
            A slow one never delays the service: it misses records. NameTaken: another program has the topic.

        The service ends with Service.close() or with the participant. Waits for the broker as register_topic does;
        without a broker it returns a service that is offered when one answers. Raises NameTaken, BadName, BadArgument,
        TypeError and the other errors of register_topic.
        """
        with_call = takes_call(handler)
        takes, gives = codec_of(request), codec_of(reply)
        made = self._serve(
            name,
            _native_type(takes),
            _native_type(gives),
            runner(str(name), handler, takes, gives),
            with_call,
            threads,
            queue,
            replace_waiting,
            max_clients,
            interfaces,
            () if transports is None else transports,
            recorded,
        )
        return Service(made)

    @overload
    def call(
        self: Any, name: str, request: Any, *, deadline: float, reply: Union[Type[V], Typed[V]], type: Any = None
    ) -> CallFuture[V]: ...
    @overload
    def call(
        self: Any, name: str, request: Any, *, deadline: float, reply: Any = None, type: Any = None
    ) -> CallFuture[Any]: ...
    def call(
        self: Any, name: str, request: Any, *, deadline: float, reply: Any = None, type: Any = None
    ) -> CallFuture[Any]:
        """Starts a call of a service and returns at once.

        request: a JSON value, bytes, or a value of a typed topic's type.
        deadline: when the call ends at the latest, in seconds from now; above 0 and at most a day.
        reply: its type, as in `serve`. None: JSON for a request in JSON, else bytes.
        type: of the request, when its value does not show that itself: orc.flatbuffer(…), orc.struct(…).

        The first call of a service makes the connection. Nothing is sent twice. At most 1,024 calls of a service may be
        open; a participant calls at most 256 services, and closes a connection that is not used for 30 s. Failures come
        with CallFuture.result. Raises TypeError.
        """
        if isinstance(deadline, bool) or not isinstance(deadline, (int, float)):
            raise TypeError(f"a deadline is a number of seconds, not {deadline.__class__.__name__}")
        ends = time.monotonic() + deadline
        sent = codec_for(request) if type is None else codec_of(type)
        expected = reply_codec(reply, sent)
        if not isinstance(name, str):
            raise TypeError(f"the name of a service is a str, not {name.__class__.__name__}")
        try:
            if not 0 < deadline <= LONGEST_S:
                raise BadArgument("a deadline is above 0 and at most 24 hours")
            call = self._start_call(name, _native_type(sent), _native_type(expected), sent.encode(request), ends)
        except Error as error:
            call = _native.failed_call(_CODES.get(error.code, CallErrc.bad_argument), str(error))
        return CallFuture(self, call, expected)

    def wait_for_service(self: Any, name: str, timeout: float) -> None:
        """Waits until the service has answered through its own links, at most `timeout` seconds.

        Raises TimedOut, whose text says why, Refused (by the service, or there are 256 connections), BadName,
        BadArgument, Closed, Forked.
        """
        self._wait_for_service(name, time.monotonic() + checked_timeout(timeout))


def _native_type(codec: Typed[Any]) -> Any:
    """Returns the codec's description as C++ wants it, which is made once."""
    made = codec.native_type
    if made is None:
        made = codec.native_type = _native.CallType(codec.description)
    return made


_CODES = {
    "closed": CallErrc.closed,
    "forked": CallErrc.forked,
    "no_memory": CallErrc.no_memory,
}
