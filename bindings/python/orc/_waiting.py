"""Waiting for samples without a thread (asyncio), and callbacks on a background thread, for both backends.

Of a subscriber they use only `topic`, `recv_msg` and `fileno`.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from typing import Any, Callable, Coroutine, Deque, Dict, Generic, Optional, Protocol, TypeVar, overload

from orc._errors import Closed, Error, TooManyMessages
from orc._log import logger

M = TypeVar("M")
M_co = TypeVar("M_co", covariant=True)


class Receiver(Protocol[M_co]):
    """The parts of a subscriber that waiting needs."""

    @property
    def topic(self) -> str: ...
    def recv_msg(self, timeout_ms: int) -> Optional[M_co]: ...
    def fileno(self) -> int: ...


class _Arrivals:
    """The tasks of one event loop that wait for one subscriber. The loop watches its descriptor while there are any.

    A task that wakes up takes the sample itself. So no sample is on its way to a task that is cancelled meanwhile.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, fd: int) -> None:
        self._loop = loop
        self._fd = fd
        self._waiting: Deque[asyncio.Future[None]] = deque()

    async def wait(self) -> None:
        """Waits until a sample may be there. Spurious wake-ups happen."""
        woken: asyncio.Future[None] = self._loop.create_future()
        if not self._waiting:
            self._loop.add_reader(self._fd, self._wake_one)
        self._waiting.append(woken)
        try:
            await woken
        finally:
            self._waiting.remove(woken)
            if not self._waiting and not self._loop.is_closed():
                self._loop.remove_reader(self._fd)

    @property
    def idle(self) -> bool:
        return not self._waiting

    def _wake_one(self) -> None:
        # The descriptor stays readable until a task has taken the sample: a cancelled task leaves it to the next one.
        for each in self._waiting:
            if not each.done():
                each.set_result(None)
                return


class Callback:
    """A background thread that passes every received sample to a function. Ends with `stop()` or the subscription."""

    def __init__(self, receiver: Receiver[Any], call: Callable[[Any], object]) -> None:
        self._receiver = receiver
        self._call = call
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"orc {receiver.topic}", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread. When it returns, no call runs or begins, unless the function itself called stop()."""
        self._stopped.set()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def __enter__(self) -> Callback:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                message = self._receiver.recv_msg(50)
            except Closed:
                return
            except TooManyMessages as error:
                logger.error("callback for topic %s: %s", self._receiver.topic, error)
                self._stopped.wait(0.1)
                continue
            except Error:
                logger.exception("callback for topic %s ends", self._receiver.topic)
                return
            if message is None or self._stopped.is_set():
                continue
            try:
                self._call(message)
            except Exception:
                logger.exception("callback for topic %s", self._receiver.topic)
            del message  # not kept while waiting for the next one


class Waiting(Generic[M]):
    """Mix-in: `subscriber.recv`, `async for message in subscriber` and `subscriber.on_message(function)`."""

    _arrivals: Optional[Dict[asyncio.AbstractEventLoop, _Arrivals]] = None

    @overload
    def recv(self: Receiver[M], timeout_ms: int) -> Optional[M]: ...
    @overload
    def recv(self: Receiver[M]) -> Coroutine[Any, Any, M]: ...
    def recv(self: Receiver[M], timeout_ms: Optional[int] = None) -> Any:
        """Same as `recv_msg(timeout_ms)`: the newest sample that was not returned yet (conflate=0: the next one), or
        None.

        Without a timeout it is for `await`, and waits without a thread. Any task of any event loop may call it; each
        sample goes to one task. Cancelling loses no sample. Raises the errors of `recv_msg`.
        """
        return _received(self) if timeout_ms is None else self.recv_msg(timeout_ms)

    def __aiter__(self: A) -> A:
        return self

    async def __anext__(self: Receiver[M]) -> M:
        try:
            return await _received(self)
        except Closed:
            raise StopAsyncIteration from None

    def on_message(self: Receiver[M], callback: Callable[[M], object]) -> Callback:
        """Calls `callback` with every sample that `recv_msg` returns, on a daemon thread of its own.

        An exception of the callback goes to the logger "orc", and the thread goes on. Keep the result to stop it.
        """
        if not callable(callback):
            raise TypeError(f"a callback is called with a message; this is {type(callback).__name__}")
        return Callback(self, callback)


A = TypeVar("A")


async def _received(receiver: Receiver[M]) -> M:
    while True:
        message = receiver.recv_msg(0)
        if message is not None:
            return message
        await _wait(receiver)


async def _wait(receiver: Any) -> None:
    loop = asyncio.get_running_loop()
    of_loops: Dict[asyncio.AbstractEventLoop, _Arrivals] = receiver.__dict__.setdefault("_arrivals", {})
    arrivals = of_loops.get(loop)
    if arrivals is None:
        arrivals = of_loops[loop] = _Arrivals(loop, receiver.fileno())
    try:
        await arrivals.wait()
    finally:
        if arrivals.idle:
            of_loops.pop(loop, None)
