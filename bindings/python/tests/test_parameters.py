"""Parameters of a program, and of others, from other programs."""

from __future__ import annotations

import contextlib
import gc
import json
import signal
import sys
import threading
from typing import Any, List

import pytest

from calls_fixtures import AMPLE_S, Sides
from support import BrokerProcess, run_python, start_python, wait_until


@pytest.fixture
def sides(some_sides: Sides) -> Sides:
    """sides.server has parameters, sides.client sets them."""
    return some_sides


def test_a_parameter_is_read_and_set_by_its_program(sides: Sides) -> None:
    gain = sides.server.parameter("pid/gain", 1.0, min=0, max=10, unit="N", description="of the loop")
    assert gain.value == 1.0 and gain.error is None and gain.name == "pid/gain"
    assert not gain.changed()
    gain.value = 2
    assert gain.value == 2.0 and type(gain.value) is float
    assert gain.changed() and not gain.changed()
    gain.set(2.0)
    assert not gain.changed()
    with pytest.raises(sides.orc.BadArgument, match=r"pid/gain is a number from 0\.0 to 10\.0 N, not 11\.0"):
        gain.value = 11
    for wrong in (float("nan"), float("inf"), 10**400, True, "2"):
        with pytest.raises(ValueError, match="pid/gain is a number"):
            gain.set(wrong)
    with pytest.raises(TypeError):
        gain.set(None)
    assert gain.value == 2.0 and not gain.changed()
    assert repr(gain) == "<orc.Parameter 'pid/gain', 2.0>"
    assert gain.description.allowed == "a number from 0.0 to 10.0 N"


def test_each_type_is_set_by_another_program(sides: Sides) -> None:
    numpy = pytest.importorskip("numpy")
    made = {
        "on": sides.server.parameter("on", False),
        "steps": sides.server.parameter("steps", 3),
        "gain": sides.server.parameter("gain", 1.0),
        "mode": sides.server.parameter("mode", "auto", choices=["auto", "öff"]),
        "gains": sides.server.parameter("gains", [1, 2]),
        "pose": sides.server.parameter("pose", numpy.zeros(3)),
    }
    sets = {"on": True, "steps": -(2**63), "gain": 3, "mode": "öff", "gains": [], "pose": [1, 2, 3]}
    for name, value in sets.items():
        assert sides.client.set_parameter(name, value, AMPLE_S) == value
        assert sides.client.get_parameter(name, AMPLE_S) == value
    assert [made[name].value for name in ("on", "steps", "gain", "mode", "gains")] == [True, -(2**63), 3.0, "öff", []]
    pose = made["pose"].value
    assert pose.dtype == numpy.float64 and pose.tolist() == [1, 2, 3] and pose is made["pose"].value
    with pytest.raises(ValueError):
        pose[0] = 5
    made["gains"].value.append(1.0)  # of a copy
    assert made["gains"].value == []
    made["pose"].set(numpy.array([4, 5, 6], dtype=numpy.float32))
    assert made["pose"].value.tolist() == [4, 5, 6]
    with pytest.raises(sides.orc.BadArgument, match="pose is a list of 3 numbers, not "):
        sides.client.set_parameter("pose", [1.0], AMPLE_S)


def test_another_program_learns_why_a_value_is_refused(sides: Sides) -> None:
    def check(value: int) -> Any:
        if value == 5:
            raise RuntimeError("five is out")
        return "it is odd" if value % 2 else None

    even = sides.server.parameter("even", 2, validate=check)
    sides.server.parameter("version", "1", read_only=True)
    client = sides.client
    for value, text in ((3, "even cannot be 3: it is odd"), (5, "even cannot be 5: five is out")):
        with pytest.raises(sides.orc.BadArgument) as refused:
            client.set_parameter("even", value, AMPLE_S)
        assert str(refused.value) == text
        with pytest.raises(ValueError, match=text):
            even.value = value
    with pytest.raises(sides.orc.BadArgument, match=r"even is a whole number, not 2\.5"):
        client.set_parameter("even", 2.5, AMPLE_S)
    with pytest.raises(sides.orc.BadArgument, match="even is a whole number$"):
        client.set_parameter("even", float("nan"), AMPLE_S)
    with pytest.raises(sides.orc.Refused, match="version is read-only: only its program sets it"):
        client.set_parameter("version", "2", AMPLE_S)
    with pytest.raises(sides.orc.UnknownTopic, match="no program has the parameter none"):
        client.get_parameter("none", AMPLE_S)
    sides.server.register_topic("plain")
    with pytest.raises(sides.orc.UnknownTopic, match="plain is a topic, not a parameter"):
        client.set_parameter("plain", 1, AMPLE_S)
    assert even.value == 2 and client.get_parameter("version", AMPLE_S) == "1"


