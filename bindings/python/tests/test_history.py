"""Histories: what they keep, and values between samples, which are those of numpy and scipy."""

from __future__ import annotations

import dataclasses
from types import ModuleType
from typing import Annotated, Any, Callable, List, Optional

import numpy
import pytest
from numpy.typing import NDArray

import orc
from orc._history import History, PastSample
from orc._typed import Field, typed
from support import BrokerProcess

PATIENCE_MS = 20_000
TOLERANCE = 1e-12


@dataclasses.dataclass
class Joint:
    q: Annotated[NDArray[numpy.float64], 3]
    load: float


@dataclasses.dataclass
class Pose:
    joint: Joint
    rotation: Annotated[NDArray[numpy.float64], Field(shape=4, unit="quaternion")]
    other: Annotated[NDArray[numpy.float64], 4]


class Sent:
    """A message."""

    def __init__(self, data: bytes, sequence: int, stamp_ns: int, publisher: int) -> None:
        self.publisher = publisher
        self.data = data
        self.sequence = sequence
        self.stamp_ns = stamp_ns
        self.missed = 0

    def __bytes__(self) -> bytes:
        return self.data

    def release(self) -> None:
        self.data = b""


class Samples:
    """A subscriber that returns what it was given."""

    def __init__(self, type: Any = None) -> None:
        self._codec = typed(type)
        self.waiting: List[Sent] = []
        self.sent = 0

    def add(self, value: Any, stamp_ns: int, publisher: int = 0) -> None:
        self.sent += 1
        data = value if self._codec is None else bytes(memoryview(self._codec.encode(value)).cast("B"))
        self.waiting.append(Sent(data, self.sent, stamp_ns, publisher))

    def recv_msg(self, timeout_ms: int) -> Optional[Any]:
        return self.waiting.pop(0) if self.waiting else None


def numbered(count: int, **limits: Any) -> History[Any]:
    samples = Samples()
    kept: History[Any] = History(samples, **limits)
    for n in range(1, count + 1):
        samples.add(b"%d" % n, n * 1000)
        assert kept.recv(0) is not None
    return kept


@pytest.mark.parametrize("count", [1, 99, 100, 101, 1000])
def test_the_last_samples_are_kept(count: int) -> None:
    kept = numbered(count, samples=100)
    assert [int(each.value()) for each in kept] == list(range(max(1, count - 99), count + 1))
    assert len(kept) == min(count, 100)
    assert kept.newest is not None and kept.newest.sequence == count
    assert kept.oldest is not None and kept.oldest.sequence == max(1, count - 99)


def test_limits_of_age_and_bytes() -> None:
    assert [each.stamp_ns for each in numbered(100, seconds=3e-6)] == [97_000, 98_000, 99_000, 100_000]
    kept = numbered(100, max_bytes=10)
    assert sum(len(each) for each in kept) <= 10
    assert [int(each.value()) for each in kept] == [97, 98, 99, 100]
    for wrong in ({"samples": 0}, {"seconds": -1}, {"max_bytes": -1}):
        with pytest.raises(orc.BadArgument):
            History(Samples(), **wrong)


def test_a_stamp_that_goes_back_begins_a_new_history() -> None:
    samples = Samples()
    kept: History[Any] = History(samples)
    for stamp in (1, 2, 2, 3, 1):
        samples.add(b"", stamp)
    assert kept.recv_next(0) is not None and len(kept) == 1
    assert kept.recv_next(0) is not None and kept.recv_next(0) is not None and len(kept) == 3
    newest = kept.recv(0)
    assert newest is not None and newest.sequence == 5
    assert [each.stamp_ns for each in kept] == [1]
    assert kept.recv(0) is None


