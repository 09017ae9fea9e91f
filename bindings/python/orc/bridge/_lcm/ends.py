"""Makes the ends of links: sockets that listen, and connectors that look up names."""

from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor
from typing import Callable, List, Optional, Union

from .._shared.counters import Counters
from .._shared.settings_file import SettingsError
from .link import Found, Hub, LinkOptions
from .loop import Loop
from .tcp import TcpConnector, TcpListener
from .udp import UdpConnector, UdpListener
from .urls import LinkUrl

End = Union[TcpListener, TcpConnector, UdpListener, UdpConnector]
_IPV6_ANY = "::"


class Ends:
    """The thread of the loop alone calls it."""

    def __init__(self, options: LinkOptions, hub: Hub, loop: Loop, counters: Counters) -> None:
        self._parts = (options, hub, loop, counters)
        self._loop, self._counters = loop, counters
        self._ends: List[End] = []
        self._names = ThreadPoolExecutor(1, "bridge names")  # looking up a name may take seconds

    def listen(self, url: LinkUrl) -> str:
        """Waits for other ends. Returns where. Raises SettingsError."""
        try:
            bound = _listening(url)
        except OSError as error:
            raise SettingsError(f"cannot listen at {url}: {error}") from None
        port = bound.getsockname()[1]
        self._ends.append((TcpListener if url.scheme == "tcp" else UdpListener)(bound, *self._parts))
        return str(LinkUrl(url.scheme, url.host, port))

    def connect(self, url: LinkUrl) -> str:
        """Connects, now and whenever the link ends. Returns where to."""
        kind = socket.SOCK_STREAM if url.scheme == "tcp" else socket.SOCK_DGRAM

        def resolve(then: Callable[[Optional[Found]], None]) -> None:
            def look_up() -> None:
                found: Optional[Found] = None
                try:
                    family, _, _, _, address = socket.getaddrinfo(url.host, url.port, type=kind)[0]
                    found = (family, address)  # type: ignore[assignment]
                except OSError as error:
                    self._counters.drop("name not found", f"{url.host}: {error}")
                self._loop.soon(lambda: then(found))

            self._names.submit(look_up)

        self._ends.append((TcpConnector if url.scheme == "tcp" else UdpConnector)(str(url), resolve, *self._parts))
        return str(url)

    def close(self) -> None:
        """Ends all links."""
        self._names.shutdown(wait=False)
        for each in self._ends:
            each.close()


def _listening(url: LinkUrl) -> socket.socket:
    kind = socket.SOCK_STREAM if url.scheme == "tcp" else socket.SOCK_DGRAM
    for host in [url.host] if url.host else [_IPV6_ANY, "0.0.0.0"]:
        family, _, _, _, address = socket.getaddrinfo(host, url.port, type=kind, flags=socket.AI_PASSIVE)[0]
        try:
            made = socket.socket(family, kind)
        except OSError:  # a host without IPv6
            if host == _IPV6_ANY:
                continue
            raise
        try:
            if kind == socket.SOCK_STREAM:
                made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if host == _IPV6_ANY:
                made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            made.bind(address)
            return made
        except OSError:
            made.close()
            if host != _IPV6_ANY or url.host:
                raise
    raise OSError("no address to listen at")
