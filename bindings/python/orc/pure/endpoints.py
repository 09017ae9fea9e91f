"""Finds endpoints: the broker's, the place of a publication's ipc socket, the addresses for other hosts.

schemas/PROTOCOL.md, "Where the broker is" and "Where a publication listens". Without Unix sockets there is only tcp.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import re
import secrets
import socket
import stat
import struct
import time
from typing import List, Optional, Tuple

from .._errors import BadArgument

_DEFAULT_TCP = "tcp://127.0.0.1:5570"
_MAX_PATH_LENGTH = 107
_MAX_SHOWN = 120  # characters of an endpoint, in a message
_STALE_AFTER_S = 10
_MAX_ADDRESSES = 8
_SYSTEM = "/run/orc"  # in root's /run; its owner is the broker's user
_NUMERIC = re.compile(r"tcp://(\d+\.\d+\.\d+\.\d+|\[[0-9a-fA-F:.]+\]):\d+\Z")  # looking up a name may take seconds
_HOST_AND_PORT = re.compile(r"(\[.*\]|[^:\[\]]+):([^:]+)\Z")
_IPC = re.compile(r"ipc://(/.+)/(\d{1,10})(?:-[0-9a-f]{8})?/([0-9a-f]{16})\Z", re.ASCII)
_CREDENTIALS = struct.Struct("3i")  # Linux: pid, uid, gid
HAS_IPC = hasattr(socket, "AF_UNIX") and hasattr(os, "geteuid")


def named_brokers(named: str) -> List[str]:
    """Returns the endpoints that the program or the environment names. Without any, the program searches.

    Raises BadArgument for one that no broker can have.
    """
    for text in (named, os.environ.get("ORC_BROKER", "")):
        if listed := [word.strip() for word in text.split(",") if word.strip()]:
            for each in listed:
                if problem := _problem(each):
                    shown = ascii(each[:_MAX_SHOWN])[1:-1]
                    raise BadArgument(f"the broker's endpoint {shown} {problem}")
            return listed
    return []


def _problem(endpoint: str) -> str:
    """Returns why this cannot be a broker's endpoint, and what to write; empty: it has the form of one."""
    unclear = "a broker's endpoint is tcp://HOST:PORT or ipc:///PATH"
    kind, separator, where = endpoint.partition("://")
    if endpoint == "none":
        return "means to do without a broker, which needs the native backend"
    if separator and kind == "ipc":
        return "" if HAS_IPC and where else f"names no path: {unclear}" if HAS_IPC else "needs Unix sockets: name tcp"
    if separator and kind != "tcp":
        return f"has another scheme: {unclear}"
    slashes = None if separator else re.match(r"(tcp|ipc):/*(?!\d+\Z)(.+)", endpoint)
    if slashes:
        if slashes[1] == "ipc":
            return f"needs three slashes after ipc: write ipc:///{slashes[2]}"
        wrong, where = "needs two slashes after tcp", slashes[2]
    elif endpoint.startswith("/"):
        return f"has no scheme: write ipc://{endpoint}"
    elif not separator:
        wrong, where = "has no scheme", endpoint
    elif where.startswith("/") and where.strip("/"):
        wrong, where = "has more than two slashes after tcp", where.lstrip("/")
    elif not where or (where[0] in ":/" and where.count(":") < 2):
        return f"names no host: {unclear}"
    elif found := _HOST_AND_PORT.match(where):
        return "" if found[2].isdecimal() else f"has no number as its port: {unclear}"
    else:
        wrong = "has no port"
    host = (f"[{where}]" if where.count(":") > 1 and not where.startswith("[") else where).rstrip(":")
    return f"{wrong}: write tcp://{host}{'' if _HOST_AND_PORT.match(host) else ':5570'}"


def run_directories() -> List[str]:
    """Returns where a broker may be found, and where publications may listen."""
    if not HAS_IPC:
        return []
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    own = [f"{runtime}/orc"] if runtime.startswith("/") else []
    return [*own, _SYSTEM, f"/tmp/orc-{os.geteuid()}"]


def broker_candidates(named: str) -> List[str]:
    """Returns the endpoints to try, in order: only the named ones, if there are any."""
    return named_brokers(named) or [f"ipc://{each}/broker" for each in run_directories()] + [_DEFAULT_TCP]


