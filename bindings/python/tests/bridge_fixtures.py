"""Networks of ORC, bridges and a router, each a process; clients of Zenoh in the test. Nothing leaves the loopback."""

from __future__ import annotations

import json
import pathlib
import subprocess
from typing import Any, Dict, Iterator, List, Optional

import pytest

from bridge_process import Bridge, free_port, receive
from support import BrokerProcess, start_python, wait_until

zenoh = pytest.importorskip("zenoh", reason="eclipse-zenoh is not installed: pip install eclipse-zenoh")

_ROUTER = """
    import json, sys, zenoh
    config = zenoh.Config()
    for key, value in json.loads(sys.argv[1]).items():
        config.insert_json5(key, json.dumps(value))
    with zenoh.open(config):
        print("open", flush=True)
        sys.stdin.read()
"""


def config(**settings: Any) -> Any:
    made = zenoh.Config()
    for key, value in {"scouting/multicast/enabled": False, **settings}.items():
        made.insert_json5(key, json.dumps(value))
    return made


__all__ = ["receive"]


class Router:
    """A Zenoh router in a process of its own. kill() is SIGKILL; start() again listens at the same address."""

    def __init__(self) -> None:
        self.endpoint = f"tcp/127.0.0.1:{free_port()}"
        self._process: Optional[subprocess.Popen[str]] = None

    def start(self) -> None:
        settings = {"mode": "router", "scouting/multicast/enabled": False, "listen/endpoints": [self.endpoint]}
        self._process = start_python(_ROUTER, json.dumps(settings), stderr=None)
        assert self._process.stdout is not None and self._process.stdout.readline() == "open\n"

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate(timeout=20)
            self._process = None


class Fleet:
    """Makes the parts of a test and ends them."""

    def __init__(self, bin_dir: pathlib.Path, run_dir: pathlib.Path, orc: Any) -> None:
        self.orc = orc
        self._bin_dir, self._run_dir = bin_dir, run_dir
        self.router = Router()
        self.router.start()
        self._brokers: Dict[str, BrokerProcess] = {}
        self._bridges: List[Bridge] = []
        self._closing: List[Any] = []

    def broker(self, network: str) -> str:
        """The endpoint of a network's broker."""
        if network not in self._brokers:
            made = self._brokers[network] = BrokerProcess(self._bin_dir, f"ipc://{self._run_dir}/orc/{network}")
            made.start()
        return self._brokers[network].endpoint

    def participant(self, network: str, **options: Any) -> Any:
        made = self.orc.Participant(self.broker(network), **options)
        self._closing.append(made)
        return made

    def bridge(self, network: str, *arguments: str, ready: bool = True, router: bool = True) -> Bridge:
        """A bridge of a network, whose robot has the network's name."""
        common = ["--robot", network, "--broker", self.broker(network)]
        made = Bridge("zenoh", *common, *(["--connect", self.router.endpoint] if router else []), *arguments)
        self._bridges.append(made)
        if ready:
            made.wait_ready()
        return made

    def file(self, text: str) -> str:
        """The path of a settings file."""
        path = self._run_dir / f"bridge{len(self._bridges)}.toml"
        path.write_text(text)
        return str(path)

    def session(self) -> Any:
        """A client of the router, which knows nothing of ORC."""
        made = zenoh.open(config(**{"mode": "client", "connect/endpoints": [self.router.endpoint]}))
        self._closing.append(made)
        return made

    def close(self) -> None:
        for each in self._closing:
            each.close()
        for bridge in self._bridges:
            bridge.kill()
        self.router.kill()
        for broker in self._brokers.values():
            broker.stop()


@pytest.fixture(params=["native", "pure"])
def fleet(request: pytest.FixtureRequest, bin_dir: pathlib.Path, run_dir: pathlib.Path) -> Iterator[Fleet]:
    """The test's participants use one backend; the bridges use the best that is there."""
    from conftest import _module

    made = Fleet(bin_dir, run_dir, _module(request.param))
    yield made
    made.close()


@pytest.fixture
def one_fleet(bin_dir: pathlib.Path, run_dir: pathlib.Path) -> Iterator[Fleet]:
    """For what does not depend on the backend."""
    import orc

    made = Fleet(bin_dir, run_dir, orc)
    yield made
    made.close()


class Heard:
    """Samples that a client of Zenoh gets."""

    def __init__(self, session: Any, key: str) -> None:
        self.samples: List[Any] = []
        self._subscriber = session.declare_subscriber(key, self.samples.append)

    def wait_for(self, payload: bytes, seconds: float = 20) -> Any:
        return wait_until(lambda: next((e for e in self.samples if e.payload.to_bytes() == payload), None), seconds)


def put(session: Any, key: str, payload: bytes, attachment: Optional[bytes] = None) -> None:
    """Sends a sample as a client of Zenoh that knows nothing of ORC, and drops nothing."""
    session.put(key, payload, attachment=attachment, congestion_control=zenoh.CongestionControl.BLOCK)


def wait_for_subscriber(session: Any, key: str) -> None:
    """Waits until samples on this key reach a subscriber."""
    publisher = session.declare_publisher(key)
    wait_until(lambda: publisher.matching_status)
    publisher.undeclare()
