"""Typed topics between two participants, over both backends."""

from __future__ import annotations

import asyncio
import dataclasses
import enum
import gc
import pathlib
import re
from types import ModuleType
from typing import Annotated, Any, Callable, Iterator, List, Tuple

import pytest

np = pytest.importorskip("numpy")

from numpy.typing import NDArray  # noqa: E402

from generated_types import flatbuffer_module, lcm_module, proto_module  # noqa: E402
from support import wait_until  # noqa: E402


class Mode(enum.IntEnum):
    idle = 0
    moving = 1


@dataclasses.dataclass
class State:
    __orc_name__ = "robot.State"
    q: Annotated[NDArray[np.float64], 7]
    tau: np.float32
    mode: Annotated[Mode, np.uint8]


@dataclasses.dataclass
class Narrow:
    __orc_name__ = "robot.State"
    q: Annotated[NDArray[np.float32], 7]
    tau: np.float32
    mode: Annotated[Mode, np.uint8]


DTYPE = np.dtype([("q", "f8", 7), ("tau", "f4"), ("mode", "u1")], align=True)
Ends = Tuple[Any, Any]


@pytest.fixture
def ends(backend: ModuleType, broker: Any) -> Iterator[Callable[..., Any]]:
    made: List[Any] = []

    def end(name: str = "arm", **options: Any) -> Any:
        made.append(backend.Participant(name=name, **options))
        return made[-1]

    end.made = made  # type: ignore[attr-defined]
    yield end
    for each in made:
        each.close()


def linked(ends: Callable[..., Any], type: Any) -> Ends:
    publisher = ends().register_topic("arm/state", transports="ipc", type=type)
    return publisher, ends("viewer").request_topic("arm/state", type=type, connected_within_ms=20_000)


def test_a_dataclass(ends: Callable[..., Any], backend: ModuleType) -> None:
    publisher, subscriber = linked(ends, State)
    publisher.send(State(np.arange(7.0), np.float32(0.5), Mode.moving))
    message = subscriber.recv_msg(20_000)
    state = message.value()
    assert isinstance(state, State) and state.mode is Mode.moving and state.tau == np.float32(0.5)
    assert state.q[3] == 3 and not state.q.flags.writeable
    place = np.frombuffer(message, np.uint8).__array_interface__["data"][0]
    assert state.q.__array_interface__["data"][0] == place  # no copy
    with pytest.raises(backend.BadSample, match="field q of robot.State"):
        publisher.send(State(np.arange(6.0), np.float32(0), Mode.idle))
    del message
    gc.collect()
    assert state.q[6] == 6  # the view keeps the memory


def test_a_dtype(ends: Callable[..., Any], backend: ModuleType) -> None:
    """It matches the dataclass with the same fields, whatever its name. orc.pure does not compare them."""
    check = "on" if backend.backend == "native" else "off"
    publisher = ends().register_topic("arm/state", transports="ipc", type=DTYPE)
    subscriber = ends().request_topic("arm/state", type=State, type_check=check, connected_within_ms=20_000)
    value = np.zeros((), DTYPE)
    value["q"] = range(7)
    publisher.send(value)
    assert subscriber.recv_msg(20_000).value().q[6] == 6
    publisher.send(value.tobytes())
    assert subscriber.recv_msg(20_000).value().q[6] == 6
    with pytest.raises(backend.BadSample, match="a sample of 3 bytes is no"):
        publisher.send(b"abc")
    publisher.send_msg(b"abc")  # send_msg sends any bytes
    with pytest.raises(backend.BadSample, match="a sample of 3 bytes is no robot.State, which has 64 bytes"):
        subscriber.recv_msg(20_000).value()


@dataclasses.dataclass
class Renamed:
    """The same fields, in another class."""

    __orc_name__ = "robot.State"
    q: Annotated[NDArray[np.float64], 7]
    tau: np.float32
    mode: Annotated[Mode, np.uint8]


