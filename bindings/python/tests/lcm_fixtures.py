"""Networks of LCM programs as network namespaces, joined by a cable; tunnels and stock programs in them.

Each network is the loopback of its namespace. Needs root, iproute2 and /dev/net/tun.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import pathlib
import shutil
import struct
import subprocess
from typing import Any, Dict, Iterator, List, Optional, Tuple

import pytest

from bad_cable import NAME, Weather
from bridge_process import Bridge
from support import REPOSITORY, BrokerProcess, environment, start_python, wait_until

URL = "udpm://239.255.76.67:7667?ttl=0&recv_buf_size=4194304"
ADDRESSES = ("10.81.0.1", "10.81.0.2")
PORT = 6789

# Sends and hears on a network until stdin ends. Commands: send CHANNEL SEED COUNT SIZE PAUSE_S | heard
_PEER = """
import hashlib, json, random, sys, threading, time
import lcm
url = sys.argv[1]
hearer, sender = lcm.LCM(url), lcm.LCM(url)
heard, lock = {}, threading.Lock()
def take(channel, data):
    with lock:
        heard.setdefault(channel, []).append(hashlib.sha256(data).hexdigest()[:16])
subscription = hearer.subscribe(".*", take)
subscription.set_queue_capacity(0)
def hear():
    while True:
        hearer.handle()
threading.Thread(target=hear, daemon=True).start()
print("ready", flush=True)
for line in sys.stdin:
    words = line.split()
    if words[0] == "send":
        channel, made, count, size, pause = words[1], random.Random(words[2]), *map(float, words[3:])
        sent = []
        for number in range(int(count)):
            data = made.randbytes(int(size))
            sender.publish(channel, data)
            sent.append(hashlib.sha256(data).hexdigest()[:16])
            time.sleep(pause)
        print(json.dumps(sent), flush=True)
    else:
        with lock:
            print(json.dumps(heard), flush=True)
"""


def digest(payload: bytes) -> str:
    """What a peer says of a message."""
    return hashlib.sha256(payload).hexdigest()[:16]


def lcm_python() -> str:
    """A python3 with PyPI's lcm."""
    found = pathlib.Path(os.environ.get("ORC_SOURCE_DIR") or REPOSITORY) / "build/lcm-venv/bin/python"
    if not found.exists():
        pytest.skip("build/lcm-venv is not there: tools/dev setup")
    return str(found)


