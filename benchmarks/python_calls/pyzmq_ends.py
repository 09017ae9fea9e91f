"""Calls by hand on pyzmq: a DEALER sends the number of the call and the request, a ROUTER sends both back."""

from __future__ import annotations

from typing import Any

import zmq
from support.round_trips import LARGE, STOP
from trial import Trial

TIMEOUT_MS = 10_000
NUMBER = 8  # bytes of a call's number


class _Socket:
    def __init__(self, kind: int, size: int) -> None:
        self._context = zmq.Context()
        self.socket = self._context.socket(kind)
        self.socket.setsockopt(zmq.LINGER, 1000)
        self.socket.setsockopt(zmq.RCVTIMEO, TIMEOUT_MS)
        self.small = size < LARGE

    def close(self) -> None:
        self.socket.close()
        self._context.term()


class Server(_Socket):
    def __init__(self, trial: Trial) -> None:
        super().__init__(zmq.ROUTER, trial.size)
        self.socket.bind("tcp://127.0.0.1:*" if trial.transport == "tcp" else f"ipc://{trial.directory}/pyzmq")
        self.address = self.socket.getsockopt_string(zmq.LAST_ENDPOINT)

    def serve(self) -> None:
        socket, small = self.socket, self.small
        while True:
            client, number = socket.recv(), socket.recv()
            request = socket.recv(copy=small)
            if len(request) == len(STOP):
                return
            socket.send(client, zmq.SNDMORE)
            socket.send(number, zmq.SNDMORE)
            socket.send(request, copy=small)


class Client(_Socket):
    def __init__(self, trial: Trial, address: str) -> None:
        super().__init__(zmq.DEALER, trial.size)
        self.socket.connect(address)
        self._number = 0

    def call(self, request: bytearray) -> Any:
        socket, small = self.socket, self.small
        self._number += 1
        number = self._number.to_bytes(NUMBER, "little")
        socket.send(number, zmq.SNDMORE)
        socket.send(request, copy=small)
        while True:
            replied = socket.recv()
            reply = socket.recv(copy=small)
            if replied == number:
                return reply if small else reply.buffer

    def stop(self) -> None:
        self.socket.send_multipart([bytes(NUMBER), STOP])
