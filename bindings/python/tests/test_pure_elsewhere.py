"""The pure backend on a system that lacks what only Linux, or only POSIX, has: as on macOS and Windows."""

from __future__ import annotations

import pathlib
from typing import Iterator

import pytest

from support import BrokerProcess, free_tcp_endpoint, run_python, start_python

#: Takes away modules, functions and files before anything else is imported, and the extension of orc.
WITHOUT = """
import sys
for name in ("fcntl", "resource", "pwd", "grp", "orc._native"):
    sys.modules[name] = None
import builtins, io, os, select, _socket
for module, names in (
    (_socket, "AF_UNIX socketpair SO_PEERCRED CMSG_LEN"),
    (select, "epoll poll kqueue"),
    (os, "fork pipe2 getuid geteuid getgid getegid chown sched_setscheduler sched_setaffinity"),
):
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)

def guarded(real):
    def call(path, *arguments, **options):
        if isinstance(path, (str, bytes, os.PathLike)) and os.fsdecode(path).startswith(("/proc", "/dev/shm")):
            raise FileNotFoundError(2, "there is no such file here", os.fsdecode(path))
        return real(path, *arguments, **options)
    return call

builtins.open = io.open = guarded(open)
for name in ("open", "listdir", "scandir", "stat", "lstat", "readlink", "access"):
    setattr(os, name, guarded(getattr(os, name)))
import asyncio, socket
assert not hasattr(socket, "AF_UNIX")
del os.sysconf  # asyncio of Python 3.13 has asked, as it would on POSIX
import orc
assert orc.backend == "pure"
"""

TALKER = """
with orc.Participant(name="talker") as participant:
    talker = participant.register_topic("talk", type=dict)
    for number in range(1, 1_000_000):
        talker.send({"number": number})
        time.sleep(0.005)
"""

LISTENER = """
with orc.Participant(name="listener") as participant, orc.Directory() as directory:
    listener = participant.request_topic("talk", type=dict, connected_within_ms=20_000)
    last = 0
    for _ in range(20):
        message = listener.recv_msg(20_000)
        assert message.value()["number"] == message.sequence > last
        last = message.sequence
    print(listener.link.transport, [each.name for each in directory.topics()], directory.broker().endpoint)
"""


@pytest.fixture
def tcp_broker(bin_dir: pathlib.Path, run_dir: pathlib.Path) -> Iterator[BrokerProcess]:
    process = BrokerProcess(bin_dir, free_tcp_endpoint())
    process.start()
    yield process
    process.stop()


def test_a_talker_and_a_listener(tcp_broker: BrokerProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORC_BROKER", tcp_broker.endpoint)
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    talker = start_python(WITHOUT + "import time\n" + TALKER)
    try:
        done = run_python(WITHOUT + LISTENER)
        assert done.stdout == f"tcp ['talk'] {tcp_broker.endpoint}\n"
        assert done.stderr.count("the extension is not installed") == 1, done.stderr
        assert talker.poll() is None
    finally:
        talker.kill()
        talker.communicate()


@pytest.mark.parametrize(
    "call",
    [
        "participant.serve('s', print)",
        "participant.call('s', 1, deadline=1)",
        "participant.parameter('p', 1.0)",
        "participant.register_topic('t', shared=True)",
        "participant.register_topic('t', transports='shm')",
        "participant.request_topic('t', newest_of='each')",
        "orc.Participant(multicast='udpm://239.255.76.67:7667?ttl=0')",
        "orc.Participant(housekeeping_priority=1)",
        "orc.lock_memory()",
    ],
)
def test_what_is_missing_says_what_to_install(run_dir: pathlib.Path, call: str) -> None:
    import orc.pure as orc

    with orc.Participant(broker_timeout_ms=0, log=lambda *_: None) as participant:
        with pytest.raises(orc.BadArgument, match="needs the native backend.*install the wheel of orc-middleware"):
            eval(call, {"orc": orc, "participant": participant})


def test_a_broker_over_ipc_needs_unix_sockets(tcp_broker: BrokerProcess) -> None:
    done = run_python(
        WITHOUT + 'try:\n    orc.Participant("ipc:///b")\nexcept orc.BadArgument as error:\n    print(error)\n'
    )
    assert "needs Unix sockets" in done.stdout
