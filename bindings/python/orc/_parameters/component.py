"""The parameters of one participant, and the service that sets them (liborc/doc/design/parameters.md)."""

from __future__ import annotations

import contextlib
import secrets
import threading
import weakref
from typing import Any, Callable, Dict, Optional

from .._calls import CallContext, Calls, Service
from .._calls.component import options_of
from .._calls.message import absolute
from .._calls.process import Process
from .._errors import BadArgument, BadName, Closed, Error, Forked, NameTaken, NoBroker, NotRegistered
from .changes import Changes
from .core import ParameterCore
from .description import check_description
from .messages import REPLY, REQUEST, SERVICE_PREFIX, Refusal, read_request
from .values import sample_of

_MAX_WAITING = 1024
_MAX_CLIENTS = 64
_SHOWN_CHARACTERS = 100
_CLOSE_S = 0.5  # for a callback that runs still


class Parameters:
    """Any thread may call. Refers to its participant weakly."""

    def __init__(self, participant: Any, calls: Calls, open_directory: Callable[[], Any]) -> None:
        self.calls = calls
        self._participant = weakref.ref(participant)
        self._open_directory = open_directory
        self._process = Process()
        self._changes = Changes()
        self._serving = threading.Lock()  # held while the service is made
        self._service: Optional[Service] = None
        self._lock = threading.Lock()  # guards the rest
        self._has_ended = False
        self._all: Dict[str, ParameterCore] = {}
        self._directory: Any = None
        weakref.finalize(participant, self._changes.end).atexit = False

    def add(self, core: ParameterCore) -> Optional[NoBroker]:
        """Makes a parameter known to other programs. Returns why the broker does not know it yet.

        Raises BadName, BadArgument, NameTaken, and the other errors of register_topic and serve.
        """
        name = core.description.name
        _check_name(name)
        check_description(core.description)
        core.check()
        by = self._participant()
        assert by is not None
        with self._lock:
            self._usable()
            if name in self._all:
                raise NameTaken(f"this participant has the parameter {name} already")
            self._all[name] = core
        try:
            why = self._serve(by.broker_endpoint)
            return core.start(by, self) or why
        except BaseException:
            self._forget(core)
            raise

    def remove(self, core: ParameterCore) -> None:
        by = self._participant()
        with contextlib.suppress(Error):
            if by is not None:
                by.unregister_topic(absolute(core.description.name))
        self._forget(core)

    def start_callbacks(self) -> None:
        """Raises Closed, SystemFailure."""
        if self._has_ended:
            raise Closed()
        self._changes.start()

    def changed(self, run_callback: Callable[[], None]) -> None:
        self._changes.add(run_callback)

    def directory(self) -> Any:
        """Returns a directory of the participant's broker. Raises Closed, Forked."""
        with self._lock:
            self._usable()
            if self._directory is None:
                self._directory = self._open_directory()
            return self._directory

    # The end.

    def end(self) -> None:
        """Comes before the participant's close()."""
        if self._process.is_gone:
            return
        with self._lock:
            self._has_ended = True
            directory = self._directory
        self._changes.end()
        if directory is not None:
            directory.close()

    def join(self) -> None:
        """Comes after the participant's close(). Waits half a second for a callback that runs."""
        if not self._process.is_gone:
            self._changes.join(_CLOSE_S)

    # The service.

    def _serve(self, broker: str) -> Optional[NoBroker]:
        """Makes the service with the first parameter."""
        with self._serving:
            if self._service is None:
                answer = _answering(weakref.ref(self))
                options = options_of(0, _MAX_WAITING, False, _MAX_CLIENTS, (), ())
                name = absolute(SERVICE_PREFIX + secrets.token_hex(8))
                self._service = self.calls.serve(name, answer, REQUEST, REPLY, options, broker)
            return self._service.error

    def answer(self, text: bytes, call: CallContext) -> bytes:
        request = read_request(text)
        if request is None:
            return _refuse(call, Refusal.MALFORMED, 'a request is {"name": "...", "value": ...}, or without a value')
        name = request.name
        core = self._all.get(name)
        if core is None:
            return _refuse(call, Refusal.UNKNOWN, f"this program has no parameter {name[:_SHOWN_CHARACTERS]}")
        if request.sets:
            if core.description.read_only:
                return _refuse(call, Refusal.READ_ONLY, f"{name} is read-only: only its program sets it")
            if request.value is None:
                return _refuse(call, Refusal.VALUE, f"{name} is {core.description.allowed}")
            try:
                core.set(request.value)
            except BadArgument as error:
                return _refuse(call, Refusal.VALUE, str(error))
            except NotRegistered as error:
                return _refuse(call, Refusal.UNKNOWN, str(error))
            except Error:  # it is in force, and was not published
                pass
        return sample_of(core.value())

    def _forget(self, core: ParameterCore) -> None:
        with self._lock:
            if self._all.get(core.description.name) is core:
                del self._all[core.description.name]

    def _usable(self) -> None:
        if self._process.is_gone:
            raise Forked()
        if self._has_ended:
            raise Closed()


def _answering(owner: weakref.ReferenceType[Parameters]) -> Callable[[bytes, CallContext], bytes]:
    """The threads of the service must not keep the parameters, whose topics would keep the participant."""

    def answer(request: bytes, context: CallContext) -> bytes:
        found = owner()
        if found is None:
            return _refuse(context, Refusal.UNKNOWN, "the program ends")
        return found.answer(request, context)

    return answer


def _refuse(call: CallContext, why: Refusal, text: str) -> bytes:
    call.fail(why, text)
    return b""


def _check_name(name: str) -> None:
    if any(part.startswith(".") for part in name.split("/")):
        raise BadName(f"{name} is no name of a parameter: names with a part that begins with a dot are ORC's own")
