"""Python classes of the generators of LCM, Protobuf and FlatBuffers, made where the test runs."""

from __future__ import annotations

import importlib
import pathlib
import shutil
import subprocess
import sys
from typing import Any, Callable, Tuple

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


def _look_in(directory: pathlib.Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on the package of this name is that of the directory, not that of an earlier test."""
    monkeypatch.syspath_prepend(str(directory))
    package = name.partition(".")[0]
    for each in [each for each in sys.modules if each == package or each.startswith(package + ".")]:
        monkeypatch.delitem(sys.modules, each)
    importlib.invalidate_caches()


def _module(directory: pathlib.Path, name: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    _look_in(directory, name, monkeypatch)
    return importlib.import_module(name)


def lcm_module(directory: pathlib.Path, monkeypatch: pytest.MonkeyPatch, text: str = LCM) -> Any:
    (directory / "types.lcm").write_text(text)
    subprocess.run([program("lcm-gen"), "-p", "types.lcm"], cwd=directory, check=True, capture_output=True)
    return _module(directory, "typed_lcm", monkeypatch)


def proto_module(directory: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    file = directory / "typed_scan.proto"
    file.write_text(PROTO)
    return proto_modules(directory, monkeypatch, file)


def proto_modules(directory: pathlib.Path, monkeypatch: pytest.MonkeyPatch, *files: pathlib.Path) -> Any:
    """Returns the module of the first file, which imports those of the others. All are in one directory."""
    pytest.importorskip("google.protobuf")
    command = [program("protoc"), f"--python_out={directory}", f"-I{files[0].parent}", *map(str, files)]
    subprocess.run(command, check=True, capture_output=True)
    try:
        found = [_module(directory, each.stem + "_pb2", monkeypatch) for each in reversed(files)]
    except Exception as error:  # the package refuses what another version of protoc made
        pytest.skip(f"the package protobuf does not go with protoc: {error}")
    return found[-1]


def flatbuffer_module(directory: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Tuple[Any, pathlib.Path]:
    file = directory / "typed_scan.fbs"
    file.write_text(FBS)
    classes, bfbs = flatbuffer_classes(directory, monkeypatch, file)
    return classes("typed_fb.Scan"), bfbs


def flatbuffer_classes(
    directory: pathlib.Path, monkeypatch: pytest.MonkeyPatch, file: pathlib.Path
) -> Tuple[Callable[[str], Any], pathlib.Path]:
    """Returns what imports a module by its full name, and the path of the binary schema."""
    pytest.importorskip("flatbuffers")
    for options in (["--python"], ["--binary", "--schema"]):
        command = [program("flatc"), *options, "-o", str(directory), str(file)]
        subprocess.run(command, check=True, capture_output=True)
    _look_in(directory, "typed_fb", monkeypatch)
    return importlib.import_module, directory / f"{file.stem}.bfbs"
