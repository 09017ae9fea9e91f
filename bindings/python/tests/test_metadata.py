"""What the installed distribution says about itself: version, licences, and the page that PyPI shows."""

from __future__ import annotations

import importlib.metadata
import pathlib
import re
from typing import Any

import pytest

from support import REPOSITORY


@pytest.fixture
def distribution() -> importlib.metadata.Distribution:
    try:
        return importlib.metadata.distribution("orc-middleware")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("orc-middleware is not installed: orc comes from PYTHONPATH")


def test_the_version_is_that_of_the_header(distribution: importlib.metadata.Distribution) -> None:
    header = (REPOSITORY / "liborc/include/orc/version.h").read_text()
    parts = re.findall(r"#define ORC_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header)
    assert len(parts) == 3
    assert distribution.version == ".".join(parts)


def test_the_metadata_names_the_licence_and_shows_the_readme(distribution: importlib.metadata.Distribution) -> None:
    fields = distribution.metadata
    assert fields["License-Expression"] == "Apache-2.0"
    assert fields["Author"] == "ORC contributors"
    assert fields["Description-Content-Type"].startswith("text/markdown")
    text = fields.get_payload() if "Description" not in fields else fields["Description"]
    assert "# ORC for Python" in text
    # A link relative to this repository leads nowhere on PyPI.
    assert re.findall(r"\]\((?!https?://)", text) == []


def test_the_distribution_has_the_licence_itself(distribution: importlib.metadata.Distribution) -> None:
    licences = [file for file in distribution.files or [] if file.name == "LICENSE"]
    assert [file.read_text() for file in licences] == [(REPOSITORY / "LICENSE").read_text()]


def test_the_licences_of_linked_libraries_come_along(native: Any) -> None:
    import orc._native

    assert orc._native.__file__ is not None
    folder = pathlib.Path(orc._native.__file__).parent / "licenses"
    names = {path.name for path in folder.glob("*.txt")}
    assert {"libzmq3-dev.txt", "nanobind.txt"} <= names
