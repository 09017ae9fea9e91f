"""The types that a program calls a service with, and what the server says of them."""

from __future__ import annotations

import enum
from typing import Iterator, List, Optional

from .._type_description import TypeDescription
from .errors import CallErrc, CallError
from .message import CallTypes

_MAX_PAIRS = 64


class Answer(enum.Enum):
    NONE = enum.auto()
    ACCEPTED = enum.auto()
    REFUSED = enum.auto()


class TypePair:
    """Types of requests and replies that one place of the program uses."""

    def __init__(self, types: CallTypes, number: int) -> None:
        self.types = types
        self.number = number  # in hello, accepted and refused
        self.answer = Answer.NONE
        self.greeted = False  # a hello was sent over this link
        self.refusal: Optional[CallError] = None

    def refuse(self, why: CallError) -> None:
        self.answer, self.refusal = Answer.REFUSED, why


class Negotiation:
    """Guarded by the lock of its channel."""

    def __init__(self, service: str) -> None:
        self._pairs: List[TypePair] = []
        self._excess = TypePair(CallTypes(TypeDescription(), TypeDescription()), 0)
        text = f"this program calls {service} with too many different types"
        self._excess.refuse(CallError(CallErrc.refused, text))

    def __iter__(self) -> Iterator[TypePair]:
        return iter(self._pairs)

    def pair(self, types: CallTypes) -> TypePair:
        """Returns the pair; a new one has no answer yet. Beyond 64 pairs it is refused."""
        request, reply = types.request.hash, types.reply.hash
        for each in self._pairs:
            if each.types.request.hash == request and each.types.reply.hash == reply:
                return each
        if len(self._pairs) >= _MAX_PAIRS:
            return self._excess
        self._pairs.append(TypePair(types, len(self._pairs) + 1))
        return self._pairs[-1]

    @property
    def accepted(self) -> bool:
        """Whether the server has accepted any."""
        return any(each.answer is Answer.ACCEPTED for each in self._pairs)

    @property
    def refused(self) -> bool:
        """Whether the server has refused any."""
        return any(each.answer is Answer.REFUSED for each in self._pairs)

    def forget_answers(self) -> None:
        """For another server, or another link."""
        for each in self._pairs:
            each.answer, each.greeted = Answer.NONE, False
