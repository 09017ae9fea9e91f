"""Namespaces: robots with the same programs at one broker (liborc/doc/guide/several-robots.md)."""

from __future__ import annotations

import itertools
import pathlib
import subprocess
from types import ModuleType
from typing import Any, Iterator, List, Tuple

import pytest

import orc
from conftest import _module
from support import BrokerProcess, environment, wait_until

SECONDS = 20
MS = SECONDS * 1000


@pytest.fixture(params=["-".join(each) for each in itertools.product(("native", "pure"), repeat=2)])
def modules(request: pytest.FixtureRequest) -> Tuple[ModuleType, ModuleType]:
    """Of the robot, and of the other programs."""
    first, second = request.param.split("-")
    return _module(first), _module(second)


@pytest.fixture
def robots(modules: Tuple[ModuleType, ModuleType], broker: BrokerProcess) -> Iterator[Tuple[Any, Any, Any]]:
    """robot7, a second program in its namespace, and lab/robot8."""
    robot, other = modules
    with robot.Participant(namespace="robot7", name="seven") as seven:
        with other.Participant(namespace="robot7") as beside, other.Participant(namespace="lab/robot8") as eight:
            yield seven, beside, eight


def names(module: ModuleType, pattern: str = "**") -> List[str]:
    return [each.name for each in module.Directory().topics(pattern) if "/." not in each.name and each.name[0] != "."]


def test_resolve(backend: ModuleType, broker: BrokerProcess) -> None:
    with backend.Participant(namespace="robot7") as participant:
        given = ("pose", "arm/pose", "/estop", "/lab/estop", "**", "")
        assert [participant.resolve(each) for each in given] == [
            "robot7/pose",
            "robot7/arm/pose",
            "estop",
            "lab/estop",
            "robot7/**",
            "",
        ]
    with backend.Participant() as participant:
        assert (participant.resolve("pose"), participant.resolve("/pose")) == ("pose", "pose")


