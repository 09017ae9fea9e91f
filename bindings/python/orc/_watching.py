"""Iterates over changes, with and without asyncio; for both backends."""

from __future__ import annotations

import asyncio
from typing import AsyncIterator, Iterator, List, Optional, Protocol, TypeVar

from orc import _errors as errors
from orc._directory_types import Change

_LOOK_AGAIN_S = 0.5  # closing by another thread need not make the descriptor readable


class Watcher(Protocol):
    def next_change(self, timeout_ms: int) -> Optional[Change]: ...
    def fileno(self) -> int: ...


W = TypeVar("W", bound=Watcher)


class Watching:
    """Mix-in: `for change in watch`, `async for change in watch` and `await watch.next()`."""

    def __iter__(self: Watcher) -> Iterator[Change]:
        while True:
            try:
                change = self.next_change(-1)
            except errors.Closed:
                return
            if change is not None:
                yield change

    async def next(self: Watcher) -> Change:
        """Returns the next change. Waits on asyncio without a thread; one task at a time. Raises as `next_change`."""
        while True:
            change = self.next_change(0)
            if change is not None:
                return change
            await _readable(self.fileno())

    def __aiter__(self: W) -> AsyncIterator[Change]:
        return _changes(self)


async def _changes(watch: Watcher) -> AsyncIterator[Change]:
    while True:
        try:
            yield await Watching.next(watch)
        except errors.Closed:
            return


async def _readable(fd: int) -> None:
    loop = asyncio.get_running_loop()
    woken: asyncio.Future[None] = loop.create_future()

    def wake() -> None:
        if not woken.done():
            woken.set_result(None)

    loop.add_reader(fd, wake)
    try:
        await asyncio.wait([woken], timeout=_LOOK_AGAIN_S)
    finally:
        loop.remove_reader(fd)


def patterns(topics: object) -> List[str]:
    """Returns the patterns that `Directory.watch` was given as one text, or as any number of them."""
    listed = [topics] if isinstance(topics, str) else list(topics)  # type: ignore[call-overload]
    if not all(isinstance(each, str) for each in listed):
        raise TypeError("patterns of topic names are str")
    return listed