def trusted(directory: str) -> bool:
    """Returns whether no other user can have put something there."""
    with contextlib.suppress(OSError):
        found = os.lstat(directory)
        own = found.st_uid in (0, os.geteuid()) and not found.st_mode & stat.S_IWOTH
        return stat.S_ISDIR(found.st_mode) and (own or directory == _SYSTEM)
    return False


def trusted_peer(its: socket.socket, path: str) -> bool:
    """Returns whether this user, root or the directory's owner listens, where the system shows it."""
    owner = os.stat(os.path.dirname(path)).st_uid
    return not hasattr(socket, "SO_PEERCRED") or _peer(its)[1] in (0, os.geteuid(), owner)


def may_publish_at(its: socket.socket, path: str) -> bool:
    """Returns whether this user, root or the user of the directory listens: who owns both, and whose id it names.

    A member of the broker's group may have put its own directory in the place of another user's.
    """
    if not hasattr(socket, "SO_PEERCRED"):
        return True
    user = _peer(its)[1]
    directory = os.path.dirname(path)
    owners = {os.lstat(path).st_uid, os.lstat(directory).st_uid}
    return user in (0, os.geteuid()) or (owners == {user} and _is_directory_of(os.path.basename(directory), user))


def _is_directory_of(name: str, user: int) -> bool:
    """Returns whether it is a user's directory beside the broker: its id, or that and 8 digits if another took it."""
    return re.fullmatch(rf"{user}(?:-[0-9a-f]{{8}})?", name, re.ASCII) is not None


def _own_directory(parent: pathlib.Path) -> pathlib.Path:
    """Makes this user's directory there, which may exist."""
    own = parent / str(os.geteuid())
    own.mkdir(mode=0o750, exist_ok=True)
    if own.lstat().st_uid == os.geteuid() or not parent.stat().st_mode & stat.S_IRWXG:
        return own
    for each in parent.iterdir():  # another user took that name
        if _is_directory_of(each.name, os.geteuid()) and each.lstat().st_uid == os.geteuid():
            return each
    own = parent / f"{os.geteuid()}-{secrets.token_hex(4)}"
    own.mkdir(mode=0o750)
    return own


def _peer(its: socket.socket) -> Tuple[int, ...]:
    return _CREDENTIALS.unpack(its.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size))


def peer_process(its: socket.socket) -> str:
    """Returns which local process is at the other end of a Unix socket, where the system shows it."""
    with contextlib.suppress(OSError, AttributeError):
        return f"process {_peer(its)[0]}"
    return "a local process"


def shown_address(address: str) -> str:
    """Returns an endpoint for a message: without its scheme, printable, shortened."""
    return ascii(address.partition("://")[2][:_MAX_SHOWN])[1:-1]


def is_name(endpoint: str) -> bool:
    """Returns whether the host of an endpoint is a name to look up."""
    kind, _, where = endpoint.partition("://")
    host, _, port = where.rpartition(":")
    is_number = re.fullmatch(r"\d+\.\d+\.\d+\.\d+", host)
    return kind == "tcp" and bool(port and host) and not set("[]:*") & set(host) and not is_number


def in_url(address: str) -> str:
    """Returns an address as an endpoint has it."""
    return f"[{address}]" if ":" in address else address


def addresses_of(host: str) -> List[str]:
    """Returns at most 8 addresses of both families; [] for an unknown host. A name may take seconds."""
    with contextlib.suppress(OSError, UnicodeError):
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        return list(dict.fromkeys(str(each[4][0]) for each in found))[:_MAX_ADDRESSES]
    return []


def numeric_endpoints(endpoint: str) -> List[str]:
    """Returns one endpoint for each address of a host name; any other endpoint unchanged. May take seconds."""
    if not is_name(endpoint):
        return [endpoint]
    host, port = split_tcp(endpoint[len("tcp://") :])
    return [f"tcp://{in_url(address)}:{port}" for address in addresses_of(host)]


def split_tcp(where: str) -> Tuple[str, int]:
    """Splits "host:port" or "[v6]:port". Raises ValueError for anything else."""
    host, _, port = where.rpartition(":")
    return host.strip("[]"), int(port)


