"""ORC in Python alone: topics over tcp, and over ipc where there are Unix sockets. Needs no other package.

For laptops without liborc, such as those with macOS or Windows beside a robot with Linux. It is written from
schemas/PROTOCOL.md, and differs from the native package in these points:

- Services, parameters, shared topics, the transports inproc, shm and multicast, doing without a broker, the placement
  of threads and `lock_memory` raise BadArgument, which says what to install.
- Types match when their hashes are equal. Schemas are not compared.
- A sample passes through the I/O thread of each end. `spin_us` and `wait="predictive"` have no effect.
- A message is `bytes`: it was copied once, and views of it outlive its `release()`.
"""

# ruff: noqa: F401
from .._directory import Watch
from .._directory_types import *  # noqa: F403
from .._errors import *  # noqa: F403
from .._history import History, PastSample
from .._type_description import TypeDescription
from .._typed import Field, Typed, flatbuffer, json, struct
from .._types import LinkInfo, PredictionInfo, PublisherInfo
from .._waiting import Callback
from .directory import Directory
from .message import Message
from .participant import Participant, Publisher, Subscriber, lock_memory

backend = "pure"
__all__ = ["backend", "flatbuffer", "json", "lock_memory", "struct"]
__all__ += [name for name, each in [*globals().items()] if isinstance(each, type) and each.__module__[:3] == "orc"]
