"""The stubs say what the extension is, and a user's program passes mypy --strict."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
from typing import Any, Dict

import pytest

pytest.importorskip("mypy")

USER = """
import asyncio
from typing import Optional

import orc


def control(broker: orc.Participant) -> None:
    named = orc.TypeDescription("T")
    command: orc.Publisher = broker.register_topic("arm/command", transports=["shm", "ipc"], type=named)
    state: orc.Subscriber = broker.request_topic("arm/state", conflate=0, connected_within_ms=100)
    message: Optional[orc.Message] = state.recv_msg(-1)
    if message is None:
        return
    view = memoryview(message)
    command.send_msg(view)
    command.send_msg(message)
    command.send_msg(-2.0 * message.array("f8"))
    command.send_msg(bytearray(3))
    age: int = message.age_ns + message.sequence + message.stamp_ns + message.missed
    print(age, len(message), state.link.transport, command.readers)
    with command.loan(8) as place:
        place[0] = 1
    with state.on_message(lambda m: print(m.sequence)) as callback:
        callback.stop()
    if not command.wait_readers(1, 100):
        return


def look(directory: orc.Directory) -> None:
    topic: orc.TopicState = directory.describe("arm/state")
    if topic.publication is not None and topic.publication.counters is not None:
        print(topic.publication.participant.name, topic.publication.counters.sent)
    print([each.pid for each in directory.participants()], directory.broker().uptime_ms)
    with directory.watch(["arm/*", "leg/**"], participants=True) as watch:
        for change in watch:
            print(change.kind, change.topic.name if change.topic else "")
        polled: Optional[orc.Change] = watch.next_change(0)
        print(polled)


async def monitor(state: orc.Subscriber) -> None:
    first: orc.Message = await state.recv()
    print(first.sequence)
    async for message in state:
        print(message.age_ns)
    async for change in orc.Directory().watch():
        print(change.kind)


try:
    with orc.Participant("ipc:///tmp/x", name="me", log=print) as broker:
        control(broker)
        asyncio.run(monitor(broker.subscriber("arm/state")))
except orc.NoBroker as error:
    print(error.code)
"""

STATE = """
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray


@dataclass
class State:
    q: Annotated[NDArray[np.float64], 7]
    dq: Annotated[NDArray[np.float64], orc.Field(shape=7, unit="rad/s")]
    tau: np.float32
"""

TYPED = f"""
from typing import Any, Dict

import orc
{STATE}

def control(broker: orc.Participant) -> float:
    state: orc.Publisher[State] = broker.register_topic("arm/state", type=State, transports="shm")
    state.send(State(np.zeros(7), np.zeros(7), np.float32(0)))
    state.send(bytes(116))
    with state.loan() as filled:
        filled.q[0] = 5.0
    with state.loan(8) as memory:
        memory[0] = 1
    source: orc.Subscriber[State] = broker.request_topic("arm/state", type=State, type_check="off")
    message = source.recv_msg(-1)
    assert message is not None
    value: State = message.value()
    first: np.float64 = value.q[0]
    return float(first)


async def others(broker: orc.Participant) -> None:
    received: State = (await broker.request_topic("arm/state", type=State).recv()).value()
    async for message in broker.request_topic("arm/state", type=State):
        print(message.value().dq[3], received)
    record = broker.request_topic("arm/record", type=np.dtype([("q", "f8", 7)])).recv_msg(0)
    named = broker.request_topic("arm/record", type=orc.struct("R", np.dtype([("q", "f8", 7)]))).recv_msg(0)
    config = broker.request_topic("arm/config", type=orc.json("robot.Config")).recv_msg(0)
    raw = broker.request_topic("arm/raw").recv_msg(0)
    assert record and named and config and raw
    void: np.void = record.value()
    same: np.void = named.value()
    gains: Dict[str, Any] = config.value()
    data: bytes = raw.value()
    print(void["q"], same, gains["p"], data)
    with orc.Directory() as directory:
        publication = directory.describe("arm/state").publication
        if publication is not None and publication.type is not None:
            print(directory.find_type(publication.type).hash, publication.type.schema_size)


try:
    control(orc.Participant())
except orc.TypeMismatch as error:
    print(error)
"""

CALLS = f"""
from typing import Any, List, Optional

import orc
{STATE}

def move(state: State, call: orc.CallContext) -> State:
    if not call.cancelled() and call.feedback({{"client": call.client.name, "left": call.deadline}}):
        call.fail(5, "stuck")
    return state


async def calls(participant: orc.Participant) -> None:
    with participant.serve("arm/move", move, request=State, reply=State, interfaces=["arm"]) as service:
        print(service.figures.calls, service.error, service.name)
    future = participant.call("arm/move", State(np.zeros(7), np.zeros(7), np.float32(0)), deadline=1, reply=State)
    typed: orc.CallFuture[State] = future
    state: State = future.result()
    same: State = await typed
    data: bytes = participant.call("arm/raw", b"", deadline=0.1, reply=bytes).result()
    any: Any = participant.call("arm/json", {{"a": [1, None]}}, deadline=1).result()
    typed.add_done_callback(lambda ended: print(ended.result().tau))
    if not typed.ready() and not typed.wait(0.1):
        typed.cancel()
    print(state, same, data, any["a"], typed.feedback(), typed.fileno())
    participant.wait_for_service("arm/move", 1)
    with orc.Directory() as directory:
        found: List[orc.ServiceDescription] = orc.find_services(directory, "arm")
        request: Optional[orc.TopicType] = found[0].request
        print(request, found[0].server.pid)


