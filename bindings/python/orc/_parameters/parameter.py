"""A program's parameter, as a handle (liborc/include/orc/parameters/parameter.h)."""

from __future__ import annotations

from typing import Any, Callable, Optional

import orc._native as _native

from .._typed.variables import T
from .description import ParameterDescription
from .functions import calling, checking
from .values import canonical, converted


class Parameter(_native.Parameter[T]):
    """A value of this program that other programs see and set. `Participant.parameter` makes it.

    It lasts until close(), or until its participant ends; it keeps the participant. `with participant.parameter(…):`
    closes it at the end of the block. Any thread may read and set `value`.
    """

    def __init__(
        self,
        participant: Any,
        description: ParameterDescription,
        validate: Optional[Callable[[Any], Any]],
        shape: Optional[Callable[[Any], Any]],
    ) -> None:
        self._description = description
        super().__init__(participant._session, description, checking(validate), shape)

    @property
    def name(self) -> str:
        """Of the parameter, and of its topic."""
        return self._description.name

    @property
    def description(self) -> ParameterDescription:
        """What other programs see of it."""
        return self._description

    def set(self, value: T) -> None:
        """Sets the value, with the checks that a set from another program has to pass.

        Then the value is in force, its topic publishes it, and the callback comes. A value that is equal to the one in
        force changes nothing. Waits for another set of this parameter.

        Raises BadArgument, which is a ValueError: the value is refused, the text says why and what is allowed, and the
        value stays as it was. Raises TypeError (no parameter has such a value), NotRegistered (after close()), Forked.
        Raises Closed and NoMemory when the value is in force, but was not published: the participant ended, or out of
        memory.
        """
        self._set(converted(canonical(value), self._description.initial))

    def on_change(self, callback: Optional[Callable[[T], object]]) -> None:
        """Calls `callback` with the value after each change, on a thread of ORC.

        After changes in quick succession it may come once, with the newest value. It replaces the callback before it;
        None ends it. Waits for a callback that runs, unless it makes this call. A callback may read and set parameters.
        What it raises goes to the logger "orc". Raises TypeError, NotRegistered (after close()), Closed, Forked,
        SystemFailure (no thread).
        """
        if callback is not None and not callable(callback):
            raise TypeError(f"a callback is called with the value; this is {type(callback).__name__}")
        self._on_change(calling(self.name, callback))

    def __enter__(self) -> Parameter[T]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<orc.Parameter {self.name!r}, {_native.parameter_json(canonical(self.value))}>"
