"""Times in seconds that calls and parameters take."""

from __future__ import annotations

from ._errors import BadArgument

LONGEST_S = 24 * 3600.0


def checked_timeout(timeout: float) -> float:
    """Raises TypeError, BadArgument."""
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)):
        raise TypeError(f"timeout is a number of seconds, not {type(timeout).__name__}")
    if not 0 <= timeout <= LONGEST_S:
        raise BadArgument(f"timeout is 0 to {LONGEST_S} seconds, not {timeout}")
    return float(timeout)
