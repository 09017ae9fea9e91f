"""The thread that learns of the clients of all services of a participant."""

from __future__ import annotations

import contextlib
import threading
import time
from typing import TYPE_CHECKING, Any, List, Optional

from .._directory_types import Change
from .._errors import Closed, Error
from .._log import logger
from . import message
from .service_core import ServiceCore
from .wakeup import Wakeup

if TYPE_CHECKING:
    from .component import Calls
    from .platform import Watch

_MAX_PATTERNS = 16
_LOOK_AFTER_S = 0.2


class ClientWatch:
    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._lock = threading.Lock()
        self._wakeup = Wakeup()
        self._thread: Optional[threading.Thread] = None
        self._changes = 0  # of the services
        self._watch: Optional[Watch] = None

    def services_changed(self) -> None:
        """Raises RuntimeError: no thread."""
        with self._lock:
            self._changes += 1
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="orc services", daemon=True)
                self._thread.start()
            watch = self._watch
        self._wakeup.ring()
        if watch is not None:
            watch.close()

    def join(self, until: float) -> None:
        with self._lock:
            thread, watch = self._thread, self._watch
        self._wakeup.ring()
        if watch is not None:
            watch.close()
        if thread is not None and thread is not threading.current_thread():
            thread.join(max(0.0, until - time.monotonic()))

    def _run(self) -> None:
        calls = self._calls
        while not calls.has_ended:
            try:
                self._watch_once(calls)
            except Closed:  # the services changed, or the participant ended
                pass
            except (Error, MemoryError, RuntimeError):
                logger.debug("the clients of services", exc_info=True)
                self._wakeup.wait(_LOOK_AFTER_S)
        for service in calls.services():
            service.let_go()

    def _watch_once(self, calls: Calls) -> None:
        """Watches the clients of the services that there are now. Returns when these or the broker change."""
        with self._lock:
            changes = self._changes
        watched = calls.services()
        broker = self._broker()
        if not broker or not watched:
            self._wakeup.wait(_LOOK_AFTER_S)
            return
        watch = calls.platform.open_watch(broker, _patterns(watched))
        try:
            with self._lock:
                self._watch = watch
                is_current = self._changes == changes
            if is_current:
                self._follow(calls, watch, watched, broker)
        finally:
            with self._lock:
                self._watch = None
            watch.close()

    def _follow(self, calls: Calls, watch: Watch, watched: List[ServiceCore], broker: str) -> None:
        look_at = time.monotonic()
        while not calls.has_ended:
            change = watch.next_change(round(_LOOK_AFTER_S * 1000))
            if change is not None:
                _take(calls, change)
            if time.monotonic() >= look_at:
                for service in watched:
                    service.look_after()
                look_at = time.monotonic() + _LOOK_AFTER_S
                if self._broker() != broker:
                    return

    def _broker(self) -> str:
        """Raises Closed, Forked."""
        participant: Any = self._calls.participant()
        if participant is None:
            raise Closed()
        return str(participant.broker_endpoint)


def _patterns(services: List[ServiceCore]) -> List[str]:
    found = [message.call_topics(each.name) for each in services]
    return found if len(found) <= _MAX_PATTERNS else ["**/.call/*"]


def _take(calls: Calls, change: Change) -> None:
    topic = change.topic
    found = None if topic is None else message.parse_call_topic(topic.name)
    if topic is None or found is None:
        return
    name, client = found
    service = calls.service(name)
    if service is None:
        return
    with contextlib.suppress(RuntimeError):  # no thread for it: its calls end at their deadlines
        if change.kind == "topic" and topic.publication is not None:
            service.come(client, topic.publication)
        else:
            service.go(client)
