"""Checks options and arguments as C++ does (liborc/include/orc/options.h), and says what needs the native backend."""

from __future__ import annotations

import dataclasses
import operator
import os
import re
from typing import Any, Dict, Iterable, Optional, Tuple, Union

from .._errors import BadArgument, BadName
from .._type_description import MAX_SCHEMA_BYTES, TypeDescription

Transports = Union[str, Iterable[str]]
_ALL, _OURS = ("inproc", "ipc", "tcp", "shm", "multicast"), ("ipc", "tcp")
_NAME = re.compile(r"[A-Za-z0-9_./-]{1,255}\Z")
_MAX_NAMESPACE_BYTES = 253  # a name needs one byte, after the slash
_LARGEST_INT = 2**31 - 1
#: Of each option its default, and what is allowed: least and most, words, or a class.
_REGISTER: Dict[str, Tuple[Any, Any]] = {
    "transports": ((), None),
    "keep_last": (True, bool),
    "priority": ("normal", ("bulk", "normal", "control")),
    "multicast": ("", str),
    "shared": (False, bool),
    "expected_size": (0, (0, 1 << 40)),
    "history": (1, (1, 65_536)),
    "lock": (False, bool),
    "huge_pages": (False, bool),
}
_REQUEST: Dict[str, Tuple[Any, Any]] = {
    "transports": ((), None),
    "conflate": (1, (0, 1)),
    "depth": (0, (0, 65_536)),
    "max_age_ms": (0, (0, _LARGEST_INT)),
    "type_check": ("on", ("on", "off")),
    "newest_of": ("all", ("all", "each")),
    "max_messages": (8, (1, 60)),
    "spin_us": (0, (0, 1_000_000)),
    "wait": ("block", ("block", "predictive")),
    "cpu_budget": (0.1, (0.0, 1.0)),
}
_FOR_SHM = ("history", "lock", "huge_pages", "max_messages")


def native_only(what: str) -> BadArgument:
    """The error of all that orc.pure does not have."""
    return BadArgument(
        f"{what} needs the native backend, and this is orc.pure (topics over ipc and tcp): install the wheel of "
        "orc-middleware with the extension, on Linux"
    )


def register(given: Dict[str, Any]) -> Dict[str, Any]:
    """Returns all options of register_topic. Raises BadArgument, TypeError."""
    found = _known(_REGISTER, given)
    if found["multicast"] or found["shared"]:
        raise native_only("a shared topic" if found["shared"] else "multicast")
    if found["priority"] != "normal" and found["transports"] and "tcp" not in found["transports"]:
        raise BadArgument("priority has a meaning over tcp and multicast only, which transports leaves out: add tcp")
    return found


def request(given: Dict[str, Any]) -> Dict[str, Any]:
    """Returns all options of request_topic, with `queue`: how many samples are kept in order; 0: the newest wins."""
    found = _known(_REQUEST, given)
    if found["conflate"] == 1 and found["depth"] != 0:
        raise BadArgument("depth is the length of the queue with conflate = 0: set that, or leave depth out")
    if found["newest_of"] == "each":
        raise native_only("newest_of, for a shared topic,")
    return {**found, "queue": 0 if found["conflate"] else found["depth"] or 64}


def _known(options: Dict[str, Tuple[Any, Any]], given: Dict[str, Any]) -> Dict[str, Any]:
    for name in given:
        if name not in options:
            raise TypeError(f"there is no option {name!r}; there are {', '.join(options)}")
    found = {name: given.get(name, default) for name, (default, _) in options.items()}
    found["transports"] = transports(found["transports"])
    for name, (default, allowed) in options.items():
        value = found[name]
        if isinstance(allowed, type) and not isinstance(value, allowed):
            raise TypeError(f"{name} is a {allowed.__name__}, not {type(value).__name__}")
        if isinstance(allowed, tuple) and isinstance(default, str) and text(name, value) not in allowed:
            raise BadArgument(f"{name} is {', '.join(allowed[:-1])} or {allowed[-1]}, not {value}")
        if isinstance(default, int) and isinstance(allowed, tuple):
            found[name] = number(name, value, *allowed)
        if isinstance(default, float) and not 0 < value <= 1:
            raise BadArgument(f"{name} is a share of a core: above 0 and at most 1")
        if name in _FOR_SHM and found["transports"] and found[name] != default:
            what = f"{name} has a meaning over shm only, which transports leaves out"
            raise BadArgument(f"{what}: add shm to them, or leave {name} out")
    return found


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
            raise native_only(name)
    return chosen


