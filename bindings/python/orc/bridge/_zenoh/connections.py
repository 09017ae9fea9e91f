"""Ends connections of Zenoh that carry nothing any more, so that Zenoh makes new ones.

Zenoh itself waits for its lease, 10 s, and TCP doubles the time between its trials: after an outage of 8 s both say
nothing for seconds. A connection from an address that the host has lost never carries anything again.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import socket
import stat
import struct
import sys
import threading
import time
from typing import Any, Dict, Iterator, List, NamedTuple, Set, Tuple

from .log import logger

_LOOK_EVERY_S = 0.2
# The second trial of TCP is after a second, and a round trip may take two.
_CONNECTS_WITHIN_S = 2.2
# Without an answer, each takes twice the time of the one before: 1.4 s, or less where the peer tries to connect again.
_MAX_TRIALS = 3
_MAX_TRIALS_WHEN_IT_CONNECTS = 2
_REMEMBERED_S = 60.0
_MAX_REMEMBERED = 256

Address = Tuple[str, int]
_LOCATOR = re.compile(r"\b(?:tcp|tls|ws)/\[?([^\]/?#\"]+?)\]?:(\d+)")


class _Socket(NamedTuple):
    here: Address
    there: Address
    is_connecting: bool
    trials: int
    inode: int


class Connections:
    """Looks after the TCP connections of some sessions. Uses one thread."""

    def __init__(self, sessions: List[Any]) -> None:
        self._sessions = sessions
        self._peers: Dict[Address, float] = {}  # when a link to it was last seen
        self._begun: Dict[int, float] = {}  # when a connection that is being made was first seen, by its inode
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="orc connections", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._closing.set()
        self._thread.join()

    def _run(self) -> None:
        failed = False
        while not self._closing.wait(_LOOK_EVERY_S):
            try:
                self._look(time.monotonic())
            except Exception:
                if not failed:
                    logger.exception("the connections of Zenoh are not looked after now")
                failed = True

    def _look(self, now: float) -> None:
        links = {
            (here, there)
            for session in self._sessions
            for link in session.info.links()
            for here in _addresses(str(link.src))
            for there in _addresses(str(link.dst))
        }
        self._peers.update((there, now) for _, there in links)
        while len(self._peers) > _MAX_REMEMBERED or any(now - at > _REMEMBERED_S for at in self._peers.values()):
            self._peers.pop(min(self._peers, key=lambda each: self._peers[each]))
        begun, dead, sockets = {}, set(), list(_tcp_sockets())
        ours = {here for here, _ in links}
        asked = {each.here for each in sockets if each.here in ours and (each.here, each.there) not in links}
        for each in sockets:
            if each.is_connecting and each.there in self._peers:
                begun[each.inode] = self._begun.get(each.inode, now)
                if each.trials > 0 and now - begun[each.inode] > _CONNECTS_WITHIN_S:
                    dead.add(each.inode)
            elif (each.here, each.there) in links:
                most = _MAX_TRIALS_WHEN_IT_CONNECTS if each.here in asked else _MAX_TRIALS
                if each.trials >= most or _is_gone(each.here[0]):
                    dead.add(each.inode)
        self._begun = begun
        if dead:
            _shut(dead)


def _addresses(locators: str) -> List[Address]:
    return [(host.partition("%")[0], int(port)) for host, port in _LOCATOR.findall(locators)]


def _tcp_sockets() -> Iterator[_Socket]:
    """Those of this network, also of other programs, that are connected or being connected."""
    for name in ("tcp", "tcp6"):
        with contextlib.suppress(FileNotFoundError), open(f"/proc/self/net/{name}", encoding="ascii") as table:
            next(table)
            for line in table:
                _, here, there, state, _, _, trials, _, _, inode = line.split()[:10]
                if state in ("01", "02"):
                    yield _Socket(_address(here), _address(there), state == "02", int(trials, 16), int(inode))


def _address(text: str) -> Address:
    """Of "0100007F:1D97": words in the byte order of this machine."""
    host, _, port = text.partition(":")
    words = [int(host[at : at + 8], 16).to_bytes(4, sys.byteorder) for at in range(0, len(host), 8)]
    return socket.inet_ntop(socket.AF_INET if len(words) == 1 else socket.AF_INET6, b"".join(words)), int(port, 16)


def _is_gone(address: str) -> bool:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as trial:
        try:
            trial.bind((address, 0))
        except OSError as error:
            return error.errno == errno.EADDRNOTAVAIL
    return False


def _shut(inodes: Set[int]) -> None:
    """Ends those of this program."""
    for fd in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            own = os.dup(int(fd))  # first: Zenoh may close its own, and another file get its number
            if os.fstat(own).st_ino not in inodes or not stat.S_ISSOCK(os.fstat(own).st_mode):
                os.close(own)
                continue
            with socket.socket(fileno=own) as found:
                # Zenoh would wait for the peer when it closes.
                found.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                found.shutdown(socket.SHUT_RDWR)
