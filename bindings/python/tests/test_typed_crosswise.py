"""One sample with every kind of field per encoding, between C++ and Python's own library for the encoding.

Three readers read each sample: the C++ class through its own members (orc_test_typed_peer), the Python class, and the
decoder (`orc topic echo --json`). All of them must find the values of tests/types/every/*.json, bit for bit.

C++ has no class for cdr and json: for cdr the peer is the decoder itself, for json it is nlohmann::json.
"""

from __future__ import annotations

import contextlib
import json
import pathlib
import subprocess
from types import ModuleType
from typing import Any, Callable, Iterator, Tuple

import pytest

pytest.importorskip("numpy")

import every_cdr  # noqa: E402
import every_flatbuffer  # noqa: E402
import every_lcm  # noqa: E402
import every_protobuf  # noqa: E402
import every_struct  # noqa: E402
from every_values import Encoding, Values, expected, text_of  # noqa: E402
from orc._typed import typed  # noqa: E402
from support import environment  # noqa: E402

TOPIC = "every"
SECONDS = 60
ENCODINGS = ("struct", "dtype", "lcm", "flatbuffer", "protobuf", "cdr", "json")
LINKS = ("native-shm", "native-tcp", "pure-tcp")


@pytest.fixture
def peer(bin_dir: pathlib.Path) -> pathlib.Path:
    found = bin_dir.parent / "tests/bin/orc_test_typed_peer"
    if not found.exists():
        pytest.skip(f"{found} is not there: it is built where lcm-gen, flatc and protoc are (tools/dev setup)")
    return found


@pytest.fixture(params=LINKS)
def link(request: pytest.FixtureRequest, backend_of: Callable[[str], ModuleType]) -> Tuple[ModuleType, str]:
    backend, transport = request.param.split("-")
    return backend_of(backend), transport


@pytest.fixture(params=ENCODINGS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def encoding_of(name: str, backend: ModuleType, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Encoding:
    makers: "dict[str, Callable[[], Encoding]]" = {
        "struct": every_struct.dataclass,
        "dtype": lambda: every_struct.dtype(backend),
        "lcm": lambda: every_lcm.encoding(tmp_path, monkeypatch),
        "flatbuffer": lambda: every_flatbuffer.encoding(backend, tmp_path, monkeypatch),
        "protobuf": lambda: every_protobuf.encoding(tmp_path, monkeypatch),
        "cdr": lambda: every_cdr.encoding(backend),
        "json": lambda: Encoding(backend.json("typed_json.Every"), lambda values: values, lambda values: values),
    }
    return makers[name]()


def cpp_name(name: str) -> str:
    return "struct" if name == "dtype" else name


@contextlib.contextmanager
def cpp_publisher(peer: pathlib.Path, name: str, transport: str) -> Iterator[None]:
    command = [str(peer), cpp_name(name), "publish", TOPIC]
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, env=environment(ORC_TRANSPORTS=transport), text=True, **pipes) as process:
        assert process.stdin is not None and process.stdout is not None
        try:
            assert process.stdout.readline() == "sent\n"
            yield
        finally:
            process.stdin.close()
            process.wait(SECONDS)


def output_of(transport: str, *command: str) -> Any:
    done = subprocess.run(
        command, env=environment(ORC_TRANSPORTS=transport), capture_output=True, text=True, timeout=SECONDS
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def echoed(bin_dir: pathlib.Path, transport: str) -> Values:
    found: Values = output_of(transport, str(bin_dir / "orc"), "topic", "echo", TOPIC, "--once", "--json")["value"]
    return found


def test_cpp_to_python(
    link: Tuple[ModuleType, str],
    name: str,
    peer: pathlib.Path,
    bin_dir: pathlib.Path,
    broker: Any,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    backend, transport = link
    if backend.backend == "pure" and name in ("dtype", "lcm"):
        pytest.skip("orc.pure compares hashes: schemas with other comments, units or definitions are other types")
    encoding, values = encoding_of(name, backend, tmp_path, monkeypatch), text_of(expected(cpp_name(name)))
    with cpp_publisher(peer, name, transport), backend.Participant() as node:
        subscriber = node.request_topic(
            TOPIC, type=encoding.type, transports=transport, connected_within_ms=SECONDS * 1000
        )
        message = subscriber.recv_msg(SECONDS * 1000)
        assert message is not None and subscriber.link.transport == transport
        found = encoding.decode(message.value())
        assert text_of(found) == values
        assert text_of(echoed(bin_dir, transport)) == values
        if name == "struct":
            with backend.Directory() as directory:
                assert directory.describe(TOPIC).publication.type.hash == typed(encoding.type).description.hash


def test_python_to_cpp(
    link: Tuple[ModuleType, str],
    name: str,
    peer: pathlib.Path,
    bin_dir: pathlib.Path,
    broker: Any,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    backend, transport = link
    encoding, values = encoding_of(name, backend, tmp_path, monkeypatch), expected(cpp_name(name))
    with backend.Participant() as node:
        publisher = node.register_topic(TOPIC, type=encoding.type, transports=transport)
        publisher.send(encoding.encode(values))
        found = output_of(transport, str(peer), cpp_name(name), "receive", TOPIC)
        assert text_of(found) == text_of(values)
        assert text_of(echoed(bin_dir, transport)) == text_of(values)
