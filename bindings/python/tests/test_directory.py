"""What the broker knows, now and as it changes: the same for both backends, beside a real broker."""

from __future__ import annotations

import asyncio
import select
import threading
import time
from types import ModuleType
from typing import Any, Callable, Dict, Iterator, List, Set

import pytest

from support import BrokerProcess, run_python, start_python, wait_until

PATIENCE_MS = 20_000
MANY = 10_000


@pytest.fixture
def directory(backend: ModuleType, broker: BrokerProcess) -> Iterator[Any]:
    with backend.Directory() as made:
        yield made


def changes_until(watch: Any, done: Callable[[Any], bool]) -> List[Any]:
    """The changes up to the first for which `done` is true."""
    seen = []
    deadline = time.monotonic() + PATIENCE_MS / 1000
    while time.monotonic() < deadline:
        change = watch.next_change(1_000)
        if change is not None:
            seen.append(change)
            if done(change):
                return seen
    raise AssertionError(f"not in time; came: {[each.kind for each in seen][-20:]}")


def is_complete(change: Any) -> bool:
    return bool(change.kind == "complete")


def test_topics_and_their_state(backend: ModuleType, broker: BrokerProcess, directory: Any) -> None:
    with backend.Participant(name="robot") as robot, backend.Participant(name="viewer") as viewer:
        robot.register_topic("arm/position", type=orc_type(backend), keep_last=False).send_msg(b"12345678")
        robot.register_topic("leg/position")
        viewer.request_topic("arm/position", connected_within_ms=PATIENCE_MS, max_age_ms=50)
        assert [each.name for each in directory.topics()] == ["arm/position", "leg/position"]
        assert [each.name for each in directory.topics("arm/*")] == ["arm/position"]
        assert directory.topics("nothing/**") == []
        found = directory.describe("arm/position")
        assert found.publication.participant.name == "robot"
        assert found.publication.keep_last is False
        assert (
            found.publication.type.name == "Pose" and directory.find_type(found.publication.type).schema == b"double x;"
        )
        assert "ipc" in [each.transport for each in found.publication.endpoints]
        assert found.subscription_count == 1 and found.subscriptions[0].participant.name == "viewer"
        assert found.subscriptions[0].max_age_ms == 50
        # The first report may be older than the sample.
        assert wait_until(
            lambda: (
                (counted := directory.describe("arm/position").publication.counters) is not None
                and (counted.sent, counted.bytes) == (1, 8)
            )
        )


def test_the_age_and_the_jitter_of_a_topic(backend: ModuleType, broker: BrokerProcess, directory: Any) -> None:
    """A topic with intervals of 5 ms and more has a jitter; a second later its newest sample is a second old."""

    def counters() -> Any:
        found = directory.describe("t").publication.counters
        return found if found is not None and found.sent == 3 else None

    with backend.Participant() as participant:
        publisher = participant.register_topic("t")
        for pause_s in (0.005, 0.05, 0):
            publisher.send_msg(b"1")
            time.sleep(pause_s)
        assert wait_until(lambda: (found := counters()) is not None and found.jitter_ns is not None)
        first = counters()
        assert 0 <= first.sampled_ns - first.last_sent_ns < 60_000_000_000
        assert wait_until(lambda: counters().sampled_ns > first.sampled_ns)
        second = counters()
        assert second.last_sent_ns == first.last_sent_ns
        assert second.jitter_ns is None


def orc_type(backend: ModuleType) -> Any:
    return backend.TypeDescription("Pose", "text", "text", b"double x;")


def test_the_broker_participants_and_hosts(backend: ModuleType, broker: BrokerProcess, directory: Any) -> None:
    assert directory.participants() == [] and directory.hosts() == []
    state = directory.broker()
    assert state.endpoint == broker.endpoint and state.version.startswith("orc-broker")
    with backend.Participant(name="one") as one, backend.Participant(name="two") as two:
        for each in (one, two):
            each.register_topic("t/" + str(id(each)))
        found = directory.participants()
        assert sorted(each.name for each in found) == ["one", "two"]
        assert all(each.pid > 0 and each.library for each in found)
        [host] = directory.hosts()
        assert host.participants == 2 and host.id == found[0].host
    assert directory.broker().participants == 0
    assert directory.broker().epoch == state.epoch


def test_looking_registers_nothing(broker: BrokerProcess, directory: Any) -> None:
    with directory.watch(participants=True) as watch:
        changes_until(watch, is_complete)
        assert directory.broker().participants == 0


