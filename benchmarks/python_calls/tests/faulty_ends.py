"""Ends of a peer that is at fault: `trial.transport` says how. No sockets: the process that calls replies itself."""

from __future__ import annotations

import os
import threading

from trial import Trial


class Server:
    address = "none"

    def __init__(self, trial: Trial) -> None:
        self._fault = trial.transport
        if self._fault == "server raises":
            raise OSError("no place")
        if self._fault == "server dies":
            os._exit(3)

    def serve(self) -> None:
        if self._fault == "server does not stop":
            threading.Event().wait()

    def close(self) -> None:
        pass


class Client:
    def __init__(self, trial: Trial, address: str) -> None:
        self._fault = trial.transport

    def call(self, request: bytearray) -> bytes:
        if self._fault == "client dies":
            os._exit(4)
        if self._fault == "client hangs":
            threading.Event().wait()
        if self._fault == "reply of another call":
            return bytes(len(request) - 1) + b"!" if request[0] == 0 else bytes(len(request))
        if self._fault == "short reply":
            return bytes(request[:-1])
        return bytes(request)

    def stop(self) -> None:
        pass

    def close(self) -> None:
        pass
