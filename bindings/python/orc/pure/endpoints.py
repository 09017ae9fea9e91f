"""Finds endpoints: the broker's, the directory of a publication's ipc socket, the address for other hosts.

schemas/PROTOCOL.md, "Where the broker is" and "Where a publication listens".
"""

from __future__ import annotations

import ipaddress
import os
import pathlib
import re
import socket
import stat
import struct
import time
from typing import List, Optional, Tuple

_DEFAULT_TCP = "tcp://127.0.0.1:5570"
_MAX_PATH_LENGTH = 107
_MAX_SHOWN = 120  # characters of an endpoint, in a message
_STALE_AFTER_S = 10
_MAX_ADDRESSES = 8
_SYSTEM = "/run/orc"  # in root's /run; its owner is the broker's user
_NUMERIC = re.compile(r"tcp://(\d+\.\d+\.\d+\.\d+|\[[0-9a-fA-F:.]+\]):\d+\Z")  # looking up a name may take seconds
_IPC = re.compile(r"ipc://(/.+)/(\d{1,10})/([0-9a-f]{16})\Z", re.ASCII)


def broker_candidates(named: str) -> List[str]:
    """Returns the endpoints to try, in order: only the named ones, if the program or the environment names any."""
    return named_brokers(named) or [f"ipc://{directory}/broker" for directory in _run_directories()] + [_DEFAULT_TCP]


def named_brokers(named: str) -> List[str]:
    """Returns the endpoints that the program or the environment names. Without any, the program searches."""
    for text in (named, os.environ.get("ORC_BROKER", "")):
        if listed := [word.strip() for word in text.split(",") if word.strip()]:
            return listed
    return []


def endpoint_problem(endpoint: str) -> str:
    """Returns why this cannot be a broker's endpoint, and what to write. Empty: it has the form of one.

    The same texts as liborc's (wire/broker_endpoint.h).
    """
    shown = ascii(endpoint[:_MAX_SHOWN])[1:-1] + ("..." if len(endpoint) > _MAX_SHOWN else "")
    unclear = "a broker's endpoint is tcp://HOST:PORT or ipc:///PATH"
    kind, separator, where = endpoint.partition("://")
    if endpoint == "none":
        return f"{shown} beside other endpoints has no meaning: {unclear}"
    if separator and kind == "tcp":
        if _is_v6(where):
            what = "needs brackets and a port"
        elif where.startswith("/") and where.strip("/"):
            what = "has more than two slashes after tcp"
        elif not where or where[0] in ":/":
            return f"{shown} names no host: {unclear}"
        elif _has_port(where):
            return ""
        else:
            what = "has no port"
        instead = _as_tcp(where.lstrip("/"))
    elif separator and kind == "ipc":
        return "" if where else f"{shown} names no path: {unclear}"
    elif separator:
        return f"{shown} has another scheme: {unclear}"
    elif where := _after_few_slashes(endpoint):
        over_tcp = endpoint.startswith("tcp")
        what = "needs two slashes after tcp" if over_tcp else "needs three slashes after ipc"
        instead = _as_tcp(where) if over_tcp else f"ipc:///{where}"
    else:
        what = "has no scheme"
        instead = f"ipc://{endpoint}" if endpoint.startswith("/") else _as_tcp(endpoint)
    advice = unclear if len(endpoint) > _MAX_SHOWN else f"write {ascii(instead)[1:-1]}"
    return f"{shown} {what}: {advice}"


def shown_address(address: str) -> str:
    """Returns an endpoint for a message: without its scheme, printable, shortened."""
    return ascii(address.partition("://")[2][:_MAX_SHOWN])[1:-1]


def _after_few_slashes(endpoint: str) -> str:
    """Of "tcp:/robot" or "ipc:/run/orc/broker" what follows the slashes; empty: it is neither. tcp:5570 has a port."""
    kind, _, where = endpoint.partition(":")
    return where.lstrip("/") if kind in ("tcp", "ipc") and not where.isdecimal() else ""


