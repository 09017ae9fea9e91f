"""How the attempts at a link ended, for people."""

from __future__ import annotations

from typing import List, Tuple

from . import endpoints, messages

_MAX_NOTES = 4
NAMES = {2: "ipc", 3: "tcp"}


class LinkNotes:
    """The last outcome at each of the last addresses."""

    def __init__(self) -> None:
        self._tried: List[Tuple[int, str, str]] = []  # transport, address, outcome

    def clear(self) -> None:
        self._tried = []

    def add(self, endpoint: messages.Endpoint, what: str) -> None:
        at = (endpoint.transport, endpoint.address)
        others = [each for each in self._tried if each[:2] != at]
        self._tried = [*others, (*at, what)][-_MAX_NOTES:]

    def text(self) -> str:
        """For the program."""
        return "; ".join(
            f"{NAMES[transport]} {endpoints.shown_address(address)}: {what}" for transport, address, what in self._tried
        )

    def coarse_text(self) -> str:
        """For the broker, which shows it to anyone: hides the addresses."""
        return "; ".join(
            f"{NAMES[transport]}: not reachable" for transport in dict.fromkeys(t for t, _, _ in self._tried)
        )
