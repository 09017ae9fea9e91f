"""A server and a client of services, in participants of their own, over each transport. orc.pure has no services."""

from __future__ import annotations

import threading
from types import ModuleType
from typing import Any, Iterator, List

import pytest

from support import BrokerProcess, wait_until

AMPLE_S = 20.0  # longer than any test waits for a call that must succeed
SERVICE = "arm/service"


class Orders:
    """A handler that does what a request says: {"do": …}. The reply is the request."""

    def __init__(self) -> None:
        self.started: List[Any] = []
        self.cancelled = 0
        self.released = threading.Event()

    def __call__(self, request: Any, context: Any) -> Any:
        self.started.append(request)
        do = request.get("do", "echo")
        if do == "raise":
            raise IndexError("as ordered")
        if do == "fail":
            context.fail(request["number"], "as ordered")
        elif do == "hold":
            wait_until(context.cancelled)
            self.cancelled += 1
            context.fail(1, "held")
        elif do == "hold anyway":
            assert self.released.wait(AMPLE_S)
        elif do == "count":
            for number in range(request["to"]):
                context.feedback(number)
        return request

    def has_started(self, count: int) -> None:
        wait_until(lambda: len(self.started) >= count)


class Sides:
    def __init__(self, module: ModuleType, transport: str) -> None:
        self.orc: Any = module
        self.transport = transport
        self.orders = Orders()
        self.service: Any = None
        self._all: List[Any] = []
        self.server = self.participant("server")
        self.client = self.participant("client")

    def participant(self, name: str) -> Any:
        made = self.orc.Participant(name=name, transports=[self.transport])
        self._all.append(made)
        return made

    def serve(self, **options: Any) -> None:
        """The service that takes orders."""
        self.service = self.server.serve(SERVICE, self.orders, **options)

    def call(self, do: str = "echo", deadline: float = AMPLE_S, **more: Any) -> Any:
        return self.client.call(SERVICE, {"do": do, **more}, deadline=deadline)

    def code_of(self, future: Any) -> Any:
        """Of the error with which the call ends."""
        with pytest.raises(self.orc.CallError) as caught:
            future.result()
        return caught.value.code

    def close(self) -> None:
        self.orders.released.set()
        for each in self._all:
            each.close()


_TRANSPORTS = {"native": ("inproc", "shm", "ipc", "tcp")}
_ALL = [f"{backend}-{each}" for backend, all in _TRANSPORTS.items() for each in all]


def _sides(which: str) -> Iterator[Sides]:
    from conftest import _module

    backend, transport = which.split("-")
    made = Sides(_module(backend), transport)
    yield made
    made.close()


@pytest.fixture(params=_ALL)
def sides(request: pytest.FixtureRequest, broker: BrokerProcess) -> Iterator[Sides]:
    yield from _sides(request.param)


@pytest.fixture(params=[each for each in _ALL if "inproc" not in each])
def far_sides(request: pytest.FixtureRequest, broker: BrokerProcess) -> Iterator[Sides]:
    """Over the transports between processes."""
    yield from _sides(request.param)


@pytest.fixture(params=_TRANSPORTS)
def some_sides(request: pytest.FixtureRequest, broker: BrokerProcess) -> Iterator[Sides]:
    """Over ipc only, for what does not depend on the transport."""
    yield from _sides(f"{request.param}-ipc")
