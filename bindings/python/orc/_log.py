"""Where the log goes when a program names nothing else, for both backends: to the logger "orc"."""

from __future__ import annotations

import logging

logger = logging.getLogger("orc")

_LEVELS = {"error": logging.ERROR, "warning": logging.WARNING, "info": logging.INFO, "debug": logging.DEBUG}


class _Prefix(logging.Filter):
    """A program that did not set up logging sees the text alone on stderr: it says there where it comes from."""

    def filter(self, record: logging.LogRecord) -> bool:
        if not logger.hasHandlers():
            record.msg = f"orc: {record.msg}"
        return True


logger.addFilter(_Prefix())


def log_to_logging(level: str, text: str) -> None:
    """The default of Broker's `log`."""
    logger.log(_LEVELS[level], "%s", text)
