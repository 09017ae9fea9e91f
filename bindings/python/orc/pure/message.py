"""A received sample."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Generic, Optional

from .._arrays import array_of
from .._typed import Typed
from .._typed.variables import T_co

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray


class Message(bytes, Generic[T_co]):
    """A sample, read-only: `memoryview(message)`, `bytes(message)`, `numpy.frombuffer(message, …)`.

    After `release()`, its attributes raise ValueError. Views of it stay good, unlike those of the native backend.
    """

    sequence: int
    """Counts the samples of one publication, from 1."""
    stamp_ns: int
    """When the sample was sent: ns since the Unix epoch, on the sending host's CLOCK_REALTIME."""
    missed: int
    """Samples of the same publication that were skipped since the previous one this subscription returned."""
    publisher: int
    """0: orc.pure has no shared topics."""
    _codec: Optional[Typed[Any]]

    @classmethod
    def make(cls, payload: Any, sequence: int, stamp_ns: int, missed: int, codec: Optional[Typed[Any]] = None) -> Any:
        made = cls(payload)
        vars(made).update(sequence=sequence, stamp_ns=stamp_ns, missed=missed, publisher=0, _codec=codec)
        return made

    def __getattr__(self, name: str) -> Any:
        if name in Message.__annotations__:
            raise ValueError("the message was released")
        raise AttributeError(name)

    @property
    def age_ns(self) -> int:
        """Now minus stamp_ns, in ns. Between hosts it is as accurate as their clocks agree."""
        return time.time_ns() - self.stamp_ns

    def array(self, dtype: DTypeLike) -> NDArray[Any]:
        """The bytes as a read-only numpy array of `dtype`, without a copy. Raises ValueError for another size."""
        return array_of(self, dtype)

    def value(self) -> T_co:
        """The sample as a value of the type that request_topic was given; without a type: as bytes.

        A struct is a read-only view of the message's bytes. Raises BadSample if the bytes are no sample of that type.
        """
        value: Any = bytes(self) if self._codec is None else self._codec.decode(self)
        return value  # type: ignore[no-any-return]

    def release(self) -> None:
        """Ends the message; a second call does nothing."""
        vars(self).clear()

    def __len__(self) -> int:
        return bytes.__len__(self) if vars(self) else self.sequence  # which raises ValueError

    def __bytes__(self) -> bytes:
        return bytes.__getitem__(self, slice(0, len(self)))

    def __bool__(self) -> bool:
        return True

    __eq__, __hash__ = object.__eq__, object.__hash__

    def __enter__(self) -> Message[T_co]:
        len(self)
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def __repr__(self) -> str:
        if not vars(self):
            return "<orc.Message released>"
        return f"<orc.Message sequence={self.sequence}, {len(self)} bytes, missed={self.missed}>"

    __str__ = __repr__
