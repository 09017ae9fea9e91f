"""The field: each middleware with its transports, and the floor under each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent

# Only those of one class are compared: threads of a process, processes that sleep while they wait, processes that poll.
THREADS, SLEEPING, POLLING = "threads", "sleeping", "polling"
FLOOR = "floor"
ORC = "ORC"


@dataclass(frozen=True)
class Peer:
    """One line of the tables."""

    family: str
    variant: str
    program: str
    """peer_PROGRAM is what runs, `source` what the lines of code are counted in."""
    transport: str
    source: str
    kind: str = SLEEPING
    floor: str = ""
    """The name of the peer that is its floor; empty: it is one itself, or has none."""
    largest: int = 10_000_000
    """In bytes. Larger samples are left out, because of `limit`."""
    limit: str = ""
    queues: bool = True
    """Whether it can keep more than the newest sample for a reader."""
    daemon: tuple[str, ...] = ()
    """The command of a program that it needs."""

    @property
    def name(self) -> str:
        return f"{self.family} {self.variant}".strip()

    @property
    def is_floor(self) -> bool:
        return self.family == FLOOR

    @property
    def spins(self) -> bool:
        return self.kind == POLLING


FUTEX, SPIN, UNIX, TCP, UDP = (f"{FLOOR} {each}" for each in ("futex", "spin", "Unix socket", "tcp", "UDP multicast"))
DATAGRAM = 65_507
ONE_DATAGRAM = f"one datagram has at most {DATAGRAM:,} B"
LCM_BURST = 4_000_000  # measured: with 6 MB, no sample arrives whole
ONE_BURST = "its socket loses a part of larger samples, and it repairs nothing"
ROS_MASTER = ("rosmaster", "--core", "-p", "11399")

PEERS = (
    Peer(FLOOR, "futex", "floor_shm", "shm", "floor_shm.cpp", queues=False),
    Peer(FLOOR, "spin", "floor_shm", "shm", "floor_shm.cpp", POLLING, queues=False),
    Peer(FLOOR, "Unix socket", "floor_socket", "unix", "floor_socket.cpp"),
    Peer(FLOOR, "tcp", "floor_socket", "tcp", "floor_socket.cpp"),
    Peer(FLOOR, "UDP multicast", "floor_udp", "udp", "floor_udp.cpp", largest=DATAGRAM, limit=ONE_DATAGRAM),
    Peer(ORC, "inproc", "orc", "inproc", "orc.cpp", THREADS),
    Peer(ORC, "shm", "orc", "shm", "orc.cpp", floor=FUTEX),
    Peer(ORC, "shm polling", "orc", "shm", "orc.cpp", POLLING, SPIN),
    Peer(ORC, "ipc", "orc", "ipc", "orc.cpp", floor=UNIX),
    Peer(ORC, "tcp", "orc", "tcp", "orc.cpp", floor=TCP),
    Peer(ORC, "multicast", "orc", "multicast", "orc.cpp", floor=UDP),
    Peer("libzmq", "inproc", "zmq", "inproc", "zmq.cpp", THREADS),
    Peer("libzmq", "ipc", "zmq", "ipc", "zmq.cpp", floor=UNIX),
    Peer("libzmq", "tcp", "zmq", "tcp", "zmq.cpp", floor=TCP),
    Peer("LCM", "", "lcm", "multicast", "lcm.cpp", floor=UDP, largest=LCM_BURST, limit=ONE_BURST),
    Peer("nng", "ipc", "nng", "ipc", "nng.cpp", floor=UNIX),
    Peer("nng", "tcp", "nng", "tcp", "nng.cpp", floor=TCP),
    Peer("Cyclone DDS", "", "cyclone", "udp", "cyclone.cpp", floor=UDP),
    Peer("Fast DDS", "", "fastdds", "shm", "fastdds.cpp", floor=FUTEX),
    Peer("ROS 1", "", "ros1", "tcp", "ros1.cpp", floor=TCP, daemon=ROS_MASTER),
    Peer("iceoryx2", "", "iceoryx2", "shm", "rust/src/iceoryx2.rs", floor=FUTEX),
    Peer("iceoryx2", "polling", "iceoryx2", "shm", "rust/src/iceoryx2.rs", POLLING, SPIN),
    Peer("Zenoh", "ipc", "zenoh", "ipc", "rust/src/zenoh.rs", floor=UNIX),
    Peer("Zenoh", "tcp", "zenoh", "tcp", "rust/src/zenoh.rs", floor=TCP),
    Peer("Zenoh", "shm", "zenoh", "shm", "rust/src/zenoh.rs", floor=FUTEX),
)


def named(texts: list[str]) -> list[Peer]:
    """Returns the peers that have one of these families or names, and the floors under them. Raises ValueError."""
    chosen = set()
    for text in texts:
        found = [peer for peer in PEERS if text.lower() in (peer.family.lower(), peer.name.lower())]
        if not found:
            raise ValueError(f"no peer is named {text}; there are {', '.join(peer.name for peer in PEERS)}")
        chosen.update(found)
    below = {peer.floor for peer in chosen}
    return [peer for peer in PEERS if peer in chosen or peer.name in below]


def lines_of_code(source: Path) -> int:
    """Counts the lines of a file that are neither blank nor nothing but comment."""
    lines = (line.strip() for line in source.read_text().splitlines())
    return sum(1 for line in lines if line and not line.startswith("//"))
