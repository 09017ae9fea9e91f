"""Types of the classes that lcm-gen, protoc and flatc make, and JSON."""

from __future__ import annotations

import pathlib
import subprocess
import sys
from typing import Any

import pytest

from generated_types import LCM, flatbuffer_module, lcm_module, proto_module
from orc._errors import BadArgument, BadSample
from orc._type_description import TypeDescription
from orc._typed import flatbuffer, json, typed
from support import environment


def test_lcm(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    generated = lcm_module(tmp_path, monkeypatch)
    codec: Any = typed(generated.scan_t)
    assert codec.description.name == "typed_lcm.scan_t"
    assert codec.description.schema_encoding == codec.description.message_encoding == "lcm"
    scan = generated.scan_t()
    scan.utime, scan.name, scan.count, scan.ranges, scan.raw = 5, "laser", 2, [0.5, 1.5], b"abc"
    scan.points = [generated.vector_t(), generated.vector_t()]
    found = codec.decode(codec.encode(scan))
    assert (found.utime, found.name, list(found.ranges), len(found.points)) == (5, "laser", [0.5, 1.5], 2)
    assert codec.encode(b"12345678") == b"12345678"
    for wrong in (b"", bytes(8), codec.encode(scan)[:-5]):
        with pytest.raises(BadSample, match=f"a sample of {len(wrong)} bytes is no typed_lcm.scan_t"):
            codec.decode(wrong)
    with pytest.raises(BadSample, match="vector_t is no value of typed_lcm.scan_t"):
        codec.encode(generated.vector_t())
    scan.name = 5
    with pytest.raises(BadSample, match="no typed_lcm.scan_t"):
        codec.encode(scan)


def test_lcm_definitions_have_the_fingerprint_of_the_class(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, native: Any
) -> None:
    """Also of a type that contains itself, and where the text of a size is not in the class (0x10)."""

    def check(description: TypeDescription, fingerprint: int) -> None:
        bare = TypeDescription(description.name, "lcm", "lcm", b"fingerprint 0x%016x\n" % fingerprint)
        native._native.check_types(description, bare, "arm (1)")

    generated = lcm_module(tmp_path, monkeypatch, LCM + "struct hex_t { byte a[0x10]; } struct flat_t { byte a[16]; }")
    for kind in (generated.scan_t, generated.vector_t, generated.hex_t, generated.flat_t):
        description: Any = typed(kind).description  # type: ignore[union-attr]
        expected = int.from_bytes(kind._get_packed_fingerprint(), "big")
        check(description, expected)
        with pytest.raises(native.TypeMismatch):
            check(description, expected ^ 1)
        has_definitions = hasattr(kind, "__typenames__") and kind is not generated.hex_t
        assert description.schema.startswith(b"package typed_lcm;" if has_definitions else b"fingerprint 0x")


def test_protobuf(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    generated = proto_module(tmp_path, monkeypatch)
    from google.protobuf.descriptor_pb2 import FileDescriptorSet

    codec: Any = typed(generated.Scan)
    assert codec.description.name == "typed_pb.Scan" and codec.description.schema_encoding == "protobuf"
    files = FileDescriptorSet.FromString(codec.description.schema)
    assert [each.name for each in files.file] == ["typed_scan.proto"]
    scan = generated.Scan(utime=5, ranges=[0.5, 1.5], name="laser")
    scan.origin.x = 3
    assert codec.decode(codec.encode(scan)) == scan
    with pytest.raises(BadSample, match="a sample of 2 bytes is no typed_pb.Scan"):
        codec.decode(b"\x0a\xff")
    with pytest.raises(BadSample, match="dict is no value of typed_pb.Scan"):
        codec.encode({})


def test_flatbuffers(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    generated, bfbs = flatbuffer_module(tmp_path, monkeypatch)
    import flatbuffers  # type: ignore[import-untyped]

    codec: Any = flatbuffer(generated.Scan, str(bfbs))
    assert codec.description == TypeDescription("typed_fb.Scan", "flatbuffer", "flatbuffer", bfbs.read_bytes())
    assert flatbuffer(generated.Scan, bfbs.read_bytes()).description == codec.description
    builder = flatbuffers.Builder(64)
    name = builder.CreateString("laser")
    generated.ScanStart(builder)
    generated.ScanAddUtime(builder, 5)
    generated.ScanAddName(builder, name)
    with pytest.raises(BadSample, match="call Finish first"):
        codec.encode(builder)
    builder.Finish(generated.ScanEnd(builder))
    found = codec.decode(codec.encode(builder))
    assert (found.Utime(), found.Name()) == (5, b"laser")
    for wrong in (b"", bytes(8), b"\xff" * 20):
        with pytest.raises(BadSample, match="no typed_fb.Scan"):
            codec.decode(wrong)
    with pytest.raises(BadArgument, match="pass orc.flatbuffer"):
        typed(generated.Scan)
    damaged = bytearray(bfbs.read_bytes())
    for schema in (b"no schema", damaged[:40], b"\xff\xff\xff\x7f" + damaged[4:]):
        with pytest.raises(BadArgument, match="schema"):
            flatbuffer(generated.Scan, bytes(schema))


def test_json() -> None:
    codec = json("robot.Config")
    assert codec.description == TypeDescription("robot.Config", "", "json", b"")
    assert typed(dict).description == TypeDescription("", "", "json", b"")  # type: ignore[union-attr]
    value = {"gain": 0.5, "names": ["α", "b"], "nested": {"on": True}}
    assert codec.decode(codec.encode(value)) == value
    for wrong, why in (
        (b"{", "is no JSON"),
        (b"[1]", "of the kind list"),
        (b"[" * 100_000, "no JSON"),
        (b"\xff", "no"),
    ):
        with pytest.raises(BadSample, match=why):
            codec.decode(wrong)
    for value in ({"x": float("nan")}, {"x": object()}, 5):  # type: ignore[assignment]
        with pytest.raises(BadSample, match="no"):
            codec.encode(value)


def test_a_description_leaves_bytes_alone() -> None:
    codec = typed(TypeDescription("robot.State", "", "own", b""))
    assert codec is not None and codec.decode(memoryview(b"abc")) == b"abc" and codec.encode(b"abc") == b"abc"
    assert typed(TypeDescription()) is None and typed(None) is None


def test_nothing_is_imported_that_no_type_needs(native: Any) -> None:
    code = "import sys, orc; assert not {'numpy', 'google.protobuf', 'lcm'} & set(sys.modules), 'imported'"
    subprocess.run([sys.executable, "-c", code], env=environment(), check=True, timeout=60)
