"""For _parameters."""

from __future__ import annotations


def absolute(name: str) -> str:
    """A full name as a participant takes it, whatever its namespace is."""
    return f"/{name}"
