"""The reader of TOML."""

from __future__ import annotations

import importlib
from typing import Any


def toml_reader() -> Any:
    """Returns tomllib, which is part of Python from 3.11 on, or tomli, which is the same. Raises ImportError."""
    try:
        return importlib.import_module("tomllib")
    except ModuleNotFoundError:
        pass
    try:
        return importlib.import_module("tomli")
    except ModuleNotFoundError:
        raise ImportError("reading TOML needs Python 3.11, or tomli: pip install orc-middleware[toml]") from None
