"""What services need of a backend, besides a participant."""

from __future__ import annotations

from typing import Any, Callable, List, NamedTuple, Optional, Protocol

from .._directory_types import Change
from .._errors import BadArgument
from .._type_description import TypeDescription


class Watch(Protocol):
    def next_change(self, timeout_ms: int) -> Optional[Change]: ...
    def close(self) -> None: ...


class OpenWatch(Protocol):
    def __call__(self, broker: str, topics: List[str]) -> Watch:
        """Returns a watch of the topics that match one of at most 16 patterns."""


class CheckTypes(Protocol):
    def __call__(self, published: TypeDescription, expected: TypeDescription, publisher: str) -> None:
        """Raises TypeMismatch, and BadArgument for a schema that cannot be read."""


class Platform(NamedTuple):
    open_watch: OpenWatch
    check_types: CheckTypes


class Participant(Protocol):
    """The parts of a participant that services use."""

    @property
    def broker_endpoint(self) -> str: ...
    def resolve(self, name: str) -> str: ...
    @property
    def register_topic(self) -> Callable[..., Any]: ...
    @property
    def request_topic(self) -> Callable[..., Any]: ...
    def publisher(self, topic: str) -> Any: ...
    def subscriber(self, topic: str) -> Any: ...
    def unregister_topic(self, topic: str) -> None: ...
    def release_topic(self, topic: str) -> None: ...


def seconds(name: str, value: float, least: float, most: float) -> float:
    """Returns a time in seconds. Raises TypeError, BadArgument."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} is a number of seconds, not {type(value).__name__}")
    if not least <= value <= most:
        raise BadArgument(f"{name} is {least} to {most} seconds, not {value}")
    return float(value)
