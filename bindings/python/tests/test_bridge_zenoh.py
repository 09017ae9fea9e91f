"""The bridge to Zenoh: topics between networks of ORC, and with programs that know Zenoh only."""

from __future__ import annotations

import dataclasses
import datetime
import pathlib
import struct
import subprocess
import sys
import time
from typing import Any, List

import pytest

from support import environment, wait_until

zenoh = pytest.importorskip("zenoh", reason="eclipse-zenoh is not installed: pip install eclipse-zenoh")
np = pytest.importorskip("numpy")

import orc  # noqa: E402
from bridge_fixtures import Fleet, Heard, fleet, free_port, one_fleet, put, receive, wait_for_subscriber  # noqa: E402
from orc.bridge._shared.settings_file import SettingsError  # noqa: E402
from orc.bridge.zenoh import settings_of  # noqa: E402

__all__ = ["fleet", "one_fleet"]


@dataclasses.dataclass
class State:
    __orc_name__ = "robot.State"
    position: np.float64
    mode: np.int32


@dataclasses.dataclass
class OtherState:
    __orc_name__ = "robot.State"
    position: np.float32
    mode: np.int32


def test_typed_samples_of_all_sizes_cross_two_bridges(fleet: Fleet) -> None:
    fleet.bridge("r1", "--topic", "**")
    fleet.bridge("r2", "--topic", "**")
    sender, receiver = fleet.participant("r1"), fleet.participant("r2")
    state = sender.register_topic("arm/state", type=State)
    there = receiver.request_topic("r1/arm/state", type=State)
    state.send(State(1.5, 3))
    assert wait_until(lambda: there.recv_msg(100)).value() == State(1.5, 3)

    image = sender.register_topic("camera/image")
    images = receiver.request_topic("r1/camera/image")
    for size in (10, 1_000, 65_536, 65_537, 1_000_000, 10_000_000, 10):
        data = bytes([size % 251]) * size
        image.send_msg(data)
        receive(images, data)


def test_two_bridges_need_no_router_when_one_listens(one_fleet: Fleet) -> None:
    where = f"tcp/127.0.0.1:{free_port()}"
    one_fleet.bridge("r1", "--topic", "**", "--listen", where, router=False)
    one_fleet.bridge("r2", "--topic", "**", "--connect", where, router=False)
    there, here = one_fleet.participant("r1"), one_fleet.participant("r2")
    for sender, receiver, robot in ((there, here, "r1"), (here, there, "r2")):
        topic, got = sender.register_topic(f"of/{robot}"), receiver.request_topic(f"{robot}/of/{robot}")
        for size in (10, 1_000_000):
            topic.send_msg(bytes(size))
            receive(got, bytes(size))


def test_a_subscriber_of_another_type_gets_nothing_and_an_error(fleet: Fleet) -> None:
    fleet.bridge("r1", "--topic", "arm/*")
    fleet.bridge("r2", "--topic", "arm/*")
    state = fleet.participant("r1").register_topic("arm/state", type=State)
    receiver = fleet.participant("r2")
    right = receiver.request_topic("r1/arm/state", type=State)
    state.send(State(2.5, 1))
    assert wait_until(lambda: right.recv_msg(100)).value() == State(2.5, 1)
    with pytest.raises(fleet.orc.TypeMismatch, match="type mismatch"):
        fleet.participant("r2").request_topic("r1/arm/state", type=OtherState, connected_within_ms=20_000)


def test_a_publisher_may_change_its_type(one_fleet: Fleet) -> None:
    one_fleet.bridge("r1", "--topic", "arm/*")
    one_fleet.bridge("r2", "--topic", "arm/*")
    any_type = one_fleet.participant("r2").request_topic("r1/arm/state")
    first = one_fleet.participant("r1")
    first.register_topic("arm/state", type=State).send(State(1.0, 1))
    receive(any_type, struct.pack("<di4x", 1.0, 1))
    first.close()
    second = one_fleet.participant("r1").register_topic("arm/state", type=OtherState)
    second.send(OtherState(2.0, 2))
    receive(any_type, struct.pack("<fi", 2.0, 2))
    changed = one_fleet.participant("r2").request_topic("r1/arm/state", type=OtherState)
    assert wait_until(lambda: changed.recv_msg(100)).value().mode == 2


def test_stock_programs_of_zenoh_exchange_samples_with_orc(fleet: Fleet) -> None:
    fleet.bridge("r1", "--topic", "arm/**", "--prefix", "fleet/eu")
    session = fleet.session()
    heard = Heard(session, "fleet/eu/*/arm/state")
    local = fleet.participant("r1")
    state = local.register_topic("arm/state", type=State)
    state.send(State(4.0, 2))
    sample = heard.wait_for(struct.pack("<di4x", 4.0, 2))
    assert str(sample.key_expr) == "fleet/eu/r1/arm/state" and sample.express
    head = struct.unpack_from("<2sBBQq16sQQqB", sample.attachment.to_bytes())
    assert head[:4] == (b"OZ", 2, 1, 1) and head[4] > 10**18
    assert sample.attachment.to_bytes().endswith(b"robot.State")

    command = local.request_topic("desk/arm/command")
    wait_for_subscriber(session, "fleet/eu/desk/arm/command")
    put(session, "fleet/eu/desk/arm/command", b"by hand")
    receive(command, b"by hand")


