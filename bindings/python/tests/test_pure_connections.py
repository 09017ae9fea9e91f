"""How the pure backend ends connections: libzmq's descriptor of one may belong to the next at any moment."""

from __future__ import annotations

import os
import socket
from typing import Any, Iterator, List, Set

import pytest

pytest.importorskip("zmq")
pytest.importorskip("flatbuffers")

import orc.pure as orc
from orc.pure import connections
from raw_peer import RawPeer
from support import BrokerProcess, wait_until


def descriptors_of(inode: int) -> Set[int]:
    """This process's descriptors of a file."""
    found = set()
    for name in os.listdir("/proc/self/fd"):
        try:
            if os.stat(f"/proc/self/fd/{name}").st_ino == inode:
                found.add(int(name))
        except OSError:
            continue
    return found


def is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


class Scene:
    """A publisher of this process with one connection, from `first`. That from `second` gets its descriptor's number.

    The socket of `second` exists before that number is free, or it would get the number itself.
    """

    def __init__(self, transport: str) -> None:
        self.participant = orc.Participant(log=lambda *_: None)
        self.publication = self.participant.register_topic("t", transports=transport)._publication
        (endpoint,) = self.publication._bound.values()
        self.first, self.second = RawPeer(endpoint), RawPeer(endpoint, connect=False)
        assert self.first.shake_hands()
        assert self.publication._connections is not None
        self.connections = self.publication._connections
        (self.descriptor,) = wait_until(lambda: list(self.connections._strangers))
        self.inode = os.fstat(self.descriptor).st_ino
        self.plugs: List[int] = []

    def replace(self) -> None:
        """Connects the second one, as soon as libzmq has closed its descriptor of the first one."""
        wait_until(lambda: self.descriptor not in descriptors_of(self.inode))
        while not self.plugs or self.plugs[-1] < self.descriptor:  # accept() takes the lowest number
            self.plugs.append(os.open(os.devnull, os.O_RDONLY))
        assert self.plugs[-1] == self.descriptor
        os.close(self.plugs.pop())
        self.second.connect()
        wait_until(lambda: is_open(self.descriptor))

    def close(self) -> None:
        self.first.close()
        self.second.close()
        for plug in self.plugs:
            os.close(plug)
        self.participant.close()


@pytest.fixture(params=["ipc", "tcp"])
def scene(request: pytest.FixtureRequest, broker: BrokerProcess, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    monkeypatch.setattr(connections, "_HELLO_WITHIN_S", 3600)
    made = Scene(request.param)
    yield made
    made.close()


def test_what_is_thrown_away_is_of_the_connection_that_is_cut(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """libzmq closes its descriptor at once, and the next connection gets the number while the cut is under way."""
    shutdown, recv = socket.socket.shutdown, socket.socket.recv
    received_from: List[int] = []

    def shutdown_and_replace(its: socket.socket, how: int) -> None:
        shutdown(its, how)
        scene.replace()

    def watched_recv(its: socket.socket, *arguments: Any) -> bytes:
        if scene.publication._reactor.inside():
            received_from.append(os.fstat(its.fileno()).st_ino)
        return recv(its, *arguments)

    monkeypatch.setattr(socket.socket, "shutdown", shutdown_and_replace)
    monkeypatch.setattr(socket.socket, "recv", watched_recv)
    scene.first.send(b"no hello")
    assert wait_until(lambda: received_from) == [scene.inode]
    assert scene.first.ended()
    assert scene.second.shake_hands()


def test_a_late_cut_spares_the_next_connection(scene: Scene) -> None:
    """The monitor has not been read yet since the end of the connection."""
    done: List[bool] = []

    def cut_late() -> None:
        scene.first.hang_up()  # close() would free a number before libzmq does
        scene.replace()
        scene.connections.cut(scene.descriptor)
        done.append(True)

    scene.publication._reactor.post(cut_late)
    assert wait_until(lambda: done)
    assert scene.second.shake_hands()
