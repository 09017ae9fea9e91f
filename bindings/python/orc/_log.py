"""The logger "orc" of both backends. The log goes there when a program gives Participant no `log`."""

from __future__ import annotations

import logging

logger = logging.getLogger("orc")

_LEVELS = {"error": logging.ERROR, "warning": logging.WARNING, "info": logging.INFO, "debug": logging.DEBUG}


class _Prefix(logging.Filter):
    """Puts "orc: " before a text if the program has not set up logging, which then prints the text alone."""

    def filter(self, record: logging.LogRecord) -> bool:
        if not logger.hasHandlers():
            record.msg = f"orc: {record.msg}"
        return True


logger.addFilter(_Prefix())


def log_to_logging(level: str, text: str) -> None:
    """The default of Participant's `log`: writes to the logger "orc"."""
    logger.log(_LEVELS[level], "%s", text)
