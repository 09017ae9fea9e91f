"""Parameters whose functions hang, are interrupted, or refer to what refers to them."""

from __future__ import annotations

import gc
import signal
import threading
import time
from typing import Any, List

import pytest

from calls_fixtures import AMPLE_S, Sides
from support import run_python, start_python, wait_until


@pytest.fixture
def sides(some_sides: Sides) -> Sides:
    return some_sides


def test_a_participant_ends_while_a_callback_hangs(sides: Sides) -> None:
    entered, leave = threading.Event(), threading.Event()

    def hang(value: int) -> None:
        entered.set()
        assert leave.wait(AMPLE_S)

    steps = sides.server.parameter("steps", 0)
    steps.on_change(hang)
    steps.value = 1
    assert entered.wait(AMPLE_S)
    start = time.monotonic()
    sides.server.close()
    assert time.monotonic() - start < 5
    with pytest.raises(sides.orc.Closed):
        steps.set(2)
    leave.set()
    directory = sides.orc.Directory()
    wait_until(lambda: not [each for each in directory.topics("steps") if each.publication])


@pytest.mark.parametrize("function", ["callback", "check"])
def test_a_program_ends_while_a_function_hangs(sides: Sides, function: str) -> None:
    program = f"""
        import threading, orc
        entered = threading.Event()
        def hang(value):
            if value != 0:
                entered.set()
                threading.Event().wait()
        participant = orc.Participant()
        if "{function}" == "callback":
            steps = participant.parameter("hanging", 0)
            steps.on_change(hang)
            steps.value = 1
        else:
            steps = participant.parameter("hanging", 0, validate=hang)
            other = orc.Participant()
            threading.Thread(target=other.set_parameter, args=("hanging", 1, 2.0), daemon=True).start()
        assert entered.wait(20)
    """
    start = time.monotonic()
    run_python(program, sides.orc.backend)
    assert time.monotonic() - start < AMPLE_S


def test_a_callback_may_end_its_participant(sides: Sides) -> None:
    steps = sides.server.parameter("steps", 0)
    ended = threading.Event()

    def end(value: int) -> None:
        sides.server.close()
        ended.set()

    steps.on_change(end)
    steps.value = 1
    assert ended.wait(AMPLE_S)
    with pytest.raises(sides.orc.Closed):
        steps.set(2)


def test_a_question_ends_with_its_participant(sides: Sides) -> None:
    entered, leave = threading.Event(), threading.Event()

    def hang(value: int) -> None:
        if value == 1:
            entered.set()
            assert leave.wait(AMPLE_S)

    sides.server.parameter("steps", 0, validate=hang)
    raised: List[BaseException] = []

    def ask() -> None:
        try:
            sides.client.set_parameter("steps", 1, AMPLE_S)
        except sides.orc.Error as error:
            raised.append(error)

    asks = threading.Thread(target=ask)
    asks.start()
    assert entered.wait(AMPLE_S)
    sides.client.close()
    asks.join(5)
    leave.set()
    assert [type(each) for each in raised] == [sides.orc.Closed]


def test_ctrl_c_ends_a_question_and_the_program(sides: Sides) -> None:
    entered, leave = threading.Event(), threading.Event()

    def hang(value: int) -> None:
        if value == 1:
            entered.set()
            assert leave.wait(AMPLE_S)

    sides.server.parameter("steps", 0, validate=hang)
    asks = start_python(
        """
        import orc
        with orc.Participant() as participant:
            try:
                participant.set_parameter("steps", 1, 3600)
            except KeyboardInterrupt:
                print("interrupted", flush=True)
        """,
        sides.orc.backend,
    )
    assert entered.wait(AMPLE_S)
    asks.send_signal(signal.SIGINT)
    assert asks.stdout.readline() == "interrupted\n"
    assert asks.wait(AMPLE_S) == 0
    leave.set()
    asks.communicate()


def test_what_is_no_exception_passes_a_check_of_the_program_itself(sides: Sides) -> None:
    def check(value: int) -> None:
        if value == 1:
            raise KeyboardInterrupt

    steps = sides.server.parameter("steps", 0, validate=check)
    with pytest.raises(KeyboardInterrupt):
        steps.value = 1
    assert steps.value == 0
    steps.value = 2
    assert steps.value == 2


def test_a_cycle_of_functions_and_participant_is_collected(sides: Sides) -> None:
    def declare() -> None:
        participant: Any = sides.orc.Participant(name="cycle")
        kept: List[Any] = [participant]
        parameter = participant.parameter("cycle/p", 1.0, validate=lambda value: None if kept else "")
        kept.append(parameter)
        parameter.on_change(lambda value: kept.clear() if value < 0 else None)

    declare()
    gc.collect()
    directory = sides.orc.Directory()
    wait_until(lambda: not [each for each in directory.topics("cycle/p") if each.publication])


def test_the_initial_value_is_checked_in_the_thread_that_declares() -> None:
    run_python("""
        import threading, orc
        participant = orc.Participant("ipc:///nobody/is/here", broker_timeout_ms=0, log=lambda *_: None)
        lock, threads = threading.RLock(), []
        def check(value):
            with lock:
                threads.append(threading.get_ident())
        with lock:
            try:
                participant.parameter("gain", 1.0, validate=check)
            except orc.NoBroker:
                pass
        assert threads == [threading.get_ident()], threads
    """)


def test_what_a_check_of_the_initial_value_raises_reaches_the_program(sides: Sides) -> None:
    def interrupt(value: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sides.server.parameter("gain", 1.0, validate=interrupt)
    with pytest.raises(sides.orc.BadArgument, match=r"^gain cannot be 1(\.0)?: no$"):
        sides.server.parameter("gain", 1.0, validate=lambda value: "no")


def test_a_check_cannot_set_its_own_parameter(sides: Sides) -> None:
    problems: List[BaseException] = []

    def check(value: float) -> None:
        if value != 1.0:
            with pytest.raises(sides.orc.BadArgument) as raised:
                gain.set(3.0)
            problems.append(raised.value)

    gain = sides.server.parameter("gain", 1.0, validate=check)
    gain.set(2.0)
    assert "own parameter" in str(problems[0])
    assert gain.value == 2.0
