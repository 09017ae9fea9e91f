"""Parameters between Python and C++: the tool `orc param`, an example, and tests/support/parameter_peer_main.cpp."""

from __future__ import annotations

import json
import pathlib
import signal
import subprocess
from typing import Any, Callable, Iterator, List, Optional

import pytest

from calls_fixtures import AMPLE_S, Sides
from support import BrokerProcess, environment, wait_until


@pytest.fixture
def sides(far_sides: Sides) -> Sides:
    """Over each transport between processes."""
    return far_sides


@pytest.fixture
def tool(bin_dir: pathlib.Path, sides: Sides) -> Callable[..., "subprocess.CompletedProcess[str]"]:
    """tool("get", "pid/gain") runs orc param. It needs a transport that the other programs have, too."""

    def run(*arguments: str, text: Optional[str] = None) -> "subprocess.CompletedProcess[str]":
        verb, *more = arguments
        command = [str(bin_dir / "orc"), "param", verb, "--timeout", str(AMPLE_S), *more]
        variables = environment(ORC_TRANSPORTS=sides.transport)
        return subprocess.run(command, env=variables, input=text, capture_output=True, text=True, timeout=60)

    return run


@pytest.fixture
def start(sides: Sides) -> Iterator[Callable[..., "subprocess.Popen[str]"]]:
    """start(program, *arguments): a C++ program."""
    made: List["subprocess.Popen[str]"] = []

    def run(program: pathlib.Path, *arguments: str) -> "subprocess.Popen[str]":
        if not program.exists():
            pytest.skip(f"{program} is not there: tools/dev build")
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        made.append(
            subprocess.Popen(
                [str(program), *arguments], env=environment(ORC_TRANSPORTS=sides.transport), text=True, **pipes
            )
        )
        return made[-1]

    yield run
    for each in made:
        each.kill()
        each.communicate()


@pytest.fixture
def peer(bin_dir: pathlib.Path, broker: BrokerProcess, sides: Sides, start: Any) -> "subprocess.Popen[str]":
    """A C++ program with parameters pid/…"""
    program = bin_dir.parent / "tests/bin/orc_test_parameter_peer"
    running = start(program, broker.endpoint, sides.transport)
    assert running.stdout.readline() == "ready\n"
    return running  # type: ignore[no-any-return]


def test_python_gets_and_sets_parameters_of_cpp(sides: Sides, peer: Any) -> None:
    client, orc = sides.client, sides.orc
    assert client.get_parameter("pid/gain", AMPLE_S) == 1.0
    assert client.set_parameter("pid/gain", 3, AMPLE_S) == 3.0
    assert peer.stdout.readline() == "gain 3\n"
    assert client.set_parameter("pid/steps", 4.0, AMPLE_S) == 4
    assert client.set_parameter("pid/on", True, AMPLE_S) is True
    assert client.set_parameter("pid/mode", "off", AMPLE_S) == "off"
    assert client.set_parameter("pid/gains", [1, -2.5], AMPLE_S) == [1.0, -2.5]
    for name, value, kind, text in (
        ("gain", 11, orc.BadArgument, "pid/gain is a number from 0.0 to 10.0 N, not 11.0"),
        ("gain", float("nan"), orc.BadArgument, "pid/gain is a number from 0.0 to 10.0 N"),
        (
            "steps",
            2**40,
            orc.BadArgument,
            "pid/steps is a whole number from -2147483648 to 2147483647, not 10995116277",
        ),
        ("mode", "on", orc.BadArgument, 'pid/mode is one of "auto", "off", not "on"'),
        ("even", 3, orc.BadArgument, "pid/even cannot be 3: it is odd"),
        ("version", "2", orc.Refused, "pid/version is read-only: only its program sets it"),
        ("none", 1, orc.UnknownTopic, "no program has the parameter pid/none"),
    ):
        with pytest.raises(kind) as refused:
            client.set_parameter(f"pid/{name}", value, AMPLE_S)
        assert str(refused.value).startswith(text)


def test_python_lists_saves_and_loads_parameters_of_cpp(sides: Sides, peer: Any, tool: Any) -> None:
    directory = sides.orc.Directory()
    found = wait_until(lambda: _seven(sides.orc.list_parameters(directory)))
    gain = next(each for each in found if each.name == "pid/gain")
    assert (gain.initial, gain.min, gain.max, gain.unit) == (1.0, 0.0, 10.0, "N")
    assert (gain.description, gain.owner.name) == ("of the inner loop", "parameter peer")
    toml, outcomes = sides.client.save_parameters(timeout=AMPLE_S)
    assert toml == tool("save", "-").stdout and len(outcomes) == 6
    assert toml == '[pid]\neven = 2\ngain = 1.0\ngains = [1.0,2.0]\nmode = "auto"\non = false\nsteps = 3\n'
    sides.client.set_parameter("pid/gain", 7, AMPLE_S)
    loaded = sides.client.load_parameters(toml, AMPLE_S)
    assert [each.error for each in loaded] == [None] * 6
    assert sides.client.get_parameter("pid/gain", AMPLE_S) == 1.0