def obstacle(address: str, local: bool, publication: int, broker: str) -> str:
    """Returns why an endpoint cannot be used from here, without trying it. Empty: it can be used.

    `publication`: the high half of its id. The broker alone must not make a program connect to any socket of its host.
    """
    if not local:
        return "" if _NUMERIC.match(address) else "its address is no number"
    shape = _IPC.match(address) if HAS_IPC else None
    if shape is None or shape[3] != f"{publication:016x}" or not _is_run_directory(shape[1], shape[2], broker):
        return "its path is in no run directory"
    path = address[len("ipc://") :]
    try:
        if not stat.S_ISDIR(os.lstat(os.path.dirname(path)).st_mode) or not stat.S_ISSOCK(os.lstat(path).st_mode):
            return "its path is no socket"
    except OSError:
        return "its socket is not on this host"
    return "" if os.access(path, os.W_OK) else "its socket is closed to this user"


def _is_run_directory(directory: str, user: str, broker: str) -> bool:
    """Returns whether it is a run directory of the broker, of this user, or of the publication's user."""
    if "/../" not in f"{directory}/":
        for each in [*_beside(broker), *run_directories(), f"/run/user/{user}/orc", f"/tmp/orc-{user}"]:
            with contextlib.suppress(OSError):
                if os.path.samefile(directory, each):
                    return True
    return False


def _beside(broker: str) -> List[str]:
    """Returns the directory of the broker's ipc socket, if it has one."""
    return [os.path.dirname(broker[len("ipc://") :])] if broker.startswith("ipc://") else []


def socket_directory(broker: str) -> Optional[pathlib.Path]:
    """Returns the directory in which this user's publications listen, and makes it if needed. None: there is none.

    It is in the directory of the broker's ipc socket, so that users of the broker find it. With a broker over tcp it is
    in the first run directory that this user can write.
    """
    found = run_directories()
    for parent in (_beside(broker) or found) if HAS_IPC else []:
        with contextlib.suppress(OSError):
            pathlib.Path(parent).mkdir(mode=0o700, exist_ok=True)
            if parent in found and not trusted(parent):
                continue
            own = _own_directory(pathlib.Path(parent))
            its = own.lstat()
            if stat.S_ISDIR(its.st_mode) and its.st_uid == os.geteuid() and os.access(own, os.W_OK | os.X_OK):
                return own
    return None


def socket_path(broker: str, publication: int) -> Optional[pathlib.Path]:
    """Returns where a publication with this high half of its id listens. None: there is no place."""
    directory = socket_directory(broker)
    path = directory and directory / f"{publication:016x}"
    return path if path and len(os.fsencode(path)) <= _MAX_PATH_LENGTH else None


def sweep(directory: Optional[pathlib.Path]) -> None:
    """Removes this user's sockets on which no program listens any more. Young ones may be about to listen."""
    for file in [] if directory is None else list(directory.iterdir()):
        with contextlib.suppress(OSError):
            found = file.lstat()
            if stat.S_ISSOCK(found.st_mode) and time.time() - found.st_mtime >= _STALE_AFTER_S:
                with socket.socket(socket.AF_UNIX) as probe:
                    probe.setblocking(False)
                    try:
                        probe.connect(str(file))
                    except ConnectionRefusedError:
                        file.unlink()


def own_addresses(broker: str, advertise: str) -> List[str]:
    """Returns the addresses at which other hosts reach this one, as in an endpoint; 127.0.0.1 when there is no other.

    From another host the broker accepts only the address that the connection comes from. Empty when that is a
    link-local one of IPv6, which has a different meaning on each host.
    """
    if advertise:
        return [in_url(advertise)]
    # Networks for documentation: the way there is the default route.
    targets = [split_tcp(broker[6:])[0]] if broker.startswith("tcp://") else ["192.0.2.1", "2001:db8::1"]
    found: List[str] = []
    for host in targets:
        with contextlib.suppress(OSError):  # the kernel may have no IPv6
            with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_DGRAM) as probe:
                probe.connect((host, 9))
                found.append(str(probe.getsockname()[0]))
    usable = [each for each in found if not re.match("fe[89ab]", each)]
    return [in_url(each) for each in usable] if found else ["127.0.0.1"]