def test_a_check_that_returns_no_text_refuses_with_a_reason(sides: Sides) -> None:
    with pytest.raises(sides.orc.BadArgument, match="its check returned bool"):
        sides.server.parameter("p", 1, validate=lambda value: value > 0)
    assert sides.server.parameter("p", 1, validate=lambda value: "").value == 1  # the name is free


def test_what_cannot_be_declared_is_refused(sides: Sides) -> None:
    orc, server = sides.orc, sides.server
    for arguments, options, error in (
        (("a b", 1.0), {}, orc.BadName),
        ((".mine", 1.0), {}, orc.BadName),
        (("a/.b", 1.0), {}, orc.BadName),
        (("p", 11.0), {"max": 10}, orc.BadArgument),
        (("p", 1.0), {"min": 2, "max": 1}, orc.BadArgument),
        (("p", True), {"min": 0}, orc.BadArgument),
        (("p", "abc"), {"max_length": 2}, orc.BadArgument),
        (("p", "a"), {"choices": ["b"]}, orc.BadArgument),
        (("p", "a"), {"choices": "a"}, TypeError),
        (("p", None), {}, TypeError),
        (("p", float("nan")), {}, orc.BadArgument),
        ((3, 1.0), {}, TypeError),
        (("p", 1.0), {"validate": 3}, TypeError),
        (("p", 1.0), {"unit": b"N"}, TypeError),
    ):
        with pytest.raises(error):
            server.parameter(*arguments, **options)
    server.parameter("p", 1.0)
    with pytest.raises(orc.NameTaken, match="this participant has the parameter p already"):
        server.parameter("p", 1.0)
    with pytest.raises(orc.NameTaken):
        sides.client.parameter("p", 1.0)
    if sides.orc.backend == "native":
        with orc.Participant("none") as alone, pytest.raises(orc.BadArgument):
            alone.parameter("p", 1.0)


def test_the_topic_has_the_value_and_keeps_it(sides: Sides) -> None:
    gain = sides.server.parameter("pid/gain", 1.0)
    topic = sides.client.request_topic("pid/gain", type=dict, type_check="off", conflate=0)

    def received() -> Any:
        message = topic.recv_msg(20_000)
        assert message is not None
        return bytes(memoryview(message))

    assert received() == b'{"value":1.0}'
    gain.value = 2.5
    gain.value = 2.5
    sides.client.set_parameter("pid/gain", 2.5, AMPLE_S)
    gain.value = 3
    assert received() == b'{"value":2.5}'
    assert received() == b'{"value":3.0}'


def test_callbacks_get_each_last_value(sides: Sides) -> None:
    steps = sides.server.parameter("steps", 0)
    heard: List[int] = []
    steps.on_change(heard.append)
    for value in range(1, 50):
        steps.value = value
    wait_until(lambda: heard and heard[-1] == 49)
    assert heard == sorted(heard)
    sides.client.set_parameter("steps", 50, AMPLE_S)
    wait_until(lambda: heard[-1] == 50)

    def fail(value: int) -> None:
        heard.append(-value)
        raise RuntimeError("as ordered")

    steps.on_change(fail)
    steps.value = 51
    wait_until(lambda: heard[-1] == -51)

    def leave(value: int) -> None:
        heard.append(-value)
        sys.exit("as ordered")

    steps.on_change(leave)
    steps.value = 60
    wait_until(lambda: heard[-1] == -60)
    done = threading.Event()

    def close(value: int) -> None:
        steps.on_change(None)
        steps.close()
        done.set()

    steps.on_change(close)
    with contextlib.suppress(sides.orc.Closed):  # it may be closed before the value is published
        steps.value = 52
    assert done.wait(AMPLE_S)
    assert steps.value == 52 and 52 not in heard
    for call in (lambda: steps.set(1), lambda: steps.on_change(None)):
        with pytest.raises(sides.orc.NotRegistered):
            call()


def test_no_callback_runs_after_it_was_replaced(sides: Sides) -> None:
    steps = sides.server.parameter("steps", 0)
    entered, leave = threading.Event(), threading.Event()
    running = [0]

    def slow(value: int) -> None:
        running[0] += 1
        entered.set()
        assert leave.wait(AMPLE_S)
        running[0] -= 1

    steps.on_change(slow)
    steps.value = 1
    assert entered.wait(AMPLE_S)
    threading.Timer(0.05, leave.set).start()
    steps.on_change(None)
    assert running == [0]