class Peer:
    """A program with PyPI's lcm in a network."""

    def __init__(self, before: List[str], url: str = URL) -> None:
        command = [*before, lcm_python(), "-c", _PEER, url]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._line() == "ready\n"

    def start_send(self, channel: str, seed: int, count: int, size: int, pause: float) -> None:
        self._say(f"send {channel} {seed} {count} {size} {pause}")

    def sent(self) -> List[str]:
        """Waits until start_send is done. The messages."""
        read: List[str] = json.loads(self._line())
        return read

    def send(self, channel: str, seed: int, count: int = 1, size: int = 100, pause: float = 0.0) -> List[str]:
        self.start_send(channel, seed, count, size, pause)
        return self.sent()

    def heard(self, channel: str) -> List[str]:
        self._say("heard")
        read: Dict[str, List[str]] = json.loads(self._line())
        return read.get(channel, [])

    def close(self) -> None:
        self._process.kill()
        self._process.communicate(timeout=20)

    def _say(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()


class Logger:
    """Debian's lcm-logger in a network."""

    def __init__(self, before: List[str], path: pathlib.Path) -> None:
        program = shutil.which("lcm-logger")
        if program is None:
            pytest.skip("lcm-logger is not there: apt install liblcm-bin")
        self._path = path
        command = [*before, program, "--quiet", "--flush-interval=20", f"--lcm-url={URL}", str(path)]
        self._process = subprocess.Popen(command)
        wait_until(path.exists)

    def messages(self) -> Dict[str, List[bytes]]:
        """What it has written so far, by channel."""
        data, at = self._path.read_bytes(), 0
        found: Dict[str, List[bytes]] = {}
        while len(data) - at >= 28:
            sync, _, _, channel_size, size = struct.unpack_from(">IQqii", data, at)
            assert sync == 0xEDA1DA01
            end = at + 28 + channel_size + size
            if end > len(data):
                break
            channel = data[at + 28 : at + 28 + channel_size].decode()
            found.setdefault(channel, []).append(data[end - size : end])
            at = end
        return found

    def close(self) -> None:
        self._process.kill()
        self._process.wait(20)


class Network:
    """A namespace, in which the loopback is a multicast network."""

    def __init__(self) -> None:
        # It ends with the test's process, and the namespace with it.
        command = [
            "unshare",
            "--net",
            "--",
            "setpriv",
            "--pdeathsig",
            "KILL",
            "sh",
            "-c",
            "echo in; exec sleep infinity",
        ]
        self._holder = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self._holder.stdout is not None and self._holder.stderr is not None
        if self._holder.stdout.readline() != "in\n":
            pytest.skip(f"no network namespace: {self._holder.stderr.read().strip()}")
        self.pid = self._holder.pid
        self.before = ["nsenter", f"--target={self.pid}", "--net", "--"]
        self.run("ip", "link", "set", "lo", "up", "multicast", "on")
        self.run("ip", "route", "add", "224.0.0.0/4", "dev", "lo")

    def run(self, *command: str) -> str:
        done = subprocess.run([*self.before, *command], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"
        return done.stdout

    def close(self) -> None:
        self._holder.kill()
        self._holder.communicate(timeout=20)


class TwoNetworks:
    """Two networks and the cable between them. Makes the parts of a test and ends them."""

    def __init__(self, folder: pathlib.Path) -> None:
        if os.geteuid() != 0:
            pytest.skip("network namespaces need root")
        for program in ("ip", "unshare", "nsenter", "setpriv"):
            if shutil.which(program) is None:
                pytest.skip(f"{program} is not there")
        self.folder = folder
        self._closing = contextlib.ExitStack()
        self.networks: List[Network] = []
        for _ in ADDRESSES:
            self.networks.append(Network())
        self._cable = self._make_cable()
        for network, address in zip(self.networks, ADDRESSES):
            network.run("ip", "addr", "add", f"{address}/24", "dev", NAME)
            network.run("ip", "link", "set", NAME, "up")

    def _make_cable(self) -> subprocess.Popen[str]:
        pids = [str(each.pid) for each in self.networks]
        made = start_python("from bad_cable import main; main()", *pids, "18", cwd=pathlib.Path(__file__).parent)
        assert made.stdout is not None and made.stderr is not None
        if made.stdout.readline() != "ready\n":
            pytest.skip(f"no cable: {made.stderr.read().splitlines()[-1]}")
        self._closing.callback(_end, made)
        return made

    def weather(self, **now: Any) -> None:
        """Of both directions of the cable, from now on."""
        assert self._cable.stdin is not None and self._cable.stdout is not None
        self._cable.stdin.write(json.dumps(dataclasses.asdict(Weather(**now))) + "\n")
        self._cable.stdin.flush()
        assert self._cable.stdout.readline() == "set\n"

    def tunnel(self, end: int, *arguments: str, ready: bool = True) -> Bridge:
        return self.bridge(end, "lcm", "--lcm-url", URL, *arguments, ready=ready)

    def bridge(self, end: int, name: str, *arguments: str, ready: bool = True) -> Bridge:
        made = Bridge(name, *arguments, before=self.networks[end].before)
        self._closing.callback(made.kill)
        if ready:
            made.wait_ready()
        return made

    def tunnels(
        self, scheme: str, first: Tuple[str, ...], second: Tuple[str, ...], port: int = PORT
    ) -> Tuple[Bridge, Bridge]:
        """A tunnel at each end, with a link between them."""
        listening = self.tunnel(0, "--listen", f"{scheme}://*:{port}", *first)
        connecting = self.tunnel(1, "--connect", f"{scheme}://{ADDRESSES[0]}:{port}", *second)
        wait_until(lambda: listening.wrote("link to") and connecting.wrote("link to"))
        return listening, connecting

    def peer(self, end: int, url: str = URL) -> Peer:
        made = Peer(self.networks[end].before, url)
        self._closing.callback(made.close)
        return made

    def logger(self, end: int) -> Logger:
        made = Logger(self.networks[end].before, self.folder / f"log{end}")
        self._closing.callback(made.close)
        return made

    def broker(self, end: int, bin_dir: pathlib.Path) -> str:
        """An address broker for programs of this end; over ipc, so the test reaches it too."""
        made = BrokerProcess(bin_dir, f"ipc://{self.folder}/orc/broker{end}")
        made.start()
        self._closing.callback(made.stop)
        return made.endpoint

    def orc(self, end: int, bin_dir: pathlib.Path, *arguments: str, **changes: str) -> subprocess.Popen[str]:
        """The tool `orc` in a network."""
        command = [*self.networks[end].before, str(bin_dir / "orc"), *arguments]
        made = subprocess.Popen(command, env=environment(**changes), stdout=subprocess.PIPE, text=True)
        self._closing.callback(_end, made)
        return made

    def close(self) -> None:
        self._closing.close()
        for network in self.networks:
            network.close()


def _end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate(timeout=20)


@pytest.fixture
def two(run_dir: pathlib.Path) -> Iterator[TwoNetworks]:
    made: Optional[TwoNetworks] = None
    try:
        made = TwoNetworks(run_dir)
        yield made
    finally:
        if made is not None:
            made.close()


def until_carried(sender: Peer, receiver: Peer, channel: str) -> None:
    """Sends until something arrives: from then on the tunnel carries this channel."""

    def arrives() -> bool:
        sender.send(channel, 0, size=10)
        return bool(receiver.heard(channel))

    wait_until(arrives, 60)
