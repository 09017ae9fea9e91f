"""Memory on loan: written in place, sent by leaving the block."""

from __future__ import annotations

import gc
import sys
import threading
from typing import Any, List

import numpy
import pytest


def test_leaving_sends(backend: Any, link: Any) -> None:
    publisher, subscriber = link(backend)
    with publisher.loan(4) as view:
        assert isinstance(view, memoryview) and not view.readonly and len(view) == 4
        view[:] = b"abcd"
    assert bytes(subscriber.recv_msg(20000)) == b"abcd"


def test_nothing_is_sent_before(backend: Any, link: Any) -> None:
    publisher, subscriber = link(backend)
    with publisher.loan(4) as view:
        view[:] = b"abcd"
        assert subscriber.recv_msg(50) is None
    assert subscriber.recv_msg(20000) is not None


def test_an_exception_sends_nothing(backend: Any, link: Any) -> None:
    publisher, subscriber = link(backend)
    with pytest.raises(ZeroDivisionError):
        with publisher.loan(4) as view:
            view[:] = b"abcd"
            raise ZeroDivisionError
    publisher.send_msg(b"next")
    message = subscriber.recv_msg(20000)
    assert bytes(message) == b"next" and message.sequence == 1


def test_the_view_ends_with_the_block(backend: Any, link: Any) -> None:
    publisher, subscriber = link(backend)
    with publisher.loan(4) as view:
        view[:] = b"abcd"
    with pytest.raises(ValueError):
        view[0] = 1
    assert bytes(subscriber.recv_msg(20000)) == b"abcd"


def test_a_kept_array_is_an_error_and_nothing_is_sent(backend: Any, link: Any) -> None:
    publisher, subscriber = link(backend)
    with pytest.raises(BufferError, match="nothing was sent"):
        with publisher.loan(16) as view:
            kept = numpy.frombuffer(view, dtype=numpy.float64)
            kept[:] = 1.0
    kept[:] = 2.0  # the memory is there as long as the array
    assert subscriber.recv_msg(50) is None
    del kept
    gc.collect()
    with publisher.loan(16) as view:
        numpy.frombuffer(view, dtype=numpy.float64)[:] = 3.0
    assert numpy.frombuffer(subscriber.recv_msg(20000), dtype=numpy.float64).tolist() == [3.0, 3.0]


def test_by_name_and_empty(backend: Any, broker: Any) -> None:
    with backend.Participant() as participant:
        participant.register_topic("t")
        subscriber = participant.request_topic("t", connected_within_ms=20000)
        with participant.loan("t", 0) as view:
            assert len(view) == 0
        assert bytes(subscriber.recv_msg(20000)) == b""
        with pytest.raises(backend.NotRegistered) if hasattr(backend, "NotRegistered") else pytest.raises(LookupError):
            participant.loan("other", 1)


def test_over_shm_it_is_the_memory_that_is_read(native: Any, link: Any) -> None:
    publisher, subscriber = link(native, "shm")
    publisher.send_msg(bytes(4096))
    subscriber.recv_msg(20000).release()
    with publisher.loan(4096) as view:
        where = numpy.frombuffer(view, dtype=numpy.uint8).ctypes.data
        view[:4] = b"abcd"
    assert bytes(subscriber.recv_msg(20000))[:4] == b"abcd"
    with open("/proc/self/maps") as maps:
        modes = [
            f[1] for f in map(str.split, maps) if int(f[0].split("-")[0], 16) <= where < int(f[0].split("-")[1], 16)
        ]
    assert modes and modes[0].endswith("s")


def test_a_loan_is_used_once(native: Any, link: Any) -> None:
    publisher, _ = link(native)
    loan = publisher.loan(4)
    with loan:
        pass
    with pytest.raises(ValueError):
        with loan:
            pass


def test_leaving_what_was_not_entered_sends_nothing(native: Any, link: Any) -> None:
    publisher, subscriber = link(native)
    with pytest.raises(ValueError, match="not entered"):
        publisher.loan(4).__exit__(None, None, None)
    publisher.send_msg(b"next")
    assert subscriber.recv_msg(20000).sequence == 1


def test_a_loan_that_was_not_sent_is_not_entered_again(native: Any, link: Any) -> None:
    publisher, _ = link(native)
    loan = publisher.loan(4)
    with pytest.raises(BufferError):
        with loan as view:
            kept = memoryview(view)
    with pytest.raises(ValueError):
        loan.__enter__()
    del kept


def test_nobody_enters_a_loan_that_is_being_sent(native: Any, link: Any) -> None:
    publisher, _ = link(native, "shm", register={"expected_size": 1 << 16})
    current: List[Any] = []
    entered = 0
    ended = False

    def intrude() -> None:
        nonlocal entered
        while not ended:
            for loan in current[-1:]:
                try:
                    loan.__enter__()
                    entered += 1
                except ValueError:
                    pass

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    thread = threading.Thread(target=intrude)
    thread.start()
    try:
        for _ in range(20000):
            with publisher.loan(1 << 16) as _view:
                current[:] = [_view.obj]
    finally:
        ended = True
        thread.join()
        sys.setswitchinterval(before)
    assert entered == 0


def test_a_handle_of_a_topic_that_was_registered_again_is_closed(backend: Any, broker: Any) -> None:
    with backend.Participant() as participant:
        publisher = participant.register_topic("t")
        participant.unregister_topic("t")
        participant.register_topic("t")
        with pytest.raises(backend.Closed):
            publisher.loan(4).__enter__()


def test_too_large_or_closed(native: Any, link: Any) -> None:
    publisher, _ = link(native)
    with pytest.raises(native.NoMemory):
        publisher.loan(1 << 60)
    for wrong in (-1, 1.5, "4"):
        with pytest.raises(TypeError):
            publisher.loan(wrong)


def test_closed(backend: Any, broker: Any) -> None:
    participant = backend.Participant()
    publisher = participant.register_topic("t")
    participant.close()
    with pytest.raises(backend.Closed):
        with publisher.loan(4):
            pass
