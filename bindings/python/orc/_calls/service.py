"""The serving end (liborc/include/orc/calls/service.h)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional

from .._errors import NoBroker
from .service_core import ServiceCore, ServiceFigures

if TYPE_CHECKING:
    from .component import Calls


class Service:
    """A service that a program offers with Participant.serve, until close(), or until its participant ends.

    Any thread may call. `with participant.serve(…):` closes it at the end of the block.
    """

    def __init__(self, calls: Calls, core: ServiceCore) -> None:
        self._calls, self._core = calls, core

    @property
    def name(self) -> str:
        """Of the service."""
        return self._core.name

    @property
    def error(self) -> Optional[NoBroker]:
        """Why it was not registered at once; a broker that answers later learns of it. None: it was."""
        return self._core.error

    @property
    def figures(self) -> ServiceFigures:
        """What it did. Zeros after fork()."""
        return ServiceFigures(0, 0, 0, 0, 0, 0) if self._core.process.is_gone else self._core.figures()

    def close(self) -> None:
        """Withdraws the service: waiting calls end as server_died, running handlers see cancelled().

        Waits until they have returned, except the one that makes this call.
        """
        if not self._core.process.is_gone:
            self._calls.withdraw(self._core)

    def __enter__(self) -> Service:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<orc.Service {self.name!r}>"