def test_one_service_serves_all_parameters(sides: Sides) -> None:
    for number in range(20):
        sides.server.parameter(f"many/p{number:02}", number)
    directory = sides.orc.Directory()
    services = [each for each in directory.topics(".parameters/*") if each.publication]
    assert len(services) == 1

    def names() -> List[str]:
        return [each.name for each in sides.orc.list_parameters(directory, "many/*")]

    assert wait_until(lambda: len(names()) == 20) and names() == [f"many/p{number:02}" for number in range(20)]
    outcomes = sides.client.get_parameters("many/*", AMPLE_S)
    assert [(each.value, each.error) for each in outcomes] == [(number, None) for number in range(20)]


def test_the_list_describes_parameters(sides: Sides) -> None:
    sides.server.parameter("pid/gain", 1.0, min=0, max=10, unit="N", description="of the loop")
    sides.server.parameter("pid/mode", "auto", choices=["auto", "off"], read_only=True)
    sides.server.register_topic("pid/plain")
    directory = sides.orc.Directory()
    gain, mode = wait_until(lambda: _two(sides.orc.list_parameters(directory, "pid/*")))
    assert (gain.name, gain.initial, gain.min, gain.max, gain.unit) == ("pid/gain", 1.0, 0.0, 10.0, "N")
    assert gain.description == "of the loop" and gain.owner.name == "server" and not gain.read_only
    assert (mode.allowed, mode.read_only, mode.max_length) == ('one of "auto", "off"', True, 4096)


def _two(found: List[Any]) -> Any:
    return found if len(found) == 2 else None


def test_values_are_saved_and_loaded(sides: Sides) -> None:
    gain = sides.server.parameter("pid/gain", 0.1)
    mode = sides.server.parameter("mode", "auto", choices=["auto", "off"])
    sides.server.parameter("version", "1", read_only=True)
    own = sides.client.parameter("pid/steps", 3)
    expected = 'mode = "auto"\n\n[pid]\ngain = 0.1\nsteps = 3\n'
    toml = wait_until(lambda: (found := sides.client.save_parameters()[0]) == expected and found)
    gain.value, mode.value, own.value = 5, "off", 7
    outcomes = sides.client.load_parameters(toml, AMPLE_S)
    assert [(each.name, each.value) for each in outcomes] == [("mode", "auto"), ("pid/gain", 0.1), ("pid/steps", 3)]
    assert (gain.value, mode.value, own.value) == (0.1, "auto", 3)
    outcomes = sides.client.load_parameters('mode = "on"\nnone = 1\nversion = "2"\n[pid]\ngain = 1979-05-27\nsteps = 8')
    orc = sides.orc
    assert {each.name: type(each.error) for each in outcomes} == {
        "mode": orc.BadArgument,
        "none": orc.UnknownTopic,
        "pid/gain": orc.BadArgument,
        "pid/steps": type(None),
        "version": orc.Refused,
    }
    assert own.value == 8 and mode.value == "auto"
    with pytest.raises(orc.BadArgument, match="no TOML"):
        sides.client.load_parameters("[pid")


def test_a_parameter_ends_with_close_and_with_its_participant(sides: Sides) -> None:
    with sides.server.parameter("p", 1.0) as parameter:
        assert sides.client.set_parameter("p", 2.0, AMPLE_S) == 2.0
    with pytest.raises(sides.orc.UnknownTopic):
        sides.client.set_parameter("p", 3.0, AMPLE_S)
    assert parameter.value == 2.0
    parameter.close()
    again = sides.server.parameter("p", 1.0)
    assert sides.client.get_parameter("p", AMPLE_S) == 1.0  # the default again
    sides.server.close()
    with pytest.raises(sides.orc.Closed):
        again.set(4.0)
    with pytest.raises(sides.orc.Closed):
        again.on_change(print)
    again.close()
    with pytest.raises(sides.orc.Closed):
        sides.server.parameter("q", 1.0)
    with pytest.raises(sides.orc.Closed):
        sides.server.get_parameter("q")
    sides.client.parameter("p", 5.0)


OWNER = """
    import sys
    import orc
    participant = orc.Participant(name="owner")
    gain = participant.parameter("gain", 1.0)
    print("ready", flush=True)
    sys.stdin.read()
"""


