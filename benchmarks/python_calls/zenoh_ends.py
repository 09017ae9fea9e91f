"""A queryable of Zenoh. Peers that know each other's address; nothing of Zenoh leaves the loopback interface."""

from __future__ import annotations

import json
import socket
import threading

import zenoh
from support.round_trips import STOP
from trial import Trial

TIMEOUT_S = 10.0


def _open(role: str, address: str) -> zenoh.Session:
    config = zenoh.Config()
    settings = {
        "mode": "peer",
        "scouting/multicast/enabled": False,
        "scouting/gossip/enabled": False,
        "transport/shared_memory/enabled": False,
        "listen/endpoints": [],
        f"{role}/endpoints": [address],
    }
    for name, value in settings.items():
        config.insert_json5(name, json.dumps(value))
    return zenoh.open(config)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Server:
    def __init__(self, trial: Trial) -> None:
        self._stopped = threading.Event()
        self._key = trial.name
        self.address = f"tcp/127.0.0.1:{_free_port()}"
        self._session = _open("listen", self.address)
        self._queryable = self._session.declare_queryable(trial.name, self._handle, complete=True)

    def _handle(self, query: zenoh.Query) -> None:
        request = query.payload.to_bytes() if query.payload else STOP
        if request == STOP:
            self._stopped.set()
        else:
            query.reply(self._key, request, express=True)

    def serve(self) -> None:
        self._stopped.wait()

    def close(self) -> None:
        self._session.close()


class Client:
    def __init__(self, trial: Trial, address: str) -> None:
        self._key = trial.name
        self._session = _open("connect", address)

    def call(self, request: bytearray) -> bytes:
        # Without consolidation the reply is there before the query has ended.
        replies = self._session.get(
            self._key,
            payload=request,
            consolidation=zenoh.ConsolidationMode.NONE,
            timeout=TIMEOUT_S,
            express=True,
        )
        reply = replies.recv()
        if reply.ok is None:
            raise TimeoutError(f"Zenoh: {reply.err.payload.to_string()}")
        return reply.ok.payload.to_bytes()

    def stop(self) -> None:
        for _ in self._session.get(self._key, payload=STOP, timeout=TIMEOUT_S):
            pass

    def close(self) -> None:
        self._session.close()
