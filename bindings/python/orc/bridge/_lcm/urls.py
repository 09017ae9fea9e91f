"""Addresses: of a multicast network, in LCM's form, and of the ends of a link."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import Dict
from urllib.parse import parse_qsl

from .._shared.settings_file import SettingsError, within

DEFAULT_LCM_URL = "udpm://239.255.76.67:7667?ttl=0"
_LINK = re.compile(r"(tcp|udp)://(\*|\[[0-9a-fA-F:.%\w]+\]|[\w.-]+):(\d{1,5})\Z")
_PARAMETERS = ("ttl", "recv_buf_size", "interface")
_OF_ORC_ALONE = ("fec", "reassembly")  # of publications and subscriptions: a bridge has none


@dataclass(frozen=True)
class LcmUrl:
    """A multicast network."""

    group: str
    port: int
    ttl: int = 0
    """Hops; 0 keeps messages on this host."""
    recv_buf_size: int = 4194304
    """Bytes that the kernel may hold for us."""
    interface: str = ""
    """Name or address; empty: lo with ttl 0, else that of the kernel's route."""


def lcm_url(text: str) -> LcmUrl:
    """Reads udpm://239.255.76.67:7667?ttl=0. Raises SettingsError."""
    scheme, separator, rest = text.partition("://")
    if scheme != "udpm" or not separator:
        raise SettingsError(f"lcm_url is {DEFAULT_LCM_URL}, or the like, not {text!r}")
    address, _, query = rest.partition("?")
    group, _, port = address.partition(":")
    default_group, default_port = "239.255.76.67", "7667"
    group, port = group or default_group, port or default_port
    try:
        known = ipaddress.IPv4Address(group)
    except ValueError:
        raise SettingsError(f"lcm_url needs an IPv4 multicast group, as LCM does, not {group!r}") from None
    if not known.is_multicast:
        raise SettingsError(f"lcm_url needs a multicast group, 224.0.0.0 to 239.255.255.255, not {group}")
    if not port.isdecimal() or not 1 <= int(port) <= 65535:
        raise SettingsError(f"lcm_url needs a port, 1 to 65535, not {port!r}")
    given: Dict[str, str] = {}
    for key, value in parse_qsl(query.replace("&amp;", "&"), keep_blank_values=True):
        if key not in _PARAMETERS and key not in _OF_ORC_ALONE:
            raise SettingsError(f"lcm_url has {', '.join(_PARAMETERS)} as parameters, not {key}")
        given[key] = value
    return LcmUrl(
        group,
        int(port),
        _number("ttl", given.get("ttl", "0"), 0, 255),
        _number("recv_buf_size", given.get("recv_buf_size", "4194304"), 2048, 1 << 30),
        given.get("interface", ""),
    )


def _number(name: str, text: str, least: int, most: int) -> int:
    if not text.isdecimal() or len(text) > 12:
        raise SettingsError(f"{name} of lcm_url is a number, not {text!r}")
    within(f"{name} of lcm_url", int(text), least, most)
    return int(text)


@dataclass(frozen=True)
class LinkUrl:
    """Where one end of a link listens."""

    scheme: str
    """tcp or udp"""
    host: str
    """A name or an address; empty: all addresses of this host."""
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host or "*"
        return f"{self.scheme}://{host}:{self.port}"


def link_url(text: str, listens: bool) -> LinkUrl:
    """Reads tcp://host:6789, udp://[::1]:6789, or tcp://*:6789 of an end that listens. Raises SettingsError."""
    found = _LINK.match(text)
    if found is None or (found[2] == "*" and not listens):
        raise SettingsError(f"a link is tcp://HOST:PORT or udp://HOST:PORT, not {text!r}")
    within("the port of a link", int(found[3]), 0 if listens else 1, 65535)
    return LinkUrl(found[1], "" if found[2] == "*" else found[2].strip("[]"), int(found[3]))
