"""A program's parameter, as a handle (liborc/include/orc/parameters/parameter.h)."""

from __future__ import annotations

from typing import Any, Callable, Generic, Optional

from .._errors import NoBroker
from .._typed.variables import T
from .core import ParameterCore
from .description import ParameterDescription
from .values import canonical, to_json


class Parameter(Generic[T]):
    """A value of this program that other programs see and set. `Participant.parameter` makes it.

    It lasts until close(), or until its participant ends; it keeps the participant. `with participant.parameter(…):`
    closes it at the end of the block. Any thread may read and set `value`.
    """

    def __init__(self, participant: Any, core: ParameterCore, error: Optional[NoBroker]) -> None:
        self._participant = participant
        self._core = core
        self._error = error
        self._seen = core.version

    @property
    def name(self) -> str:
        """Of the parameter, and of its topic."""
        return self._core.description.name

    @property
    def description(self) -> ParameterDescription:
        """What other programs see of it."""
        return self._core.description

    @property
    def error(self) -> Optional[NoBroker]:
        """Why it was not registered at once; a broker that answers later learns of it. None: it was."""
        return self._error

    @property
    def value(self) -> T:
        """The value in force, also after close() and after fork(). Reading it takes no lock and never waits.

        A list is a copy; an array is read-only, and the same until the value changes. Setting it is set().
        """
        found: T = self._core.get()
        return found

    @value.setter
    def value(self, value: T) -> None:
        self.set(value)

    def set(self, value: T) -> None:
        """Sets the value, with the checks that a set from another program has to pass.

        Then the value is in force, its topic publishes it, and the callback comes. A value that is equal to the one in
        force changes nothing. Waits for another set of this parameter.

        Raises BadArgument, which is a ValueError: the value is refused, the text says why and what is allowed, and the
        value stays as it was. Raises TypeError (no parameter has such a value), NotRegistered (after close()), Forked.
        Raises Closed and NoMemory when the value is in force, but was not published: the participant ended, or out of
        memory.
        """
        self._core.set(canonical(value))

    def on_change(self, callback: Optional[Callable[[T], object]]) -> None:
        """Calls `callback` with the value after each change, on a thread of ORC.

        After changes in quick succession it may come once, with the newest value. It replaces the callback before it;
        None ends it. Waits for a callback that runs, unless it makes this call. A callback may read and set parameters.
        What it raises goes to the logger "orc". Raises TypeError, NotRegistered (after close()), Closed, Forked,
        SystemFailure (no thread).
        """
        if callback is not None and not callable(callback):
            raise TypeError(f"a callback is called with the value; this is {type(callback).__name__}")
        self._core.on_change(callback)

    def changed(self) -> bool:
        """Returns whether the value changed since the parameter was made or this returned True. Takes no lock.

        For one thread at a time: a loop looks here, and copies a list only when it has changed.
        """
        version = self._core.version
        has_changed, self._seen = version != self._seen, version
        return has_changed

    def close(self) -> None:
        """Withdraws the parameter: its topic ends. Waits for a callback that runs, and for a set that is being checked.

        A callback may make this call, a check must not.
        """
        if not self._core.is_forked:
            self._core.withdraw()

    def __enter__(self) -> Parameter[T]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<orc.Parameter {self.name!r}, {to_json(self._core.value())}>"
