"""Services: a program offers a function under a name, and others call it (schemas/PROTOCOL.md, "Calls").

The serving end, on participants, topics and watches; liborc has the calling end. liborc/doc/design/calls.md has the
why; the names here are those of C++ (liborc/src/calls).
"""

from __future__ import annotations

from .calling import Calling
from .component import Calls
from .context import CallClient, CallContext
from .description import ServiceDescription, find_services
from .errors import CallErrc, CallError
from .future import CallFuture
from .platform import Platform
from .service import Service
from .service_core import ServiceFigures

__all__ = [
    "CallClient",
    "CallContext",
    "CallErrc",
    "CallError",
    "CallFuture",
    "Calling",
    "Calls",
    "Platform",
    "Service",
    "ServiceDescription",
    "ServiceFigures",
    "find_services",
]
