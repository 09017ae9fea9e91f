"""What send_msg takes, and what a Message is."""

from __future__ import annotations

import array
import ctypes
import gc
import time
from typing import Any

import numpy
import pytest

from support import wait_until

KINDS = {
    "bytes": (b"abcd", b"abcd"),
    "bytearray": (bytearray(b"abcd"), b"abcd"),
    "memoryview": (memoryview(b"xabcdx")[1:5], b"abcd"),
    "array": (array.array("H", [1, 2]), b"\1\0\2\0"),
    "ctypes": ((ctypes.c_uint8 * 4)(1, 2, 3, 4), b"\1\2\3\4"),
    "ctypes struct": (ctypes.c_uint32(7), b"\7\0\0\0"),
    "numpy": (numpy.arange(4, dtype=numpy.uint8).reshape(2, 2), b"\0\1\2\3"),
    "empty": (b"", b""),
    "empty numpy": (numpy.zeros(0), b""),
}


@pytest.mark.parametrize("kind", KINDS)
def test_any_contiguous_buffer_is_sent(backend: Any, link: Any, kind: str) -> None:
    data, expected = KINDS[kind]
    publisher, subscriber = link(backend)
    publisher.send_msg(data)
    message = subscriber.recv_msg(20000)
    assert bytes(message) == expected
    assert len(message) == len(expected)
    assert message  # an empty sample is a sample


def test_a_message_is_sent_on(backend: Any, link: Any) -> None:
    publisher, subscriber = link(backend)
    publisher.send_msg(b"first")
    publisher.send_msg(subscriber.recv_msg(20000))
    assert bytes(subscriber.recv_msg(20000)) == b"first"


def test_a_sample_has_the_age_that_its_sender_says(backend: Any, link: Any) -> None:
    publisher, subscriber = link(backend)
    publisher.send_msg(b"old", stamp_ns=time.time_ns() - 5 * 10**9)
    assert subscriber.recv_msg(20000).age_ns >= 5 * 10**9
    with pytest.raises(backend.BadArgument):
        publisher.send_msg(b"", stamp_ns=0)
    with pytest.raises((TypeError, OverflowError, backend.BadArgument)):
        publisher.send_msg(b"", stamp_ns=1 << 63)


def test_str_is_refused_with_advice(backend: Any, link: Any) -> None:
    publisher, _ = link(backend)
    with pytest.raises(TypeError, match="encode it"):
        publisher.send_msg("text")


@pytest.mark.parametrize("data", [None, 5, [1, 2], object()])
def test_what_is_no_buffer_is_a_type_error(backend: Any, link: Any, data: Any) -> None:
    publisher, _ = link(backend)
    with pytest.raises(TypeError):
        publisher.send_msg(data)


@pytest.mark.parametrize("data", [numpy.zeros((4, 4))[:, 1], memoryview(b"abcdef")[::2]])
def test_what_is_not_contiguous_is_refused(backend: Any, link: Any, data: Any) -> None:
    publisher, _ = link(backend)
    with pytest.raises((BufferError, ValueError)):
        publisher.send_msg(data)


def test_the_sent_buffer_is_free_again(backend: Any, link: Any) -> None:
    publisher, subscriber = link(backend)
    data = bytearray(b"abcd")
    publisher.send_msg(data)
    data += b"more"  # BufferError if anybody held it
    assert bytes(subscriber.recv_msg(20000)) == b"abcd"


def test_views_are_read_only(backend: Any, link: Any) -> None:
    publisher, subscriber = link(backend)
    publisher.send_msg(bytes(8))
    message = subscriber.recv_msg(20000)
    with pytest.raises(TypeError):
        memoryview(message)[0] = 1
    assert not numpy.frombuffer(message, dtype=numpy.float64).flags.writeable


