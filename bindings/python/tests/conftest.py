"""Fixtures of all tests. Helpers without a state are in support.py, processes of each kind of peer in peers.py."""

from __future__ import annotations

import importlib
import itertools
import os
import pathlib
import shutil
import tempfile
from types import ModuleType
from typing import Iterator

import pytest

from calls_fixtures import far_sides, sides, some_sides
from native_fixtures import backend_of, link, native
from peers import Pair
from support import REPOSITORY, BrokerProcess, run_python, start_python, wait_until

__all__ = [
    "backend_of",
    "far_sides",
    "link",
    "native",
    "run_python",
    "sides",
    "some_sides",
    "start_python",
    "wait_until",
]


def _native() -> ModuleType:
    module = importlib.import_module("orc")
    if module.backend != "native":
        if os.environ.get("ORC_PYTHON_NATIVE") == "required":
            pytest.fail("ORC_PYTHON_NATIVE=required, but orc.backend is " + module.backend)
        pytest.skip("the native extension is not built: orc.backend is " + module.backend)
    return module


def _module(kind: str) -> ModuleType:
    return _native() if kind == "native" else importlib.import_module("orc.pure")


@pytest.fixture(scope="session")
def bin_dir() -> pathlib.Path:
    """Where orc-broker and orc are: $ORC_BIN_DIR, else the release build of this repository."""
    found = pathlib.Path(os.environ.get("ORC_BIN_DIR") or REPOSITORY / "build/release/bin")
    for program in ("orc-broker", "orc"):
        if not (found / program).exists():
            pytest.skip(f"{found / program} is not there: tools/dev build, or set ORC_BIN_DIR")
    return found


@pytest.fixture
def run_dir(monkeypatch: pytest.MonkeyPatch) -> Iterator[pathlib.Path]:
    """A run directory of the test's own (short, for socket paths); no broker of the machine is found from here."""
    for name in [name for name in os.environ if name.startswith("ORC_") and name not in _OURS]:
        monkeypatch.delenv(name)
    monkeypatch.delenv("LCM_DEFAULT_URL", raising=False)
    path = pathlib.Path(tempfile.mkdtemp(prefix="orc-py-", dir="/tmp"))
    (path / "orc").mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(path))
    monkeypatch.setenv("ORC_BROKER", f"ipc://{path}/orc/broker")
    yield path
    shutil.rmtree(path, ignore_errors=True)


_OURS = ("ORC_BIN_DIR", "ORC_SOURCE_DIR", "ORC_PYTHON_NATIVE")


@pytest.fixture
def broker(bin_dir: pathlib.Path, run_dir: pathlib.Path) -> Iterator[BrokerProcess]:
    """A running broker: .endpoint, .kill() (SIGKILL), .start() again, .stop()."""
    process = BrokerProcess(bin_dir, f"ipc://{run_dir}/orc/broker")
    process.start()
    yield process
    process.stop()


@pytest.fixture(params=["native", "pure"])
def backend(request: pytest.FixtureRequest) -> ModuleType:
    """The module under test: `orc` with the native extension, and `orc.pure`."""
    return _module(request.param)


_SIDES = ("native", "pure", "c++")


@pytest.fixture(params=[f"{a}-{b}" for a, b in itertools.product(_SIDES, repeat=2)])
def pair(request: pytest.FixtureRequest, bin_dir: pathlib.Path, broker: BrokerProcess) -> Iterator[Pair]:
    """Publisher and subscriber of every kind, each in a process of its own (peers.py)."""
    publisher, subscriber = request.param.split("-")
    if "native" in (publisher, subscriber):
        _native()
    made = Pair(bin_dir, publisher, subscriber)
    yield made
    made.end()
