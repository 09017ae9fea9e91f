"""The directory of both backends: makes dataclasses of the tuples that an engine returns.

An engine is `orc._native.Directory`, or that of orc.pure.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Iterable, List, Optional, Tuple, Union

from orc._directory_types import (
    BrokerState,
    Change,
    Endpoint,
    HostState,
    ParticipantState,
    PublicationCounters,
    PublicationState,
    SubscriptionCounters,
    SubscriptionState,
    TopicState,
    TopicType,
)
from orc._type_description import TypeDescription
from orc._types import PredictionInfo
from orc._watching import Watching, patterns


def _publication(state: Tuple[Any, ...]) -> PublicationState:
    id, participant, endpoints, type, keep_last, counters = state
    return PublicationState(
        id,
        ParticipantState(*participant),
        [Endpoint(*each) for each in endpoints],
        None if type is None else TopicType(*type),
        keep_last,
        None if counters is None else PublicationCounters(*counters),
    )


def _subscription(state: Tuple[Any, ...]) -> SubscriptionState:
    id, participant, max_age_ms, type, counters = state
    return SubscriptionState(
        id,
        ParticipantState(*participant),
        max_age_ms,
        None if type is None else TopicType(*type),
        None if counters is None else _counters(counters),
    )


def _counters(of: Tuple[Any, ...]) -> SubscriptionCounters:
    made = SubscriptionCounters(*of)
    return made if of[-1] is None else dataclasses.replace(made, prediction=PredictionInfo(*of[-1]))


def _topic(state: Tuple[Any, ...]) -> TopicState:
    name, publication, count, subscriptions, shared, others = state
    return TopicState(
        name,
        None if publication is None else _publication(publication),
        count,
        [_subscription(each) for each in subscriptions],
        shared,
        [_publication(each) for each in others],
    )


def _change(kind: str, state: Any) -> Change:
    if kind.startswith("topic"):
        return Change(kind, topic=_topic(state))
    if kind.startswith("participant"):
        return Change(kind, participant=ParticipantState(*state))
    if kind.startswith("host"):
        return Change(kind, host=HostState(*state))
    return Change(kind)


class Watch(Watching):
    """A stream of changes: first everything that exists, then "complete", then each change.

    A watch always learns the last state, however slowly the program reads, and across restarts of the broker. What
    changes several times between two reads is reported once, in its last state. What comes and goes between two reads
    may be left out.

    Iterate with `for change in watch` or `async for change in watch`; `close()` ends both. Any thread may call.
    """

    def __init__(self, watch: Any) -> None:
        self._watch = watch

    def next_change(self, timeout_ms: int) -> Optional[Change]:
        """Returns the next change, or None. Waits for it at most timeout_ms (0: not at all, -1: for ever).

        Raises Refused (the broker is too old to be watched, or too many programs watch it; the watch asks again within
        seconds), BadArgument (the directory's or the watch's arguments, or timeout_ms below -1), Closed, Forked.
        """
        found = self._watch.next_change(timeout_ms)
        return None if found is None else _change(*found)

    def fileno(self) -> int:
        """Returns a descriptor for poll or asyncio that is readable when next_change(0) may return a change.

        When it is, call next_change(0) until it returns None. Do not read, write or close the descriptor. Raises
        NoDescriptors, Closed, Forked.
        """
        found: int = self._watch.fileno()
        return found

    def close(self) -> None:
        """Ends the watch. Later calls, and calls that wait in other threads, raise Closed."""
        self._watch.close()

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Directory:
    """Lists, describes and watches the topics, participants and hosts that the address broker knows.

    broker: its endpoint, or several, separated by commas; "": as for `Participant`.
    broker_timeout_ms: a question waits this long for the broker's answer; -1: for ever.

    It is no participant and registers nothing. The constructor neither waits for a broker nor fails without one. Any
    thread may call. Questions raise NoBroker, BadArgument, Refused (by the broker), Closed, Forked.
    """

    _engine: Any = None

    def __init__(self, broker: str = "", *, broker_timeout_ms: int = 2000) -> None:
        self._directory = self._engine(broker, broker_timeout_ms)

    def broker(self) -> BrokerState:
        """Returns the broker that answers."""
        return BrokerState(*self._directory.broker())

    def topics(self, pattern: str = "**") -> List[TopicState]:
        """Returns the topics whose names match `pattern`, in the order of their names.

        `*` stands for any characters but `/`, `**` for any characters; both also stand for none.
        """
        return [_topic(each) for each in self._directory.topics(pattern)]

    def describe(self, topic: str) -> TopicState:
        """Returns one topic with its counters and all subscriptions.

        Also raises UnknownTopic (no participant publishes or requested it) and BadName.
        """
        return _topic(self._directory.describe(topic))

    def find_type(self, which: TopicType) -> TypeDescription:
        """Returns the description of a type with its schema.

        Also raises UnknownType: no participant has sent the schema yet, or no topic has the type any more.
        """
        found = self._directory.find_type(
            which.name, which.schema_encoding, which.message_encoding, which.hash, which.schema_size
        )
        return TypeDescription(*found)

    def participants(self) -> List[ParticipantState]:
        """Returns them in the order in which they came."""
        return [ParticipantState(*each) for each in self._directory.participants()]

    def hosts(self) -> List[HostState]:
        """Returns them in the order of their ids."""
        return [HostState(*each) for each in self._directory.hosts()]

    def watch(
        self, topics: Union[str, Iterable[str]] = "**", *, participants: bool = False, hosts: bool = False
    ) -> Watch:
        """Returns a watch of the topics that match one of the patterns, and of participants and hosts.

        topics: a pattern as in `topics()`, or at most 16 of them; (): no topics.

        The watch has a connection of its own and may outlive the directory. Its first call raises BadArgument for wrong
        arguments.
        """
        return Watch(self._directory.watch(patterns(topics), participants, hosts))

    def close(self) -> None:
        """Ends the directory. Later calls raise Closed; watches go on."""
        self._directory.close()

    def __enter__(self) -> Directory:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