def test_the_environment(backend: ModuleType, broker: BrokerProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORC_NAMESPACE", "robot7")
    for namespace, expected in (
        ("", "robot7/pose"),
        ("robot8", "robot8/pose"),
        ("/robot8", "robot8/pose"),
        ("/", "pose"),
    ):
        with backend.Participant(namespace=namespace) as participant:
            assert participant.resolve("pose") == expected
            assert participant.register_topic("pose").topic == expected


@pytest.mark.parametrize(
    "namespace", ["lab//robot7", "robot7/", "//robot7", "robot 7", ".orc", "lab/.x", "x" * 254, "a*"]
)
def test_a_bad_namespace(backend: ModuleType, broker: BrokerProcess, namespace: str) -> None:
    with pytest.raises(orc.BadArgument, match="ORC_NAMESPACE"):
        with backend.Participant(namespace=namespace) as participant:
            participant.register_topic("pose")


def test_a_name_that_is_too_long_with_its_namespace(backend: ModuleType, broker: BrokerProcess) -> None:
    with backend.Participant(namespace="robot7") as participant:
        longest = "x" * (255 - len("robot7/"))
        participant.register_topic(longest)
        participant.send_msg(longest, b"1")
        for name in (longest + "x", "//pose", "/", ""):
            with pytest.raises(orc.BadName):
                participant.register_topic(name)
            with pytest.raises(orc.NotRegistered):
                participant.send_msg(name, b"1")
            with pytest.raises(orc.NotRequested):
                participant.recv_msg(name, 0)


def test_topics(robots: Tuple[Any, Any, Any], modules: Tuple[ModuleType, ModuleType]) -> None:
    seven, beside, eight = robots
    for each in (seven, eight):
        each.register_topic("pose")
    for each in (beside, eight):
        each.request_topic("pose", connected_within_ms=MS)
    assert names(modules[1]) == names(modules[1], "/**") == ["lab/robot8/pose", "robot7/pose"]
    assert modules[1].Directory().describe("/robot7/pose").name == "robot7/pose"
    with pytest.raises(orc.UnknownTopic):
        modules[1].Directory().describe("pose")
    seven.send_msg("pose", b"7")
    eight.send_msg("/lab/robot8/pose", b"8")
    assert bytes(beside.recv_msg("/robot7/pose", MS)) == b"7"
    assert bytes(eight.recv_msg("pose", MS)) == b"8"
    with modules[1].Directory().watch("/robot7/*") as watch:
        assert watch.next_change(MS).topic.name == "robot7/pose"

    assert beside.subscriber("pose") is beside.subscriber("/robot7/pose")
    assert beside.subscriber("pose").topic == "robot7/pose"
    assert beside.request_topic("/robot7/pose") is beside.subscriber("pose")
    seven.unregister_topic("/robot7/pose")
    beside.release_topic("pose")
    with pytest.raises(orc.NotRegistered):
        seven.publisher("pose")
    with pytest.raises(orc.NotRequested):
        beside.subscriber("/robot7/pose")


def test_types_belong_to_the_full_name(robots: Tuple[Any, Any, Any]) -> None:
    seven, beside, _ = robots
    seven.register_topic("/robot7/state", type=dict)
    beside.request_topic("state", type=dict, connected_within_ms=MS)
    seven.publisher("state").send({"q": 1})
    assert beside.recv_msg("state", MS).value() == {"q": 1}
    with pytest.raises(orc.NameTaken):
        beside.register_topic("/robot7/state", type=dict)


@pytest.mark.parametrize("modules", ["native-native"], indirect=True)
def test_services(robots: Tuple[Any, Any, Any], modules: Tuple[ModuleType, ModuleType]) -> None:
    seven, beside, eight = robots
    service = seven.serve("who", lambda request: ["seven", request])
    assert service.name == "robot7/who"
    with eight.serve("who", lambda request: ["eight", request]), eight.serve("/map", lambda request: "map"):
        beside.wait_for_service("who", SECONDS)
        assert beside.call("who", 1, deadline=SECONDS).result() == ["seven", 1]
        assert beside.call("/lab/robot8/who", 2, deadline=SECONDS).result() == ["eight", 2]
        assert eight.call("/robot7/who", 3, deadline=SECONDS).result() == ["seven", 3]
        assert seven.call("/map", 4, deadline=SECONDS).result() == "map"
        found = [each.name for each in orc.find_services(modules[1].Directory())]
        assert found == ["lab/robot8/who", "map", "robot7/who"]
        with pytest.raises(orc.NameTaken):
            seven.serve("/robot7/who", lambda request: None)
    with pytest.raises(orc.BadName):
        seven.serve("x" * 225, lambda request: None)


@pytest.mark.parametrize("modules", ["native-native"], indirect=True)
def test_parameters(robots: Tuple[Any, Any, Any], modules: Tuple[ModuleType, ModuleType]) -> None:
    seven, beside, eight = robots
    gain, other = seven.parameter("gain", 1.0), eight.parameter("gain", 1.0)
    limit = eight.parameter("/limit", 1.0)
    assert [each.name for each in orc.list_parameters(modules[1].Directory())] == [
        "lab/robot8/gain",
        "limit",
        "robot7/gain",
    ]
    assert beside.set_parameter("gain", 2.0) == 2.0
    assert beside.set_parameter("/limit", 3.0) == 3.0
    assert (gain.value, other.value, limit.value) == (2.0, 1.0, 3.0)
    assert beside.get_parameter("/lab/robot8/gain") == 1.0
    assert [each.name for each in beside.get_parameters()] == ["robot7/gain"]
    assert len(beside.get_parameters("/**")) == 3
    toml, _ = beside.save_parameters("/**")
    gain.set(9.0)
    assert [each.error for each in eight.load_parameters(toml)] == [None, None, None]
    assert gain.value == 2.0
    gain.close()
    wait_until(lambda: "robot7/gain" not in names(modules[1]))


def test_beside_cpp(backend: ModuleType, broker: BrokerProcess, bin_dir: pathlib.Path) -> None:
    """The tools are in C++."""

    def run(*words: str) -> str:
        done = subprocess.run(
            [bin_dir / "orc", *words],
            env=environment(ORC_NAMESPACE="robot7"),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    with backend.Participant(namespace="robot7") as participant:
        participant.register_topic("pose").send_msg(b"here")
        participant.request_topic("goal")
        assert "here" in run("topic", "echo", "pose", "--once", "--raw")
        run("topic", "pub", "goal", "there")
        assert bytes(participant.recv_msg("goal", MS)) == b"there"
        if backend.backend == "pure":
            return
        gain = participant.parameter("gain", 1.0)
        with participant.serve("twice", lambda request: 2 * request):
            assert run("service", "call", "twice", "21").strip() == "42"
            assert run("param", "set", "gain", "2.5").strip() == "2.5"
            assert gain.value == 2.5
