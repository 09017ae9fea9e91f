"""A call that a service has received, from its arrival to its reply."""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional

from .errors import CallError

if TYPE_CHECKING:
    from .service_client import ServiceClient


class ServiceCall:
    __slots__ = (
        "abandoned",
        "cancelled",
        "client",
        "deadline",
        "error",
        "feedback_is_on_its_way",
        "id",
        "is_open",
        "next_feedback",
        "payload",
        "received_ns",
        "started_ns",
    )

    def __init__(self, client: ServiceClient, id: int, deadline: float, payload: bytes) -> None:
        self.client = client
        self.id = id
        self.deadline = deadline  # time.monotonic()
        self.payload = payload
        self.cancelled = False  # by the client
        self.abandoned = False  # the link to the client or the service ended
        self.error: Optional[CallError] = None  # the handler's thread
        # Of a recorded service, in ns since the Unix epoch.
        self.received_ns = 0
        self.started_ns = 0  # 0: its handler has not begun
        # Guarded by the lock of the client.
        self.is_open = True
        self.feedback_is_on_its_way = False
        self.next_feedback: Optional[bytes] = None
