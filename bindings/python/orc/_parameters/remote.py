"""Parameters of other programs (liborc/include/orc/parameters/remote_parameters.h)."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Protocol, Tuple, Type

from .._calls import CallErrc, CallError, CallFuture, Calls
from .._calls.message import absolute
from .._directory_types import TopicState, TopicType
from .._errors import BadArgument, Closed, Error, Forked, NoMemory, Refused, TimedOut, UnknownTopic, UnknownType
from .._type_description import TypeDescription
from .description import ParameterDescription
from .messages import REPLY, REQUEST, SERVICE_PREFIX, Refusal, read_reply, request_of
from .schema import MAX_SCHEMA_BYTES, TYPE_NAME, read_type
from .toml import from_toml, to_toml
from .values import Value

_ASKED_AT_ONCE = 512
_SCHEMA_S = 0.3
_BETWEEN_LOOKS_S = 0.01


class Directory(Protocol):
    """The parts of a directory that parameters need."""

    def topics(self, pattern: str = "**") -> List[TopicState]: ...
    def describe(self, topic: str) -> TopicState: ...
    def find_type(self, which: TopicType) -> TypeDescription: ...


@dataclass(frozen=True)
class ParameterOutcome:
    """What became of one parameter."""

    name: str
    """Of the parameter."""
    value: Optional[Value]
    """In force; None: `error` says why there is none."""
    error: Optional[Error]
    """As Participant.get_parameter or set_parameter raises it; None: it succeeded."""


def list_parameters(directory: Directory, pattern: str = "**") -> List[ParameterDescription]:
    """Returns the parameters whose names match `pattern`, in the order of their names.

    pattern: as of Directory.topics, which says how it waits and what it raises.

    Leaves out parameters whose description cannot be read.
    """
    patience = _SchemaPatience()
    found = [patience.read(directory, topic) for topic in directory.topics(pattern) if is_parameter(topic)]
    return [each for each in found if each is not None]


class _SchemaPatience:
    """A program sends its schemas to the broker some milliseconds after it registers the topics. Waits for them, for a
    moment in all, whatever the number of programs that never send one."""

    def __init__(self) -> None:
        self._end: Optional[float] = None

    def read(self, directory: Directory, topic: TopicState) -> Optional[ParameterDescription]:
        publication = topic.publication
        assert publication is not None and publication.type is not None
        if publication.type.schema_size > MAX_SCHEMA_BYTES:
            return None
        type = self._find_type(directory, publication.type)
        return None if type is None else read_type(topic.name, publication.participant, type)

    def _find_type(self, directory: Directory, which: TopicType) -> Optional[TypeDescription]:
        while True:
            try:
                return directory.find_type(which)
            except UnknownType:
                now = time.monotonic()
                self._end = now + _SCHEMA_S if self._end is None else self._end
                if now >= self._end:
                    return None
                time.sleep(_BETWEEN_LOOKS_S)


def is_parameter(topic: TopicState) -> bool:
    publication = topic.publication
    return publication is not None and publication.type is not None and publication.type.name == TYPE_NAME


class _Question(NamedTuple):
    name: str
    owner: str  # ParticipantState.id
    value: Optional[Value]  # to set; None: only read


class ParameterClient:
    """Asks the programs that have parameters for their values, or to set them. One thread at a time."""

    def __init__(self, participant: Any, calls: Calls, directory: Directory) -> None:
        self._participant, self._calls, self._directory = participant, calls, directory

    def exchange(self, name: str, value: Optional[Value], timeout: float) -> Value:
        """Reads or sets one. Raises what Participant.set_parameter lists."""
        (outcome,) = self._ask([_Question(name, self._owner_of(name), value)], timeout)
        if outcome.error is not None:
            raise outcome.error
        assert outcome.value is not None
        return outcome.value

    def get(self, pattern: str, timeout: float) -> List[ParameterOutcome]:
        found = [each for each in self._directory.topics(pattern) if is_parameter(each)]
        return self._get([(each.name, _owner(each)) for each in found], timeout)

    def save(self, pattern: str, timeout: float) -> Tuple[str, List[ParameterOutcome]]:
        found = [each for each in list_parameters(self._directory, pattern) if not each.read_only]
        outcomes = self._get([(each.name, each.owner.id) for each in found if each.owner is not None], timeout)
        return to_toml({each.name: each.value for each in outcomes if each.value is not None}), outcomes

    def load(self, toml: str, timeout: float) -> List[ParameterOutcome]:
        wanted = from_toml(toml)
        owners = {each.name: _owner(each) for each in self._directory.topics("**") if is_parameter(each)}
        outcomes = {}
        questions = []
        for name, value in wanted.items():
            if name not in owners:
                outcomes[name] = ParameterOutcome(name, None, _no_parameter(name))
            elif value is None:
                text = f"{name}: a parameter is true or false, a number, a text or a list of numbers"
                outcomes[name] = ParameterOutcome(name, None, BadArgument(text))
            else:
                questions.append(_Question(name, owners[name], value))
        outcomes.update((each.name, each) for each in self._ask(sorted(questions), timeout))
        return [outcomes[name] for name in sorted(outcomes)]

    def _get(self, found: Iterable[Tuple[str, str]], timeout: float) -> List[ParameterOutcome]:
        return self._ask([_Question(name, owner, None) for name, owner in found], timeout)

    def _owner_of(self, name: str) -> str:
        try:
            topic = self._directory.describe(name)
        except UnknownTopic:
            raise _no_parameter(name) from None
        if topic.publication is None:
            raise _no_parameter(name)
        if not is_parameter(topic):
            raise UnknownTopic(f"{name} is a topic, not a parameter")
        return _owner(topic)

    def _ask(self, questions: List[_Question], timeout: float) -> List[ParameterOutcome]:
        """Returns one outcome per question, in their order. Waits at most `timeout` in all for the programs."""
        services = {_owner(each): each.name for each in self._services()}
        end = time.monotonic() + timeout
        outcomes: List[ParameterOutcome] = []
        for first in range(0, len(questions), _ASKED_AT_ONCE):
            some = questions[first : first + _ASKED_AT_ONCE]
            open = [self._start(each, services, end) for each in some]
            outcomes += [_outcome(each.name, future) for each, future in zip(some, open)]
        return outcomes

    def _services(self) -> List[TopicState]:
        found = self._directory.topics(SERVICE_PREFIX + "*")
        return [each for each in found if each.publication is not None]

    def _start(self, of: _Question, services: Dict[str, str], end: float) -> Optional[CallFuture[bytes]]:
        service = services.get(of.owner)
        if service is None:
            return None
        left = max(1e-9, end - time.monotonic())
        return self._calls.call(
            self._participant, absolute(service), request_of(of.name, of.value), left, REPLY, REQUEST
        )


def _owner(topic: TopicState) -> str:
    assert topic.publication is not None
    return topic.publication.participant.id


def _outcome(name: str, future: Optional[CallFuture[bytes]]) -> ParameterOutcome:
    if future is None:
        return ParameterOutcome(name, None, _no_parameter(name))
    try:
        value = read_reply(future.result())
    except CallError as error:
        return ParameterOutcome(name, None, _error_of(name, error))
    if value is None:
        text = f"the program of {name} answered something that is no value"
        return ParameterOutcome(name, None, Refused(text))
    return ParameterOutcome(name, value, None)


def _error_of(name: str, error: CallError) -> Error:
    if error.code is CallErrc.failed:  # in the program's own words
        return _REFUSALS.get(error.number, Refused)(str(error))
    return _KINDS.get(error.code, Refused)(f"{name}: {error}")


_REFUSALS: Dict[int, Type[Error]] = {Refusal.UNKNOWN: UnknownTopic, Refusal.VALUE: BadArgument}
_KINDS: Dict[CallErrc, Type[Error]] = {
    CallErrc.deadline_exceeded: TimedOut,
    CallErrc.lost: TimedOut,
    CallErrc.no_service: TimedOut,
    CallErrc.server_died: UnknownTopic,
    CallErrc.no_memory: NoMemory,
    CallErrc.closed: Closed,
    CallErrc.forked: Forked,
}


def _no_parameter(name: str) -> UnknownTopic:
    return UnknownTopic(f"no program has the parameter {name}")
