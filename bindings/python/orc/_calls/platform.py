"""For _parameters."""

from .values import seconds

__all__ = ["seconds"]