def test_only_allowed_topics_cross_in_their_direction(one_fleet: Fleet) -> None:
    settings = """
        [[topic]]
        name = "arm/state"
        direction = "out"

        [[topic]]
        name = "arm/command"
        direction = "in"
        from = "desk"
        as = "remote/{topic}"
    """
    bridge = one_fleet.bridge("r1", "--file", one_fleet.file(settings))
    session = one_fleet.session()
    heard = Heard(session, "orc/r1/**")
    local = one_fleet.participant("r1")
    local.register_topic("secret").send_msg(b"secret")
    local.register_topic("arm/command").send_msg(b"own")
    command, state = local.request_topic("remote/arm/command"), local.request_topic("desk/arm/state")
    wait_for_subscriber(session, "orc/desk/arm/command")
    put(session, "orc/desk/arm/state", b"not allowed")
    put(session, "orc/other/arm/command", b"not from there")
    put(session, "orc/desk/arm/command", b"go")
    assert receive(command, b"go") == [b"go"]
    local.register_topic("arm/state").send_msg(b"here")
    heard.wait_for(b"here")
    assert {str(each.key_expr) for each in heard.samples} == {"orc/r1/arm/state"}
    assert state.recv_msg(0) is None
    assert bridge.end()["received"] == 1


def test_what_a_bridge_brought_in_does_not_leave_again(one_fleet: Fleet) -> None:
    """Two bridges of one network, two of the other: a sample that went round would come back under a new name."""
    for robot in ("r1", "r2"):
        one_fleet.bridge(robot, "--topic", "**")
    second = [one_fleet.bridge(each, "--topic", "**", "--robot", f"{each}-b") for each in ("r1", "r2")]
    session = one_fleet.session()
    heard = Heard(session, "orc/**")
    sender, receiver = one_fleet.participant("r1"), one_fleet.participant("r2")
    topic = sender.register_topic("arm/state")
    there = receiver.request_topic("r1/arm/state")
    for number in range(20):
        topic.send_msg(b"%d" % number)
        receive(there, b"%d" % number)
    wait_until(lambda: sum(each.payload.to_bytes() == b"19" for each in heard.samples) >= 4)
    keys = {str(each.key_expr) for each in heard.samples}
    assert keys == {"orc/r1/arm/state", "orc/r1-b/arm/state"}
    names = {each.name for each in one_fleet.orc.Directory(one_fleet.broker("r1")).topics()}
    assert names == {"arm/state"}
    assert second[0].end()["loop"] > 0


def test_a_late_joiner_gets_the_last_sample(fleet: Fleet) -> None:
    fleet.bridge("r1", "--topic", "**")
    sender = fleet.participant("r1")
    sender.register_topic("arm/state").send_msg(b"once")
    large = bytes(200_000)
    sender.register_topic("map").send_msg(large)
    commands = sender.register_topic("arm/command", keep_last=False)
    heard = Heard(fleet.session(), "orc/r1/**")
    sender.register_topic("last").send_msg(b"last")
    heard.wait_for(b"last")
    commands.send_msg(b"old")
    heard.wait_for(b"old")

    fleet.bridge("r2", "--topic", "**")  # nothing is sent from here on
    receiver = fleet.participant("r2")
    receive(receiver.request_topic("r1/arm/state"), b"once")
    receive(receiver.request_topic("r1/map"), large)
    receive(receiver.request_topic("r1/last"), b"last")
    command = receiver.request_topic("r1/arm/command")
    assert command.recv_msg(0) is None

    def arrives() -> Any:
        commands.send_msg(b"new")  # a command reaches those that are connected
        return command.recv_msg(100)

    assert bytes(wait_until(arrives)) == b"new"


@pytest.mark.parametrize(
    "arguments, why",
    [
        ([], "nothing may cross"),
        (["--topic", "a", "--prefix", "a//b"], "prefix"),
        (["--topic", "a", "--robot", "a/b"], "robot"),
        (["--topic", "a", "--domain", "900"], "domain"),
        (["--topic", "a" * 256], "name"),
    ],
)
def test_bad_options_are_refused(arguments: List[str], why: str) -> None:
    with pytest.raises(SettingsError, match=why):
        settings_of(arguments)