def test_the_parameters_of_a_killed_program_are_gone_and_return_with_their_defaults(sides: Sides) -> None:
    backend = sides.orc.backend
    owner = start_python(OWNER, backend)
    assert owner.stdout.readline() == "ready\n"
    assert sides.client.set_parameter("gain", 5.0, AMPLE_S) == 5.0
    owner.kill()
    owner.communicate()
    with pytest.raises((sides.orc.UnknownTopic, sides.orc.TimedOut)):
        sides.client.set_parameter("gain", 6.0, 1.0)

    directory = sides.orc.Directory()
    wait_until(lambda: not [each for each in directory.topics("gain") if each.publication])
    again = start_python(OWNER, backend)
    assert again.stdout.readline() == "ready\n"

    def value() -> Any:
        try:
            return sides.client.get_parameter("gain", AMPLE_S)
        except sides.orc.UnknownTopic:
            return None

    assert wait_until(value) == 1.0
    again.communicate()


def test_a_stopped_program_costs_its_clients_no_more_than_their_patience(sides: Sides) -> None:
    owner = start_python(OWNER, sides.orc.backend)
    assert owner.stdout.readline() == "ready\n"
    assert sides.client.get_parameter("gain", AMPLE_S) == 1.0
    owner.send_signal(signal.SIGSTOP)
    with pytest.raises(sides.orc.TimedOut):
        sides.client.get_parameter("gain", 0.2)
    owner.send_signal(signal.SIGCONT)
    owner.communicate()


def test_without_a_broker_a_parameter_has_its_default_and_others_learn_of_it_later(
    sides: Sides, broker: BrokerProcess
) -> None:
    broker.kill()
    with sides.orc.Participant(name="early", broker_timeout_ms=50) as early:
        gain = early.parameter("early/gain", 1.0)
        assert isinstance(gain.error, sides.orc.NoBroker)
        gain.value = 2
        with pytest.raises(sides.orc.NoBroker):
            early.get_parameter("early/gain")
        broker.start()

        def value() -> Any:
            try:
                return sides.client.get_parameter("early/gain", AMPLE_S)
            except (sides.orc.UnknownTopic, sides.orc.NoBroker):
                return None

        assert wait_until(value) == 2.0


def test_a_child_reads_and_does_nothing_else(sides: Sides) -> None:
    run_python(
        """
        import os, sys
        import orc
        with orc.Participant() as participant:
            gain = participant.parameter("gain", 1.0)
            gain.on_change(print)
            child = os.fork()
            if child == 0:
                codes = []
                for call in (lambda: gain.set(2.0), lambda: gain.on_change(None),
                             lambda: participant.parameter("x", 1), lambda: participant.get_parameter("gain")):
                    try:
                        call()
                    except orc.Forked:
                        codes.append("forked")
                gain.close()
                os._exit(0 if gain.value == 1.0 and codes == ["forked"] * 4 else 1)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
            gain.value = 2
        """,
        sides.orc.backend,
    )


def test_a_dropped_participant_takes_its_parameters_along(sides: Sides) -> None:
    dropped = sides.orc.Participant(name="dropped")
    parameter = dropped.parameter("dropped/p", 1.0)
    parameter.on_change(lambda value: None)
    del dropped
    gc.collect()
    assert sides.client.set_parameter("dropped/p", 2.0, AMPLE_S) == 2.0  # the parameter keeps it
    assert parameter.value == 2.0
    del parameter
    gc.collect()
    directory = sides.orc.Directory()
    wait_until(lambda: not [each for each in directory.topics("dropped/p") if each.publication])


def test_sets_from_many_threads_and_programs_are_published_in_their_order(sides: Sides) -> None:
    counter = sides.server.parameter("counter", 0)
    topic = sides.client.request_topic("counter", conflate=0, depth=4096)
    assert topic.recv_msg(20_000) is not None
    forced: List[int] = []
    counter_checked = sides.server.parameter("checked", 0, validate=lambda value: forced.append(value))

    def work(first: int) -> None:
        for number in range(first, first + 50):
            counter.set(number)
            counter_checked.set(number)

    threads = [threading.Thread(target=work, args=(1 + 100 * each,)) for each in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    last = counter.value
    received = []
    while not received or received[-1] != last or len(received) < 200:
        message = topic.recv_msg(20_000)
        assert message is not None
        received.append(json.loads(bytes(memoryview(message)))["value"])
    assert sorted(received) == sorted(1 + 100 * each + number for each in range(4) for number in range(50))
    assert len(forced) == 201
