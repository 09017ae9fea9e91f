"""How topics become keys, and what goes with each sample. One class per format of `--format`."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import List, Optional, Protocol

from orc import TypeDescription

from .._shared.patterns import is_topic
from . import attachment
from .attachment import SampleHead
from .patterns import is_chunk, key_expression
from .settings import Settings, TopicRule

end_numbers = itertools.count(1)
"""Of the ends of this program."""


@dataclass(frozen=True)
class Source:
    """What the key of a sample says."""

    robot: str
    topic: str
    type_name: str = ""
    """Formats of ROS: such as std_msgs/msg/String."""
    type_digest: str = ""
    """rmw_zenoh: such as RIHS01_…"""


@dataclass(frozen=True)
class End:
    """A publisher or a subscriber that other programs may see."""

    zid: str
    """Of the session."""
    kind: str
    """"MP": publishes; "MS": subscribes."""
    number: int
    """Of this end, in this program."""
    topic: str
    """Its name."""
    type_name: str
    """Such as std_msgs/msg/String."""
    type_digest: str
    """rmw_zenoh: such as RIHS01_…"""
    keep_last: bool
    """Late joiners get the last sample."""


class Format(Protocol):
    """Threads: any."""

    only_cdr: bool
    """Only topics with the message encoding cdr cross."""

    def key(self, topic: str, type: TypeDescription) -> str:
        """Returns the key of a topic that goes out. Raises NotBridged."""

    def selector(self, rule: TopicRule) -> str:
        """Returns the keys on which topics of this rule may come in."""

    def source(self, key: str) -> Optional[Source]:
        """Returns what a key says. None: it is no key of this format."""

    def digest(self, type: TypeDescription) -> str:
        """Returns what Source.type_digest of this type is. Raises NotBridged."""

    def encode(self, head: SampleHead) -> Optional[bytes]:
        """Returns the attachment of a sample. None: it has none."""

    def decode(self, data: bytes) -> Optional[SampleHead]:
        """Returns what an attachment says. None: it is malformed."""

    def type_of(self, source: Source, rule: TopicRule) -> TypeDescription:
        """Returns the type of a topic whose samples do not name one. Raises NotBridged."""

    def tokens(self, end: End) -> List[str]:
        """Returns the liveliness tokens of an end. Raises NotBridged."""


class OrcFormat:
    """`<prefix>/<robot>/<topic>`, with the attachment of schemas/ZENOH.md."""

    only_cdr = False

    def __init__(self, settings: Settings) -> None:
        self._prefix, self._robot = settings.prefix, settings.robot

    def key(self, topic: str, type: TypeDescription) -> str:
        """See Format."""
        return f"{self._prefix}/{self._robot}/{topic}"

    def selector(self, rule: TopicRule) -> str:
        """See Format."""
        return f"{self._prefix}/{rule.robot}/{key_expression(rule.name)}"

    def source(self, key: str) -> Optional[Source]:
        """See Format."""
        if not key.startswith(self._prefix + "/"):
            return None
        robot, _, topic = key[len(self._prefix) + 1 :].partition("/")
        return Source(robot, topic) if is_chunk(robot) and is_topic(topic) else None

    def encode(self, head: SampleHead) -> Optional[bytes]:
        """See Format."""
        return attachment.encode(head)

    def decode(self, data: bytes) -> Optional[SampleHead]:
        """See Format."""
        return attachment.decode(data)

    def digest(self, type: TypeDescription) -> str:
        """See Format."""
        return ""

    def type_of(self, source: Source, rule: TopicRule) -> TypeDescription:
        """Such samples are untyped."""
        return TypeDescription()

    def tokens(self, end: End) -> List[str]:
        """Has none: AdvancedPublisher makes its own."""
        return []


def format_of(settings: Settings) -> Format:
    """Returns the format that the settings name."""
    if settings.format == "rmw_zenoh":
        from .ros import RmwZenohFormat

        return RmwZenohFormat(settings)
    if settings.format == "ros2dds":
        from .ros import Ros2DdsFormat

        return Ros2DdsFormat(settings)
    return OrcFormat(settings)
