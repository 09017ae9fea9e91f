"""Names and patterns of topics."""

from __future__ import annotations

import functools
import re

_TOPIC = re.compile(r"[A-Za-z0-9_./-]{1,255}\Z")
_WILDCARD = re.compile(r"\*\*|\*")


def is_topic(name: str) -> bool:
    """Returns whether a topic may have this name in other networks. ORC's own names are none."""
    return bool(_TOPIC.match(name)) and all(part and not part.startswith(".") for part in name.split("/"))


@functools.lru_cache(maxsize=1024)
def _compiled(pattern: str) -> "re.Pattern[str]":
    made, at = "", 0
    for found in _WILDCARD.finditer(pattern):
        made += re.escape(pattern[at : found.start()]) + (".*" if found.group() == "**" else "[^/]*")
        at = found.end()
    return re.compile(made + re.escape(pattern[at:]) + r"\Z")


def matches(pattern: str, name: str) -> bool:
    """`*` stands for any characters but `/`, `**` for any characters; both also stand for none."""
    return bool(_compiled(pattern).match(name))