def test_samples_of_several_publishers_are_in_the_order_of_their_stamps() -> None:
    samples = Samples()
    kept: History[Any] = History(samples, samples=6)

    def keep(publisher: int, stamp_ns: int) -> None:
        samples.add(b"%d" % publisher, stamp_ns, publisher)
        kept.recv(0)

    for n in range(1, 5):
        keep(1, 1000 * n)
        keep(2, 1000 * n - 500)
    assert list(kept.stamps_ns()) == [1500, 2000, 2500, 3000, 3500, 4000]
    keep(3, 100)  # too old for the places
    keep(3, 2200)
    assert list(kept.stamps_ns()) == [2000, 2200, 2500, 3000, 3500, 4000]
    assert [each.publisher for each in kept] == [1, 3, 2, 1, 2, 1]
    keep(1, 3999)  # this one was set back
    assert list(kept.stamps_ns()) == [3999]


def test_a_late_sample_takes_the_place_of_no_later_one() -> None:
    samples = Samples()
    kept: History[Any] = History(samples, max_bytes=30)
    for publisher, stamp in ((1, 1000), (1, 2000), (1, 3000), (2, 500)):
        samples.add(b"0123456789", stamp, publisher)
        kept.recv(0)
    assert list(kept.stamps_ns()) == [1000, 2000, 3000]
    samples.add(b"0123456789", 1500, 2)
    kept.recv(0)
    assert list(kept.stamps_ns()) == [1500, 2000, 3000]


def test_samples_by_time() -> None:
    kept = numbered(10)
    assert kept.at(999) is None
    for stamp, sequence in ((1000, 1), (1999, 1), (2000, 2), (99_999, 10)):
        found = kept.at(stamp)
        assert found is not None and found.sequence == sequence
    assert [each.sequence for each in kept.between(2000, 4999)] == [2, 3, 4]
    assert kept.between(5000, 4000) == []
    assert list(kept.stamps_ns()) == [n * 1000 for n in range(1, 11)]
    kept.clear()
    assert kept.at(5000) is None and len(kept) == 0 and kept.newest is None


@pytest.fixture
def poses() -> Any:
    scipy = pytest.importorskip("scipy.spatial.transform")
    random = numpy.random.default_rng(4)
    count = 50
    stamps = 1_790_000_000_000_000_000 + numpy.cumsum(random.integers(200_000, 3_000_000, count))
    q = numpy.cumsum(random.normal(size=(count, 3)), axis=0)
    rotations = scipy.Rotation.from_rotvec(numpy.cumsum(random.normal(scale=0.4, size=(count, 3)), axis=0))
    quaternions = rotations.as_quat() * random.choice([-1, 1], (count, 1)) * random.uniform(0.5, 2, (count, 1))
    samples = Samples(Pose)
    kept: History[Pose] = History(samples)
    for i in range(count):
        samples.add(Pose(Joint(q[i], float(i)), quaternions[i], quaternions[i]), int(stamps[i]))
    assert kept.recv(0) is not None and len(kept) == count
    asked = [*random.integers(stamps[0], stamps[-1], 100), *stamps[[0, 1, -2, -1]]]
    return kept, stamps, q, rotations, [int(each) for each in asked]


def test_values_between_samples_are_those_of_scipy(poses: Any) -> None:
    interpolate = pytest.importorskip("scipy.interpolate")
    transform = pytest.importorskip("scipy.spatial.transform")
    kept, stamps, q, rotations, asked = poses
    x = (stamps - stamps[0]).astype(float)
    spline = interpolate.CubicHermiteSpline(x, q, numpy.gradient(q, x, axis=0))
    slerp = transform.Slerp(x, rotations)
    for stamp in asked:
        at = float(stamp - stamps[0])
        nearest = q[int(numpy.argmin(numpy.abs(stamps - stamp)))]
        linear = [numpy.interp(at, x, q[:, i]) for i in range(3)]
        numpy.testing.assert_allclose(
            kept.interpolate("joint.q", stamp, "nearest"), nearest, rtol=TOLERANCE, atol=TOLERANCE
        )
        numpy.testing.assert_allclose(kept.interpolate("joint.q", stamp), linear, rtol=TOLERANCE, atol=TOLERANCE)
        numpy.testing.assert_allclose(
            kept.interpolate("joint.q", stamp, "cubic"), spline(at), rtol=TOLERANCE, atol=TOLERANCE
        )
        assert kept.interpolate("joint.q[1]", stamp) == pytest.approx(linear[1], rel=TOLERANCE, abs=TOLERANCE)
        expected = slerp(at).as_quat()
        for found in (
            kept.interpolate("rotation", stamp),
            kept.interpolate("rotation", stamp, "cubic"),
            kept.interpolate("other", stamp, "slerp"),
            kept.interpolate(lambda pose: pose.other, stamp, "slerp"),
        ):
            numpy.testing.assert_allclose(
                found * numpy.sign(found @ expected), expected, rtol=TOLERANCE, atol=TOLERANCE
            )


