"""What the bytes of a topic mean, for both backends."""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass

MAX_SCHEMA_BYTES = 1 << 20


@dataclass(frozen=True)
class TypeDescription:
    """The type of a topic's samples, in the four parts that MCAP uses (liborc/include/orc/type_description.h).

    schemas/PROTOCOL.md, "Types", lists the encodings that ORC can compare and show; others are allowed.
    """

    name: str = ""
    """Of the type: "robot.State"; at most 255 bytes."""
    schema_encoding: str = ""
    """"struct", "lcm", "flatbuffer", "protobuf", "ros2msg" or "jsonschema"; empty: none."""
    message_encoding: str = ""
    """"struct", "lcm", "flatbuffer", "protobuf", "cdr" or "json"."""
    schema: bytes = b""
    """At most 1 MiB."""

    def __bool__(self) -> bool:
        """Returns whether anything is known about the type. An untyped end matches any other."""
        return bool(self.name or self.schema_encoding or self.message_encoding or self.schema)

    @functools.cached_property
    def hash(self) -> int:
        """The first 8 bytes, little-endian, of SHA-256 over the four parts, each after its length as a little-endian
        u64. 0 for an empty description."""
        if not self:
            return 0
        digest = hashlib.sha256()
        for part in (self.name.encode(), self.schema_encoding.encode(), self.message_encoding.encode(), self.schema):
            digest.update(len(part).to_bytes(8, "little"))
            digest.update(part)
        return int.from_bytes(digest.digest()[:8], "little")
