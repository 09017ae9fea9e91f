"""Values of many parameters as TOML, for people and files (liborc/doc/guide/parameters.md)."""

from __future__ import annotations

import math
import re
from typing import Any, Dict, List, Mapping, Optional, Tuple

import orc._native as _native

from .._errors import BadArgument
from .._toml_reader import toml_reader
from .values import Value, value_of

_MAX_TEXT = 1 << 20
_MAX_NAME = 255
_MAX_KEY_PARTS = _MAX_NAME
_HARMFUL = re.compile("[\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def to_toml(values: Mapping[str, Value]) -> str:
    """Returns the text that `orc param save` writes."""
    lines: Dict[Tuple[str, ...], List[str]] = {}
    for name in sorted(values):
        table, key = _place_of(name, values)
        lines.setdefault(table, []).append(f"{key} = {_text_of(values[name])}\n")
    parts = []
    for table in sorted(lines):
        heading = f"[{'.'.join(map(_key_of, table))}]\n" if table else ""
        parts.append(heading + "".join(lines[table]))
    return "\n".join(parts)


def from_toml(text: str) -> Dict[str, Optional[Value]]:
    """Returns the values by name; None stands for what no parameter can be.

    Raises BadArgument: it is no TOML, names a parameter twice, or is above 1 MiB.
    """
    if not isinstance(text, str):
        raise TypeError(f"TOML is a str, not {type(text).__name__}")
    size = len(text.encode(errors="surrogatepass"))
    if size > _MAX_TEXT:
        raise BadArgument(f"the text has {size} bytes; {_MAX_TEXT} are allowed")
    if _has_deep_key(text):
        raise BadArgument("a key has too many parts")
    try:
        table = toml_reader().loads(text)
    except (ValueError, RecursionError) as error:
        raise BadArgument(f"this is no TOML: {error}") from None
    values: Dict[str, Optional[Value]] = {}
    _read(table, "", values)
    return values


def _read(table: Dict[str, Any], prefix: str, values: Dict[str, Optional[Value]]) -> None:
    for key, node in table.items():
        name = prefix + key
        if len(name.encode(errors="surrogatepass")) > _MAX_NAME:
            raise BadArgument(f"a name has more than {_MAX_NAME} bytes: {name[:60]}...")
        if isinstance(node, dict):
            _read(node, name + "/", values)
        elif name in values:
            raise BadArgument(f"{name} stands there twice")
        else:
            value = value_of(node)
            values[name] = value if _is_finite(value) else None


def _is_finite(value: Optional[Value]) -> bool:
    numbers = value if isinstance(value, list) else [value]
    return all(not isinstance(each, float) or math.isfinite(each) for each in numbers)


# Python's reader takes time that grows with the square of the parts of a key. Strings and comments have none.
_MARK = re.compile(r'"""|\'\'\'|["\'#.\n=,\[\]{}]')
_ENDS = {
    '"': re.compile(r'\\.|["\n]', re.DOTALL),
    "'": re.compile(r"['\n]"),
    '"""': re.compile(r'\\.|"{3,5}', re.DOTALL),
    "'''": re.compile(r"'{3,5}"),
}


def _has_deep_key(text: str) -> bool:
    dots = at = 0
    while found := _MARK.search(text, at):
        mark, at = found.group(), found.end()
        if mark in _ENDS:
            at = _after_string(text, at, mark)
        elif mark == "#":
            end = text.find("\n", at)
            at = len(text) if end < 0 else end
        elif mark == ".":
            dots += 1
            if dots >= _MAX_KEY_PARTS:
                return True
        else:
            dots = 0
    return False


def _after_string(text: str, at: int, quote: str) -> int:
    for found in _ENDS[quote].finditer(text, at):
        if not found.group().startswith("\\"):
            return found.end()
    return len(text)


def _place_of(name: str, values: Mapping[str, Value]) -> Tuple[Tuple[str, ...], str]:
    """Returns the table of a name, and its key there."""
    parts = name.split("/")
    for count in range(1, len(parts)):
        if "/".join(parts[:count]) in values:  # a parameter is no table
            return tuple(parts[: count - 1]), _key_of("/".join(parts[count - 1 :]))
    return tuple(parts[:-1]), _key_of(parts[-1])


def _key_of(part: str) -> str:
    """A name has only characters that need no escape."""
    return part if part and not set(part) & set("./") else f'"{part}"'


def _text_of(value: Value) -> str:
    """JSON is TOML, but for characters that JSON leaves as they are, and that act on the terminal of who reads it."""
    return _HARMFUL.sub(lambda each: f"\\u{ord(each.group()):04X}", _native.parameter_json(value))