def _seven(found: List[Any]) -> Any:
    return found if len(found) == 7 else None


def test_a_killed_program_in_cpp_has_no_parameters(sides: Sides, peer: Any) -> None:
    assert sides.client.get_parameter("pid/gain", AMPLE_S) == 1.0
    peer.kill()
    peer.wait(20)

    def is_gone() -> bool:
        try:
            sides.client.get_parameter("pid/gain", 1.0)
        except sides.orc.UnknownTopic:
            return True
        except sides.orc.TimedOut:
            pass
        return False

    wait_until(is_gone)


def test_the_tool_lists_gets_sets_saves_and_loads_parameters_of_python(sides: Sides, tool: Any) -> None:
    server = sides.server
    gain = server.parameter("py/gain", 0.1, min=0, max=10, unit="N", description="of the loop")
    steps = server.parameter("py/steps", 3)
    mode = server.parameter("mode", "auto", choices=["auto", "öff"])
    gains = server.parameter("py/gains", [1, 2.5])
    big = server.parameter("py/big", 1234567890123456.0)
    even = server.parameter("py/even", 2, validate=lambda value: "it is odd" if value % 2 else None)
    server.parameter("py/version", "1", read_only=True)
    names = "mode\npy/big\npy/even\npy/gain\npy/gains\npy/steps\npy/version\n"
    wait_until(lambda: tool("list").stdout == names)
    table = tool("list", "-v").stdout
    for text in ("a number from 0.0 to 10.0 N", "of the loop", 'one of "auto", "öff"', "read-only", "server ("):
        assert text in table
    assert tool("get", "py/gain").stdout == "0.1\n"
    assert tool("set", "py/gain", "3").stdout == "3.0\n" and gain.value == 3.0
    assert tool("set", "mode", "öff").stdout == "öff\n" and mode.value == "öff"
    assert tool("set", "py/gains", "[1,-2]").stdout == "[1.0,-2.0]\n" and gains.value == [1.0, -2.0]
    assert json.loads(tool("get", "py/big", "--json").stdout)["value"] == big.value
    for arguments, text in (
        (("py/gain", "11"), "py/gain is a number from 0.0 to 10.0 N, not 11.0"),
        (("py/steps", "1.5"), "py/steps is a whole number, not 1.5"),
        (("py/even", "3"), "py/even cannot be 3: it is odd"),
        (("py/version", "2"), "py/version is read-only: only its program sets it"),
    ):
        done = tool("set", *arguments)
        assert done.returncode == 1 and text in done.stderr
    toml = tool("save", "-").stdout
    assert toml == sides.client.save_parameters(timeout=AMPLE_S)[0]
    assert "big = 1.234567890123456e+15\n" in toml
    gain.value, steps.value, mode.value = 0, 0, "auto"
    loaded = tool("load", "-", text=toml)
    assert loaded.returncode == 0, loaded.stderr
    assert (gain.value, steps.value, mode.value, even.value) == (3.0, 3, "öff", 2)


def test_the_description_of_a_parameter_is_that_of_cpp(sides: Sides, peer: Any) -> None:
    """Byte for byte: the same parameter in both languages has one type."""
    server = sides.server
    server.parameter("py/gain", 1.0, min=0, max=10, unit="N", description="of the inner loop")
    server.parameter("py/mode", "auto", choices=["auto", "off"])
    server.parameter("py/gains", [1, 2])
    server.parameter("py/version", "1.2", read_only=True)
    server.parameter("py/on", False)
    directory = sides.orc.Directory()
    for name in ("gain", "mode", "gains", "version", "on"):
        ours, theirs = (directory.describe(f"{prefix}/{name}").publication.type for prefix in ("py", "pid"))
        assert ours == theirs


def test_an_example_in_cpp_is_tuned_from_python(sides: Sides, bin_dir: pathlib.Path, start: Any) -> None:
    controller = start(bin_dir / "orc_example_tuned_controller")
    assert controller.stdout.readline() == "force 0.1 N\n"
    assert sides.client.set_parameter("controller/gain", 2.5, AMPLE_S) == 2.5
    assert controller.stdout.readline() == "force 0.25 N\n"
    assert sides.client.set_parameter("controller/mode", "follow", AMPLE_S) == "follow"
    assert controller.stdout.readline() == "mode follow\n"
    with pytest.raises(sides.orc.BadArgument, match='one of "hold", "follow"'):
        sides.client.set_parameter("controller/mode", "fly", AMPLE_S)
    controller.send_signal(signal.SIGINT)
    assert controller.wait(20) == 0
