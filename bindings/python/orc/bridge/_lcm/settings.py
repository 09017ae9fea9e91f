"""What a tunnel is to do: the options of the command line and of the file."""

from __future__ import annotations

import ipaddress
import os
import re
import stat
from dataclasses import dataclass, field
from typing import Any, Dict, List

from .._shared.rules import DIRECTIONS, LocalRule
from .._shared.settings_file import SettingsError, fill, named, one_of, read_toml, tables, within
from .link import LinkOptions
from .urls import DEFAULT_LCM_URL, LcmUrl, LinkUrl, lcm_url, link_url

_MAX_RULES = 256
_MAX_ENDS = 8
_MIN_KEY, _MAX_KEY = 16, 4096


@dataclass
class ChannelRule:
    """LCM channels that go out."""

    name: str = ""
    """A regular expression for the whole name."""
    max_rate: float = 0.0
    """Messages per second of each channel, the newest alone; 0: all."""


@dataclass
class TopicRule(LocalRule):
    """ORC topics that cross, by name."""

    max_rate: float = 0.0
    """out: samples per second of each topic; 0: all that the link takes."""
    max_age_ms: int = 0
    """in: samples that are older are dropped; 0: any age."""


@dataclass
class Settings:
    """Everything that a tunnel is told."""

    listen: List[str] = field(default_factory=list)
    connect: List[str] = field(default_factory=list)
    lcm_url: str = ""
    accept: List[str] = field(default_factory=list)
    """Channels that may come in, as regular expressions; empty: all."""
    allow: List[str] = field(default_factory=list)
    key_file: str = ""
    fec: float = 0.25
    max_delay_ms: int = 500
    depth: int = 500
    max_bytes: int = 64 << 20
    max_links: int = 8
    max_topics: int = 256
    broker: str = ""
    channels: List[ChannelRule] = field(default_factory=list)
    topics: List[TopicRule] = field(default_factory=list)

    def check(self) -> None:
        """Raises SettingsError."""
        if not self.listen and not self.connect:
            raise SettingsError("there is no other end: name one with --connect, or wait for one with --listen")
        within("the number of ends", len(self.listen) + len(self.connect), 1, _MAX_ENDS)
        within("the number of channels and topics", len(self.channels) + len(self.topics), 0, _MAX_RULES)
        within("the number of accept", len(self.accept), 0, _MAX_RULES)
        within("fec", self.fec, 0.0, 1.0)
        within("max_delay_ms", self.max_delay_ms, 1, 60_000)
        within("depth", self.depth, 1, 100_000)
        within("max_bytes", self.max_bytes, 1024, 1 << 30)
        within("max_links", self.max_links, 1, 64)
        within("max_topics", self.max_topics, 1, 4096)
        for each in self.allow:
            try:
                ipaddress.ip_network(each, strict=False)
            except ValueError:
                raise SettingsError(f"allow is an address, or a network such as 192.0.2.0/24, not {each!r}") from None
        self.ends()
        self.network()
        for channel in self.channels:
            compiled(channel.name)
            within("max_rate", channel.max_rate, 0.0, 1e5)
        for pattern in self.accept:
            compiled(pattern)
        for topic in self.topics:
            if not topic.name or len(topic.name) > 255:
                raise SettingsError("each topic has a name of 1 to 255 bytes")
            one_of("direction", topic.direction, DIRECTIONS)
            within("max_rate", topic.max_rate, 0.0, 1e5)
            within("max_age_ms", topic.max_age_ms, 0, 1 << 31)
            topic.local = topic.local or "{topic}"

    def network(self) -> LcmUrl:
        """Returns the local network. Raises SettingsError."""
        from_environment = os.environ.get("ORC_MULTICAST") or os.environ.get("LCM_DEFAULT_URL")
        return lcm_url(self.lcm_url or from_environment or DEFAULT_LCM_URL)

    def ends(self) -> List[LinkUrl]:
        """Returns where it listens, and then where it connects. Raises SettingsError."""
        return [link_url(each, True) for each in self.listen] + [link_url(each, False) for each in self.connect]

    def link_options(self) -> LinkOptions:
        """Reads the key. Raises SettingsError, OSError."""
        key = read_key(self.key_file) if self.key_file else b""
        delay = self.max_delay_ms / 1000
        return LinkOptions(key, self.allow, self.max_links, self.fec, delay, self.depth, self.max_bytes)


def compiled(pattern: str) -> "re.Pattern[str]":
    """Returns a regular expression of channels. Raises SettingsError."""
    if not pattern or len(pattern) > 1024:
        raise SettingsError("a channel is a regular expression of 1 to 1024 characters")
    try:
        return re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise SettingsError(f"a channel is a regular expression, not {pattern!r}: {error}") from None


def read_key(path: str) -> bytes:
    """Returns the shared key. Raises SettingsError when others may read it, or it is short; OSError."""
    with open(path, "rb") as file:
        if os.fstat(file.fileno()).st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise SettingsError(f"other users may read {path}: chmod 600 {path}")
        key = file.read(_MAX_KEY + 1).strip()
    if not _MIN_KEY <= len(key) <= _MAX_KEY:
        raise SettingsError(f"{path} has {len(key)} bytes, a key has {_MIN_KEY} to {_MAX_KEY}: openssl rand -hex 32")
    return key


def read_file(path: str, settings: Settings) -> None:
    """Adds what the TOML file says. Raises SettingsError, OSError, ImportError."""
    table = read_toml(path)
    with named(path):
        channels, topics = table.pop("channel", []), table.pop("topic", [])
        settings.channels += [_filled(ChannelRule(), each) for each in tables("channel", channels)]
        settings.topics += [_filled(TopicRule(), each) for each in tables("topic", topics)]
        fill(settings, table, hidden=("channels", "topics"))


def _filled(rule: Any, table: Dict[str, Any]) -> Any:
    fill(rule, table, {"as": "local"}, hidden=("local",))
    return rule
