"""The bridge to Zenoh: names and services that change while something is done about them, in every order."""

from __future__ import annotations

import itertools
import time
from typing import Any, Callable, Dict, List, Optional, Set, Tuple

import pytest

zenoh = pytest.importorskip("zenoh", reason="eclipse-zenoh is not installed: pip install eclipse-zenoh")

import orc  # noqa: E402
from orc.bridge._shared.counters import Counters  # noqa: E402
from orc.bridge._shared.local_topics import LocalPublications, LocalTopics  # noqa: E402
from orc.bridge._zenoh.attachment import SampleHead, encode  # noqa: E402
from orc.bridge._zenoh.follower import Follower  # noqa: E402
from orc.bridge._zenoh.formats import OrcFormat  # noqa: E402
from orc.bridge._zenoh.inbound import Inbound  # noqa: E402
from orc.bridge._zenoh.log import logger  # noqa: E402
from orc.bridge._zenoh.outbound import Outbound  # noqa: E402
from orc.bridge._zenoh.settings import Settings, TopicRule  # noqa: E402


class Participant:
    """Registers topics as a participant does. Calls `between` before and after each step."""

    def __init__(self) -> None:
        self.registered: Dict[str, Any] = {}
        self.sent: List[Tuple[str, bytes]] = []
        self.between: Callable[[], None] = lambda: None

    def register_topic(self, name: str, **_: Any) -> Any:
        self.between()
        made = self.registered.setdefault(name, Publisher(self, name))
        self.between()
        return made

    def unregister_topic(self, name: str) -> None:
        self.between()
        del self.registered[name]
        self.between()


class Publisher:
    def __init__(self, by: Participant, name: str) -> None:
        self._by, self._name = by, name

    def send_msg(self, payload: bytes, *_: Any, **__: Any) -> None:
        if self._by.registered.get(self._name) is not self:
            raise orc.Closed()
        self._by.sent.append((self._name, payload))


class Session:
    """Counts tokens."""

    def __init__(self) -> None:
        self.tokens: Set[str] = set()
        self.info = self

    def zid(self) -> str:
        return "1"

    def liveliness(self) -> Any:
        return self

    def declare_token(self, key: str) -> Any:
        self.tokens.add(key)
        return Token(self, key)


class Token:
    def __init__(self, of: Session, key: str) -> None:
        self._of, self._key = of, key

    def undeclare(self) -> None:
        self._of.tokens.discard(self._key)


class Format(OrcFormat):
    def tokens(self, end: Any) -> List[str]:
        return [f"token/{end.topic}/{end.number}"]


class Directory:
    def describe(self, name: str) -> Any:
        raise orc.UnknownTopic()


class Payload(bytes):
    def to_bytes(self) -> bytes:
        return bytes(self)


class Sample:
    """As Zenoh gives them."""

    kind, timestamp = zenoh.SampleKind.PUT, None

    def __init__(self, key: str, payload: bytes, sequence: int, keep_last: bool = True, clock: int = 0) -> None:
        head = SampleHead(sequence, time.time_ns(), b"p" * 16, keep_last=keep_last, clock=clock)
        self.key_expr, self.payload, self.attachment = key, Payload(payload), Payload(encode(head))


class Pool:
    """Jobs that run when the test says so."""

    def __init__(self) -> None:
        self.jobs: List[Any] = []

    def submit(self, work: Any, *arguments: Any) -> None:
        self.jobs.append(lambda: work(*arguments))


