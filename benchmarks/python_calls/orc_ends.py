"""A service of ORC, by the backend that `trial.library` is."""

from __future__ import annotations

import importlib
import threading
from typing import Any

from support.round_trips import STOP
from trial import Trial

DEADLINE_S = 10.0


def participant(trial: Trial, end: str) -> Any:
    module = importlib.import_module(trial.library)
    return module.Participant(name=f"python_calls ({end})", transports=trial.transport)


class Server:
    address = ""  # the broker has it

    def __init__(self, trial: Trial) -> None:
        self._stopped = threading.Event()
        self._participant = participant(trial, "server")
        self._service = self._participant.serve(trial.name, self._handle, request=bytes, reply=bytes)

    def _handle(self, request: bytes) -> bytes:
        if request == STOP:
            self._stopped.set()
        return request

    def serve(self) -> None:
        self._stopped.wait()

    def close(self) -> None:
        self._participant.close()


class Client:
    def __init__(self, trial: Trial, address: str) -> None:
        self._service = trial.name
        self._participant = participant(trial, "client")
        self._participant.wait_for_service(trial.name, DEADLINE_S)

    def call(self, request: bytearray) -> bytes:
        reply: bytes = self._participant.call(self._service, request, deadline=DEADLINE_S, reply=bytes).result()
        return reply

    def stop(self) -> None:
        self._participant.call(self._service, STOP, deadline=DEADLINE_S, reply=bytes).wait(DEADLINE_S)

    def close(self) -> None:
        self._participant.close()
