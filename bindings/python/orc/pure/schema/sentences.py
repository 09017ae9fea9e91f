"""The sentences about two types that differ, word by word those of C++ (liborc/src/schema/sentences.h)."""

from __future__ import annotations

import re

_MAX_PATH_BYTES = 1_024
# Moves the cursor, ends the line, or turns the direction of text; and bytes that are not UTF-8 (surrogateescape).
_HARMFUL = re.compile("[\\\\\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_SHORT = {"\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def escaped(text: str) -> str:
    """Returns the text on one line, harmless for terminals (liborc/src/base/printable.h)."""
    return _HARMFUL.sub(_escape, text)


def _escape(found: "re.Match[str]") -> str:
    character = found.group()
    data = character.encode("utf-8", "surrogateescape")
    return _SHORT.get(character) or "".join(f"\\x{byte:02x}" for byte in data)


def field(path: str) -> str:
    """Returns "field `pose.x`". `path` was made by joined()."""
    return f"field `{path}`"


def joined(path: str, name: str) -> str:
    """Appends a name, escaped, to a path. A path longer than 1 KiB ends in "…" instead."""
    if len(path.encode()) > _MAX_PATH_BYTES:
        return path if path.endswith(".…") else path + ".…"
    return f"{path}.{escaped(name)}" if path else escaped(name)


def type_name(name: str) -> str:
    """Returns the name in a sentence."""
    return escaped(name) if name else "an unnamed type"


def size_text(count: int) -> str:
    """Returns "1 byte", "2 bytes"."""
    return f"{count} byte" if count == 1 else f"{count} bytes"


class Sentences:
    """What a publisher has, and what is expected here."""

    def __init__(self, publisher: str) -> None:
        self.there = f"at publisher `{escaped(publisher)}`" if publisher else "at the publisher"

    def differs(self, what: str, published: object, expected: object) -> str:
        """Returns "field `q` is float32[7] at publisher `arm (4711)`, float64[7] here". Nothing is escaped."""
        return f"{what} is {published} {self.there}, {expected} here"

    def only_there(self, what: str, published: object) -> str:
        """Returns "field `tau` is float64[7] at publisher `arm (4711)`, missing here"."""
        return self.differs(what, published, "missing")

    def only_here(self, what: str, expected: object) -> str:
        """Returns "field `tau` is missing at publisher `arm (4711)`, float64[7] here"."""
        return self.differs(what, "missing", expected)