try:
    orc.Participant().call("a", None, deadline=1).result()
except orc.CallError as error:
    code: orc.CallErrc = error.code
    print(code is orc.CallErrc.server_died, error.number, error.text, error.exception_type)
"""

PARAMETERS = """
from typing import List, Optional

import numpy as np
import orc
from numpy.typing import NDArray


def check(steps: int) -> Optional[str]:
    return None if steps % 2 == 0 else "it is odd"


with orc.Participant() as participant:
    gain: orc.Parameter[float] = participant.parameter("gain", 1.0, min=0, max=10, unit="N")
    gain.value = 3
    gain.value += 1.5
    gain.on_change(lambda now: print(now * 2))
    steps: orc.Parameter[int] = participant.parameter("steps", 2, validate=check)
    mode = participant.parameter("mode", "auto", choices=["auto", "off"])
    text: str = mode.value.upper()
    gains = participant.parameter("gains", [1.0, 2.0])
    first: float = gains.value[0]
    pose: NDArray[np.float64] = participant.parameter("pose", np.zeros(3)).value
    value = participant.set_parameter("gain", 2.5, timeout=1)
    if isinstance(value, float):
        print(value + first, text, pose.shape)
    toml, outcomes = participant.save_parameters("pid/*")
    failed: List[Optional[orc.Error]] = [each.error for each in outcomes + participant.load_parameters(toml)]
    with orc.Directory() as directory:
        print([each.allowed for each in orc.list_parameters(directory)], failed)
    if gain.changed():
        gain.close()
"""

WRONG = {
    "broker.parameter('p', 1.0).set('a')": "arg-type",
    "broker.parameter('p', 'a').value + 1": "operator",
    "broker.call('s', 1)": "call-overload",
    "broker.call('s', 1, deadline=1, reply=State).result().p": "attr-defined",
    "broker.serve('s')": "call-arg",
    "broker.send_msg(5, b'')": "arg-type",
    "broker.request_topic('t').recv_msg('5')": "arg-type",
    "broker.request_topic('t').recv_msg(5).sequence": "union-attr",
    "broker.register_topic('t', expected_sice=5)": "call-overload",
    "broker.register_topic('t', type=5)": "call-overload",
    "broker.register_topic('t', type=State).send(5)": "arg-type",
    "for s in [broker.request_topic('t', type=State).recv_msg(0)]: assert s; s.value().p": "attr-defined",
    "broker.request_topic('t', type_check=False)": "call-overload",
    "for m in [broker.recv_msg('t', 0)]: assert m; m.array()": "call-arg",
    "orc.Directory().describe('t').publication.id": "union-attr",
}

# nanobind's types have a metaclass, and its objects an __init__, that are nobody's business; buffers show a method
# from Python 3.12 on. Of what is generic, the stubs say Generic. Its functions are no Python functions.
NANOBIND = (
    *("check_types", "failed_call", "lock_memory", "monotonic_ns"),
    *("describe_parameter", "check_parameter", "parameter_json"),
    *("get_parameter", "get_parameters", "set_parameter", "set_parameters"),
    *("Call", "CallEnds", "CallType", "OfferedService", "ServedCall"),
    *("Participant", "Directory", "Loan", "Message", "Parameter", "Publisher", "Session", "Subscriber", "Watch"),
    *(f"{name}.__init__" for name in ("Call", "Loan", "Message", "Publisher", "Session", "Watch")),
    *(f"{name}.__init__" for name in ("OfferedService", "ServedCall")),
    "Message.__buffer__",
    *(f"{name}.__class_getitem__" for name in ("Message", "Parameter", "Publisher", "Subscriber")),
)


def _environment() -> Dict[str, str]:
    import orc._errors

    package = pathlib.Path(orc._errors.__file__).resolve().parents[1]
    return {**os.environ, "MYPYPATH": "" if package.name == "site-packages" else str(package)}


def _mypy(tmp_path: pathlib.Path, text: str) -> subprocess.CompletedProcess[str]:
    program = tmp_path / "program.py"
    program.write_text(text)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(program)]
    return subprocess.run(command, cwd=tmp_path, env=_environment(), capture_output=True, text=True)


def test_the_stubs_agree_with_the_extension(native: Any, tmp_path: pathlib.Path) -> None:
    allowed = tmp_path / "allowed"
    allowed.write_text("".join(f"orc._native.{name}\n" for name in NANOBIND))
    command = [sys.executable, "-m", "mypy.stubtest", "orc._native", "--ignore-unused-allowlist"]
    command += ["--allowlist", str(allowed)]
    done = subprocess.run(command, cwd=tmp_path, env=_environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("program", [USER, TYPED, CALLS, PARAMETERS], ids=["bytes", "typed", "calls", "parameters"])
def test_a_program_passes(native: Any, tmp_path: pathlib.Path, program: str) -> None:
    done = _mypy(tmp_path, program)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("line", WRONG)
def test_a_mistake_is_found(native: Any, tmp_path: pathlib.Path, line: str) -> None:
    done = _mypy(tmp_path, f"import orc\n{STATE}\nbroker = orc.Participant()\n{line}\n")
    assert done.returncode == 1 and f"[{WRONG[line]}]" in done.stdout, done.stdout + done.stderr