class Network:
    """An Inbound without threads."""

    def __init__(self, max_topics: int) -> None:
        settings = Settings(robot="desk", max_topics=max_topics, topics=[TopicRule(name="**", local="{topic}")])
        self.participant, self.session = Participant(), Session()
        self.inbound: Any = Inbound(
            settings, self.participant, Directory(), self.session, Format(settings), LocalPublications(), None, None,
            Counters(logger),
        )  # type: ignore[arg-type]  # fmt: skip
        self.pool = self.inbound._pool = Pool()
        self._numbers = itertools.count(1)

    def receive(self, topic: str, payload: bytes, keep_last: bool = True) -> None:
        self.inbound._sort(Sample(f"orc/r/{topic}", payload, next(self._numbers), keep_last))

    def send(self) -> None:
        """A turn of the thread that sends."""
        for topic in list(self.inbound._topics.values()):
            topic.prepare_at = 0.0
            self.inbound._forward(topic)

    def is_idle(self, topic: str) -> None:
        known = self.inbound._topics[f"orc/r/{topic}"]
        known.arrived -= 11.0
        self.inbound._topics.move_to_end(f"orc/r/{topic}", last=False)

    def settle(self) -> None:
        for _ in range(5):
            self.send()
            while self.pool.jobs:
                self.pool.jobs.pop(0)()

    def names(self) -> List[str]:
        return sorted(topic.name for topic in self.inbound._topics.values())


@pytest.mark.parametrize("at", range(6))
def test_a_topic_that_changes_while_it_is_sent_ends_nothing(at: int) -> None:
    """The thread that sends comes between any two steps of the one that registers."""
    network = Network(4)
    network.receive("a", b"1")
    network.settle()
    network.receive("a", b"2", keep_last=False)
    network.send()
    steps = itertools.count()

    def between() -> None:
        if next(steps) == at:
            network.receive("a", b"3", keep_last=False)
            network.send()

    network.participant.between = between
    network.settle()
    network.participant.between = lambda: None
    network.receive("a", b"last", keep_last=False)
    network.settle()
    assert network.participant.sent[0] == ("a", b"1") and network.participant.sent[-1] == ("a", b"last")
    assert list(network.participant.registered) == ["a"] and len(network.session.tokens) == 1


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
@pytest.mark.parametrize("has_left", [False, True])
def test_a_key_that_returns_stays_registered_in_every_order_of_jobs(order: Tuple[int, ...], has_left: bool) -> None:
    network = Network(2)
    for topic in ("a", "b"):
        network.receive(topic, b"1")
    network.settle()
    network.is_idle("a")
    network.receive("c", b"1")  # takes the place of a
    if has_left:
        network.settle()
    network.is_idle("b")
    network.receive("a", b"2")  # takes the place of b
    network.send()
    jobs, network.pool.jobs = network.pool.jobs, []
    assert len(jobs) == (2 if has_left else 3)
    for each in order:
        if each < len(jobs):
            jobs[each]()
            network.send()
    network.settle()
    assert network.names() == sorted(network.participant.registered) == ["a", "c"]
    assert ("a", b"2") in network.participant.sent and ("c", b"1") in network.participant.sent
    assert sorted(each.split("/")[1] for each in network.session.tokens) == ["a", "c"]
    assert sorted(network.inbound._published) == ["a", "c"]


def test_a_name_lasts_as_long_as_one_of_its_keys() -> None:
    network = Network(2)
    for key in ("orc/r1/a", "orc/r2/a"):
        network.inbound._sort(Sample(key, key.encode(), 1))
    network.settle()
    assert len(network.participant.sent) == 2
    network.inbound._topics["orc/r1/a"].arrived -= 11.0
    network.receive("b", b"1")
    network.settle()
    assert sorted(network.participant.registered) == ["a", "b"]


def test_the_first_of_two_keys_of_different_kinds_has_the_name_until_it_is_idle() -> None:
    network = Network(2)

    def receive_both(number: int) -> None:
        for key, keep_last in (("orc/r1/a", True), ("orc/r2/a", False)):
            network.inbound._sort(Sample(key, key.encode(), number, keep_last))
            network.settle()

    for number in (1, 2, 3):
        receive_both(number)
    assert network.participant.sent == [("a", b"orc/r1/a")] * 3
    assert network.inbound._counters.snapshot()["not bridged"] == 3
    network.inbound._topics["orc/r1/a"].arrived -= 11.0
    network.inbound._sort(Sample("orc/r2/a", b"now", 4, False))
    network.settle()
    assert network.participant.sent[-1] == ("a", b"now")


