"""The sessions with Zenoh: one for small samples, one for large ones."""

from __future__ import annotations

import json
import threading
import time
from typing import Any, Callable, Dict, Optional

import zenoh

from .._shared.settings_file import SettingsError
from .log import logger
from .settings import Settings

_OPEN_TRY_S = 2.0
# Keepalives wait behind a batch, so on a slow link batches must be small.
_LARGE_BATCH_BYTES = 8192
_WAIT = "transport/link/tx/queue/congestion_control/block/wait_before_close"
_RETRY = {"period_init_ms": 100, "period_max_ms": 250, "period_increase_factor": 2.0}
_SNDBUF = "transport/link/tcp/so_sndbuf"


def check_config(settings: Settings) -> None:
    """Raises SettingsError when the file of Zenoh, an address or a mode is wrong."""
    _config(settings, large=False)


def _config(settings: Settings, large: bool) -> Any:
    try:
        config = zenoh.Config.from_file(settings.zenoh_config) if settings.zenoh_config else zenoh.Config()
        given = json.loads(config.get_json(_SNDBUF))
        set: Dict[str, Any] = {"timestamping/enabled": True, "transport/link/rx/max_message_size": settings.max_bytes}
        if settings.mode:
            set["mode"] = settings.mode
        if settings.connect:
            set["connect/endpoints"] = settings.connect
        elif large and settings.listen:  # the small session routes for it, as for the others
            set.update({"mode": "client", "connect/endpoints": [_loopback(settings.listen[0])]})
        if not settings.zenoh_config and (settings.connect or settings.listen):
            set["scouting/multicast/enabled"] = False  # the addresses are known
        # Both sessions cannot listen at one address. The large one connects to where others do.
        set["listen/endpoints"] = settings.listen if not large else []
        if large:
            set["transport/link/tx/batch_size"] = _LARGE_BATCH_BYTES
            # Of a whole sample. Zenoh ends the connection then, and the sample is lost.
            set[_WAIT] = settings.large_seconds * 1_000_000
        if given is None:
            # What the kernel has taken cannot be replaced by a newer sample, and fills the queue of a slow link.
            set[_SNDBUF] = settings.large_buffer if large else settings.small_buffer
        if json.loads(config.get_json("connect/retry")) is None:
            set["connect/retry"] = _RETRY
        for key, value in set.items():
            config.insert_json5(key, json.dumps(value))
        mode = json.loads(config.get_json("mode"))
        if mode != "router":
            # zenoh.open then tries again in pieces that Ctrl-C can end.
            config.insert_json5("connect/timeout_ms", json.dumps(int(_OPEN_TRY_S * 1000) if mode == "client" else 0))
            config.insert_json5("connect/exit_on_failure", json.dumps(mode == "client"))
        return config
    except zenoh.ZError as error:
        raise SettingsError(f"the configuration of Zenoh: {_first_line(error)}") from None


def open_session(settings: Settings, large: bool, stopping: threading.Event) -> Optional[Any]:
    """Returns a session; a client waits until a router answers. None: `stopping` was set meanwhile.

    Later the session connects again by itself whenever its connection ends. Raises SettingsError.
    """
    config, waits = _config(settings, large), False
    while not stopping.is_set():
        started = time.monotonic()
        try:
            return zenoh.open(config)
        except zenoh.ZError as error:
            if not waits:
                logger.warning("no connection to Zenoh yet, trying again: %s", _first_line(error))
            waits = True
        stopping.wait(max(0.1, _OPEN_TRY_S / 4 - (time.monotonic() - started)))
    return None


def _loopback(endpoint: str) -> str:
    """Returns where this host reaches what listens at an endpoint."""
    return endpoint.replace("/0.0.0.0:", "/127.0.0.1:").replace("/[::]:", "/[::1]:")


def direct(callback: Callable[[Any], object]) -> Any:
    """Returns a handler that calls back on Zenoh's own thread: nothing queues up behind it."""
    return zenoh.handlers.Callback(callback, indirect=False)


def _first_line(error: Exception) -> str:
    return str(error).partition(" at /")[0].partition("\n")[0][:300]
