"""The bridge: its parts, in the order in which they start and end."""

from __future__ import annotations

import threading
from typing import Any

from orc import Directory, Participant

from .._shared.local_topics import BRIDGES, LocalTopics
from .._shared.running import RunnableBridge
from .clocks import Clocks
from .connections import Connections
from .formats import format_of
from .inbound import Inbound
from .lanes import Lanes
from .large_pace import LargePace
from .log import logger
from .offered_services import OfferedServices
from .out_topic import OutTopic
from .outbound import Outbound
from .reached_services import ReachedServices
from .schemas import Schemas
from .sessions import check_config, open_session
from .settings import Settings

_CLOSE_S = 2.0


class Bridge(RunnableBridge):
    """A running bridge. One thread calls, but stop().

    Raises SettingsError when it is made. `start` waits for Zenoh when it is a client; topics cross from then on.
    """

    def __init__(self, settings: Settings) -> None:
        settings.check()
        check_config(settings)
        super().__init__(logger)
        self._settings = settings
        self.ready = f"robot {settings.robot}, prefix {settings.prefix}, format {settings.format}"
        self._stopping = threading.Event()

    def start(self) -> bool:
        """Returns False when stop() was called before Zenoh answered. Raises SettingsError."""
        small = self._session(large=False)
        large = None if small is None else self._session(large=True)
        if large is None:
            return False
        connections = Connections([small, large])
        connections.start()
        self._ends.append(connections.close)
        pace = LargePace(self._settings.large_buffer)
        pace.start()
        self._ends.append(pace.close)
        settings, counters = self._settings, self._counters
        participant = Participant(settings.broker, name=f"{BRIDGES}zenoh {settings.robot}", namespace="/")
        self._ends.append(participant.close)
        directory = Directory(settings.broker)
        self._ends.append(directory.close)
        format = format_of(settings)
        schemas, clocks = Schemas(settings, small, counters), Clocks(settings, small, counters)
        lanes = Lanes(small, large, format, settings.large_bytes, counters)
        outbound = Outbound(settings, small, format, lanes, schemas)
        topics: LocalTopics[OutTopic] = LocalTopics(
            settings.broker, participant, outbound, outbound.goes_out, settings.max_topics, counters
        )
        inbound = Inbound(
            settings, participant, directory, small, format, topics.publications, schemas, clocks, counters
        )
        if settings.format == "orc":
            schemas.offer()
            clocks.offer()
            offered = OfferedServices(settings, participant, small, directory, schemas, clocks, counters)
            reached = ReachedServices(settings, participant, small, schemas, counters)
            topics.watch_also(offered.on_topic)
            reached.start()
            self._ends += [offered.close, reached.close]
        inbound.start()
        topics.start()
        self._ends += [lanes.close, inbound.close, topics.close]
        return True

    def wait(self) -> None:
        """Waits for stop()."""
        while not self._stopping.wait(1.0):  # in pieces: signals arrive in between
            pass

    def stop(self) -> None:
        """Ends wait() and start(). Signal handlers and any thread may call it."""
        self._stopping.set()

    def _session(self, large: bool) -> Any:
        made = open_session(self._settings, large, self._stopping)
        if made is not None:
            self._ends.append(lambda: _close(made))
        return made


def _close(session: Any) -> None:
    """Waits at most 2 s: closing waits for a large sample that is on its way."""
    closing = threading.Thread(target=session.close, daemon=True)
    closing.start()
    closing.join(_CLOSE_S)
