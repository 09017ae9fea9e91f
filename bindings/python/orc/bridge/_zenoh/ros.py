"""The keys and attachments of rmw_zenoh and of zenoh-bridge-ros2dds, as their public documentation has them."""

from __future__ import annotations

import re
import struct
from typing import List, Optional

from orc import TypeDescription

from .._shared.local_topics import NotBridged
from .._shared.patterns import is_topic
from .attachment import SampleHead
from .formats import End, Source
from .patterns import key_expression
from .rihs import type_digest
from .settings import Settings, TopicRule

_HEAD = struct.Struct("<qqB16s")  # Zenoh's serialization of sequence, stamp, and an array of 16 bytes
_MANGLED = re.compile(r"([A-Za-z]\w{0,120})::(msg|srv|action)::dds_::([A-Za-z]\w{0,120})_\Z")
_ROS_TYPE = re.compile(r"[A-Za-z]\w*/(msg|srv|action)/[A-Za-z]\w*\Z")
_DIGEST = re.compile(r"RIHS01_[0-9a-f]{64}\Z")
_NODE = "orc_bridge"


def mangled(type_name: str) -> str:
    """Returns std_msgs::msg::dds_::String_ of std_msgs/msg/String. Raises NotBridged."""
    name = type_name if type_name.count("/") == 2 else type_name.replace("/", "/msg/")
    if not _ROS_TYPE.match(name):
        raise NotBridged(f"{type_name!r} is no type of ROS 2: pkg/msg/Name is expected")
    package, kind, message = name.split("/")
    return f"{package}::{kind}::dds_::{message}_"


def demangled(name: str) -> Optional[str]:
    """Returns std_msgs/msg/String of std_msgs::msg::dds_::String_. None: it is no such name."""
    found = _MANGLED.match(name)
    return "/".join(found.groups()) if found else None


class RmwZenohFormat:
    """`<domain>/<topic>/<type>/<type hash>`; the publication's id is the gid."""

    only_cdr = True

    def __init__(self, settings: Settings) -> None:
        self._domain = settings.domain
        self._node_key = ""

    def digest(self, type: TypeDescription) -> str:
        """See Format."""
        return type_digest(type)

    def key(self, topic: str, type: TypeDescription) -> str:
        """See Format."""
        return f"{self._domain}/{topic}/{mangled(type.name)}/{type_digest(type)}"

    def selector(self, rule: TopicRule) -> str:
        """See Format."""
        return f"{self._domain}/{key_expression(rule.name)}/*/*"

    def source(self, key: str) -> Optional[Source]:
        """See Format."""
        parts = key.split("/")
        if len(parts) < 4 or parts[0] != str(self._domain):
            return None
        topic, type_name = "/".join(parts[1:-2]), demangled(parts[-2])
        if not is_topic(topic) or type_name is None or not _DIGEST.match(parts[-1]):
            return None
        return Source("", topic, type_name, parts[-1])

    def encode(self, head: SampleHead) -> Optional[bytes]:
        """See Format."""
        return _HEAD.pack(head.sequence, head.stamp_ns, 16, head.publication)

    def decode(self, data: bytes) -> Optional[SampleHead]:
        """See Format."""
        if len(data) != _HEAD.size:
            return None
        sequence, stamp_ns, size, gid = _HEAD.unpack(data)
        return SampleHead(sequence, stamp_ns, gid) if size == 16 and sequence >= 0 and stamp_ns >= 0 else None

    def type_of(self, source: Source, rule: TopicRule) -> TypeDescription:
        """See Format."""
        type = _described(source, rule)
        if type and type_digest(type) != source.type_digest:
            raise NotBridged(f"its publisher has {source.type_digest}, schema_file has {type_digest(type)}")
        return type

    def tokens(self, end: End) -> List[str]:
        """See Format."""
        head = f"@ros2_lv/{self._domain}/{end.zid}/0"
        if not _DIGEST.match(end.type_digest):
            return []
        durability = "1" if end.keep_last and end.kind == "MP" else ""
        end_part = f"%{end.topic.replace('/', '%')}/{mangled(end.type_name)}/{end.type_digest}/:{durability}:,1:,:,:,,"
        return [
            f"{head}/0/NN/%/%/{_NODE}",
            f"{head}/{end.number}/{end.kind}/%/%/{_NODE}/{end_part}",
        ]


class Ros2DdsFormat:
    """`<topic>`, without an attachment."""

    only_cdr = True

    def __init__(self, settings: Settings) -> None:
        pass

    def digest(self, type: TypeDescription) -> str:
        """See Format."""
        return ""

    def key(self, topic: str, type: TypeDescription) -> str:
        """See Format."""
        mangled(type.name)
        return topic

    def selector(self, rule: TopicRule) -> str:
        """See Format."""
        return key_expression(rule.name)

    def source(self, key: str) -> Optional[Source]:
        """See Format."""
        return Source("", key) if is_topic(key) else None

    def encode(self, head: SampleHead) -> Optional[bytes]:
        """See Format."""
        return None

    def decode(self, data: bytes) -> Optional[SampleHead]:
        """Nothing is expected, and anything is allowed."""
        return SampleHead(0, 0, bytes(16))

    def type_of(self, source: Source, rule: TopicRule) -> TypeDescription:
        """See Format."""
        return _described(source, rule)

    def tokens(self, end: End) -> List[str]:
        """See Format."""
        if not _ROS_TYPE.match(end.type_name):
            return []
        durability = "1" if end.keep_last and end.kind == "MP" else ""
        type_name = end.type_name.replace("/", "§")
        return [f"@/{end.zid}/@ros2_lv/{end.kind}/{end.topic.replace('/', '§')}/{type_name}/::{durability}:0,1"]


def _described(source: Source, rule: TopicRule) -> TypeDescription:
    """Returns the type that the rule has a schema of. Raises NotBridged."""
    if not rule.schema:
        return TypeDescription()
    name = rule.type_name or source.type_name
    if source.type_name and name != source.type_name:
        raise NotBridged(f"its publisher has the type {source.type_name}, the rule has {name}")
    return TypeDescription(name, "ros2msg", "cdr", rule.schema)
