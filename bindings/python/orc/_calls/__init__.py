"""Services: a program offers a function under a name, and others call it (schemas/PROTOCOL.md, "Calls").

Encodes and decodes values for liborc/src/calls, which bindings/python/src/calls binds. liborc/doc/design/calls.md has
the why.
"""

from __future__ import annotations

from .context import CallClient, CallContext
from .description import ServiceDescription, find_services
from .errors import CallErrc, CallError
from .future import CallFuture
from .service import Service, ServiceFigures

__all__ = [
    "CallClient",
    "CallContext",
    "CallErrc",
    "CallError",
    "CallFuture",
    "Service",
    "ServiceDescription",
    "ServiceFigures",
    "find_services",
]
