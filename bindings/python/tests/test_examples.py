"""The examples, as real processes with a real broker: they do what their first lines say, and end on Ctrl-C."""

from __future__ import annotations

import contextlib
import pathlib
import signal
import struct
import subprocess
import sys
import time
from typing import Iterator

import pytest

from support import PACKAGE, BrokerProcess, environment, wait_until

np = pytest.importorskip("numpy")
EXAMPLES = PACKAGE / "examples"
PROGRAMS = sorted(path.name for path in EXAMPLES.glob("*.py"))


@contextlib.contextmanager
def example(name: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """It runs, with its output as a pipe; ended by force if the test did not end it."""
    process = subprocess.Popen(
        [sys.executable, str(EXAMPLES / name), *arguments], env=environment(), stdout=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def interrupted(process: subprocess.Popen[str]) -> str:
    """What it still printed after Ctrl-C, which ended it cleanly."""
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=20)
    assert process.returncode == 0
    return out


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


@pytest.mark.parametrize("name", PROGRAMS)
def test_help(name: str) -> None:
    if name == "recording_arrays.py":
        pytest.importorskip("mcap")
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name), "--help"], env=environment(), capture_output=True, text=True, timeout=60
    )
    expected = "--plot" if name == "recording_arrays.py" else "--broker"
    assert done.returncode == 0 and expected in done.stdout, done.stderr


def test_force_controller_answers_the_robot(broker: BrokerProcess) -> None:
    import orc

    with example("force_controller.py") as controller, orc.Participant() as robot:
        positions = robot.register_topic("robot_position")
        commands = robot.request_topic("robot_control")
        assert "waiting" in line(controller)
        angles = np.arange(7.0)

        def answered() -> bool:
            positions.send_msg(angles)
            message = commands.recv_msg(100)
            return message is not None and np.array_equal(np.frombuffer(message), -2.0 * angles)

        wait_until(answered)
        assert interrupted(controller).endswith("ended\n")


def test_force_controller_survives_what_is_no_position(broker: BrokerProcess) -> None:
    import orc

    with example("force_controller.py") as controller, orc.Participant() as robot:
        positions = robot.register_topic("robot_position")
        wait_until(lambda: positions.readers > 0)
        positions.send_msg(struct.pack("<3d", 1, 2, 3))
        while "24 bytes are no" not in line(controller):
            assert controller.poll() is None
        interrupted(controller)


def test_viewer_sees_the_frames_of_the_camera(broker: BrokerProcess) -> None:
    import orc

    with example("camera.py", "--size", "120", "160", "--rate", "100") as camera:
        with example("camera_viewer.py", "--frames", "5") as viewer:
            out, _ = viewer.communicate(timeout=60)
            assert viewer.returncode == 0
        seen = out.splitlines()
        assert len(seen) == 5 and all(text.startswith("160x120, bar at ") for text in seen)
        over = "shm" if orc.backend == "native" else "ipc"
        assert seen[-1].endswith(f"over {over}")
        interrupted(camera)


def test_viewer_reads_the_slot_itself(broker: BrokerProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    import orc

    if orc.backend != "native":
        pytest.skip("orc.pure has no shared memory")
    monkeypatch.syspath_prepend(str(EXAMPLES))
    camera, viewer = (__import__(name) for name in ("camera", "camera_viewer"))
    with orc.Participant() as a, orc.Participant() as b:
        sending = a.register_topic("camera", transports=("shm",))
        frames = b.request_topic("camera", connected_within_ms=20000)
        camera.stream(sending, 4, 6, 1000.0, 1)
        image = viewer.view(frames.recv_msg(20000))
        assert image.shape == (4, 6) and not image.flags.owndata and not image.flags.writeable
        assert list(image[0]) == [255, 40, 40, 40, 40, 40]


def test_monitor_tells_rates_and_silence(broker: BrokerProcess) -> None:
    import orc

    with orc.Participant() as robot, example("monitor.py", "state", "nobody", "--every", "0.2") as monitor:
        state = robot.register_topic("state")
        counted = ""
        deadline = time.monotonic() + 30
        wait_until(lambda: state.readers > 0)
        while not counted:
            assert time.monotonic() < deadline
            for _ in range(20):
                state.send_msg(b"12345678")
                time.sleep(0.001)
            state_line, nobody = line(monitor), line(monitor)
            assert state_line.startswith("state: ") and nobody == "nobody: 0.0 Hz, 0.0 kB/s, skipped 0, silent\n"
            counted = "" if state_line.startswith("state: 0.0 Hz") else state_line
        assert "oldest" in counted
        interrupted(monitor)


def test_recording_becomes_arrays(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer_of = pytest.importorskip("mcap.writer").Writer
    import orc

    arm = np.dtype(
        [("q", "<f8", (7,)), ("mode", "u1"), ("label", "S8"), ("tool", [("force", "<f4", (3,))])], align=True
    )
    schema_bytes = orc.struct("robot.Arm", arm).description.schema
    sent = np.zeros(20, arm)
    sent["q"] = np.arange(140.0).reshape(20, 7)
    sent["mode"] = np.arange(20)
    sent["tool"]["force"] = -0.5
    with open(tmp_path / "run.mcap", "wb") as file:
        writer = writer_of(file)
        writer.start()
        schema = writer.register_schema("robot.Arm", "struct", schema_bytes)
        channel = writer.register_channel("arm", "struct", schema)
        for i, sample in enumerate(sent):
            writer.add_message(channel, 10**9 + 10_000_000 * i, sample.tobytes(), 10**9)
        writer.finish()
    monkeypatch.syspath_prepend(str(EXAMPLES))
    times, samples = __import__("recording_arrays").read(str(tmp_path / "run.mcap"), "arm")
    assert list(np.diff(times)) == 19 * [10_000_000]
    assert samples.dtype.itemsize == arm.itemsize
    for name in ("q", "mode", "label", "tool"):
        assert np.array_equal(samples[name], sent[name]), name
    with example("recording_arrays.py", str(tmp_path / "run.mcap"), "arm") as process:
        out, _ = process.communicate(timeout=60)
        assert process.returncode == 0
    assert out.splitlines() == [
        "arm: 20 samples in 0.190 s",
        "q: float64[20, 7], 0.0 to 139.0",
        "mode: uint8[20], 0 to 19",
        "tool.force: float32[20, 3], -0.5 to -0.5",
    ]
    with example("recording_arrays.py", str(tmp_path / "run.mcap"), "leg") as process:
        process.communicate(timeout=60)
        assert process.returncode == 1


def test_no_program_is_longer_than_a_page() -> None:
    for name in PROGRAMS:
        assert len((EXAMPLES / name).read_text().splitlines()) <= 80, name
