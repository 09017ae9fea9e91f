"""What a topic of commands needs: for register_command and request_command of both backends."""

from __future__ import annotations

from typing import Any, Dict

from orc._errors import BadArgument


def offered(options: Dict[str, Any]) -> Dict[str, Any]:
    """Returns the options of register_topic. Raises BadArgument."""
    if options.get("keep_last", False):
        raise BadArgument("a command is not kept for subscribers that join later: leave keep_last out")
    if options.get("priority") == "bulk":
        raise BadArgument("a command does not wait behind other traffic: leave priority out")
    over = options.get("transports", ())
    if not isinstance(over, str):
        over = tuple(over)
    chosen = {**options, "transports": over, "keep_last": False}
    if not over or "tcp" in over or "multicast" in over:
        chosen["priority"] = "control"
    return chosen


def wanted(max_age_ms: int, options: Dict[str, Any]) -> Dict[str, Any]:
    """Returns the options of request_topic. Raises BadArgument."""
    if max_age_ms <= 0:
        raise BadArgument("a command has a max_age_ms above 0: an old one must not be carried out")
    if options.get("conflate", 1) != 1:
        raise BadArgument(
            "a queue of commands is carried out late: leave conflate out, or use a service or request_topic"
        )
    return {**options, "max_age_ms": max_age_ms}