@pytest.mark.parametrize(
    "text, why",
    [
        ('[[topic]]\nname = "a"\nspeed = 1', "unknown key speed"),
        ('[[topic]]\nname = "a"\npriority = "high"', "real_time"),
        ('[[topic]]\nname = "a"\nclass = "huge"', "class"),
        ('[[topic]]\nname = "a"\nmax_rate = -1', "max_rate"),
        ("[[topic]]\nname = 1", "str"),
        ('[topic]\nname = "a"', r"\[\[topic\]\]"),
        ('[[service]]\nname = "a*"', "without"),
        ('[[service]]\nname = "a"\ndirection = "in"', "which robot"),
        ('format = "rmw_zenoh"\n[[service]]\nname = "a"\ndirection = "out"', "format orc only"),
        ('large_bytes = 0\n[[topic]]\nname = "a"', "large_bytes"),
        ('connect = [1]\n[[topic]]\nname = "a"', "connect"),
        ("topics = []", "unknown key topics"),
        ("a = ", "file.toml"),
    ],
)
def test_bad_files_are_refused(tmp_path: pathlib.Path, text: str, why: str) -> None:
    path = tmp_path / "file.toml"
    path.write_text(text)
    with pytest.raises(SettingsError, match=why):
        settings_of(["--file", str(path)])


def test_a_bad_address_ends_the_program(one_fleet: Fleet) -> None:
    bridge = one_fleet.bridge("r1", "--topic", "a", "--connect", "no address", ready=False)
    assert bridge.process.wait(60) == 2
    wait_until(lambda: bridge.wrote("configuration of Zenoh"))


def test_the_tool_starts_the_bridge_and_names_what_is_missing(bin_dir: pathlib.Path, tmp_path: pathlib.Path) -> None:
    def run(python: str, *arguments: str, **changes: str) -> Any:
        command = [str(bin_dir / "orc"), "bridge", "zenoh", *arguments]
        env = environment(ORC_PYTHON=python, **changes)
        return subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)

    shown = run(sys.executable, "--help")
    assert shown.returncode == 0 and shown.stdout.startswith("usage: orc bridge zenoh")
    assert run(sys.executable).returncode == 2

    bare = tmp_path / "python3"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    bare.chmod(0o755)
    without_orc = run(str(bare), "--topic", "a", PYTHONPATH="")
    assert without_orc.returncode == 1 and "pip install 'orc-middleware[zenoh]'" in without_orc.stderr
    (tmp_path / "packages").mkdir()
    (tmp_path / "packages/orc").symlink_to(pathlib.Path(orc.__file__).parent)
    without_zenoh = run(str(bare), "--topic", "a", PYTHONPATH=str(tmp_path / "packages"))
    assert without_zenoh.returncode == 1 and "pip install eclipse-zenoh" in without_zenoh.stderr
    nothing = run(str(tmp_path / "none"), "--topic", "a")
    assert nothing.returncode == 1 and "cannot run" in nothing.stderr


def test_a_rate_keeps_the_newest_sample(one_fleet: Fleet) -> None:
    rule = '[[topic]]\nname = "arm/state"\ndirection = "out"\nmax_rate = 4\npriority = "real_time"\n'
    one_fleet.bridge("r1", "--file", one_fleet.file(rule))
    heard = Heard(one_fleet.session(), "orc/r1/arm/state")
    state = one_fleet.participant("r1").register_topic("arm/state")
    state.send_msg(b"begin")
    assert heard.wait_for(b"begin").priority == zenoh.Priority.REAL_TIME
    began = time.monotonic()
    for number in range(100):
        state.send_msg(b"%d" % number)
    heard.wait_for(b"99")
    numbers = [int(each.payload.to_bytes()) for each in heard.samples if each.payload.to_bytes() != b"begin"]
    assert numbers == sorted(numbers) and len(set(numbers)) <= 2 + 4 * (time.monotonic() - began)


def test_publishers_of_a_shared_topic_are_told_apart(one_fleet: Fleet) -> None:
    one_fleet.bridge("r1", "--topic", "**")
    one_fleet.bridge("r2", "--topic", "**")
    ends = [one_fleet.participant("r1").register_topic("alarm", shared=True) for _ in range(2)]
    heard = Heard(one_fleet.session(), "orc/r1/alarm")
    there = one_fleet.participant("r2").request_topic("r1/alarm")
    for number in range(6):
        ends[number % 2].send_msg(b"%d" % number)
        receive(there, b"%d" % number)
    heard.wait_for(b"5")
    ids = {each.attachment.to_bytes()[20:36].hex() for each in heard.samples}
    published = one_fleet.orc.Directory(one_fleet.broker("r1")).describe("alarm")
    assert ids <= {each.id for each in [published.publication, *published.others]} and len(ids) == 2


def test_a_sample_of_a_stock_program_is_as_old_as_its_timestamp(one_fleet: Fleet) -> None:
    one_fleet.bridge("r1", "--topic", "arm/**")
    session = one_fleet.session()
    command = one_fleet.participant("r1").request_topic("desk/arm/command")
    wait_for_subscriber(session, "orc/desk/arm/command")
    old = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(seconds=5)
    stamp = zenoh.Timestamp(old, b"\1")
    session.put("orc/desk/arm/command", b"old", timestamp=stamp)
    message = wait_until(lambda: command.recv_msg(100))
    assert bytes(message) == b"old" and message.age_ns >= 5 * 10**9 - 10**6
