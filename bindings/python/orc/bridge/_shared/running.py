"""A bridge as a program: signals, messages and exit codes."""

from __future__ import annotations

import logging
import signal
import sys
from abc import ABC, abstractmethod
from typing import Callable, Dict, List

from orc import Error

from .counters import Counters
from .settings_file import SettingsError


class CannotRun(Exception):
    """Something of this computer is missing. The text says what."""


class RunnableBridge(ABC):
    """One thread calls, but stop()."""

    def __init__(self, logger: logging.Logger) -> None:
        self._counters = Counters(logger)
        self._ends: List[Callable[[], object]] = []  # of what was started, the first one last
        self.ready = ""
        """What it says when start() returned True."""

    @property
    def counts(self) -> Dict[str, int]:
        """What crossed and what was dropped, by kind."""
        return self._counters.snapshot()

    @abstractmethod
    def start(self) -> bool:
        """Returns False when stop() was called meanwhile. Raises SettingsError, Error, CannotRun."""

    @abstractmethod
    def wait(self) -> None:
        """Waits for stop(). Raises CannotRun."""

    @abstractmethod
    def stop(self) -> None:
        """Signal handlers and any thread may call it."""

    def close(self) -> None:
        """Ends everything that was started."""
        while self._ends:
            self._ends.pop()()


def log_to_stderr(program: str, verbose: bool) -> None:
    """Logs warnings, or everything."""
    level = logging.DEBUG if verbose else logging.WARNING
    logging.basicConfig(level=level, format=f"{program}: %(message)s", stream=sys.stderr)


def run(program: str, make: Callable[[], RunnableBridge], logger: logging.Logger) -> int:
    """Runs a bridge until a signal. Returns the exit code: 0, 1 when it cannot go on, 2 for wrong settings."""
    try:
        bridge = make()
    except CannotRun as error:
        print(f"{program}: {error}", file=sys.stderr)
        return 1
    except (SettingsError, OSError, ImportError) as error:
        print(f"{program}: {error}", file=sys.stderr)
        return 2
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: bridge.stop())
    try:
        if bridge.start():
            print(f"bridging: {bridge.ready}", flush=True)
            bridge.wait()
    except (SettingsError, Error, CannotRun) as error:
        print(f"{program}: {error}", file=sys.stderr)
        return 1
    finally:
        bridge.close()
    logger.debug("%s", bridge.counts)
    return 0
