"""The part of a participant that has parameters and sets those of other programs."""

from __future__ import annotations

from typing import Any, Callable, Iterable, List, Optional, Tuple, cast

from .._calls.platform import seconds
from .._typed.variables import V
from .component import Parameters
from .core import ParameterCore
from .description import ParameterDescription
from .parameter import Parameter
from .remote import ParameterClient, ParameterOutcome
from .values import MAX_LENGTH, Value, canonical, converted

_LONGEST_S = 24 * 3600.0


class Tuning:
    """Mix-in of a participant. A class over the extension's types takes the functions instead."""

    _parameters: Parameters

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
        core = _core_of(
            self.resolve(name), initial, min, max, choices, max_length, unit, description, read_only, validate
        )
        parameters: Parameters = self._parameters
        return Parameter(self, core, parameters.add(core))

    def get_parameter(self: Any, name: str, timeout: float = 5.0) -> Value:
        """Returns the value that another program's parameter has, or this one's. Asks the program.

        timeout: how long to wait for its answer, in seconds. Also waits for the broker, as Directory.describe does.

        Programs that follow a value request the topic `name` instead. Raises UnknownTopic (no program has this
        parameter, or its program has just ended), TimedOut (the program did not answer), Refused (it has no place for
        another client, or too many requests wait), Closed, Forked, and what Directory.describe raises.
        """
        return _client_of(self).exchange(self.resolve(name), None, _timeout(timeout))

    def set_parameter(self: Any, name: str, value: Any, timeout: float = 5.0) -> Value:
        """Sets a parameter, and returns the value that is in force then.

        A whole number is taken for a float, and a float like 3.0 for a whole number. Waits and raises as
        get_parameter. Also raises BadArgument (the program refused the value: the text says why and what is allowed)
        and TypeError. Refused: also when the parameter is read-only. TimedOut: the value may come into force later.
        """
        return _client_of(self).exchange(self.resolve(name), canonical(value), _timeout(timeout))

    def get_parameters(self: Any, pattern: str = "**", timeout: float = 5.0) -> List[ParameterOutcome]:
        """Returns the values of all parameters whose names match, in the order of their names.

        timeout: for all together. Raises as Directory.topics does.
        """
        return _client_of(self).get(self.resolve(pattern), _timeout(timeout))

    def save_parameters(self: Any, pattern: str = "**", timeout: float = 5.0) -> Tuple[str, List[ParameterOutcome]]:
        """Returns the values of all parameters whose names match as TOML, the text that `orc param save` writes.

        Leaves out parameters that are read-only. Also returns one outcome per parameter; those that failed are not in
        the text. timeout: for all together. Raises as Directory.topics does.
        """
        return _client_of(self).save(self.resolve(pattern), _timeout(timeout))

    def load_parameters(self: Any, toml: str, timeout: float = 5.0) -> List[ParameterOutcome]:
        """Sets parameters from TOML, in the order of their names, and returns what became of each. It has full names.

        One that fails does not keep the others from being set. timeout: for all together. Raises BadArgument (the text
        is no TOML, names a parameter twice, or is above 1 MiB; no parameter was set), ImportError (before Python 3.11,
        without tomli), and as Directory.topics does.
        """
        return _client_of(self).load(toml, _timeout(timeout))


def _client_of(participant: Any) -> ParameterClient:
    parameters: Parameters = participant._parameters
    return ParameterClient(participant, parameters.calls, parameters.directory())


def _timeout(given: float) -> float:
    return seconds("timeout", given, 0, _LONGEST_S)


def _core_of(
    name: str,
    initial: Any,
    min: Any,
    max: Any,
    choices: Iterable[Any],
    max_length: int,
    unit: str,
    description: str,
    read_only: bool,
    validate: Optional[Callable[[Any], Optional[str]]],
) -> ParameterCore:
    """Raises TypeError."""
    if isinstance(max_length, bool) or not isinstance(max_length, int):
        raise TypeError(f"max_length is an int, not {type(max_length).__name__}")
    if not isinstance(unit, str) or not isinstance(description, str):
        raise TypeError("unit and description are str")
    if isinstance(choices, str):
        raise TypeError("choices are a list of values, not one str")
    if validate is not None and not callable(validate):
        raise TypeError(f"validate is called with a value; this is {type(validate).__name__}")
    first = canonical(initial)
    is_array = isinstance(first, list) and hasattr(initial, "dtype")
    number: Value = 0.0 if isinstance(first, list) else first

    def limit(given: Any) -> Optional[Value]:
        return None if given is None else converted(canonical(given), number)

    length = len(cast(List[float], first)) if is_array else max_length
    return ParameterCore(
        ParameterDescription(
            name,
            None,
            first,
            limit(min),
            limit(max),
            length if is_array else 0,
            length if isinstance(first, (str, list)) else 0,
            [converted(canonical(each), first) for each in choices],
            description,
            unit,
            bool(read_only),
        ),
        validate,
        _read_only_array if is_array else _as_it_is,
    )


def _as_it_is(value: Value) -> Any:
    return value


def _read_only_array(value: Value) -> Any:
    import numpy

    array = numpy.array(value, dtype=numpy.float64)
    array.flags.writeable = False
    return array