def test_a_handle_keeps_the_class_of_its_values(ends: Callable[..., Any]) -> None:
    """A repeated request changed the class of the handles that were there, or was not heeded."""
    sending, receiving = ends(), ends("viewer")
    publisher = sending.register_topic("arm/state", transports="ipc", type=State)
    subscriber = receiving.request_topic("arm/state", type=State, connected_within_ms=20_000)
    other_publisher = sending.register_topic("arm/state", type=Renamed)
    other = receiving.request_topic("arm/state", type=Renamed)
    values = (np.zeros(7), np.float32(0), Mode.idle)

    def got(by: Any) -> Any:
        return type(by.recv_msg(20_000).value())

    publisher.send(State(*values))
    assert got(subscriber) is State
    other_publisher.send(Renamed(*values))
    assert got(other) is Renamed
    sending.publisher("arm/state").send(State(*values))  # the first
    assert got(receiving.subscriber("arm/state")) is State
    publisher.send(State(*values))
    assert type(receiving.recv_msg("arm/state", 20_000).value()) is State
    assert receiving.request_topic("arm/state", type=State) is subscriber
    assert receiving.request_topic("arm/state") is subscriber is receiving.subscriber("arm/state")
    assert receiving.request_topic("arm/state", type=Renamed) is other


def test_tasks_of_two_handles_share_the_descriptor(ends: Callable[..., Any]) -> None:
    publisher, subscriber = linked(ends, State)
    other = ends.made[-1].request_topic("arm/state", type=Renamed)  # type: ignore[attr-defined]

    async def exchange() -> List[Any]:
        tasks = [asyncio.ensure_future(each.recv()) for each in (subscriber, other)]
        while not all(task.done() for task in tasks):
            publisher.send(State(np.zeros(7), np.float32(0), Mode.idle))
            await asyncio.wait(tasks, timeout=0.02, return_when=asyncio.FIRST_COMPLETED)
        return [type(task.result().value()) for task in tasks]

    assert asyncio.run(asyncio.wait_for(exchange(), 20)) == [State, Renamed]


def test_a_loan_with_lists_of_numbers(ends: Callable[..., Any]) -> None:
    """They were views of the memory, so the block always ended in BufferError."""

    @dataclasses.dataclass
    class Lists:
        a: Annotated[List[np.float32], 3]
        b: Annotated[List[np.int16], (2, 2)]

    publisher, subscriber = linked(ends, Lists)
    with publisher.loan() as lists:
        assert lists.a == [0, 0, 0] and lists.b == [[0, 0], [0, 0]]
        lists.a[1] = np.float32(2.5)
        lists.b = [[1, 2], [3, 4]]
    got = subscriber.recv_msg(20_000).value()
    assert got.a == [0, 2.5, 0] and got.b == [[1, 2], [3, 4]]
    assert isinstance(got.a, list) and isinstance(got.a[1], np.float32)


def test_a_loan_is_a_view(ends: Callable[..., Any], backend: ModuleType) -> None:
    publisher, subscriber = linked(ends, backend.struct("robot.State", DTYPE))
    with publisher.loan() as state:
        assert state["tau"] == 0
        state["q"][:] = range(7)
        state["tau"] = 2
    record = subscriber.recv_msg(20_000).value()
    assert list(record["q"]) == list(range(7)) and record["tau"] == 2
    assert state["q"][6] == 6  # a copy by now
    with pytest.raises(BufferError):
        with publisher.loan() as state:
            kept = state["q"]
    del kept
    with pytest.raises(ZeroDivisionError):
        with publisher.loan() as state:
            state["tau"] = 1 / 0
    assert subscriber.recv_msg(0) is None
    with pytest.raises(backend.BadArgument, match="loan"):
        ends().register_topic("arm/raw").loan()


def test_a_loan_of_a_dataclass(ends: Callable[..., Any]) -> None:
    publisher, subscriber = linked(ends, State)
    with publisher.loan() as state:
        state.q[:] = range(7)
        state.mode = Mode.moving
    found = subscriber.recv_msg(20_000).value()
    assert list(found.q) == list(range(7)) and found.mode is Mode.moving
    assert state.q[6] == 6 and state.q.flags.owndata


