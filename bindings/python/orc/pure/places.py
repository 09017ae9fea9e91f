"""Where things are: the broker, the directory of a publication's ipc socket, the address for other hosts.

schemas/PROTOCOL.md, "Where the broker is" and "Where a publication listens".
"""

from __future__ import annotations

import os
import pathlib
import socket
import stat
import time
from typing import List, Optional, Tuple

_DEFAULT_TCP = "tcp://127.0.0.1:5570"
_LONGEST_PATH = 107
_STALE_AFTER_S = 10


def broker_candidates(named: str) -> List[str]:
    """Endpoints to try in this order; one alone when the program or the environment names it."""
    named = named or os.environ.get("ORC_BROKER", "")
    if named:
        return [named]
    return [f"ipc://{directory}/broker" for directory in _run_directories()] + [_DEFAULT_TCP]


def _run_directories() -> List[str]:
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    own = [f"{runtime}/orc"] if runtime.startswith("/") else []
    return [*own, "/run/orc", f"/tmp/orc-{os.geteuid()}"]


def answers(endpoint: str) -> bool:
    """Whether somebody listens there. Waits at most 50 ms."""
    kind, _, where = endpoint.partition("://")
    family = socket.AF_UNIX if kind == "ipc" else socket.AF_INET
    with socket.socket(family) as probe:
        probe.settimeout(0.05)
        try:
            probe.connect(where if kind == "ipc" else split_tcp(where))
        except BlockingIOError:
            return True  # its queue is full
        except (OSError, ValueError):
            return False
    return True


def split_tcp(where: str) -> Tuple[str, int]:
    """ "host:port" or "[v6]:port"; ValueError for anything else."""
    host, _, port = where.rpartition(":")
    return host.strip("[]"), int(port)


def socket_directory(broker: str) -> Optional[pathlib.Path]:
    """Where this user's publications listen, made if need be; None where that cannot be had.

    Below the directory of the broker's ipc socket, so that who can use the broker finds them; over tcp below the first
    run directory that this user can write.
    """
    kind, _, where = broker.partition("://")
    parents = [os.path.dirname(where)] if kind == "ipc" else _run_directories()
    for parent in parents:
        if made := _make(pathlib.Path(parent), private=parent.startswith("/tmp/")):
            return made
    return None


def _make(parent: pathlib.Path, private: bool) -> Optional[pathlib.Path]:
    own = parent / str(os.geteuid())
    try:
        parent.mkdir(mode=0o700, exist_ok=True)
        if private and not _is_ours(parent):
            return None
        own.mkdir(mode=0o750, exist_ok=True)
        return own if _is_ours(own) and os.access(own, os.W_OK | os.X_OK) else None
    except OSError:
        return None


def _is_ours(directory: pathlib.Path) -> bool:
    found = directory.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()


def sweep(directory: pathlib.Path) -> None:
    """Removes sockets of this user that nobody listens on any more. Young ones may be about to listen."""
    try:
        files = list(os.scandir(directory))
    except OSError:
        return
    for file in files:
        try:
            found = file.stat(follow_symlinks=False)
            if not stat.S_ISSOCK(found.st_mode) or time.time() - found.st_mtime < _STALE_AFTER_S:
                continue
            with socket.socket(socket.AF_UNIX) as probe:
                probe.setblocking(False)
                if probe.connect_ex(file.path) == _REFUSED:
                    os.unlink(file.path)
        except OSError:
            continue


_REFUSED = 111


def fits(path: pathlib.Path) -> bool:
    return len(os.fsencode(path)) <= _LONGEST_PATH


def own_address(broker: str, advertise: str) -> str:
    """The IPv4 address that other hosts reach this one at; "127.0.0.1" when there is no other."""
    if advertise:
        return advertise
    kind, _, where = broker.partition("://")
    target = split_tcp(where)[0] if kind == "tcp" else "192.0.2.1"  # any: the address of the default route
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((target, 9))
            return str(probe.getsockname()[0])
        except OSError:
            return "127.0.0.1"
