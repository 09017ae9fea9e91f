"""Names and patterns of topics, and the keys of Zenoh that they become."""

from __future__ import annotations

import functools
import re

_TOPIC = re.compile(r"[A-Za-z0-9_./-]{1,255}\Z")
_CHUNK = re.compile(r"[A-Za-z0-9_.-]{1,64}\Z")
_WILDCARD = re.compile(r"\*\*|\*")


def is_topic(name: str) -> bool:
    """Returns whether a topic may have this name, and a key of Zenoh too. ORC's own names are none."""
    return bool(_TOPIC.match(name)) and all(part and not part.startswith(".") for part in name.split("/"))


def is_chunk(name: str) -> bool:
    """Returns whether this is one part of a key: the name of a robot, at most 64 bytes."""
    return bool(_CHUNK.match(name))


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


def key_expression(pattern: str) -> str:
    """Returns an expression of Zenoh that covers all names which match the pattern, and perhaps others."""
    chunks = []
    for chunk in pattern.split("/"):
        if "**" in chunk:  # may stand for several chunks
            chunks.append("**")
            if chunk != "**":
                return "/".join(chunks)
        else:
            chunks.append(chunk if chunk == "*" else chunk.replace("*", "$*"))
    return "/".join(chunks)
