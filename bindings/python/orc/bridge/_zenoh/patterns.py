"""Keys of Zenoh that names and patterns of topics become."""

from __future__ import annotations

import re

_CHUNK = re.compile(r"[A-Za-z0-9_.-]{1,64}\Z")


def is_chunk(name: str) -> bool:
    """Returns whether this is one part of a key: the name of a robot, at most 64 bytes."""
    return bool(_CHUNK.match(name))


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
