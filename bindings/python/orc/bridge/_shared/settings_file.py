"""Settings from a TOML file, and what is wrong with them."""

from __future__ import annotations

import contextlib
from dataclasses import fields
from typing import Any, Collection, Dict, Iterator, List, Mapping

from orc._toml_reader import toml_reader

_MAX_FILE_BYTES = 1 << 20


class SettingsError(ValueError):
    """An option is wrong. The text says which, and what is allowed."""


@contextlib.contextmanager
def named(path: str) -> Iterator[None]:
    """Puts the path before the text of a SettingsError."""
    try:
        yield
    except SettingsError as error:
        raise SettingsError(f"{path}: {error}") from None


def read_toml(path: str) -> Dict[str, Any]:
    """Returns what the TOML file says. Raises SettingsError, OSError, ImportError."""
    with open(path, "rb") as file:
        data = file.read(_MAX_FILE_BYTES + 1)
    if len(data) > _MAX_FILE_BYTES:
        raise SettingsError(f"{path} has more than {_MAX_FILE_BYTES} bytes")
    try:
        table: Dict[str, Any] = toml_reader().loads(data.decode())
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"{path}: {error}") from None
    return table


def tables(name: str, value: Any) -> List[Dict[str, Any]]:
    """Returns an array of tables. Raises SettingsError when it is something else."""
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        raise SettingsError(f"write [[{name}]] before each {name}")
    return value


def fill(
    target: Any, table: Mapping[str, Any], renamed: Mapping[str, str] = {}, hidden: Collection[str] = ()  # noqa: B006
) -> None:  # fmt: skip
    """Sets the fields of a dataclass. renamed: fields of keys that have another name. hidden: what are no keys.

    Raises SettingsError for unknown keys and wrong types.
    """
    known = {each.name for each in fields(target)}
    for key, value in table.items():
        name = renamed.get(key, key)
        if name not in known or key in hidden:
            raise SettingsError(f"unknown key {key}")
        present = getattr(target, name)
        if isinstance(present, float) and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if isinstance(present, list) and isinstance(value, str):
            value = [value]
        if type(value) is not type(present) or (isinstance(value, list) and not all(isinstance(e, str) for e in value)):
            raise SettingsError(f"{key} is of type {type(present).__name__}, not {type(value).__name__}")
        setattr(target, name, value)


def one_of(option: str, value: str, allowed: Collection[str]) -> None:
    """Raises SettingsError when the value is not allowed."""
    if value not in allowed:
        raise SettingsError(f"{option} is one of {', '.join(allowed)}, not {value!r}")


def within(option: str, value: float, least: float, most: float) -> None:
    """Raises SettingsError when the number is not allowed."""
    if not least <= value <= most:
        raise SettingsError(f"{option} is {least} to {most}, not {value}")
