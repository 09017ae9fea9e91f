"""Shared topics: several participants publish one name. Each backend with each, over ipc and tcp."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import select
from types import ModuleType
from typing import Any, Dict, Iterator, List

import pytest

from support import BrokerProcess, wait_until

_MS = 20_000
_SIDES = [("native", "native")]  # orc.pure has no shared topics


def _module(kind: str) -> ModuleType:
    module = importlib.import_module("orc" if kind == "native" else "orc.pure")
    if module.backend != kind:
        pytest.skip(f"the native extension is not built: orc.backend is {module.backend}")
    return module


class Sharing:
    """Some publishers of one topic, and subscriptions to it."""

    def __init__(self, ends: contextlib.ExitStack, publishing: str, subscribing: str, transport: str) -> None:
        self._ends, self._transport = ends, transport
        self._publishing, self._subscribing = _module(publishing), _module(subscribing)
        self.senders: List[Any] = []
        self.publishers: List[Any] = []

    def add(self) -> Any:
        name = f"sender{len(self.senders)}"
        self.senders.append(self._ends.enter_context(self._publishing.Participant(name=name)))
        self.publishers.append(self.senders[-1].register_topic("stop", transports=self._transport, shared=True))
        return self.publishers[-1]

    def request(self, **options: Any) -> Any:
        receiver = self._ends.enter_context(self._subscribing.Participant(name="receiver"))
        made = receiver.request_topic("stop", transports=self._transport, **options)
        wait_until(lambda: [each.connected for each in made.publishers] == [True] * len(self.senders))
        return made


@pytest.fixture(params=_SIDES, ids="-".join)
def sharing(request: pytest.FixtureRequest, broker: BrokerProcess) -> Iterator[Sharing]:
    with contextlib.ExitStack() as ends:
        made = Sharing(ends, *request.param, "ipc")
        for _ in range(3):
            made.add()
        yield made


def test_the_newest_of_all_names_its_publisher(sharing: Sharing) -> None:
    subscriber = sharing.request()
    for value in range(1, 100):
        sharing.publishers[value % 3].send_msg(bytes([value]))
        message = subscriber.recv_msg(_MS)
        assert bytes(message) == bytes([value])
        assert subscriber.publisher_of(message).name == f"sender{value % 3}"
        assert message.missed == 0
    assert subscriber.recv_msg(0) is None
    assert subscriber.connected
    assert "3 of 3 publishers" in subscriber.link.reason
    # Unread samples of all make way for the newest.
    each = sharing.request(newest_of="each")
    for value in range(100, 112):
        sharing.publishers[value % 3].send_msg(bytes([value]))
    last: Dict[int, int] = {}

    def arrived() -> bool:
        if (message := each.recv_msg(0)) is not None:
            last[message.publisher] = bytes(message)[0]
        return sorted(last.values()) == [109, 110, 111]

    wait_until(arrived)
    seen = 0
    while seen != 111:
        message = subscriber.recv_msg(_MS)
        assert bytes(message)[0] > seen
        seen = bytes(message)[0]


def test_the_last_of_each_comes_once_to_a_late_joiner(sharing: Sharing) -> None:
    for value in range(12):
        sharing.publishers[value % 3].send_msg(bytes([value]))
    subscriber = sharing.request(newest_of="each")
    found = {}
    for _ in range(3):
        message = subscriber.recv_msg(_MS)
        found[subscriber.publisher_of(message).name] = bytes(message)[0]
    assert found == {"sender0": 9, "sender1": 10, "sender2": 11}
    assert subscriber.recv_msg(0) is None


def test_every_sample_of_each_comes_in_its_order(sharing: Sharing) -> None:
    subscriber = sharing.request(conflate=0, depth=500)
    for value in range(1, 201):
        for publisher in sharing.publishers:
            publisher.send_msg(value.to_bytes(2, "big"))
    seen: Dict[int, int] = {}
    for _ in range(600):
        message = subscriber.recv_msg(_MS)
        seen[message.publisher] = seen.get(message.publisher, 0) + 1
        assert int.from_bytes(bytes(message), "big") == message.sequence == seen[message.publisher]
        assert message.missed == 0
    assert len(seen) == 3


def test_one_descriptor_and_one_task_wait_for_all(sharing: Sharing) -> None:
    subscriber = sharing.request(newest_of="each")
    descriptor = subscriber.fileno()
    for value in range(1, 31):
        while subscriber.recv_msg(0) is not None:
            pass
        sharing.publishers[value % 3].send_msg(bytes([value]))
        message = None
        while message is None:
            assert select.select([descriptor], [], [], 20)[0]
            message = subscriber.recv_msg(0)
        assert bytes(message) == bytes([value])

    async def receive() -> bytes:
        return bytes(await asyncio.wait_for(subscriber.recv(), 20))

    sharing.publishers[1].send_msg(b"async")
    assert asyncio.run(receive()) == b"async"


def test_publishers_come_and_go(sharing: Sharing) -> None:
    subscriber = sharing.request(newest_of="each")
    sharing.publishers[0].send_msg(b"last")
    message = subscriber.recv_msg(_MS)
    sharing.senders.pop(0).close()
    sharing.publishers.pop(0)
    wait_until(lambda: len(subscriber.publishers) == 2)
    assert subscriber.publisher_of(message).name == "sender0"
    assert subscriber.publisher_of(message).pid != 0
    sharing.add().wait_readers(1, _MS)
    sharing.publishers[-1].send_msg(b"new")
    message = subscriber.recv_msg(_MS)
    assert bytes(message) == b"new"
    assert message.sequence == 1
    for sender in sharing.senders:
        sender.unregister_topic("stop")
    wait_until(lambda: not subscriber.connected)
    with sharing._publishing.Participant() as alone:
        publisher = alone.register_topic("stop", transports="ipc")
        assert subscriber.wait_connected(_MS)
        publisher.send_msg(b"alone")
        wait_until(lambda: (found := subscriber.recv_msg(0)) is not None and bytes(found) == b"alone")
        assert subscriber.publishers == []


def test_shared_and_exclusive_refuse_each_other(sharing: Sharing) -> None:
    orc = sharing._subscribing
    with orc.Participant() as other:
        with pytest.raises(orc.NameTaken, match="is shared"):
            other.register_topic("stop")
        other.register_topic("arm")
        with pytest.raises(orc.NameTaken, match="is published by"):
            sharing.senders[0].register_topic("arm", shared=True)
        with pytest.raises(orc.BadArgument):
            other.request_topic("stop", newest_of="some")
        with pytest.raises(orc.BadArgument):
            other.request_topic("stop", conflate=0, newest_of="each")
    with orc.Directory() as directory:
        state = directory.describe("stop")
        assert state.shared
        assert {each.participant.name for each in [state.publication, *state.others]} == {
            "sender0",
            "sender1",
            "sender2",
        }


def test_a_broker_that_returns_finds_all(sharing: Sharing, broker: BrokerProcess) -> None:
    subscriber = sharing.request(newest_of="each")
    broker.kill()
    sharing.publishers[0].send_msg(b"without")
    assert bytes(subscriber.recv_msg(_MS)) == b"without"
    broker.start()
    late = sharing.request(newest_of="each")
    assert bytes(late.recv_msg(_MS)) == b"without"
    sharing.publishers[1].send_msg(b"with")
    assert bytes(subscriber.recv_msg(_MS)) == b"with"


@pytest.mark.parametrize("sides", _SIDES, ids="-".join)
def test_over_tcp(sides: Any, broker: BrokerProcess) -> None:
    with contextlib.ExitStack() as ends:
        sharing = Sharing(ends, *sides, "tcp")
        for _ in range(2):
            sharing.add()
        subscriber = sharing.request()
        for value in range(1, 21):
            sharing.publishers[value % 2].send_msg(bytes([value]))
            assert bytes(subscriber.recv_msg(_MS)) == bytes([value])