def _as_tcp(where: str) -> str:
    """Adds scheme and port to "10.0.0.2", "robot:5570", "fe80::1"."""
    host = (f"[{where}]" if _is_v6(where) else where).rstrip(":")
    return f"tcp://{host}" if _has_port(host) else f"tcp://{host}:5570"


def _is_v6(text: str) -> bool:
    try:
        socket.inet_pton(socket.AF_INET6, text.partition("%")[0])
    except OSError:
        return False
    return True


def _has_port(host_and_port: str) -> bool:
    return not host_and_port.endswith("]") and host_and_port.rpartition(":")[2] not in ("", host_and_port)


def is_name(endpoint: str) -> bool:
    """Returns whether the host of an endpoint is a name to look up."""
    kind, _, where = endpoint.partition("://")
    host, _, port = where.rpartition(":")
    return kind == "tcp" and bool(port) and bool(host) and not set("[]:*") & set(host) and not _is_v4(host)


def _is_v4(host: str) -> bool:
    try:
        socket.inet_pton(socket.AF_INET, host)
        return True
    except OSError:
        return False


def in_url(address: str) -> str:
    """Returns an address as an endpoint has it."""
    return f"[{address}]" if ":" in address else address


def addresses_of(host: str) -> List[str]:
    """Returns at most 8 addresses of both families; [] for an unknown host. A name may take seconds."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return list(dict.fromkeys(str(each[4][0]) for each in found))[:_MAX_ADDRESSES]


def numeric_endpoints(endpoint: str) -> List[str]:
    """Returns one endpoint for each address of a host name; any other endpoint unchanged. May take seconds."""
    if not is_name(endpoint):
        return [endpoint]
    host, _, port = endpoint[len("tcp://") :].rpartition(":")
    return [f"tcp://{in_url(address)}:{port}" for address in addresses_of(host)]


def _run_directories() -> List[str]:
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    own = [f"{runtime}/orc"] if runtime.startswith("/") else []
    return [*own, _SYSTEM, f"/tmp/orc-{os.geteuid()}"]


def answers(endpoint: str) -> bool:
    """Returns whether a broker of this user or of the system listens there. Waits at most 50 ms."""
    kind, _, where = endpoint.partition("://")
    local = kind == "ipc"
    if local and not trusted(os.path.dirname(where)):
        return False
    try:
        with socket.socket(socket.AF_UNIX if local else _family(where)) as probe:
            probe.settimeout(0.05)
            probe.connect(where if local else split_tcp(where))
            return not local or _peer(probe) in (0, os.geteuid(), os.stat(os.path.dirname(where)).st_uid)
    except BlockingIOError:
        return True  # its queue is full
    except (OSError, ValueError):
        return False


def is_near(endpoint: str) -> bool:
    """Returns whether `answers` returns at once. For other hosts it would wait for the network."""
    kind, _, where = endpoint.partition("://")
    try:
        return kind == "ipc" or ipaddress.ip_address(split_tcp(where)[0].partition("%")[0]).is_loopback
    except ValueError:
        return True


def _family(where: str) -> socket.AddressFamily:
    return socket.AF_INET6 if where.startswith("[") else socket.AF_INET


def trusted(directory: str) -> bool:
    """Returns whether no other user can have put something there."""
    try:
        found = os.lstat(directory)
    except OSError:
        return False
    if not stat.S_ISDIR(found.st_mode):
        return False
    return directory == _SYSTEM or (found.st_uid in (0, os.geteuid()) and not found.st_mode & stat.S_IWOTH)


def _peer(connection: socket.socket) -> int:
    """Returns the user at the other end of a Unix socket, as of when it began to listen."""
    return int(struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1])


def obstacle(address: str, local: bool, publication: int, broker: str) -> str:
    """Returns why an endpoint cannot be used from here, without trying it. Empty: it can be used.

    `publication`: the high half of its id. The broker alone must not make a program connect to any socket of its host.
    """
    if not local:
        return "" if _NUMERIC.match(address) else "its address is no number"
    shape = _IPC.match(address)
    if shape is None or shape[3] != f"{publication:016x}" or not _is_run_directory(shape[1], shape[2], broker):
        return "its path is in no run directory"
    path = address[len("ipc://") :]
    try:
        if not stat.S_ISSOCK(os.lstat(path).st_mode):
            return "its path is no socket"
    except OSError:
        return "its socket is not on this host"
    return "" if os.access(path, os.W_OK) else "its socket is closed to this user"


def _is_run_directory(directory: str, user: str, broker: str) -> bool:
    """Returns whether it is a run directory of the broker, of this user, or of the publication's user."""
    kind, _, where = broker.partition("://")
    beside = [os.path.dirname(where)] if kind == "ipc" else []
    return any(
        _same(directory, each)
        for each in [*beside, *_run_directories(), f"/run/user/{user}/orc", f"/tmp/orc-{user}"]
        if "/../" not in f"{directory}/"
    )


