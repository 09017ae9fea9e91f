"""The options of register_topic and request_topic besides the type, for type checkers."""

from __future__ import annotations

from typing import Iterable, TypedDict, Union

Transports = Union[str, Iterable[str]]


class RegisterOptions(TypedDict, total=False):
    transports: Transports
    expected_size: int
    history: int
    lock: bool
    huge_pages: bool
    multicast: str
    keep_last: bool
    priority: str
    shared: bool


class CommandOptions(TypedDict, total=False):
    """Of request_command, whose max_age_ms is a parameter."""

    conflate: int
    depth: int
    connected_within_ms: int
    transports: Transports
    max_messages: int
    spin_us: int
    wait: str
    cpu_budget: float
    type_check: str
    newest_of: str


class RequestOptions(CommandOptions, total=False):
    max_age_ms: int
