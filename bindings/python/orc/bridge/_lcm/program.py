"""The tunnel: its parts, and what passes between them."""

from __future__ import annotations

from typing import List, Optional

from orc import Participant

from .._shared.local_topics import BRIDGES, LocalTopics
from .._shared.running import RunnableBridge
from . import frames
from .channels import Channels
from .ends import Ends
from .link import Link
from .log import logger
from .loop import Loop
from .network import LcmNetwork
from .outgoing import Pace
from .settings import Settings
from .topic_bytes import hash_of, type_name
from .topics_in import TopicsIn
from .topics_out import OutTopic, TopicsOut


class Tunnel(RunnableBridge):
    """A running tunnel, and the Hub of its links. One thread calls, but stop().

    Raises SettingsError and OSError when it is made.
    """

    def __init__(self, settings: Settings) -> None:
        settings.check()
        super().__init__(logger)
        self._settings = settings
        self._options = settings.link_options()
        self._channels = Channels(settings.channels, settings.accept)
        self._loop = Loop()
        self._links: List[Link] = []
        self._topics_in: Optional[TopicsIn] = None
        self._topics_out: Optional[TopicsOut] = None
        self._ends.append(self._loop.close)

    def start(self) -> bool:
        """Always returns True. Raises SettingsError, Error."""
        settings, counters = self._settings, self._counters
        network = self._network = LcmNetwork(
            settings.network(), self._is_wanted, self._heard, settings.max_bytes, self._loop, counters
        )
        self._ends.append(network.close)
        if settings.topics:
            self._start_topics()
        ends = Ends(self._options, self, self._loop, counters)
        self._ends.append(ends.close)
        urls = settings.ends()
        listening = [ends.listen(each) for each in urls[: len(settings.listen)]]
        connecting = [ends.connect(each) for each in urls[len(settings.listen) :]]
        if listening and not settings.allow and not settings.key_file:
            logger.warning("everyone who reaches %s can send and read: see --allow and --key-file", listening[0])
        where = [f"listening at {each}" for each in listening] + [f"connecting to {each}" for each in connecting]
        self.ready = ", ".join(where)
        return True

    def wait(self) -> None:
        """Works until stop()."""
        self._loop.run()

    def stop(self) -> None:
        """Ends wait(). Signal handlers and any thread may call it."""
        self._loop.stop()

    def _start_topics(self) -> None:
        settings, counters = self._settings, self._counters
        participant = Participant(settings.broker, name=f"{BRIDGES}lcm", namespace="/")
        self._ends.append(participant.close)
        out = self._topics_out = TopicsOut(settings, self._loop, self._send_topic, counters)
        local: LocalTopics[OutTopic] = LocalTopics(
            settings.broker, participant, out, out.goes_out, settings.max_topics, counters
        )
        self._topics_in = TopicsIn(settings, participant, local.publications, counters)
        self._topics_in.start()
        local.start()
        self._ends += [self._topics_in.close, local.close]

    # From the multicast network.

    def _is_wanted(self, channel: bytes) -> bool:
        return bool(self._links) and self._channels.pace(channel) is not None

    def _heard(self, channel: bytes, payload: bytes) -> None:
        if self._topics_in is not None and self._topics_in.publishes(channel.decode(errors="replace")):
            self._counters.count("loop")  # published over multicast by this bridge itself
            return
        pace = self._channels.pace(channel)
        if pace is not None:
            self._counters.count("messages sent")
            for each in self._links:
                each.outgoing.put(frames.CHANNEL, channel, payload, pace)

    # From ORC.

    def _send_topic(self, name: str, message: bytes, pace: Pace) -> None:
        for each in self._links:
            each.outgoing.put(frames.TOPIC, name.encode(), message, pace)

    # From the links.

    def link_up(self, link: Link) -> bool:
        """See Hub."""
        if len(self._links) >= self._settings.max_links:
            self._counters.drop("too many links", link.peer)
            return False
        self._links.append(link)
        self._counters.count("links")
        logger.debug("link to %s", link.peer)
        if self._topics_out is not None:
            self._topics_out.send_last(
                lambda name, message, pace: link.outgoing.put(frames.TOPIC, name.encode(), message, pace)
            )
        return True

    def link_down(self, link: Link, why: str) -> None:
        """See Hub."""
        if link in self._links:
            self._links.remove(link)
        self._counters.drop("link lost", f"{link.peer}: {why}")

    def deliver(self, link: Link, kind: int, name: bytes, payload: bytes) -> None:
        """See Hub."""
        if kind == frames.CHANNEL:
            if not self._channels.may_come_in(name):
                self._counters.count("not accepted")
            elif self._network.send(name, payload):
                self._counters.count("messages received")
        elif kind == frames.TOPIC and self._topics_in is not None:
            self._topics_in.put(name, payload, link.clock, lambda hash: self._loop.soon(lambda: self._ask(link, hash)))
        elif kind == frames.TYPE and self._topics_in is not None:
            hash = hash_of(name)
            if hash is not None:
                self._topics_in.put_type(hash, payload)
        elif kind == frames.ASK_TYPE and self._topics_out is not None:
            hash = hash_of(name)
            found = None if hash is None else self._topics_out.type_bytes(hash)
            if found is not None:
                link.outgoing.put(frames.TYPE, name, found, Pace(latest_only=True))

    def _ask(self, link: Link, hash: int) -> None:
        link.outgoing.put(frames.ASK_TYPE, type_name(hash), b"", Pace(latest_only=True))
