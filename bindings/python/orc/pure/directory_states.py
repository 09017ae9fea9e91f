"""Makes the states that a directory returns of the broker's messages."""

from __future__ import annotations

from typing import Optional, Union

from .. import _directory_types as states
from .._types import PredictionInfo
from . import messages

_TRANSPORTS = ("none", "inproc", "ipc", "tcp", "shm", "multicast")


def participant_state(of: messages.Participant) -> states.ParticipantState:
    return states.ParticipantState(str(of.participant), of.name, of.host, of.pid, of.library)


def _holder_of(of: Union[messages.Publication, messages.Subscription]) -> states.ParticipantState:
    return states.ParticipantState(str(of.participant), of.participant_name, of.host, of.pid)


def topic_state(of: messages.TopicState) -> states.TopicState:
    alone = [] if of.publication is None else [of.publication]
    publications = [publication_state(each) for each in alone + of.publications]
    return states.TopicState(
        of.topic,
        publications[0] if publications else None,
        of.subscription_count,
        [subscription_state(each) for each in of.subscriptions],
        of.shared,
        publications[1:],
    )


def _type_of(of: Optional[messages.Type]) -> Optional[states.TopicType]:
    if of is None:
        return None
    return states.TopicType(of.name, of.schema_encoding, of.message_encoding, of.hash, of.schema_size)


def publication_state(of: messages.Publication) -> states.PublicationState:
    counted = of.counters
    return states.PublicationState(
        str(of.publication),
        _holder_of(of),
        [states.Endpoint(_TRANSPORTS[each.transport], each.address) for each in of.endpoints],
        _type_of(of.type),
        of.keep_last,
        None
        if counted is None
        else states.PublicationCounters(
            counted.sampled_ns,
            of.received_ago_ms,
            counted.sent,
            counted.bytes,
            counted.dropped,
            counted.readers,
            counted.last_sent_ns or None,
            None if counted.jitter_ns < 0 else counted.jitter_ns,
        ),
    )


def subscription_state(of: messages.Subscription) -> states.SubscriptionState:
    counted = of.counters
    if counted is None:
        return states.SubscriptionState(str(of.subscription), _holder_of(of), of.max_age_ms, _type_of(of.type), None)
    counters = states.SubscriptionCounters(
        of.received_ago_ms,
        counted.received,
        counted.bytes,
        counted.missed,
        counted.malformed,
        counted.stale,
        counted.age_ns if counted.age_ns >= 0 else None,
        _TRANSPORTS[counted.transport] if counted.transport else None,
        counted.reason,
        counted.sampled_ns,
        None if counted.prediction is None else PredictionInfo(**vars(counted.prediction)),
    )
    return states.SubscriptionState(str(of.subscription), _holder_of(of), of.max_age_ms, _type_of(of.type), counters)