def test_errors(backend: ModuleType, broker: BrokerProcess, directory: Any) -> None:
    with pytest.raises(backend.UnknownTopic, match="nothing"):
        directory.describe("nothing")
    with pytest.raises(backend.BadName):
        directory.describe("not a name")
    with pytest.raises(backend.BadArgument):
        directory.topics("not a pattern")
    with pytest.raises(backend.BadArgument):
        directory.watch("not a pattern").next_change(0)
    with pytest.raises(backend.BadArgument):
        directory.watch(["a"] * 17).next_change(0)
    with pytest.raises(backend.BadArgument):
        directory.watch().next_change(-2)
    with pytest.raises(TypeError):
        directory.watch([5])
    for wrong in ("none", "127.0.0.1"):
        with pytest.raises(backend.BadArgument):
            backend.Directory(wrong).topics()
    watch = directory.watch()
    watch.close()
    with pytest.raises(backend.Closed):
        watch.next_change(0)
    directory.close()
    with pytest.raises(backend.Closed):
        directory.topics()


def test_no_broker(backend: ModuleType, run_dir: Any) -> None:
    with backend.Directory(broker_timeout_ms=300) as directory:
        with pytest.raises(backend.NoBroker, match=str(run_dir)):
            directory.topics()
        assert directory.watch().next_change(300) is None


def test_a_broker_that_comes_while_it_is_asked(backend: ModuleType, broker: BrokerProcess) -> None:
    broker.kill()
    with backend.Directory(broker_timeout_ms=PATIENCE_MS) as directory:
        starter = threading.Timer(0.3, broker.start)
        starter.start()
        assert directory.topics() == []
        starter.join()


def test_changes_are_reported(backend: ModuleType, broker: BrokerProcess, directory: Any) -> None:
    with backend.Participant(name="robot") as robot, directory.watch("arm/*", participants=True, hosts=True) as watch:
        robot.register_topic("arm/one")
        robot.register_topic("leg/one")
        first = changes_until(watch, is_complete)
        assert [each.topic.name for each in first if each.kind == "topic"] == ["arm/one"]
        assert [each.participant.name for each in first if each.kind == "participant"] == ["robot"]
        assert [each.host.participants for each in first if each.kind == "host"] == [1]
        robot.register_topic("arm/two")
        told = changes_until(watch, lambda each: each.kind == "topic")
        assert told[-1].topic.name == "arm/two" and told[-1].topic.publication is not None
        with backend.Participant(name="viewer") as viewer:
            viewer.request_topic("arm/two")
            told = changes_until(watch, lambda each: each.kind == "topic" and each.topic.subscription_count == 1)
            assert "participant" in [each.kind for each in told]
        changes_until(watch, lambda each: each.kind == "participant_gone" and each.participant.name == "viewer")
        robot.unregister_topic("arm/two")
        told = changes_until(watch, lambda each: each.kind == "topic_gone")
        assert told[-1].topic.name == "arm/two"
        robot.close()
        told = changes_until(watch, lambda each: each.kind == "host_gone")
    assert "leg/one" not in [each.topic.name for each in told if each.topic is not None]


def test_a_broker_that_restarts(backend: ModuleType, broker: BrokerProcess, directory: Any) -> None:
    with backend.Participant(name="robot") as robot, directory.watch() as watch:
        robot.register_topic("stays")
        with backend.Participant(name="other") as other:
            other.register_topic("goes")
            changes_until(watch, is_complete)
            broker.kill()
            changes_until(watch, lambda each: each.kind == "broker_lost")
        broker.start()
        told = changes_until(watch, lambda each: each.kind == "topic_gone" and each.topic.name == "goes")
        assert "complete" not in [each.kind for each in told[:-1]]
        changes_until(watch, is_complete)
        if not any(each.name == "stays" for each in directory.topics()):
            changes_until(watch, lambda each: each.kind == "topic" and each.topic.name == "stays")


def test_the_descriptor(backend: ModuleType, broker: BrokerProcess, directory: Any) -> None:
    with backend.Participant() as robot, directory.watch() as watch:
        changes_until(watch, is_complete)
        robot.register_topic("t")
        found: List[str] = []
        deadline = time.monotonic() + PATIENCE_MS / 1000
        while not found and time.monotonic() < deadline:
            select.select([watch.fileno()], [], [], 0.5)
            while (change := watch.next_change(0)) is not None:
                found.append(change.topic.name)
        assert found == ["t"]


def test_asyncio(backend: ModuleType, broker: BrokerProcess, directory: Any) -> None:
    async def follow() -> List[str]:
        told = []
        async for change in watch:
            told.append(change.kind)
            if change.kind == "complete":
                robot.register_topic("t")
            if change.kind == "topic":
                assert change.topic.name == "t"
                watch.close()
        return told

    with backend.Participant() as robot, directory.watch() as watch:
        assert asyncio.run(asyncio.wait_for(follow(), PATIENCE_MS / 1000)) == ["complete", "topic"]


