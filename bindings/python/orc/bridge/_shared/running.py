"""A bridge as a program: signals, messages and exit codes."""

from __future__ import annotations

import logging
import signal
import sys
from typing import Callable, Dict, Protocol

from orc import Error

from .settings_file import SettingsError


class CannotRun(Exception):
    """Something of this computer is missing. The text says what."""


class RunnableBridge(Protocol):
    """One thread calls, but stop()."""

    ready: str
    """What it says when start() returned True."""

    @property
    def counts(self) -> Dict[str, int]:
        """What crossed and what was dropped, by kind."""

    def start(self) -> bool:
        """Returns False when stop() was called meanwhile. Raises SettingsError, Error, CannotRun."""

    def wait(self) -> None:
        """Waits for stop(). Raises CannotRun."""

    def stop(self) -> None:
        """Signal handlers and any thread may call it."""

    def close(self) -> None:
        """Ends everything that was started."""


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
