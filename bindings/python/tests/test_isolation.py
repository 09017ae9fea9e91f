"""The libzmq inside the extension and the one of pyzmq do not meet."""

from __future__ import annotations

import ctypes
import pathlib
import shutil
import subprocess
from typing import Any

import pytest

from support import run_python

ORDERS = {"pyzmq first": "import zmq\nimport orc", "orc first": "import orc\nimport zmq"}


def _extension() -> pathlib.Path:
    import orc._native

    assert orc._native.__file__ is not None
    return pathlib.Path(orc._native.__file__)


def test_the_extension_exports_its_entry_point_alone(native: Any) -> None:
    tool = shutil.which("nm")
    if tool is None:
        pytest.skip("there is no nm")
    listing = subprocess.run(
        [tool, "-D", "--defined-only", str(_extension())], capture_output=True, text=True, check=True
    )
    assert [line.split()[-1] for line in listing.stdout.splitlines()] == ["PyInit__native"]


def test_nobody_finds_libzmq_through_the_extension(native: Any) -> None:
    library = ctypes.CDLL(str(_extension()))
    for name in ("zmq_version", "zmq_ctx_new", "orc_left_out"):
        assert not hasattr(library, name), f"{name} is visible: libzmq is shared with whoever loads it"
    assert hasattr(library, "PyInit__native")


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("visible", [False, True])
def test_both_work_in_one_process(native: Any, broker: Any, order: str, visible: bool) -> None:
    flags = "import os, sys\nsys.setdlopenflags(os.RTLD_NOW | os.RTLD_GLOBAL)\n" if visible else ""
    code = """
with orc.Participant() as participant:
    publisher = participant.register_topic("t", transports="tcp,ipc")
    subscriber = participant.request_topic("t", transports="tcp,ipc", connected_within_ms=20000)
    context = zmq.Context()
    one, two = context.socket(zmq.PAIR), context.socket(zmq.PAIR)
    one.bind("inproc://x")
    two.connect("inproc://x")
    for number in range(100):
        publisher.send_msg(b"orc %d" % number)
        one.send(b"zmq %d" % number)
        assert two.recv() == b"zmq %d" % number
        assert bytes(subscriber.recv_msg(20000)) == b"orc %d" % number
    context.destroy()
    publisher.send_msg(b"still")
    assert bytes(subscriber.recv_msg(20000)) == b"still"
    loaded = {line.split()[-1] for line in open("/proc/self/maps") if "libzmq" in line}
    print(zmq.zmq_version(), len(loaded))
"""
    version, loaded = run_python(flags + ORDERS[order] + code).stdout.split()
    import zmq

    assert version == zmq.zmq_version()
    assert loaded == "1", "pyzmq's own is the only one that is a file"


def test_both_backends_in_one_process(native: Any, broker: Any) -> None:
    code = """
    import orc, orc.pure
    with orc.Participant() as one, orc.pure.Participant() as other:
        publisher = one.register_topic("t", transports="ipc")
        subscriber = other.request_topic("t", connected_within_ms=20000)
        publisher.send_msg(b"across")
        print(bytes(subscriber.recv_msg(20000)).decode())
    """
    assert run_python(code).stdout == "across\n"
