"""Checks options and arguments as C++ does (liborc/include/orc/options.h)."""

from __future__ import annotations

import dataclasses
import numbers
import operator
import os
import re
from typing import Iterable, Optional, Tuple, Union

from .._errors import BadArgument, BadName
from .._type_description import MAX_SCHEMA_BYTES, TypeDescription
from . import wire
from .described_type import DescribedType, describe
from .schema import SchemaError, check_schema

Transports = Union[str, Iterable[str]]
MAX_QUEUE_DEPTH = 65_536
_QUEUE = 64
_ALL = ("inproc", "ipc", "tcp", "shm", "multicast")
_OURS = ("ipc", "tcp")
_NAME = re.compile(r"[A-Za-z0-9_./-]{1,255}\Z")
_MAX_NAMESPACE_BYTES = 253  # a name needs one byte, after the slash
_LARGEST_INT = 2**31 - 1


def topic_name(topic: str) -> str:
    if not isinstance(topic, str):
        raise TypeError(f"a topic's name is a str, not {type(topic).__name__}")
    if not _NAME.match(topic):
        raise BadName()
    return topic


def name_space(namespace: str) -> str:
    """Returns what stands before relative names: a namespace and a slash, or nothing."""
    given = text("namespace", namespace) or os.environ.get("ORC_NAMESPACE", "")
    parts = without_slash(given)
    if not parts:
        return ""
    if len(parts.encode()) > _MAX_NAMESPACE_BYTES or not _NAME.match(parts):
        raise BadArgument(f"namespace (ORC_NAMESPACE): {ascii(given)} is not 1 to 253 bytes of A-Z a-z 0-9 _ . / -")
    if any(not part or part.startswith(".") for part in parts.split("/")):
        raise BadArgument(f"namespace (ORC_NAMESPACE): {ascii(given)} has a part that is empty or begins with a dot")
    return parts + "/"


def without_slash(name: str) -> str:
    """The full name, or the pattern of full names, of one that may be absolute."""
    return name[1:] if name.startswith("/") else name


def name_pattern(pattern: str) -> re.Pattern[str]:
    """Returns what the names of matching topics look like: `*` is any characters but `/`, `**` any characters."""
    if not isinstance(pattern, str):
        raise TypeError(f"a pattern of topic names is a str, not {type(pattern).__name__}")
    pattern = without_slash(pattern)
    if not _NAME.match(pattern.replace("*", ".")):
        raise BadArgument(f"{ascii(pattern)} is no pattern of topic names: 1 to 255 bytes of A-Z a-z 0-9 _ . / - *")
    parts = re.split(r"(\*+)", pattern)
    return re.compile("".join("[^/]*" if each == "*" else ".*" if "*" in each else re.escape(each) for each in parts))


def text(name: str, value: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} is a str, not {type(value).__name__}")
    return value


def number(name: str, value: int, least: int, most: int) -> int:
    value = operator.index(value)
    if not least <= value <= most:
        raise BadArgument(f"{name} is {least} to {most}, not {value}")
    return value


def milliseconds(name: str, value: int) -> int:
    """Returns a timeout; -1: for ever. Raises OverflowError beyond C++'s int."""
    value = operator.index(value)
    if abs(value) > _LARGEST_INT:
        raise OverflowError(f"{name} does not fit into an int")
    if value < -1:
        raise BadArgument(f"{name} is -1 or more, not {value}")
    return value


def queue(conflate: int, depth: int) -> int:
    """Returns how many samples are kept in order; 0: the newest wins."""
    number("conflate", conflate, 0, 1)
    number("depth", depth, 0, MAX_QUEUE_DEPTH)
    if conflate == 1 and depth != 0:
        raise BadArgument("depth is the length of the queue with conflate = 0: set that, or leave depth out")
    return 0 if conflate == 1 else depth or _QUEUE


def only_for_shm(chosen: Tuple[str, ...], **given: bool) -> None:
    """Raises BadArgument for a given option, if the call names transports: orc.pure has no shm."""
    for option in [name for name, is_given in given.items() if is_given and chosen]:
        raise BadArgument(
            f"{option} has a meaning over shm only, which transports leaves out: add shm to them, or leave {option} out"
        )


def age(name: str, value: int) -> int:
    """Returns an age in ms; 0: any. Raises OverflowError beyond C++'s int."""
    value = operator.index(value)
    if abs(value) > _LARGEST_INT:
        raise OverflowError(f"{name} does not fit into an int")
    if value < 0:
        raise BadArgument(f"{name} is 0 (any age) or more")
    return value


def flag(name: str, value: bool) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{name} is True or False, not {type(value).__name__}")
    return value


def waits_predictively(named: str) -> bool:
    if text("wait", named) not in ("block", "predictive"):
        raise BadArgument(f"wait is block or predictive, not {named}")
    return named == "predictive"


