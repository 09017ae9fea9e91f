"""The part of a participant that has parameters and sets those of other programs."""

from __future__ import annotations

from typing import Any, Callable, Iterable, List, Optional, Tuple

import orc._native as _native

from .._errors import BadArgument
from .._timeouts import checked_timeout
from .._typed.variables import V
from .description import ParameterDescription
from .functions import read_only_array
from .parameter import Parameter
from .remote import ParameterOutcome
from .toml import from_toml, to_toml
from .values import MAX_LENGTH, Value, canonical, converted


class Tuning:
    """Mix-in of a participant. A class over the extension's types takes the functions instead."""

    def parameter(
        self: Any,
        name: str,
        initial: V,
        *,
        min: Optional[float] = None,
        max: Optional[float] = None,
        choices: Iterable[V] = (),
        max_length: int = MAX_LENGTH,
        unit: str = "",
        description: str = "",
        read_only: bool = False,
        validate: Optional[Callable[[V], Optional[str]]] = None,
    ) -> Parameter[V]:
        """Declares a value that other programs see and set (liborc/include/orc/parameters.h).

        name: a topic name. One program at a time has it.
        initial: the value with which the program starts, each time. Its type is that of all values: bool, int (64
            bits), float, str, a list of floats, or a numpy array of one dimension. Values of an array are float64
            arrays of this length.
        min, max: least and greatest number, of each number of a list.
        choices: the only values that are allowed, at most 256; empty: any.
        max_length: longest text in characters, longest list in numbers, 1 to 4096.
        unit: for people, such as "N" or "rad/s"; at most 32 bytes.
        description: for people; at most 1,024 bytes.
        read_only: only the program itself sets it.
        validate: returns why a value is refused; None or an empty text accepts it. Runs after the other checks, one
            value at a time, in the thread that sets the value: the program's own, or one of ORC. What it raises refuses
            the value with its text. It must not set or close this parameter, and should return within milliseconds.

        The topic `name` carries the value as JSON, {"value": 2.5}, and keeps the last one. The parameter ends with
        Parameter.close() or with the participant. Waits for the broker as register_topic does; without a broker it
        returns a parameter that others learn of when one answers. Raises NameTaken, BadName, BadArgument (an option is
        out of range, or `initial` is refused), TypeError and the other errors of register_topic and serve.
        """
        if not isinstance(name, str):
            raise TypeError(f"the name of a parameter is a str, not {type(name).__name__}")
        if isinstance(max_length, bool) or not isinstance(max_length, int):
            raise TypeError(f"max_length is an int, not {type(max_length).__name__}")
        if isinstance(choices, str):
            raise TypeError("choices are a list of values, not one str")
        if validate is not None and not callable(validate):
            raise TypeError(f"validate is called with a value; this is {type(validate).__name__}")
        full, first = self.resolve(name), canonical(initial)
        is_array = isinstance(first, list) and not isinstance(initial, (list, tuple))
        length = len(first) if is_array and isinstance(first, list) else max_length
        made = ParameterDescription(
            full,
            None,
            first,
            _limit(full, min, first),
            _limit(full, max, first),
            length if is_array else 0,
            length if isinstance(first, (str, list)) else 0,
            [converted(canonical(each), first) for each in choices],
            description,
            unit,
            bool(read_only),
        )
        return Parameter(self, made, validate, read_only_array if is_array else None)

    def get_parameter(self: Any, name: str, timeout: float = 5.0) -> Value:
        """Returns the value that another program's parameter has, or this one's. Asks the program.

        timeout: how long to wait for its answer, in seconds. Also waits for the broker, as register_topic does.

        Programs that follow a value request the topic `name` instead. Raises UnknownTopic (no program has this
        parameter, or its program has just ended), TimedOut (the program did not answer), Refused (it has no place for
        another client, or too many requests wait), Closed, Forked, and what Directory.describe raises.
        """
        found: Value = _native.get_parameter(self._session, self.resolve(name), checked_timeout(timeout))
        return found

    def set_parameter(self: Any, name: str, value: Any, timeout: float = 5.0) -> Value:
        """Sets a parameter, and returns the value that is in force then.

        A whole number is taken for a float, and a float like 3.0 for a whole number. Waits and raises as
        get_parameter. Also raises BadArgument (the program refused the value: the text says why and what is allowed)
        and TypeError. Refused: also when the parameter is read-only. TimedOut: the value may come into force later.
        """
        found: Value = _native.set_parameter(
            self._session, self.resolve(name), canonical(value), checked_timeout(timeout)
        )
        return found

    def get_parameters(self: Any, pattern: str = "**", timeout: float = 5.0) -> List[ParameterOutcome]:
        """Returns the values of all parameters whose names match, in the order of their names.

        timeout: for all together. Raises as Directory.topics does.
        """
        found = _native.get_parameters(self._session, self.resolve(pattern), False, checked_timeout(timeout))
        return [ParameterOutcome(*each) for each in found]

    def save_parameters(self: Any, pattern: str = "**", timeout: float = 5.0) -> Tuple[str, List[ParameterOutcome]]:
        """Returns the values of all parameters whose names match as TOML, the text that `orc param save` writes.

        Leaves out parameters that are read-only. Also returns one outcome per parameter; those that failed are not in
        the text. timeout: for all together. Raises as Directory.topics does.
        """
        found = _native.get_parameters(self._session, self.resolve(pattern), True, checked_timeout(timeout))
        return to_toml({name: value for name, value, _ in found if value is not None}), [
            ParameterOutcome(*each) for each in found
        ]

    def load_parameters(self: Any, toml: str, timeout: float = 5.0) -> List[ParameterOutcome]:
        """Sets parameters from TOML, in the order of their names, and returns what became of each. It has full names.

        One that fails does not keep the others from being set. timeout: for all together. Raises BadArgument (the text
        is no TOML, names a parameter twice, or is above 1 MiB; no parameter was set), ImportError (before Python 3.11,
        without tomli), and as Directory.topics does.
        """
        wanted = from_toml(toml)
        values = {name: value for name, value in wanted.items() if value is not None}
        found = _native.set_parameters(self._session, values, checked_timeout(timeout))
        text = "a parameter is true or false, a number, a text or a list of numbers"
        none = [ParameterOutcome(each, None, BadArgument(f"{each}: {text}")) for each in wanted if each not in values]
        return sorted([*(ParameterOutcome(*each) for each in found), *none], key=lambda each: each.name)


def _limit(name: str, given: Optional[float], initial: Value) -> Optional[Value]:
    """Raises TypeError, BadArgument."""
    if given is None:
        return None
    number = 0.0 if isinstance(initial, list) else initial
    limit = converted(canonical(given), number)
    if type(number) in (int, float) and type(limit) is not type(number):
        kind = "whole" if type(number) is int else "finite"
        raise BadArgument(f"parameter {name}: min and max are {kind} numbers")
    return limit