def test_averages_are_those_of_numpy(poses: Any) -> None:
    kept, stamps, q, _, _ = poses
    numpy.testing.assert_allclose(kept.mean("joint.q", stamps[3], stamps[20]), q[3:21].mean(axis=0), rtol=TOLERANCE)
    assert kept.mean("joint.load", stamps[3], stamps[20]) == pytest.approx(numpy.arange(3, 21).mean())
    window = (stamps[-1] - stamps[-10]) / 1e9
    numpy.testing.assert_allclose(kept.moving_average("joint.q", window), q[-10:].mean(axis=0), rtol=TOLERANCE)
    assert kept.mean("joint.q", stamps[0] - 10, stamps[0] - 1) is None
    assert kept.values("joint.q").shape == (50, 3)


def test_nothing_is_invented(poses: Any) -> None:
    kept, stamps, _, _, _ = poses
    for kind in ("nearest", "linear", "cubic"):
        assert kept.interpolate("joint.q", int(stamps[0]) - 1, kind) is None
        assert kept.interpolate("joint.q", int(stamps[-1]) + 1, kind) is None
        assert History(Samples(Pose)).interpolate("joint.q", 0, kind) is None
    inside = int(stamps[0]) + 1
    for wrong in ("joint.speed", "", "joint..q", "q[", "joint.q[3]", "joint[0]"):
        with pytest.raises(orc.BadArgument):
            kept.interpolate(wrong, inside)
    with pytest.raises(orc.BadArgument):
        kept.interpolate("joint.q", inside, "quintic")
    with pytest.raises(orc.BadArgument):
        kept.interpolate("joint.q", inside, "slerp")


def test_samples_with_the_same_stamp_are_no_step() -> None:
    samples = Samples()
    kept: History[Any] = History(samples)
    for n, stamp in enumerate((0, 10, 10, 20, 20, 20, 30), 1):
        samples.add(b"%d" % n, stamp)
    assert kept.recv(0) is not None
    for kind in ("linear", "cubic"):
        assert all(numpy.isfinite(kept.interpolate(int, at, kind)) for at in range(31))
    assert kept.interpolate(int, 10) == 3
    assert kept.interpolate(int, 15) == 3.5


@pytest.mark.parametrize("sides", ["native-native", "pure-pure", "native-pure", "pure-native"])
@pytest.mark.parametrize("transport", ["ipc", "tcp"])
def test_over_a_link(
    sides: str, transport: str, backend_of: Callable[[str], ModuleType], broker: BrokerProcess
) -> None:
    one, other = (backend_of(each) for each in sides.split("-"))
    with one.Participant() as sender, other.Participant() as receiver:
        publisher = sender.register_topic("arm", type=Joint, transports=transport)
        subscriber = receiver.request_topic("arm", type=Joint, conflate=0, depth=64, connected_within_ms=PATIENCE_MS)
        kept = other.History(subscriber, samples=5)
        for n in range(10):
            publisher.send(Joint(numpy.full(3, float(n)), float(n)))
            sample: Optional[PastSample[Joint]] = kept.recv(PATIENCE_MS)
            assert sample is not None and sample.value().load == n
        assert [each.value().load for each in kept] == [5, 6, 7, 8, 9]
        first, second = (kept.stamps_ns()[i] for i in (0, 1))
        middle = int(first + second) // 2 if first + 1 < second else int(first)
        part = (middle - int(first)) / int(second - first)
        assert kept.interpolate("load", middle) == pytest.approx(5 + part)
        assert list(kept.interpolate("q", middle, "cubic")) == [kept.interpolate("q[0]", middle, "cubic")] * 3