def cpu_budget(share: float) -> float:
    if not isinstance(share, numbers.Real):
        raise TypeError(f"cpu_budget is a float, not {type(share).__name__}")
    if not 0 < share <= 1:
        raise BadArgument("cpu_budget is a share of a core: above 0 and at most 1")
    return float(share)


_PRIORITIES = ("bulk", "normal", "control")


def priority(chosen: Tuple[str, ...], named: str) -> str:
    if text("priority", named) not in _PRIORITIES:
        raise BadArgument(f"priority is bulk, normal or control, not {named}")
    if named != "normal" and chosen and "tcp" not in chosen:
        raise BadArgument(
            "priority has a meaning over tcp and multicast only, which transports leaves out: add one of them, or "
            "leave priority out"
        )
    return named


def ports(named: str) -> Optional[range]:
    """Returns the ports of "40000-40100" or "40000"; None: any free port."""
    if not named:
        return None
    first, dash, last = named.partition("-")
    numbers = [int(each) if re.fullmatch(r"[0-9]{1,5}", each) else 0 for each in (first, last if dash else first)]
    if not all(1 <= number <= 65535 for number in numbers):
        raise BadArgument(
            f"ports (ORC_PORTS): '{named}' is no range of ports: write FIRST-LAST or one port, from 1 to 65535"
        )
    if numbers[0] > numbers[1]:
        raise BadArgument(
            f"ports (ORC_PORTS): the range {named} is empty: write the lower port first, {numbers[1]}-{numbers[0]}"
        )
    return range(numbers[0], numbers[1] + 1)


def transports(named: Transports) -> Tuple[str, ...]:
    """Returns the named transports. Raises BadArgument for those that orc.pure does not have."""
    names = named.split(",") if isinstance(named, str) else list(named)
    if not all(isinstance(name, str) for name in names):
        raise TypeError("transports are str, such as 'ipc'")
    chosen = tuple(dict.fromkeys(name.strip() for name in names if name.strip()))
    for name in chosen:
        if name not in _ALL:
            raise BadArgument(f"no transport is called {name!r}; there are {', '.join(_ALL)}")
        if name not in _OURS:
            raise BadArgument(f"{name} needs the native backend; orc.pure has ipc and tcp")
    return chosen


def transports_of_environment() -> Tuple[str, ...]:
    """Returns those of $ORC_TRANSPORTS that orc.pure has: the variable is for all programs of a machine."""
    named = [name.strip() for name in os.environ.get("ORC_TRANSPORTS", "").split(",") if name.strip()]
    ours = [name for name in named if name in _OURS]
    return transports(ours if ours else named)


def described(type: Optional[TypeDescription]) -> Optional[DescribedType]:
    """Returns a type with its reference; None: untyped. Raises BadArgument, also for a schema that cannot be read."""
    if type is None:
        return None
    for name in ("name", "schema_encoding", "message_encoding"):
        part = text(f"TypeDescription.{name}", getattr(type, name))
        if len(part.encode()) > wire.MAX_TEXT_LENGTH or "\0" in part:
            raise BadArgument(f"a name or an encoding of a type has at most {wire.MAX_TEXT_LENGTH} bytes, and no NUL")
    kept = dataclasses.replace(type, schema=bytes(memoryview(type.schema)))
    if len(kept.schema) > MAX_SCHEMA_BYTES:
        raise BadArgument(f"the schema has {len(kept.schema)} bytes; {MAX_SCHEMA_BYTES} are allowed")
    try:
        check_schema(kept)
    except SchemaError as error:
        raise BadArgument(f"the schema of type {kept.name} cannot be read: {error}") from None
    return describe(kept)


def type_check(named: str) -> bool:
    if text("type_check", named) not in ("on", "off"):
        raise BadArgument(f"type_check is on or off, not {named}")
    return named == "on"


def newest_of(conflate: int, named: str) -> bool:
    """Returns whether the newest sample of each publisher of a shared topic is wanted."""
    if text("newest_of", named) not in ("all", "each"):
        raise BadArgument(f"newest_of is all or each, not {named}")
    if named == "each" and conflate == 0:
        raise BadArgument("newest_of is for conflate = 1: with 0 every sample of each publisher comes anyway")
    return named == "each"


def payload(data: object) -> memoryview:
    """Returns a view of any C-contiguous buffer. Raises TypeError (no buffer), BufferError (not contiguous)."""
    if isinstance(data, str):
        raise TypeError("a sample is bytes, not str: encode it, e.g. text.encode()")
    view = memoryview(data)  # type: ignore[arg-type]
    if not view.c_contiguous:
        raise BufferError("the buffer is not C-contiguous: copy it, e.g. numpy.ascontiguousarray(array)")
    return view
