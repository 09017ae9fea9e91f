"""The messages of calls, byte by byte (schemas/PROTOCOL.md, "Calls")."""

from __future__ import annotations

import random
import struct
from typing import Any, Callable, List

import pytest

from orc._calls import CallErrc, CallError, message
from orc._calls.message import CallTypes, Kind
from orc._type_description import MAX_SCHEMA_BYTES, TypeDescription

TYPES = CallTypes(TypeDescription("a.B", "struct", "struct", b"{}"), TypeDescription())
ERROR = CallError(CallErrc.exception, "text é", -5, "ValueError")


def test_the_header_is_as_the_protocol_says() -> None:
    made = message.encode(Kind.REQUEST, 0x0102030405060708, b"payload", 0x1112131415161718, 0x2122232425262728)
    assert made[:2] == b"\2\1" and made[2:8] == bytes(6)
    assert made[8:16] == bytes(range(8, 0, -1))
    assert made[16:24] == bytes(range(0x18, 0x10, -1))
    assert made[24:32] == bytes(range(0x28, 0x20, -1))
    assert made[32:] == b"payload"
    read = message.decode(memoryview(made))
    assert read == (Kind.REQUEST, 0x0102030405060708, 0x1112131415161718, 0x2122232425262728, b"payload")


def test_what_is_no_message_is_refused() -> None:
    good = message.encode(Kind.RESULT, 1)
    assert message.decode(memoryview(good)) is not None
    for size in range(32):
        assert message.decode(memoryview(good[:size])) is None
    for kind in {*range(256)} - {int(each) for each in Kind}:
        assert message.decode(memoryview(bytes([kind]) + good[1:])) is None
    for version in (0, 2, 255):
        assert message.decode(memoryview(good[:1] + bytes([version]) + good[2:])) is None
    for reserved in range(2, 8):
        assert message.decode(memoryview(good[:reserved] + b"\1" + good[reserved + 1 :])) is None


def test_the_bytes_of_an_error_are_those_of_cpp() -> None:
    made = message.encode_error(ERROR)
    assert made == struct.pack("<BBHi", 1, 10, 7, -5) + b"ValueError" + "text é".encode()


PAYLOADS: List[Any] = [
    (message.encode_types(TYPES), message.decode_types),
    (message.encode_error(ERROR), message.decode_error),
    (message.encode_ids([1, 2, 2**64 - 1]), message.decode_ids),
]


def test_payloads_come_back() -> None:
    assert message.decode_types(message.encode_types(TYPES)) == TYPES
    read = message.decode_error(message.encode_error(ERROR))
    assert read is not None
    assert (read.code, read.number, read.text, read.exception_type) == (CallErrc.exception, -5, "text é", "ValueError")
    assert message.decode_ids(message.encode_ids([3, 1, 2**64 - 1])) == [1, 3, 2**64 - 1]
    assert message.decode_ids(b"") == []


@pytest.mark.parametrize("payload, decode", PAYLOADS)
def test_payloads_come_back_only_whole(payload: bytes, decode: Callable[[bytes], Any]) -> None:
    for size in range(len(payload)):
        if size % 8 or decode is not message.decode_ids:
            assert decode(payload[:size]) is None
    assert decode(payload + b"\0") is None


@pytest.mark.parametrize("payload, decode", PAYLOADS)
def test_no_bytes_raise(payload: bytes, decode: Callable[[bytes], Any]) -> None:
    draw = random.Random(17)
    for _ in range(3000):
        changed = bytearray(payload)
        for _ in range(draw.randrange(1, 4)):
            changed[draw.randrange(len(changed))] = draw.randrange(256)
        decode(bytes(changed[: draw.randrange(len(changed) + 1)]))


def test_sizes_are_bounded() -> None:
    long = CallTypes(TypeDescription("n" * 256, "", "json"), TypeDescription())
    assert message.decode_types(message.encode_types(long)) is None
    large = CallTypes(TypeDescription("n", "x", "x", bytes(MAX_SCHEMA_BYTES + 1)), TypeDescription())
    assert message.decode_types(message.encode_types(large)) is None
    not_text = message.encode_types(TYPES).replace(b"a.B", b"a\xffB")
    assert message.decode_types(not_text) is None
    assert message.decode_ids(bytes(8 * 4097)) is None
    assert len(message.encode_ids(range(5000))) == 8 * 4096
    assert message.decode_ids(struct.pack("<2Q", 2, 1)) is None
    cut = message.decode_error(message.encode_error(CallError(CallErrc.failed, "é" * 5000, 0, "T" * 300)))
    assert cut is not None and cut.text == "é" * 2048 and len(cut.exception_type) == 255


def test_codes_that_only_a_client_can_know_are_failures() -> None:
    for code in (0, 11, 31, 32, 33, 35, 36, 37, 39, 40, 41, 200):
        read = message.decode_error(struct.pack("<BBHi", code, 0, 0, 0))
        assert read is not None and read.code is CallErrc.failed
    for code in (*range(1, 11), 34, 38):
        read = message.decode_error(struct.pack("<BBHi", code, 0, 0, 0))
        assert read is not None and read.code == code


def test_topics_of_a_client() -> None:
    assert message.call_topic("arm/s", 0x12AB) == "/arm/s/.call/00000000000012ab"
    assert message.reply_topic("arm/s", 2**64 - 1) == "/arm/s/.reply/ffffffffffffffff"
    assert message.parse_call_topic("arm/s/.call/00000000000012ab") == ("arm/s", 0x12AB)
    nested = message.parse_call_topic("a/.call/0000000000000001/.call/0000000000000002")
    assert nested == ("a/.call/0000000000000001", 2)
    for name in ("arm/s", "arm/s/.call/12ab", "arm/s/.call/00000000000012AB", "arm/s/.reply/00000000000012ab"):
        assert message.parse_call_topic(name) is None
    assert len(message.reply_topic("n" * message.MAX_NAME_BYTES, 0)) == len("/") + 255
