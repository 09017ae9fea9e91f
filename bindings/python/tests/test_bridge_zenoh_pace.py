"""How the bridge finds the connection of large samples, and slows it down."""

from __future__ import annotations

import os
import socket
import threading
from typing import Iterator, Tuple

import pytest

from orc.bridge._zenoh.large_pace import _LEAST_RATE, _MOST_RATE, LargePace, _Connection
from support import wait_until

BUFFER = 9_000
Pair = Tuple[socket.socket, socket.socket]


@pytest.fixture
def pair() -> Iterator[Pair]:
    """A connection with the buffer of large samples, and its other end."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as ours:
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER)
        ours.connect(server.getsockname())
        other, _ = server.accept()
        with other:
            yield ours, other


def buffer_of(connection: socket.socket) -> int:
    return connection.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)


def test_only_connections_with_the_buffer_are_found_and_none_is_kept_open(pair: Pair) -> None:
    ours, other = pair
    before, pace = len(os.listdir("/proc/self/fd")), LargePace(BUFFER)
    pace._find()
    assert [each.descriptor for each in pace._connections.values()] == [ours.fileno()]
    number = ours.fileno()
    ours.close()
    assert other.recv(1) == b""  # the other end sees the end at once
    with socket.socket() as stranger:  # gets the number
        if stranger.fileno() != number:
            os.dup2(stranger.fileno(), number)
        for each in pace._connections.values():
            with pytest.raises(OSError):
                each.look(1.0)
        if stranger.fileno() != number:
            os.close(number)
    pace._find()
    assert not pace._connections and len(os.listdir("/proc/self/fd")) < before


def test_a_fast_link_gets_a_larger_buffer(pair: Pair) -> None:
    ours, other = pair
    pace = LargePace(BUFFER)
    pace.start()
    ended = threading.Event()

    def read() -> None:
        while other.recv(1 << 20):
            pass

    reader = threading.Thread(target=read, daemon=True)
    reader.start()

    def write() -> None:
        while not ended.is_set():
            ours.sendall(bytes(1 << 20))

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    try:
        wait_until(lambda: buffer_of(ours) > 8 * BUFFER)
    finally:
        ended.set()
        writer.join(20)
        ours.shutdown(socket.SHUT_WR)
        reader.join(20)
        pace.close()


def test_a_queue_lowers_the_rate(pair: Pair) -> None:
    """The kernel's figures are made up: 20 kB/s are delivered, and the round trip grows beyond the shortest one."""
    ours, _ = pair
    acknowledged = 0

    class Copy:
        def __init__(self, round_trip_us: int) -> None:
            self.round_trip_us = round_trip_us

        def getsockopt(self, *_: int) -> bytes:
            info = bytearray(168)
            info[24:28] = (1).to_bytes(4, "little")
            info[68:72] = self.round_trip_us.to_bytes(4, "little")
            info[148:152] = (10_000).to_bytes(4, "little")
            info[120:128] = acknowledged.to_bytes(8, "little")
            return bytes(info)

        def setsockopt(self, *_: object) -> None:
            pass

    connection = _Connection(ours.fileno(), os.fstat(ours.fileno()).st_ino, BUFFER)
    assert connection.rate == _MOST_RATE
    now, rates = 100.0, []
    for round_trip_us in [20_000] * 3 + [400_000] * 3 + [20_000] * 40:
        now += 0.5
        acknowledged += 10_000
        connection._look(Copy(round_trip_us), now)  # type: ignore[arg-type]
        rates.append(connection.rate)
    assert rates[2] == _MOST_RATE
    assert rates[3] == pytest.approx(14_000) and rates[5] >= _LEAST_RATE and rates[5] < 14_000
    assert rates[-1] > 20_000  # the queue is gone: it probes again
