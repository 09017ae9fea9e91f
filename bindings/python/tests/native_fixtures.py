"""Fixtures of the tests that are about one participant or one pair in this process."""

from __future__ import annotations

from types import ModuleType
from typing import Any, Callable, Iterator, Tuple

import pytest

from support import BrokerProcess

Linked = Tuple[Any, Any]


@pytest.fixture
def native() -> ModuleType:
    """The package with the native backend."""
    import orc
    from conftest import _native

    assert _native() is orc
    return orc


@pytest.fixture
def backend_of() -> Callable[[str], ModuleType]:
    """backend_of("native"): the module, for tests that use it in another process; skips when it is not there."""
    from conftest import _module

    return _module


@pytest.fixture
def link(broker: BrokerProcess) -> Iterator[Callable[..., Linked]]:
    """link(module, transports="ipc", topic="t", **request): a publisher and a subscriber that are connected."""
    made = []

    def linked(module: Any, transports: str = "ipc", topic: str = "t", register: Any = None, **request: Any) -> Linked:
        sender, receiver = module.Participant(), module.Participant()
        made.extend([sender, receiver])
        publisher = sender.register_topic(topic, transports=transports, **(register or {}))
        subscriber = receiver.request_topic(topic, connected_within_ms=20000, **request)
        return publisher, subscriber

    yield linked
    for each in made:
        each.close()
