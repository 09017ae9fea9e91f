"""A loan as a value of the topic's type, for both backends."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Generic, Optional, Type

from .codec import Typed
from .variables import T


class TypedLoan(Generic[T]):
    """`with publisher.loan() as state:` fills a sample in place; it begins as zeros. Leaving the block sends it.

    The value is a numpy array without dimensions for a dtype, and an instance for a dataclass. Leaving by an exception
    sends nothing. Other arrays that were made of it must be gone at the end of the block: else BufferError is raised,
    and nothing is sent.
    """

    def __init__(self, codec: Typed[Any], memory: Any) -> None:
        self._codec, self._loan = codec, memory
        self._memory: Any = None
        self._view: Any = None

    def __enter__(self) -> T:
        self._memory = self._loan.__enter__()
        self._memory[:] = bytes(len(self._memory))
        self._view = self._codec.view(self._memory)
        view: T = self._view
        return view

    def __exit__(
        self,
        exc_type: Optional[Type[BaseException]],
        exc_value: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        view, memory = self._view, self._memory
        self._view = self._memory = None
        problem: Optional[BaseException] = None
        if exc_type is None:
            try:
                self._codec.detach(view, memory)
            except Exception as error:
                problem = error
        del view, memory
        if problem is not None:
            self._loan.__exit__(type(problem), None, None)
            raise problem
        self._loan.__exit__(exc_type, exc_value, traceback)