def test_iterating_ends_with_close(backend: ModuleType, broker: BrokerProcess, directory: Any) -> None:
    watch = directory.watch()
    told: List[str] = []
    thread = threading.Thread(target=lambda: told.extend(each.kind for each in watch))
    thread.start()
    wait_until(lambda: told or not thread.is_alive())
    watch.close()
    thread.join(PATIENCE_MS / 1000)
    assert not thread.is_alive() and told == ["complete"]


def test_ctrl_c_ends_the_wait(backend: ModuleType, broker: BrokerProcess) -> None:
    done = run_python(
        """
        import importlib, os, signal, sys, threading
        orc = importlib.import_module(sys.argv[1])
        watch = orc.Directory().watch()
        assert watch.next_change(20000).kind == "complete"
        absent = orc.Directory("ipc:///nowhere", broker_timeout_ms=-1)
        for wait in (lambda: watch.next_change(-1), absent.topics):
            threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
            try:
                wait()
            except KeyboardInterrupt:
                print("interrupted")
        """,
        backend.__name__,
    )
    assert done.stdout.split() == ["interrupted"] * 2


# Speaks the protocol itself, so that a topic costs it no socket.
PUBLISHER_OF_MANY = """
    import sys, threading, time, zmq
    from orc.pure import identity, messages, wire

    socket = zmq.Context().socket(zmq.DEALER)
    socket.sndhwm = socket.rcvhwm = 0
    socket.connect(sys.argv[1])

    def say(body):
        socket.send(wire.encode(messages.Envelope(1, body)))

    def listen(wanted):
        beat_at = 0.0
        while wanted():
            if time.monotonic() >= beat_at:  # renews the lease
                say(messages.Heartbeat([], []))
                beat_at = time.monotonic() + 0.5
            if socket.poll(100):
                assert not isinstance(wire.decode(socket.recv()).body, messages.Error)

    say(messages.Hello(identity.draw_id(), "many", "somewhere", 1, 1, "test"))
    topics = {f"many/{n // 100}/{n}": identity.draw_id() for n in range(int(sys.argv[2]))}
    for turn in (messages.RegisterTopic, messages.UnregisterTopic):
        for name, publication in topics.items():
            say(turn(name, publication, []) if turn is messages.RegisterTopic else turn(name, publication))
        waiting = threading.Thread(target=sys.stdin.readline)
        waiting.start()
        listen(waiting.is_alive)
"""


def test_ten_thousand_topics_come_and_go(backend: ModuleType, broker: BrokerProcess, directory: Any) -> None:
    """By a process that registers them and withdraws them again, while this one watches."""
    there: Set[str] = set()
    count: Dict[str, int] = {"come": 0, "gone": 0}

    def note(change: Any) -> None:
        if change.kind == "topic" and change.topic.name not in there:
            there.add(change.topic.name)
            count["come"] += 1
        elif change.kind == "topic_gone":
            there.remove(change.topic.name)
            count["gone"] += 1

    with directory.watch("many/**") as watch:
        changes_until(watch, is_complete)
        publisher = start_python(PUBLISHER_OF_MANY, broker.endpoint, str(MANY))
        try:
            for told in ("come", "gone"):
                deadline = time.monotonic() + 60
                while count[told] < MANY and time.monotonic() < deadline:
                    change = watch.next_change(1_000)
                    if change is not None:
                        note(change)
                assert count[told] == MANY
                assert publisher.stdin is not None
                publisher.stdin.write("\n")  # withdraws them, ends
                publisher.stdin.flush()
        finally:
            publisher.kill()
            publisher.communicate()
    assert not there
    assert count == {"come": MANY, "gone": MANY}


def test_wait_readers(backend: ModuleType, broker: BrokerProcess) -> None:
    with backend.Participant() as robot, backend.Participant() as one, backend.Participant() as two:
        publisher = robot.register_topic("t", transports="ipc")
        assert publisher.wait_readers(0, 0)
        assert not publisher.wait_readers(1, 100)
        one.request_topic("t")
        assert publisher.wait_readers(1, PATIENCE_MS)
        two.request_topic("t")
        assert publisher.wait_readers(2, PATIENCE_MS)
        assert not publisher.wait_readers(3, 0)
        with pytest.raises(backend.BadArgument):
            publisher.wait_readers(1, -2)
        threading.Timer(0.2, lambda: robot.unregister_topic("t")).start()
        with pytest.raises(backend.Closed):
            publisher.wait_readers(3, -1)