def transports_of_environment() -> Tuple[str, ...]:
    """Returns those of $ORC_TRANSPORTS that orc.pure has: the variable is for all programs of a machine."""
    named = [name.strip() for name in os.environ.get("ORC_TRANSPORTS", "").split(",") if name.strip()]
    return transports([name for name in named if name in _OURS] or named)


def topic_name(topic: str) -> str:
    if not _NAME.match(text("a topic's name", topic)):
        raise BadName()
    return topic


def name_space(namespace: str) -> str:
    """Returns what stands before relative names: a namespace and a slash, or nothing."""
    given = text("namespace", namespace) or os.environ.get("ORC_NAMESPACE", "")
    parts = without_slash(given)
    if len(parts.encode()) > _MAX_NAMESPACE_BYTES or (parts and not _NAME.match(parts)):
        raise BadArgument(f"namespace (ORC_NAMESPACE): {ascii(given)} is not 1 to 253 bytes of A-Z a-z 0-9 _ . / -")
    if parts and any(not part or part.startswith(".") for part in parts.split("/")):
        raise BadArgument(f"namespace (ORC_NAMESPACE): {ascii(given)} has a part that is empty or begins with a dot")
    return parts and parts + "/"


def without_slash(name: str) -> str:
    """Returns the full name, or the pattern of full names, of one that may be absolute."""
    return name[1:] if name.startswith("/") else name


def name_pattern(pattern: str) -> re.Pattern[str]:
    """Returns what the names of matching topics look like: `*` is any characters but `/`, `**` any characters."""
    pattern = without_slash(text("a pattern of topic names", pattern))
    if not _NAME.match(pattern.replace("*", ".")):
        raise BadArgument(f"{ascii(pattern)} is no pattern of topic names: 1 to 255 bytes of A-Z a-z 0-9 _ . / - *")
    parts = re.split(r"(\*+)", pattern)
    return re.compile("".join("[^/]*" if each == "*" else ".*" if "*" in each else re.escape(each) for each in parts))


def text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} is a str, not {type(value).__name__}")
    return value


def number(name: str, value: int, least: int, most: int) -> int:
    value = operator.index(value)
    if not least <= value <= most:
        raise BadArgument(f"{name} is {least} to {most}, not {value}")
    return value


def seconds(name: str, value_ms: int) -> Optional[float]:
    """Returns a timeout in seconds; None: for ever. Raises OverflowError beyond C++'s int."""
    value_ms = operator.index(value_ms)
    if abs(value_ms) > _LARGEST_INT:
        raise OverflowError(f"{name} does not fit into an int")
    if value_ms < -1:
        raise BadArgument(f"{name} is -1 or more, not {value_ms}")
    return None if value_ms < 0 else value_ms / 1000


def ports(named: str) -> Optional[range]:
    """Returns the ports of "40000-40100" or "40000"; None: any free port."""
    if not named:
        return None
    found = re.fullmatch(r"([0-9]{1,5})(?:-([0-9]{1,5}))?", named)
    first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
    if not 1 <= first <= last <= 65535:
        raise BadArgument(f"ports (ORC_PORTS): write FIRST-LAST or one port, from 1 to 65535, not '{named}'")
    return range(first, last + 1)


def described(type: Optional[TypeDescription]) -> Optional[TypeDescription]:
    """Returns a type with bytes as its schema; None: untyped. Raises BadArgument, TypeError."""
    if type is None:
        return None
    for name in ("name", "schema_encoding", "message_encoding"):
        part = text(f"TypeDescription.{name}", getattr(type, name))
        if len(part.encode()) > 255 or "\0" in part:
            raise BadArgument("a name or an encoding of a type has at most 255 bytes, and no NUL")
    kept = dataclasses.replace(type, schema=bytes(memoryview(type.schema)))
    if len(kept.schema) > MAX_SCHEMA_BYTES:
        raise BadArgument(f"the schema has {len(kept.schema)} bytes; {MAX_SCHEMA_BYTES} are allowed")
    return kept or None


def payload(data: object) -> memoryview:
    """Returns a view of any C-contiguous buffer. Raises TypeError (no buffer), BufferError (not contiguous)."""
    if isinstance(data, str):
        raise TypeError("a sample is bytes, not str: encode it, e.g. text.encode()")
    view = memoryview(data)  # type: ignore[arg-type]
    if not view.c_contiguous:
        raise BufferError("the buffer is not C-contiguous: copy it, e.g. numpy.ascontiguousarray(array)")
    return view
