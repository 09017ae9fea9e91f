"""What a bridge is to do: the options of the command line and of the file."""

from __future__ import annotations

import socket
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional

from .._shared.rules import DIRECTIONS, LocalRule, first_rule
from .._shared.settings_file import SettingsError, fill, named, one_of, read_toml, tables, within
from .patterns import is_chunk

CLASSES = ("auto", "small", "large")
MODES = ("client", "peer", "router")
FORMATS = ("orc", "rmw_zenoh", "ros2dds")
PRIORITIES = ("real_time", "interactive_high", "interactive_low", "data_high", "data", "data_low", "background")
_MAX_RULES = 256


@dataclass
class Rule(LocalRule):
    """One entry of the allow-list."""

    robot: str = "*"
    """in: from which robot."""


@dataclass
class TopicRule(Rule):
    """Topics that cross, and how."""

    max_rate: float = 0.0
    """out: samples per second of each topic; 0: all that the network takes."""
    priority: str = "data"
    """out: of Zenoh."""
    size: str = "auto"
    """out: "small": with the small samples, however large; "large": apart; "auto": by size."""
    max_age_ms: int = 0
    """in: samples that are older are dropped; 0: any age."""
    type_name: str = ""
    """ROS formats, in: of the type, such as std_msgs/msg/String."""
    schema: bytes = b""
    """ROS formats, in: the ros2msg text of that type."""


@dataclass
class ServiceRule(Rule):
    """A service that crosses."""

    stock: bool = False
    """in: a queryable that no bridge made. Requests and replies are bytes."""


@dataclass
class Settings:
    """Everything that a bridge is told."""

    prefix: str = "orc"
    robot: str = ""
    format: str = "orc"
    domain: int = 0
    mode: str = ""
    connect: List[str] = field(default_factory=list)
    listen: List[str] = field(default_factory=list)
    zenoh_config: str = ""
    large_bytes: int = 65536
    small_buffer: int = 16384
    large_buffer: int = 4096
    large_seconds: int = 5
    max_bytes: int = 64 << 20
    max_topics: int = 256
    broker: str = ""
    topics: List[TopicRule] = field(default_factory=list)
    services: List[ServiceRule] = field(default_factory=list)

    def check(self) -> None:
        """Completes what was not given. Raises SettingsError."""
        self.robot = self.robot or default_robot()
        if not is_chunk(self.robot):
            raise SettingsError(f"robot is a name of letters, digits, _, . and -, not {self.robot!r}")
        if not all(is_chunk(each) for each in self.prefix.split("/")):
            raise SettingsError(f"prefix is one or several names with / between them, not {self.prefix!r}")
        one_of("format", self.format, FORMATS)
        one_of("mode", self.mode or "client", MODES)
        self.mode = self.mode or ("client" if self.connect else "router" if self.listen else "")
        within("domain", self.domain, 0, 232)
        within("large_bytes", self.large_bytes, 1, 1 << 30)
        within("small_buffer", self.small_buffer, 4096, 1 << 24)
        within("large_buffer", self.large_buffer, 2304, 1 << 24)
        within("large_seconds", self.large_seconds, 1, 3600)
        within("max_bytes", self.max_bytes, 1024, 1 << 30)
        within("max_topics", self.max_topics, 1, 4096)
        if not self.topics and not self.services:
            raise SettingsError("nothing may cross: name topics with --topic, or topics and services in --file")
        within("the number of topics and services", len(self.topics) + len(self.services), 1, _MAX_RULES)
        if self.format != "orc" and self.services:
            raise SettingsError(f"services cross in the format orc only, not in {self.format}")
        for rule in self.topics:
            self._check_rule(rule)
            one_of("priority", rule.priority, PRIORITIES)
            one_of("class", rule.size, CLASSES)
            within("max_age_ms", rule.max_age_ms, 0, 1 << 31)
            if not 0 <= rule.max_rate <= 1e5:
                raise SettingsError(f"max_rate is 0 to 100000 samples per second, not {rule.max_rate}")
        for service in self.services:
            self._check_rule(service)
            if "*" in service.name or not service.name:
                raise SettingsError(f"a service has a name without *, not {service.name!r}")
            if service.is_for("in") and service.robot == "*":
                raise SettingsError(f'service {service.name}: say which robot offers it: from = "…"')

    def _check_rule(self, rule: Rule) -> None:
        if not rule.name or len(rule.name) > 255:
            raise SettingsError("each topic and service has a name of 1 to 255 bytes")
        one_of("direction", rule.direction, DIRECTIONS)
        if rule.robot != "*" and not is_chunk(rule.robot):
            raise SettingsError(f"from is the name of a robot or *, not {rule.robot!r}")
        if not rule.local:  # keys of ROS do not name the robot
            rule.local = "{robot}/{topic}" if self.format == "orc" else "{topic}"


def default_robot() -> str:
    """Returns the name of this host, as a robot's."""
    name = "".join(c if is_chunk(c) else "-" for c in socket.gethostname().partition(".")[0])[:64]
    return name or "robot"


def local_name(rule: Rule, robot: str, topic: str) -> str:
    """Returns the name that a topic or service of another robot has here."""
    return rule.local.replace("{robot}", robot).replace("{topic}", topic)


def read_file(path: str, settings: Settings) -> None:
    """Adds what the TOML file says. Raises SettingsError, OSError, ImportError."""
    table = read_toml(path)
    with named(path):
        topics, services = table.pop("topic", []), table.pop("service", [])
        settings.topics += [_rule(TopicRule(), each) for each in tables("topic", topics)]
        settings.services += [_rule(ServiceRule(), each) for each in tables("service", services)]
        fill(settings, table, hidden=("topics", "services"))


_KEYS = {"from": "robot", "as": "local", "class": "size"}


def _rule(rule: Any, table: Dict[str, Any]) -> Any:
    schema_file = table.pop("schema_file", None)
    if schema_file is not None:
        if not isinstance(schema_file, str) or not isinstance(rule, TopicRule):
            raise SettingsError("schema_file is the path of a ros2msg file, of a topic")
        with open(schema_file, "rb") as file:
            rule.schema = file.read(1 << 20)
    fill(rule, table, _KEYS, hidden=("schema", *_KEYS.values()))
    return rule


def rule_for(rules: List[TopicRule], direction: str, topic: str, robot: Optional[str] = None) -> Optional[TopicRule]:
    """Returns the first rule that lets the topic cross. robot: of the key, for topics that come in."""
    return first_rule((each for each in rules if robot is None or each.robot in ("*", robot)), direction, topic)
