"""The serving end (liborc/include/orc/calls/service.h)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

from .._errors import NoBroker


@dataclass(frozen=True)
class ServiceFigures:
    """What a service did since it was made."""

    clients: int
    """Connected now."""
    waiting: int
    """Requests that wait now."""
    calls: int
    """Handlers that ran to their end."""
    failed: int
    """Of these: ended by an exception or fail()."""
    refused: int
    """Requests that never ran: busy, replaced, cancelled, lost, too late, of another type."""
    dropped: int
    """Messages that violate the protocol, and requests whose id came before."""


class Service:
    """A service that a program offers with Participant.serve, until close(), or until its participant ends.

    Any thread may call. `with participant.serve(…):` closes it at the end of the block.
    """

    def __init__(self, offered: Any) -> None:
        self._offered = offered

    @property
    def name(self) -> str:
        """Of the service."""
        name: str = self._offered.name
        return name

    @property
    def error(self) -> Optional[NoBroker]:
        """Why it was not registered at once; a broker that answers later learns of it. None: it was."""
        problem = self._offered.problem
        return None if problem is None else NoBroker(problem)

    @property
    def figures(self) -> ServiceFigures:
        """What it did. Zeros after fork()."""
        return ServiceFigures(*self._offered.figures())

    def close(self) -> None:
        """Withdraws the service: waiting calls end as server_died, running handlers see cancelled().

        Waits until they have returned, except the one that makes this call.
        """
        self._offered.close()

    def __enter__(self) -> Service:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<orc.Service {self.name!r}>"
