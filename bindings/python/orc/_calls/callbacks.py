"""Runs callbacks of calls: their exceptions go to the log."""

from __future__ import annotations

from typing import Callable

from .._log import logger


def run(callback: Callable[[], object]) -> None:
    """An exception of a callback goes to the log."""
    try:
        callback()
    except Exception:
        logger.exception("callback of a call")


def run_apart(callback: Callable[[], object]) -> None:
    """The same on a thread of ORC, which serves others: SystemExit does not end it, either."""
    try:
        run(callback)
    except BaseException:
        logger.exception("callback of a call")