def test_generated_types(
    ends: Callable[..., Any], backend: ModuleType, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    generated = lcm_module(tmp_path, monkeypatch)
    publisher, subscriber = linked(ends, generated.scan_t)
    scan = generated.scan_t()
    scan.name, scan.raw = "laser", b"abc"
    publisher.send(scan)
    assert subscriber.recv_msg(20_000).value().name == "laser"


def test_protobuf(ends: Callable[..., Any], tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    generated = proto_module(tmp_path, monkeypatch)
    publisher, subscriber = linked(ends, generated.Scan)
    publisher.send(generated.Scan(name="laser"))
    assert subscriber.recv_msg(20_000).value().name == "laser"


def test_flatbuffers(
    ends: Callable[..., Any], backend: ModuleType, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import flatbuffers

    generated, bfbs = flatbuffer_module(tmp_path, monkeypatch)
    publisher, subscriber = linked(ends, backend.flatbuffer(generated.Scan, bfbs))
    builder = flatbuffers.Builder(64)
    generated.ScanStart(builder)
    generated.ScanAddUtime(builder, 5)
    builder.Finish(generated.ScanEnd(builder))
    publisher.send(builder)
    assert subscriber.recv_msg(20_000).value().Utime() == 5


def test_dicts(ends: Callable[..., Any], backend: ModuleType) -> None:
    publisher = ends().register_topic("arm/config", transports="ipc", type=backend.json("robot.Config"))
    named = dict if backend.backend == "native" else backend.json("robot.Config")  # orc.pure compares hashes
    subscriber = ends().request_topic("arm/config", type=named, connected_within_ms=20_000)
    publisher.send({"gain": 0.5})
    assert subscriber.recv_msg(20_000).value() == {"gain": 0.5}


def test_an_untyped_end_matches_any(ends: Callable[..., Any]) -> None:
    publisher = ends().register_topic("arm/state", transports="ipc", type=State)
    untyped = ends().request_topic("arm/state", connected_within_ms=20_000)
    publisher.send(State(np.zeros(7), np.float32(0), Mode.idle))
    assert untyped.recv_msg(20_000).value() == bytes(64)
    raw = ends().register_topic("arm/raw", transports="ipc")
    typed = ends().request_topic("arm/raw", type=State, connected_within_ms=20_000)
    raw.send(bytes(64))
    assert typed.recv_msg(20_000).value().mode is Mode.idle


def test_handles_by_name_know_the_type(ends: Callable[..., Any]) -> None:
    one, other = ends(), ends()
    one.register_topic("arm/state", transports="ipc", type=State)
    other.request_topic("arm/state", type=State, connected_within_ms=20_000)
    one.publisher("arm/state").send(State(np.ones(7), np.float32(0), Mode.idle))
    assert other.recv_msg("arm/state", 20_000).value().q[0] == 1
    one.publisher("arm/state").send(State(np.ones(7), np.float32(0), Mode.idle))
    assert other.subscriber("arm/state").recv_msg(20_000).value().q[0] == 1


DIFFERENCE = (
    r"type mismatch between robot.State at publisher `arm \(\d+\)` and robot.State here: "
    r"(field `q` is float32\[7\] at publisher `arm \(\d+\)`, float64\[7\] here|their hashes are)"
)
MISMATCH = "topic arm/state: " + DIFFERENCE


def test_a_mismatch_when_the_publisher_is_first(ends: Callable[..., Any], backend: ModuleType) -> None:
    ends().register_topic("arm/state", transports="ipc", type=Narrow)
    viewer = ends("viewer")
    with pytest.raises(backend.TypeMismatch, match=MISMATCH):
        viewer.request_topic("arm/state", type=State, connected_within_ms=20_000)
    state = viewer.subscriber("arm/state")  # the request stays
    with pytest.raises(backend.TypeMismatch, match=MISMATCH):
        state.wait_connected(20_000)
    assert not state.connected and "type mismatch" in state.link.reason


def test_the_publisher_learns_of_a_mismatch(ends: Callable[..., Any], backend: ModuleType) -> None:
    logged: List[str] = []
    ends(log=lambda level, text: logged.append(f"{level}: {text}")).register_topic("arm/state", type=Narrow)
    with pytest.raises(backend.TypeMismatch, match=MISMATCH):
        ends("viewer").request_topic("arm/state", type=State, connected_within_ms=20_000)
    pattern = r"warning: topic arm/state: subscriber `viewer \(\d+\)` expects another type; it says: " + DIFFERENCE
    wait_until(lambda: any(re.match(pattern, line) for line in logged))


def test_a_mismatch_when_the_publisher_comes_later(ends: Callable[..., Any], backend: ModuleType) -> None:
    logged: List[str] = []
    viewer = ends("viewer", log=lambda level, text: logged.append(f"{level}: {text}"))
    state = viewer.request_topic("arm/state", type=State)
    publisher = ends()
    publisher.register_topic("arm/state", transports="ipc", type=Narrow)
    with pytest.raises(backend.TypeMismatch, match=MISMATCH):
        state.wait_connected(20_000)
    wait_until(lambda: any(each.startswith("warning: topic arm/state: type mismatch") for each in logged))
    publisher.unregister_topic("arm/state")
    right = publisher.register_topic("arm/state", transports="ipc", type=State)
    wait_until(lambda: state.connected)
    right.send(State(np.ones(7), np.float32(0), Mode.idle))
    assert state.recv_msg(20_000).value().q[0] == 1


def test_a_request_reports_a_mismatch_without_waiting_for_the_link(
    ends: Callable[..., Any], backend: ModuleType, broker: Any
) -> None:
    ends().register_topic("arm/state", transports="ipc", type=Narrow)
    with backend.Directory() as directory:
        type = directory.describe("arm/state").publication.type

        def is_there() -> bool:
            try:
                return bool(directory.find_type(type))
            except backend.UnknownType:
                return False

        wait_until(is_there)
    with pytest.raises(backend.TypeMismatch, match=MISMATCH):
        ends("viewer").request_topic("arm/state", type=State)


def test_the_check_can_be_switched_off(ends: Callable[..., Any]) -> None:
    ends().register_topic("arm/state", transports="ipc", type=Narrow)
    state = ends().request_topic("arm/state", type=State, type_check="off", connected_within_ms=20_000)
    assert state.connected


def test_the_directory_shows_types(ends: Callable[..., Any], backend: ModuleType) -> None:
    big = backend.TypeDescription("robot.Big", "own", "own", bytes(range(256)) * 400)  # in four parts
    ends().register_topic("arm/state", transports="ipc", type=big)
    ends().request_topic("arm/state", type=big, connected_within_ms=20_000)
    with backend.Directory() as directory:
        found = directory.describe("arm/state")
        expected = backend.TopicType("robot.Big", "own", "own", big.hash, len(big.schema))
        assert found.publication.type == expected and found.subscriptions[0].type == expected

        def kept() -> Any:
            try:
                return directory.find_type(expected)
            except backend.UnknownType:
                return None

        assert wait_until(kept) == big
        with pytest.raises(backend.UnknownType):
            directory.find_type(dataclasses.replace(expected, hash=1))


def test_types_come_back_after_the_broker(ends: Callable[..., Any], backend: ModuleType, broker: Any) -> None:
    ends().register_topic("arm/state", transports="ipc", type=Narrow)
    broker.kill()
    broker.start()
    with pytest.raises(backend.TypeMismatch, match=MISMATCH):
        ends("viewer").request_topic("arm/state", type=State, connected_within_ms=20_000)


def test_a_struct_over_shm_is_read_where_it_was_made(native: ModuleType, broker: Any) -> None:
    with native.Participant() as one, native.Participant() as other:
        publisher = one.register_topic("arm/state", transports="shm", type=State)
        subscriber = other.request_topic("arm/state", type=State, transports="shm", connected_within_ms=20_000)
        with publisher.loan() as state:
            state.q[:] = range(7)
        message = subscriber.recv_msg(20_000)
        found = message.value()
        assert found.q[6] == 6 and found.q.ctypes.data == np.frombuffer(message, np.uint8).ctypes.data
        with pytest.raises(BufferError):
            message.release()  # a view of it exists
        del found
        message.release()
        with pytest.raises(ValueError, match="released"):
            message.value()
