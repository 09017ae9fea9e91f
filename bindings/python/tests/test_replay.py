"""A traced program is killed, and replayed bit by bit: waits in slices, asyncio, buffers, age and clock."""

from __future__ import annotations

import pathlib
import subprocess
import sys
import textwrap
import threading
from types import ModuleType
from typing import Iterator

import pytest

from support import BrokerProcess, environment, run_python

WAITING = """
    import struct, sys, orc
    gain = float(sys.argv[1])
    participant = orc.Participant()
    out = participant.register_topic("out")
    state = participant.request_topic("state", connected_within_ms=20000)
    nothing = 0
    for step in range(1_000_000):
        message = state.recv_msg(120 if step % 2 else 0)  # longer than one slice
        nothing += message is None
        age = message.age_ns if message else 0
        value = int.from_bytes(memoryview(message)[:4], "little") if message else 0
        out.send_msg(struct.pack("<qqqd", step, nothing, age + orc.monotonic_ns(), gain * value))
        if step == 300:
            print("enough", flush=True)
"""
ASYNCIO = """
    import asyncio, struct, sys, orc
    gain = float(sys.argv[1])
    participant = orc.Participant()
    out = participant.register_topic("out")
    seen = 0

    async def follow(topic):
        global seen
        async for message in participant.request_topic(topic):
            seen += 1
            out.send_msg(struct.pack("<qqd", seen, message.sequence, gain * len(message)))
            if seen == 300:
                print("enough", flush=True)

    async def main():
        await asyncio.gather(follow("state"), follow("other"))

    asyncio.run(main())
"""


@pytest.fixture
def robot(native: ModuleType, broker: BrokerProcess) -> Iterator[None]:
    """Sends on two topics, with pauses that are longer than a slice of a wait."""
    ended = threading.Event()

    def run() -> None:
        with native.Participant() as participant:
            state, other = participant.register_topic("state"), participant.register_topic("other")
            step = 0
            while not ended.wait(0.15 if step % 100 == 99 else 0.001):
                step += 1
                state.send_msg(step.to_bytes(4, "little") * 30)
                if step % 3:
                    other.send_msg(b"x" * (step % 50))

    thread = threading.Thread(target=run)
    thread.start()
    yield
    ended.set()
    thread.join()


@pytest.mark.parametrize("code", [WAITING, ASYNCIO], ids=["waiting", "asyncio"])
def test_replays_are_equal_and_a_changed_constant_is_found(
    code: str, robot: None, bin_dir: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    trace = tmp_path / "trace"
    command = [sys.executable, "-c", textwrap.dedent(code)]
    traced = subprocess.Popen(
        [*command, "2.0"], env=environment(ORC_TRACE=str(trace)), stdout=subprocess.PIPE, text=True
    )
    assert traced.stdout is not None
    assert traced.stdout.readline() == "enough\n"
    traced.kill()
    traced.communicate()
    nowhere = environment(ORC_BROKER=f"ipc://{tmp_path}/nowhere")
    for gain, expected in [("2.0", 0)] * 20 + [("2.5", 1)]:
        replay = [str(bin_dir / "orc"), "replay", str(trace), "--", *command, gain]
        done = subprocess.run(replay, env=nowhere, capture_output=True, text=True, timeout=100)
        assert done.returncode == expected, done.stdout + done.stderr
        assert (": equal" in done.stdout) == (expected == 0)
    assert "send on topic out: byte " in done.stdout


def test_pure_warns_once_that_it_does_not_trace(run_dir: pathlib.Path) -> None:
    done = run_python(
        """
        import orc.pure
        told = []
        for _ in range(2):
            orc.pure.Participant(log=lambda level, text: told.append((level, text))).close()
        print([text for level, text in told if "ORC_TRACE" in text])
        """,
        ORC_TRACE=str(run_dir / "trace"),
    )
    assert done.stdout.count("this process is not traced") == 1
    assert not (run_dir / "trace").exists()
