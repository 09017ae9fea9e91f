"""The pure backend's watch beside a broker that answers what a test wants."""

from __future__ import annotations

import asyncio
import pathlib
from typing import Iterator, List, Optional

import pytest

pytest.importorskip("zmq")

import orc.pure
from orc.pure import identity, messages
from session_peer import FakeBroker

PATIENCE_MS = 20_000
HOST = "a-host"


def topic(name: str, subscriptions: int = 1) -> messages.TopicState:
    return messages.TopicState(name, None, [], subscriptions)


def participant(number: int, gone: bool = False, host: str = HOST) -> messages.Participant:
    return messages.Participant(identity.Id(number, 0), gone, f"program{number}", host, number, "test")


def page(until: int, *states: object, reset: bool = False, more: bool = False, epoch: int = 1) -> messages.Changes:
    topics = [each for each in states if isinstance(each, messages.TopicState)]
    participants = [each for each in states if isinstance(each, messages.Participant)]
    return messages.Changes(epoch, 1, until, reset, more, topics, participants)


@pytest.fixture
def broker(run_dir: pathlib.Path) -> Iterator[FakeBroker]:
    with FakeBroker(f"ipc://{run_dir}/orc/broker") as made:
        yield made


def answering(broker: FakeBroker, pages: List[messages.Body]) -> None:
    """One page for each question, then silence."""
    left = list(pages)

    def answer(body: messages.Body) -> Optional[messages.Body]:
        assert isinstance(body, messages.Watch)
        return left.pop(0) if left else None

    broker.answer = answer


def told(watch: orc.pure.Watch, count: int) -> List[str]:
    found = []
    for _ in range(count):
        change = watch.next_change(PATIENCE_MS)
        assert change is not None
        state = change.topic.name if change.topic else change.participant.name if change.participant else ""
        found.append(f"{change.kind} {state or (change.host.participants if change.host else '')}".strip())
    assert watch.next_change(0) is None
    return found


def test_pages_and_positions(broker: FakeBroker) -> None:
    answering(
        broker,
        [
            page(5, topic("a"), participant(1), reset=True, more=True),
            page(7, topic("b"), participant(2)),
            page(8, topic("a", 0), topic("never-told", 0), topic("b"), participant(1, gone=True)),
        ],
    )
    with orc.pure.Directory().watch("*", participants=True, hosts=True) as watch:
        assert told(watch, 10) == [
            *("participant program1", "host 1", "topic a"),
            *("participant program2", "host 2", "topic b", "complete"),
            *("topic_gone a", "participant_gone program1", "host 1"),
        ]
    asked = [broker.next(messages.Watch) for _ in range(4)]
    assert [each.until for each in asked] == [0, 5, 7, 8]
    assert all(each.topics == ["*"] and each.participants and each.wait_ms > 0 for each in asked)


def test_a_participant_that_changes_its_host_is_counted_once(broker: FakeBroker) -> None:
    answering(
        broker,
        [
            page(5, participant(1), reset=True),
            page(6, participant(1, host="another-host")),
            page(7, participant(1, gone=True, host="another-host")),
        ],
    )
    with orc.pure.Directory().watch(hosts=True) as watch:
        assert told(watch, 5) == ["host 1", "complete", "host_gone 0", "host 1", "host_gone 0"]


def test_what_is_not_told_again_is_gone(broker: FakeBroker) -> None:
    answering(
        broker,
        [
            page(5, topic("stays"), topic("goes"), participant(1), reset=True),
            page(3, topic("stays"), topic("comes"), reset=True, epoch=2),
        ],
    )
    with orc.pure.Directory().watch(participants=True) as watch:
        assert told(watch, 8) == [
            *("participant program1", "topic stays", "topic goes", "complete"),
            *("topic comes", "topic_gone goes", "participant_gone program1", "complete"),
        ]


def test_a_broker_that_refuses(broker: FakeBroker) -> None:
    broker.answer = lambda body: messages.Error(1, "message kind 17 is not known")
    with orc.pure.Directory().watch() as watch, pytest.raises(orc.pure.Refused, match="kind 17"):
        watch.next_change(PATIENCE_MS)


def test_asyncio(broker: FakeBroker) -> None:
    answering(broker, [page(5, topic("a"), reset=True)])

    async def first_two() -> List[str]:
        found = []
        async for change in watch:
            found.append(change.kind)
            if change.kind == "complete":
                watch.close()
        return found

    with orc.pure.Directory().watch() as watch:
        assert asyncio.run(asyncio.wait_for(first_two(), PATIENCE_MS / 1000)) == ["topic", "complete"]
