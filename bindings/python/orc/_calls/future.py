"""The calling end: a result that comes (liborc/include/orc/calls/call_future.h)."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, Callable, Generator, Generic

from .._errors import BadSample
from .._log import logger
from .._typed import Typed
from .._typed.variables import T_co
from .errors import CallErrc, CallError
from .values import RAW, codec_of

if TYPE_CHECKING:
    from orc._native import Call


class CallFuture(Generic[T_co]):
    """A call that was made with Participant.call. Any thread may make any call.

    A call ends exactly once, at its deadline at the latest. A thread that waits here receives the reply itself, without
    another thread in between. When a future is dropped, its call is cancelled, unless it has a callback.
    """

    def __init__(self, participant: Any, call: Call, reply: Typed[Any]) -> None:
        self._participant = participant  # lives as long as the call
        self._call = call
        self._reply = reply
        self._value: Any = None
        self._is_decoded = False

    def result(self) -> T_co:
        """Waits for the end of the call, which comes at the deadline at the latest, and returns the reply.

        Raises CallError when the call failed.
        """
        got = self._call.result()
        if isinstance(got, CallError):
            raise got
        if not self._is_decoded:
            try:
                self._value = self._reply.decode(got)
            except BadSample as problem:
                raise CallError(CallErrc.bad_reply, str(problem)) from None
            self._is_decoded = True
        value: T_co = self._value
        return value

    def ready(self) -> bool:
        """Returns whether the call has ended. Looks for the reply, and never waits."""
        return self.wait(0)

    def wait(self, timeout: float) -> bool:
        """Waits until the call has ended, at most `timeout` seconds. Returns whether it has."""
        return self._call.wait(timeout)

    def feedback(self, type: Any = None) -> Any:
        """Returns the newest feedback that was not returned yet, or None. Never waits.

        type: of the feedback, as in Participant.call. None: JSON if the reply is JSON, else bytes. Feedback that is no
        value of that type is None, too.
        """
        data = self._call.take_feedback()
        if data is None:
            return None
        codec = codec_of(type) if type is not None or self._reply.description.message_encoding == "json" else RAW
        try:
            return codec.decode(data)
        except BadSample:
            return None

    def cancel(self) -> None:
        """Ends the call as CallErrc.cancelled, unless it has ended.

        The server does not start it any more, or its handler sees `cancelled`. Never waits.
        """
        self._call.cancel()

    def fileno(self) -> int:
        """Returns a descriptor for poll, epoll or asyncio. It is readable when the call has ended, or feedback has
        come that was not taken.

        It belongs to the future: do not read, write or close it. A thread of ORC receives from now on. Raises Forked.
        """
        return self._call.fileno()

    def add_done_callback(self, callback: Callable[[CallFuture[T_co]], object]) -> None:
        """Calls `callback` once with this future when the call has ended: from a thread of ORC, or at once, from this
        one, if it has ended already.

        Callbacks on a thread of ORC run one after the other, so let them be quick. An exception of the callback goes to
        the logger "orc". The call goes on when the future is dropped.
        """
        if not callable(callback):
            raise TypeError(f"a callback is called with a future; this is {type(callback).__name__}")
        if not self._call.wait(0):
            self._participant._callbacks.add(self._call, lambda: callback(self))
            return
        try:
            callback(self)
        except Exception:
            logger.exception("callback of a call")

    def __await__(self) -> Generator[Any, None, T_co]:
        """Waits on asyncio, without a thread of its own, and returns the reply or raises CallError.

        Cancelling the task that waits cancels the call.
        """
        return self._awaited().__await__()

    async def _awaited(self) -> T_co:
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[None] = loop.create_future()

        def wake() -> None:
            if not ended.done():
                ended.set_result(None)

        def call_back() -> None:
            with contextlib.suppress(RuntimeError):  # the loop was closed
                loop.call_soon_threadsafe(wake)

        if not self.ready():
            self._participant._callbacks.add(self._call, call_back)
            try:
                await ended
            except asyncio.CancelledError:
                self.cancel()
                raise
        return self.result()

    def __repr__(self) -> str:
        return f"<orc.CallFuture {self._state()}>"

    def _state(self) -> str:
        if not self._call.wait(0):
            return "open"
        got = self._call.result()
        return got.code.name if isinstance(got, CallError) else "has a reply"