def test_attributes(backend: Any, link: Any) -> None:
    publisher, subscriber = link(backend)
    publisher.send_msg(b"1")
    first = subscriber.recv_msg(20000)
    publisher.send_msg(b"2")
    second = subscriber.recv_msg(20000)
    assert (first.sequence, second.sequence) == (1, 2)
    assert second.missed == 0
    assert second.stamp_ns > first.stamp_ns > 1_600_000_000_000_000_000
    assert first.age_ns > second.age_ns > 0


def test_release_waits_for_the_views(native: Any, link: Any) -> None:
    publisher, subscriber = link(native)
    publisher.send_msg(b"abcd")
    message = subscriber.recv_msg(20000)
    view = memoryview(message)
    with pytest.raises(BufferError):
        message.release()
    assert view == b"abcd"
    view.release()
    message.release()
    message.release()
    with pytest.raises(ValueError):
        message.sequence  # noqa: B018
    with pytest.raises(ValueError):
        memoryview(message)


def test_with_releases(backend: Any, link: Any) -> None:
    publisher, subscriber = link(backend)
    publisher.send_msg(b"abcd")
    with subscriber.recv_msg(20000) as message:
        assert bytes(message) == b"abcd"
    with pytest.raises(ValueError):
        message.sequence  # noqa: B018


def test_a_view_keeps_the_bytes(backend: Any, link: Any) -> None:
    publisher, subscriber = link(backend)
    publisher.send_msg(bytes(range(100)))
    kept = numpy.frombuffer(subscriber.recv_msg(20000), dtype=numpy.uint8)
    for _ in range(20):
        publisher.send_msg(bytes(100))
        subscriber.recv_msg(20000)
    gc.collect()
    assert kept.tolist() == list(range(100))


def test_a_large_array_arrives_whole(backend: Any, link: Any) -> None:
    publisher, subscriber = link(backend)
    sent = numpy.random.default_rng(1).integers(0, 255, 10_000_000, dtype=numpy.uint8)
    publisher.send_msg(sent)
    assert numpy.array_equal(numpy.frombuffer(subscriber.recv_msg(20000), dtype=numpy.uint8), sent)


def test_over_shm_a_view_is_the_slot_itself(native: Any, link: Any) -> None:
    publisher, subscriber = link(native, "shm")
    publisher.send_msg(bytes(range(64)))
    message = subscriber.recv_msg(20000)
    assert subscriber.link.transport == "shm"
    where = numpy.frombuffer(message, dtype=numpy.uint8).ctypes.data
    assert where == numpy.frombuffer(memoryview(message)[:], dtype=numpy.uint8).ctypes.data
    with open("/proc/self/maps") as maps:
        ranges = [line.split() for line in maps]
    shared = [fields[1] for fields in ranges if _within(where, fields[0])]
    assert len(shared) == 1 and shared[0].endswith("s"), f"{where:x} is not in shared memory: {shared}"


def test_over_shm_held_messages_are_counted_and_views_count(native: Any, link: Any) -> None:
    publisher, subscriber = link(native, "shm", max_messages=2)
    held = []
    with pytest.raises(native.TooManyMessages) as caught:
        for n in range(10):
            publisher.send_msg(bytes([n]))
            held.append(memoryview(subscriber.recv_msg(20000)))
    assert caught.value.code == "too_many_messages"
    held.clear()
    publisher.send_msg(b"now")
    assert bytes(wait_until(lambda: subscriber.recv_msg(0))) == b"now"


def test_a_message_outlives_its_participant(native: Any, broker: Any) -> None:
    with native.Participant() as participant:
        publisher = participant.register_topic("t", transports="shm")
        subscriber = participant.request_topic("t", transports="shm", connected_within_ms=20000)
        publisher.send_msg(b"abcd")
        message = subscriber.recv_msg(20000)
    assert bytes(message) == b"abcd"


def _within(address: int, span: str) -> bool:
    first, last = (int(each, 16) for each in span.split("-"))
    return first <= address < last
