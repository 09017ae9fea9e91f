"""Python classes of the generators of LCM, Protobuf and FlatBuffers, made where the test runs."""

from __future__ import annotations

import importlib
import pathlib
import shutil
import subprocess
import sys
from typing import Any, Tuple

import pytest

from support import REPOSITORY

LCM = """
package typed_lcm;
struct vector_t { double x; double y; double z; }
struct scan_t {
  int64_t utime; int32_t count; float ranges[count]; vector_t points[count]; vector_t origin; string name;
  boolean good; byte raw[3]; int16_t grid[2][3]; int8_t inside; scan_t inner[inside];
  const int32_t MODE = 5;
}
"""
PROTO = """
syntax = "proto3";
package typed_pb;
message Vector { double x = 1; double y = 2; }
message Scan { int64 utime = 1; repeated float ranges = 2; string name = 3; Vector origin = 4; }
"""
FBS = """
namespace typed_fb;
struct Vector { x:double; y:double; }
table Scan { utime:long; ranges:[float]; name:string; origin:Vector; }
root_type Scan;
"""


def program(name: str) -> str:
    kept = REPOSITORY / "build/lcm-venv/bin" / name
    found = str(kept) if kept.exists() else shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed: tools/dev setup")
    return found


def _module(directory: pathlib.Path, name: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(directory))
    for each in [each for each in sys.modules if each == name or each.startswith(name + ".")]:
        monkeypatch.delitem(sys.modules, each)
    importlib.invalidate_caches()
    return importlib.import_module(name)


def lcm_module(directory: pathlib.Path, monkeypatch: pytest.MonkeyPatch, text: str = LCM) -> Any:
    (directory / "types.lcm").write_text(text)
    subprocess.run([program("lcm-gen"), "-p", "types.lcm"], cwd=directory, check=True, capture_output=True)
    return _module(directory, "typed_lcm", monkeypatch)


def proto_module(directory: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    pytest.importorskip("google.protobuf")
    (directory / "typed_scan.proto").write_text(PROTO)
    command = [program("protoc"), "--python_out=.", "typed_scan.proto"]
    subprocess.run(command, cwd=directory, check=True, capture_output=True)
    try:
        return _module(directory, "typed_scan_pb2", monkeypatch)
    except Exception as error:  # the package refuses what another version of protoc made
        pytest.skip(f"the package protobuf does not go with protoc: {error}")


def flatbuffer_module(directory: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Tuple[Any, pathlib.Path]:
    pytest.importorskip("flatbuffers")
    (directory / "typed_scan.fbs").write_text(FBS)
    for options in (["--python"], ["--binary", "--schema"]):
        command = [program("flatc"), *options, "-o", ".", "typed_scan.fbs"]
        subprocess.run(command, cwd=directory, check=True, capture_output=True)
    return _module(directory, "typed_fb.Scan", monkeypatch), directory / "typed_scan.bfbs"