def test_no_token_outlives_the_bridge_when_it_ends_while_a_topic_is_registered() -> None:
    network = Network(2)
    network.receive("a", b"1")
    network.send()
    network.participant.between = lambda: [each.close() for each in network.inbound._published.values()] and None
    network.settle()
    assert list(network.participant.registered) == ["a"] and not network.session.tokens


class UnknownClocks:
    def age_ns(self, *_: Any) -> Optional[int]:
        return None


def test_samples_whose_clock_does_not_answer_are_dropped_in_the_end() -> None:
    network = Network(2)
    network.inbound._clocks = UnknownClocks()

    def receive_and_send(number: int, clock: int) -> bool:
        network.inbound._sort(Sample("orc/r/a", b"1", number, clock=clock))
        done: bool = network.inbound._forward(network.inbound._topics["orc/r/a"])
        return done

    assert not receive_and_send(1, 5)
    topic = network.inbound._topics["orc/r/a"]
    topic.pending.waits_since -= 11.0
    assert receive_and_send(2, 5)
    assert not receive_and_send(3, 5)
    topic.pending.waits_since -= 11.0
    assert not receive_and_send(4, 6)  # this clock has only been asked
    assert network.inbound._counters.snapshot() == {"age unknown": 1}


def test_an_old_sample_without_a_clock_stays_old_when_a_newer_one_comes() -> None:
    network = Network(2)
    network.receive("a", b"1")
    topic = network.inbound._topics["orc/r/a"]
    topic.pending.arrived -= 5.0
    age_ns = network.inbound._age_ns(topic, topic.pending, time.time_ns())
    assert age_ns >= 5_000_000_000


@pytest.mark.parametrize("wanted", list(itertools.product((True, False), repeat=3)))
@pytest.mark.parametrize("fails_at", [None, 0, 1])
def test_a_service_is_there_exactly_when_it_is_wanted(wanted: Tuple[bool, ...], fails_at: Optional[int]) -> None:
    """Each change comes at each moment: before, while it begins, while it ends, afterwards."""
    for moments in itertools.product(range(4), repeat=len(wanted)):
        order = sorted(range(len(wanted)), key=lambda at: moments[at])
        _change([(moments[at], wanted[at]) for at in order], fails_at)


def _change(changes: List[Tuple[int, bool]], fails_at: Optional[int]) -> None:
    last = changes[-1][1]
    there: List[int] = []
    begun, moment = itertools.count(), itertools.count()

    def pass_time() -> None:
        now = next(moment)
        while changes and changes[0][0] <= now:
            follower.want(changes.pop(0)[1])

    def begin(by: Follower) -> Any:
        assert not there
        pass_time()
        number = next(begun)
        if number == fails_at:
            return None
        there.append(number)
        return number

    def end(made: Any) -> None:
        there.remove(made)
        pass_time()

    follower = Follower("a", begin, end)
    follower._thread = object()  # type: ignore[assignment]  # the test is its thread
    for _ in range(12):
        pass_time()
        follower.step()
    assert bool(there) == last
    follower.stop()
    assert not follower.step() and not there


def test_a_service_that_is_not_there_has_no_thread() -> None:
    follower = Follower("a", lambda _: None, lambda _: None)
    follower.want(False)
    assert follower._thread is None


class Failing:
    """What a topic that goes out has, after its session has ended."""

    name = "a"

    def undeclare(self) -> None:
        raise zenoh.ZError("closed")

    def close(self) -> None:
        raise orc.Closed()

    def release_topic(self, name: str) -> None:
        raise orc.Closed()

    def remove(self, topic: Any, then: Callable[[Any], None]) -> None:
        then(topic)


def test_a_topic_that_cannot_be_withdrawn_leaves_its_name_free() -> None:
    local: Any = LocalTopics.__new__(LocalTopics)
    local._participant, local._ending = Failing(), {"a"}
    outbound: Any = Outbound.__new__(Outbound)
    outbound._lanes = Failing()
    with pytest.raises(orc.Closed):
        outbound.end(Failing(), local._release)
    assert not local._ending
