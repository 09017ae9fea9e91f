"""A received sample.

From Python 3.12 on, a Message exports the bytes of the frame that libzmq received, without a copy (PEP 688).

Before 3.12, a class written in Python cannot export a buffer of its own. There a Message is a `bytes` with attributes,
copied once when it is returned. `memoryview(message)` of a released one still shows the bytes. `bytes` do not know
their views, so release() finds only recent views, and raises no BufferError for others.
"""

from __future__ import annotations

import gc
import sys
import time
from typing import TYPE_CHECKING, Any, Callable, Generic, Optional, Sized, Tuple, cast

import zmq

from .._arrays import array_of
from .._typed import Typed
from .._typed.variables import T_co
from .link import HEADER_BYTES

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

_MAX_YOUNG = 10_000  # more are there when the program has switched the collector off
_VIEWED = type(gc.get_referents(memoryview(b""))[0])  # what the views of one object share, and what holds it
# What sys.getrefcount returns inside release() and __exit__ of a message that one variable has.
_REFERENCES, _REFERENCES_WITH = (4, 5) if sys.version_info >= (3, 11) else (6, 6)


class _Sample(Generic[T_co]):
    """The common part of both kinds. After `release()` each attribute raises ValueError."""

    _header: Optional[Tuple[int, int, int, int]]
    _codec: Optional[Typed[Any]]

    @property
    def sequence(self) -> int:
        """Counts the samples of one publication, from 1."""
        return self._known()[0]

    @property
    def stamp_ns(self) -> int:
        """When the sample was sent: ns since the Unix epoch, on the sending host's CLOCK_REALTIME."""
        return self._known()[1]

    @property
    def missed(self) -> int:
        """Samples of the same publication that were skipped since the previous one this subscription returned."""
        return self._known()[2]

    @property
    def publisher(self) -> int:
        """Of a shared topic: the publisher's number, from 1 (Subscriber.publisher_of). 0: the topic is not shared."""
        return self._known()[3]

    @property
    def age_ns(self) -> int:
        """Now minus stamp_ns, in ns. Between hosts it is as accurate as their clocks agree."""
        return time.time_ns() - self.stamp_ns

    def _known(self) -> Tuple[int, int, int, int]:
        if self._header is None:
            raise ValueError("the message was released")
        return self._header

    def __bool__(self) -> bool:
        return True

    def array(self, dtype: DTypeLike) -> NDArray[Any]:
        """The bytes as a read-only numpy array of `dtype`, without a copy. The message lives as long as the array.

        Raises ValueError if the size is no multiple of `dtype`'s, and ImportError without numpy.
        """
        self._known()
        return array_of(cast(Sized, self), dtype)

    def value(self) -> T_co:
        """The sample as a value of the type that request_topic was given; without a type: as bytes.

        A struct is a read-only view of the message's bytes, without a copy: the message lives as long as the view.
        Raises BadSample if the bytes are no sample of that type.
        """
        self._known()
        value = bytes(cast(Any, self)) if self._codec is None else self._codec.decode(self)
        return cast(T_co, value)

    def __repr__(self) -> str:
        if self._header is None:
            return "<orc.Message released>"
        sequence, _, missed, _ = self._header
        return f"<orc.Message sequence={sequence}, {len(cast(Sized, self))} bytes, missed={missed}>"

    __str__ = __repr__


if sys.version_info >= (3, 12) and not TYPE_CHECKING:

    class Message(_Sample[T_co]):
        """A sample, read-only: `memoryview(message)`, `bytes(message)`, `numpy.frombuffer(message, …)`."""

        @classmethod
        def make(
            cls,
            frame: zmq.Frame,
            sequence: int,
            stamp_ns: int,
            missed: int,
            codec: Optional[Typed[Any]] = None,
            publisher: int = 0,
        ) -> Message:
            made = cls()
            made._codec = codec
            made._frame = frame
            made._view = memoryview(frame.buffer)[HEADER_BYTES:].toreadonly()
            made._header = (sequence, stamp_ns, missed, publisher)
            return made

        def __buffer__(self, flags: int) -> memoryview:
            return self._alive()

        def __len__(self) -> int:
            return len(self._alive())

        def __bytes__(self) -> bytes:
            return bytes(self._alive())

        def release(self) -> None:
            """Gives the memory back; a second call does nothing. Raises BufferError while views of it exist."""
            if self._view is not None:
                self._view.release()
                self._view = self._frame = self._header = None

        def _alive(self) -> memoryview:
            self._known()
            return self._view

        def __enter__(self) -> Message:
            self._alive()
            return self

        def __exit__(self, *_: object) -> None:
            self.release()

else:

    class Message(_Sample[T_co], bytes):
        """A sample, read-only: `memoryview(message)`, `bytes(message)`, `numpy.frombuffer(message, …)`."""

        @classmethod
        def make(
            cls,
            frame: zmq.Frame,
            sequence: int,
            stamp_ns: int,
            missed: int,
            codec: Optional[Typed[Any]] = None,
            publisher: int = 0,
        ) -> Message[T_co]:
            made = cls(memoryview(frame.buffer)[HEADER_BYTES:])
            made._codec = codec
            made._header = (sequence, stamp_ns, missed, publisher)
            return made

        def __len__(self) -> int:
            self._known()
            return bytes.__len__(self)

        def __bytes__(self) -> bytes:
            self._known()
            return bytes.__getitem__(self, slice(None))

        __eq__ = object.__eq__
        __hash__ = object.__hash__

        def release(self) -> None:
            """Ends the message; a second call does nothing. Raises BufferError while recent views of it exist."""
            self._release(_REFERENCES)

        def _release(self, unshared: int) -> None:
            """Only a message with more references than the caller's can have a view."""
            if self._header is not None and sys.getrefcount(self) > unshared and self._seen():
                raise BufferError("views of the message exist")
            self._header = None

        def _seen(self) -> bool:
            """Asks the collector, for its two younger generations only: all objects would take milliseconds."""
            if gc.get_count()[0] > _MAX_YOUNG:
                return False
            return any(
                type(each) is _VIEWED and any(viewed is self for viewed in gc.get_referents(each))
                for young in (0, 1)
                for each in gc.get_objects(young)
            )

        def __enter__(self) -> Message[T_co]:
            self._known()
            return self

        def __exit__(self, *_: object) -> None:
            self._release(_REFERENCES_WITH)


class Loan:
    """`with publisher.loan(size) as memory:` fills a sample in place. Leaving sends it, unless by an exception."""

    def __init__(self, size: int, send: Callable[[bytearray], None]) -> None:
        self._frame = bytearray(HEADER_BYTES + size + 1)  # one byte to take off: only a frame without views lets it go
        self._send = send
        self._view = memoryview(self._frame)[HEADER_BYTES : HEADER_BYTES + size]

    def __enter__(self) -> memoryview:
        return self._view

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            self._view.release()
            self._frame.pop()
        except BufferError:
            if kind is not None:
                return
            raise BufferError(
                "nothing was sent: views of the loan (memoryviews, arrays) are still there; drop them in the block"
            ) from None
        if kind is None:
            frame, self._frame = self._frame, bytearray()
            self._send(frame)
