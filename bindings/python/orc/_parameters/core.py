"""A parameter of this program: its value in force, and what may change it."""

from __future__ import annotations

import contextlib
import threading
import weakref
from typing import TYPE_CHECKING, Any, Callable, Optional

from .._calls.message import absolute
from .._calls.process import Process
from .._errors import BadArgument, Closed, Forked, NoBroker, NotRegistered
from .._log import logger
from .description import ParameterDescription
from .schema import type_of
from .values import Value, converted, sample_of, to_json

if TYPE_CHECKING:
    from .component import Parameters

Validate = Callable[[Any], Optional[str]]

_WITHDRAWN = "the parameter was withdrawn"


class ParameterCore:
    """Any thread may call."""

    def __init__(
        self, description: ParameterDescription, validate: Optional[Validate], shape: Callable[[Value], Any]
    ) -> None:
        self.description = description
        self.version = 0  # grows with each change, after the value is there
        self._shape = shape
        self._value = description.initial
        self._shaped = shape(self._value)
        self._process = Process()
        self._lock = threading.RLock()  # guards what follows, and is held while a value is checked and published
        self._validate = validate
        self._owner: Callable[[], Optional[Parameters]] = _no_owner
        self._publisher: Any = None
        self._is_withdrawn = False
        self._callback_lock = threading.RLock()  # held while the callback runs
        self._callback: Optional[Callable[[Any], object]] = None
        self._is_queued = False

    @property
    def is_forked(self) -> bool:
        return self._process.is_gone

    def get(self) -> Any:
        """Returns the value as the program has it. Takes no lock."""
        return self._own(self._shaped)

    def value(self) -> Value:
        return self._value

    def check(self) -> None:
        """Checks the initial value. Raises BadArgument."""
        self._check(self._value)

    def start(self, by: Any, owner: Parameters) -> Optional[NoBroker]:
        """Registers the topic and publishes the value. Returns why it was not registered at once."""
        why = None
        name = absolute(self.description.name)
        try:
            by.register_topic(name, type=type_of(self.description))
        except NoBroker as error:  # one that answers later learns of it
            why = error
        with self._lock:
            self._owner = weakref.ref(owner)
            self._publisher = by.publisher(name)
            self._publish()
        return why

    def set(self, value: Value) -> None:
        """Raises BadArgument, NotRegistered, Forked; Closed and NoMemory after the value came into force."""
        if self.is_forked:
            raise Forked()
        with self._lock:
            if self._is_withdrawn:
                raise NotRegistered(_WITHDRAWN)
            value = converted(value, self.description.initial)
            self._check(value)
            if value == self._value:
                return
            self._value, self._shaped = value, self._shape(value)
            self.version += 1
            try:
                self._publish()
            finally:
                self._queue()

    def withdraw(self) -> None:
        """Waits for a set that is being checked and for a running callback. Neither runs afterwards."""
        with self._lock:
            self._is_withdrawn = True
            self._validate = None
            owner, self._publisher = self._owner(), None
        with self._callback_lock:
            self._callback = None
        if owner is not None:
            owner.remove(self)

    def on_change(self, callback: Optional[Callable[[Any], object]]) -> None:
        """Raises NotRegistered, Closed, Forked, SystemFailure."""
        if self.is_forked:
            raise Forked()
        with self._lock:
            if self._is_withdrawn:
                raise NotRegistered(_WITHDRAWN)
        owner = self._owner()
        if owner is None:
            raise Closed()
        owner.start_callbacks()
        with self._callback_lock:
            self._callback = callback

    # What set() does.

    def _check(self, value: Value) -> None:
        """Raises BadArgument."""
        self.description.check(value)
        if self._validate is None:
            return
        why: Any = None
        try:
            why = self._validate(self._own(self._shape(value)))
        except Exception as error:
            why = _text_of(error) or "its check failed"
        if why is not None and not isinstance(why, str):
            why = f"its check returned {type(why).__name__}, and neither a text nor None"
        if why:
            raise BadArgument(f"{self.description.name} cannot be {to_json(value)}: {why}")

    def _publish(self) -> None:
        if self._publisher is not None:
            self._publisher.send_msg(sample_of(self._value))

    def _queue(self) -> None:
        owner = self._owner()
        if owner is not None and self._callback is not None and not self._is_queued:
            self._is_queued = True
            owner.changed(self._run_callback)

    def _run_callback(self) -> None:
        self._is_queued = False
        with self._callback_lock:
            if self._callback is None:
                return
            try:
                self._callback(self.get())
            except BaseException:  # SystemExit, too: the thread serves other parameters
                logger.exception("callback of parameter %s", self.description.name)

    @staticmethod
    def _own(shaped: Any) -> Any:
        """A list is a copy: the program may change it."""
        return list(shaped) if isinstance(shaped, list) else shaped


def _no_owner() -> None:
    """Before the start."""


def _text_of(error: Exception) -> str:
    with contextlib.suppress(Exception):
        return str(error)
    return ""
