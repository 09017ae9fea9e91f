"""The pure backend interrupted in the middle of anything: by signal handlers, finalizers, and exceptions."""

from __future__ import annotations

import gc
import threading
import time
import types
from typing import Any, Callable, List

import pytest

import orc.pure as orc
from orc.pure import participant as participants
from orc.pure import publication as publications
from support import BrokerProcess, run_python


def ends(call: Callable[[], object]) -> bool:
    """In a thread of its own: a deadlock fails the test, and does not hang it."""
    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(20)
    return not thread.is_alive()


def clock_with(monkeypatch: pytest.MonkeyPatch, handler: Callable[[], object]) -> None:
    """`handler` runs once inside publish, as a signal handler may."""
    waiting = [handler]

    def time_ns() -> int:
        if waiting and threading.current_thread().name != "orc":
            waiting.pop()()
        return time.time_ns()

    faked = types.SimpleNamespace(time_ns=time_ns, monotonic=time.monotonic, monotonic_ns=time.monotonic_ns)
    monkeypatch.setattr(publications, "time", faked)


def test_a_signal_handler_sends_while_sending(broker: BrokerProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    """It waited for a lock that the interrupted send held: SIGTERM, to be answered with zero torque, hung."""
    with orc.Participant() as participant:
        publisher = participant.register_topic("t")
        subscriber = participant.request_topic("t", conflate=0, depth=10, connected_within_ms=20_000)
        clock_with(monkeypatch, lambda: publisher.send_msg(b"zero torque"))
        assert ends(lambda: publisher.send_msg(b"torque"))
        got = [subscriber.recv_msg(20_000) for _ in range(2)]
        assert [(m.sequence, m.missed) for m in got if m is not None] == [(1, 0), (2, 0)]
        assert {bytes(m) for m in got if m is not None} == {b"zero torque", b"torque"}


def test_a_signal_handler_sends_and_closes_while_sending(
    broker: BrokerProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    with orc.Participant() as other:
        participant = orc.Participant()
        publisher = participant.register_topic("t")
        subscriber = other.request_topic("t", conflate=0, depth=10, connected_within_ms=20_000)

        def handler() -> None:
            publisher.send_msg(b"zero torque")
            participant.close()

        clock_with(monkeypatch, handler)
        assert ends(lambda: publisher.send_msg(b"torque"))
        message = subscriber.recv_msg(20_000)
        assert message is not None and bytes(message) == b"zero torque"


def test_signals_all_the_time(broker: BrokerProcess) -> None:
    done = run_python(
        """
        import faulthandler, signal, orc.pure as orc
        faulthandler.dump_traceback_later(30, exit=True)
        with orc.Participant() as participant:
            publisher, handled = participant.register_topic("t"), 0
            def handler(*_):
                global handled
                handled += 1
                publisher.send_msg(b"stop")
            signal.signal(signal.SIGALRM, handler)
            signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
            while handled < 500:
                publisher.send_msg(b"go on")
            signal.setitimer(signal.ITIMER_REAL, 0)
        print("closed")
        """
    )
    assert done.stdout == "closed\n"


@pytest.mark.parametrize("call", ["register_topic", "request_topic"])
def test_a_signal_handler_closes_while_setting_up(
    broker: BrokerProcess, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    """It waited for the lock of the call that it interrupted."""
    kind = {"register_topic": "Publication", "request_topic": "Subscription"}[call]
    real = getattr(participants, kind)
    participant = orc.Participant()

    def made(*arguments: Any) -> Any:
        participant.close()
        return real(*arguments)

    monkeypatch.setattr(participants, kind, made)
    raised: List[Exception] = []

    def set_up() -> None:
        try:
            getattr(participant, call)("t")
        except orc.Closed as error:
            raised.append(error)

    assert ends(set_up) and len(raised) == 1


def test_a_participant_is_collected_on_its_own_thread(broker: BrokerProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the I/O thread counted under the publication's lock, which closing takes."""

    class Node:
        pass

    node: Any = Node()
    node.itself, node.broker = node, orc.Participant()
    node.broker.register_topic("t")
    thread = node.broker._core.reactor._thread
    real = publications.messages.PublicationCounters

    def counters(*arguments: Any) -> Any:
        gc.collect()
        return real(*arguments)

    gc.disable()
    try:
        monkeypatch.setattr(publications.messages, "PublicationCounters", counters)
        del node
        thread.join(20)
        assert not thread.is_alive()
    finally:
        gc.enable()


def test_ctrl_c_while_the_io_thread_is_called(broker: BrokerProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was about to be sent, and what is sent from then on, arrives: the I/O thread looks by itself."""
    with orc.Participant() as participant:
        publisher = participant.register_topic("t")
        subscriber = participant.request_topic("t", conflate=0, depth=10, connected_within_ms=20_000)

        def interrupted(work: object) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(publisher._publication, "reactor", types.SimpleNamespace(post=interrupted))
            with pytest.raises(KeyboardInterrupt):
                publisher.send_msg(b"1")
        publisher.send_msg(b"2")
        got = [subscriber.recv_msg(20_000) for _ in range(2)]
        assert [bytes(m) for m in got if m is not None] == [b"1", b"2"]


def test_a_stalled_io_thread_bounds_what_waits_for_it(broker: BrokerProcess) -> None:
    """A log function that blocks, for example. What is skipped is counted as missed."""
    go_on = threading.Event()
    with orc.Participant() as participant:
        publisher = participant.register_topic("t")
        subscriber = participant.request_topic("t", conflate=0, depth=1000, connected_within_ms=20_000)
        participant._core.reactor.post(lambda: go_on.wait(20))
        for _ in range(100):
            publisher.send_msg(bytes(1_000_000))
        kept = [sent.frame for sent in list(publisher._publication._tray) if sent.frame is not None]
        go_on.set()
        assert sum(map(len, kept)) <= 64 * 1024 * 1024 + 1_000_025
        known = 0
        while known < 100:
            message = subscriber.recv_msg(20_000)
            assert message is not None
            known += 1 + message.missed
            assert message.sequence == known
