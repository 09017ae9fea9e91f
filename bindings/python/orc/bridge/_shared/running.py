"""A bridge as a program: signals, messages and exit codes."""

from __future__ import annotations

import atexit
import logging
import signal
import sys
import time
from abc import ABC, abstractmethod
from types import FrameType
from typing import Callable, Dict, List, Optional

from orc import Error

from .counters import Counters
from .settings_file import SettingsError

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_PATIENCE_S = 1.0  # as detail::stop_signal


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


def _stop_on_signals(stop: Callable[[], object]) -> None:
    """The first signal stops. Closing goes on whatever follows, but a Ctrl-C a second later ends the process."""
    first: List[float] = []

    def take(number: int, _frame: Optional[FrameType]) -> None:
        if not first:
            first.append(time.monotonic())
            stop()
        elif number == signal.SIGINT and time.monotonic() - first[0] >= _PATIENCE_S:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            signal.raise_signal(signal.SIGINT)

    def ignore() -> None:
        for number in _ENDING:
            signal.signal(number, signal.SIG_IGN)

    for number in _ENDING:
        if signal.getsignal(number) != signal.SIG_IGN:  # nohup
            signal.signal(number, take)
    atexit.register(ignore)  # the interpreter's own end would make them deadly again


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
    _stop_on_signals(bridge.stop)
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