def _same(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def split_tcp(where: str) -> Tuple[str, int]:
    """Splits "host:port" or "[v6]:port". Raises ValueError for anything else."""
    host, _, port = where.rpartition(":")
    return host.strip("[]"), int(port)


def socket_directory(broker: str) -> Optional[pathlib.Path]:
    """Returns the directory in which this user's publications listen, and makes it if needed. None: there is none.

    It is in the directory of the broker's ipc socket, so that users of the broker find it. With a broker over tcp it is
    in the first run directory that this user can write.
    """
    kind, _, where = broker.partition("://")
    run_directories = _run_directories()
    for parent in [os.path.dirname(where)] if kind == "ipc" else run_directories:
        if made := _make(pathlib.Path(parent), searched=parent in run_directories):
            return made
    return None


def _make(parent: pathlib.Path, searched: bool) -> Optional[pathlib.Path]:
    """`searched`: the directory was not named, so it must be ours or the system's."""
    own = parent / str(os.geteuid())
    try:
        parent.mkdir(mode=0o700, exist_ok=True)
        if searched and not trusted(str(parent)):
            return None
        own.mkdir(mode=0o750, exist_ok=True)
        return own if _is_ours(own) and os.access(own, os.W_OK | os.X_OK) else None
    except OSError:
        return None


def _is_ours(directory: pathlib.Path) -> bool:
    found = directory.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()


def sweep(directory: pathlib.Path) -> None:
    """Removes this user's sockets on which no program listens any more. Young ones may be about to listen."""
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
    return len(os.fsencode(path)) <= _MAX_PATH_LENGTH


def own_addresses(broker: str, advertise: str) -> List[str]:
    """Returns the addresses at which other hosts reach this one, as in an endpoint; 127.0.0.1 when there is no other.

    From another host the broker accepts only the address that the connection comes from. Empty when that is a
    link-local one of IPv6, which has a different meaning on each host.
    """
    if advertise:
        return [in_url(advertise)]
    kind, _, where = broker.partition("://")
    # Networks for documentation: the way there is the default route.
    targets = [split_tcp(where)[0]] if kind == "tcp" else ["192.0.2.1", "2001:db8::1"]
    sources = [found for each in targets if (found := _source_towards(each))]
    if not sources:
        return ["127.0.0.1"]
    return [in_url(each) for each in sources if not _is_link_local_v6(each)]


def _source_towards(host: str) -> str:
    try:  # it also fails when the kernel has no IPv6
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect((host, 9))
            return str(probe.getsockname()[0])
    except OSError:
        return ""


def _is_link_local_v6(address: str) -> bool:
    return ":" in address and ipaddress.IPv6Address(address.partition("%")[0]).is_link_local
