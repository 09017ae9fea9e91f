"""A topic of each encoding that Foxglove viewers are shown, each with one sample."""

from __future__ import annotations

import json
import struct
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import flatbuffers  # type: ignore[import-untyped]
import numpy as np
import orc.pure as orc

FLATBUFFER = "namespace arm; table Pose { x:double; name:string; } root_type Pose;"
PROTOBUF = 'syntax = "proto3"; package arm; message Pose { double x = 1; string name = 2; }'
ROS = "float64 x\nstring name\n"
LCM = "package arm; struct pose_t { double x; string name; }"
JSON = {"type": "object", "properties": {"x": {"type": "number"}, "name": {"type": "string"}}}
POSE = np.dtype([("x", "f8"), ("name", "S8")], align=True)
POSE_TYPE = orc.struct("arm.Pose", POSE)
X, NAME = 1.5, "left"


class Topic(NamedTuple):
    type: Any
    sample: bytes


def binary_schemas(folder: Path) -> dict[str, bytes]:
    """The schemas that compilers make, by encoding."""
    (folder / "pose.fbs").write_text(FLATBUFFER)
    (folder / "pose.proto").write_text(PROTOBUF)
    subprocess.run(["flatc", "--binary", "--schema", "-o", str(folder), str(folder / "pose.fbs")], check=True, timeout=60)
    subprocess.run(["protoc", f"-I{folder}", f"--descriptor_set_out={folder / 'pose.pb'}", "--include_imports", "pose.proto"],
                   check=True, timeout=60)
    return {"flatbuffer": (folder / "pose.bfbs").read_bytes(), "protobuf": (folder / "pose.pb").read_bytes()}


def lcm_fingerprint(*members: tuple[str, str]) -> int:
    """Of a struct whose members have primitive types and no dimensions."""
    value = 0x12345678

    def add(byte: int) -> None:
        nonlocal value
        signed = value - (1 << 64) if value >> 63 else value
        value = (((value << 8) ^ (signed >> 55)) + byte) & (1 << 64) - 1

    for kind, name in members:
        for text in (name, kind):
            for byte in (len(text), *text.encode()):
                add(byte)
        add(0)
    return ((value << 1) | (value >> 63)) & (1 << 64) - 1


def flatbuffer_sample(x: float, name: str) -> bytes:
    builder = flatbuffers.Builder(64)
    text = builder.CreateString(name)
    builder.StartObject(2)
    builder.PrependFloat64Slot(0, x, 0.0)
    builder.PrependUOffsetTRelativeSlot(1, text, 0)
    builder.Finish(builder.EndObject())
    return bytes(builder.Output())


def protobuf_sample(x: float, name: str) -> bytes:
    return b"\x09" + struct.pack("<d", x) + b"\x12" + bytes([len(name)]) + name.encode()


def cdr_sample(x: float, name: str) -> bytes:
    return b"\0\1\0\0" + struct.pack("<dI", x, len(name) + 1) + name.encode() + b"\0"


def lcm_sample(x: float, name: str) -> bytes:
    fingerprint = lcm_fingerprint(("double", "x"), ("string", "name"))
    return struct.pack(">QdI", fingerprint, x, len(name) + 1) + name.encode() + b"\0"


def pose_bytes(x: float) -> bytes:
    """Of POSE_TYPE."""
    value = np.zeros((), POSE)
    value["x"], value["name"] = x, NAME.encode()
    return value.tobytes()


def topics(folder: Path) -> dict[str, Topic]:
    schemas = binary_schemas(folder)
    return {
        "in/flatbuffer": Topic(orc.TypeDescription("arm.Pose", "flatbuffer", "flatbuffer", schemas["flatbuffer"]),
                               flatbuffer_sample(X, NAME)),
        "in/protobuf": Topic(orc.TypeDescription("arm.Pose", "protobuf", "protobuf", schemas["protobuf"]),
                             protobuf_sample(X, NAME)),
        "in/json": Topic(orc.TypeDescription("arm.Pose", "jsonschema", "json", json.dumps(JSON).encode()),
                         json.dumps({"x": X, "name": NAME}).encode()),
        "in/plain": Topic(orc.TypeDescription("", "", "json", b""), json.dumps({"x": X, "name": NAME}).encode()),
        "in/cdr": Topic(orc.TypeDescription("arm/msg/Pose", "ros2msg", "cdr", ROS.encode()), cdr_sample(X, NAME)),
        "in/lcm": Topic(orc.TypeDescription("arm.pose_t", "lcm", "lcm", LCM.encode()), lcm_sample(X, NAME)),
        "in/struct": Topic(POSE_TYPE, pose_bytes(X)),
    }
