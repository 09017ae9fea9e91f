"""Whatever bytes a schema has, orc.pure raises a ValueError or reads it, and soon."""

from __future__ import annotations

import json
import pathlib
import random
import shutil
import subprocess
import time
from typing import Callable, List, Tuple

import pytest

from orc import TypeDescription
from orc.pure import schema
from support import REPOSITORY

_ROUNDS = 1_500


def tagged(number: int, value: bytes) -> bytes:
    """Returns a field of bytes in Protobuf's wire format."""
    return varint(number << 3 | 2) + varint(len(value)) + value


def numbered(number: int, value: int) -> bytes:
    return varint(number << 3) + varint(value)


def varint(value: int) -> bytes:
    made = bytearray()
    while value > 0x7F:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(made) + bytes([value])


def protobuf_field(name: bytes, number: int, type: int, label: int = 1, type_name: bytes = b"") -> bytes:
    made = tagged(1, name) + numbered(3, number) + numbered(4, label) + numbered(5, type)
    return tagged(2, made + (tagged(6, type_name) if type_name else b""))


def protobuf_set() -> bytes:
    inner = tagged(1, b"Inner") + protobuf_field(b"x", 1, 1) + protobuf_field(b"again", 2, 11, 1, b".robot.State")
    values = b"".join(tagged(2, tagged(1, name) + numbered(2, at)) for at, name in enumerate((b"IDLE", b"MOVING")))
    mode = tagged(1, b"Mode") + values
    state = (
        tagged(1, b"State") + protobuf_field(b"q", 1, 1, 3) + protobuf_field(b"mode", 2, 14, 1, b".robot.State.Mode")
    )
    state += protobuf_field(b"inner", 3, 11, 3, b".robot.State.Inner") + tagged(3, inner) + tagged(4, mode)
    return tagged(1, tagged(1, b"robot.proto") + tagged(2, b"robot") + tagged(4, state))


def bfbs(directory: pathlib.Path) -> bytes:
    flatc = shutil.which("flatc")
    if flatc is None:
        pytest.skip("flatc is not installed (flatbuffers-compiler)")
    source = REPOSITORY / "schemas/orc_protocol.fbs"
    subprocess.run([flatc, "--binary", "--schema", "-o", directory, source], check=True)
    return (directory / "orc_protocol.bfbs").read_bytes()


_STRUCT = json.dumps(
    {
        "byte_order": "little",
        "size": 64,
        "fields": [
            {"name": "q", "type": "float64", "offset": 0, "shape": [3], "unit": "rad"},
            {"name": "mode", "type": "int8", "offset": 24, "values": {"idle": 0, "moving": 1}},
            {"name": "pose", "type": {"size": 8, "fields": [{"name": "x", "type": "char", "offset": 0}]}, "offset": 32},
        ],
    }
).encode()
_LCM = b"""package robot; // of a robot
struct state_t { int32_t n; double q[n][3]; pose_t poses[2], more; const int8_t MODE = 3, OTHER = 0x1f; state_t s[n]; }
/* where */ struct pose_t { float x, y; string frame; }
"""
_ROS2 = b"""# a comment
std_msgs/Header header
float64[3] q
string<=10[<=5] names "a # b"
int8 MODE=3
geometry_msgs/msg/Pose[] poses
%s
MSG: std_msgs/Header
string frame_id
%s
MSG: geometry_msgs/Pose
float64 x 1.5
""" % (b"=" * 80, b"=" * 80)
_TEXT_BITS = [b"{", b"}", b"[", b"]", b",", b";", b"/*", b"*/", b'"', b"\\", b"\n", b"=" * 80, b"99999999999999999999"]


def mutate(chance: random.Random, data: bytes) -> bytes:
    made = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 8))):
        at, end = sorted((chance.randrange(len(made) + 1), chance.randrange(len(made) + 1)))
        kind = chance.randrange(7)
        if kind == 0:
            del made[at : min(end, at + 20)]
        elif kind == 1:
            made[at:at] = made[at : min(end, at + 200)]
        elif kind == 2:
            made[at:at] = chance.choice(_TEXT_BITS)
        elif kind == 3:
            made[at : at + 4] = chance.choice((0, 1, 0x7FFFFFFF, 0xFFFFFFFF, len(data))).to_bytes(4, "little")
        elif kind == 4:
            del made[end:]
        elif at < len(made):
            made[at] = chance.randrange(256) if kind == 5 else made[at] ^ 1 << chance.randrange(8)
    return bytes(made)


Make = Callable[[pathlib.Path], TypeDescription]
_KINDS: List[Tuple[str, Make]] = [
    ("struct", lambda _: TypeDescription("robot.State", "struct", "struct", _STRUCT)),
    ("lcm", lambda _: TypeDescription("robot.state_t", "lcm", "lcm", _LCM)),
    ("ros2msg", lambda _: TypeDescription("robot/msg/State", "ros2msg", "cdr", _ROS2)),
    ("jsonschema", lambda _: TypeDescription("robot.State", "jsonschema", "json", _STRUCT)),
    ("protobuf", lambda _: TypeDescription("robot.State", "protobuf", "protobuf", protobuf_set())),
    ("flatbuffer", lambda path: TypeDescription("orc.wire.fb.Envelope", "flatbuffer", "flatbuffer", bfbs(path))),
]


@pytest.mark.parametrize("make", [make for _, make in _KINDS], ids=[name for name, _ in _KINDS])
def test_any_bytes_are_read_or_a_value_error(make: Make, tmp_path: pathlib.Path) -> None:
    good = make(tmp_path)
    schema.check_schema(good)
    chance = random.Random(4711)
    read = 0
    for _ in range(_ROUNDS):
        bad = TypeDescription(good.name, good.schema_encoding, good.message_encoding, mutate(chance, good.schema))
        begin = time.process_time()
        try:
            schema.check_schema(bad)
            schema.check_types(bad, good, "arm (4711)")
            schema.check_types(good, bad, "arm (4711)")
            read += 1
        except ValueError:
            pass
        schema.lcm_fingerprint(bad)
        assert time.process_time() - begin < 30, bad.schema
    assert 0 < read < _ROUNDS
