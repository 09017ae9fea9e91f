"""The calling end: a result that comes (liborc/ext/calls/include/orc/calls/call_future.h)."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import Any, Callable, Generator, Generic, Optional

from .._errors import BadSample, Forked
from .._typed import Typed
from .._typed.variables import T_co
from .attendant import run
from .call import Call, Process
from .channel import Channel
from .errors import CallErrc, CallError
from .platform import Participant
from .values import RAW, codec_of

_LONG_S = 3600.0


class CallFuture(Generic[T_co]):
    """A call that was made with Participant.call. Any thread may make any call.

    A call ends exactly once, at its deadline at the latest. A thread that waits here receives the reply itself, without
    another thread in between. When a future is dropped, its call is cancelled, unless it has a callback.
    """

    def __init__(self, participant: Participant, channel: Optional[Channel], call: Call, reply: Typed[Any]) -> None:
        self._participant = participant  # lives as long as the call
        self._channel = channel  # None: the call ended before it began
        self._call = call
        self._reply = reply
        self._process = Process()
        self._value: Any = None
        self._is_decoded = False

    def result(self) -> T_co:
        """Waits for the end of the call, which comes at the deadline at the latest, and returns the reply.

        Raises CallError when the call failed.
        """
        self._usable()
        while not self._wait(time.monotonic() + _LONG_S):
            pass
        error = self._call.error
        if error is not None:  # each caller gets an exception of its own: it collects a traceback
            raise CallError(error.code, error.text, error.number, error.exception_type)
        if not self._is_decoded:
            try:
                self._value = self._reply.decode(self._call.reply)
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
        return self._process.is_gone or self._wait(time.monotonic() + timeout)

    def feedback(self, type: Any = None) -> Any:
        """Returns the newest feedback that was not returned yet, or None. Never waits.

        type: of the feedback, as in Participant.call. None: JSON if the reply is JSON, else bytes. Feedback that is no
        value of that type is None, too.
        """
        if self._process.is_gone:
            return None
        data = self._call.take_feedback() if self._channel is None else self._channel.take_feedback(self._call)
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
        if self._channel is not None and not self._process.is_gone:
            self._channel.cancel(self._call)

    def fileno(self) -> int:
        """Returns a descriptor for poll, epoll or asyncio. It is readable when the call has ended, or feedback has
        come that was not taken.

        It belongs to the future: do not read, write or close it. A thread of ORC receives from now on. Raises Forked.
        """
        if self._process.is_gone:
            raise Forked()
        return self._call.fileno() if self._channel is None else self._channel.fileno(self._call)

    def add_done_callback(self, callback: Callable[[CallFuture[T_co]], object]) -> None:
        """Calls `callback` once with this future when the call has ended: from a thread of ORC, or at once, from this
        one, if it has ended already.

        An exception of the callback goes to the logger "orc". The call goes on when the future is dropped.
        """
        if not callable(callback):
            raise TypeError(f"a callback is called with a future; this is {type(callback).__name__}")
        self._then(lambda: callback(self))

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

        if not self._process.is_gone and not self.ready():
            self._then(call_back)
            try:
                await ended
            except asyncio.CancelledError:
                self.cancel()
                raise
        return self.result()

    def _wait(self, until: float) -> bool:
        return self._channel is None or self._channel.wait(self._call, until)

    def _then(self, ended: Callable[[], object]) -> None:
        if self._process.is_gone or self._channel is None or not self._channel.then(self._call, ended):
            run(ended, "" if self._channel is None else self._channel.service)

    def _usable(self) -> None:
        if self._process.is_gone:
            raise CallError(CallErrc.forked)

    def __del__(self) -> None:
        channel = getattr(self, "_channel", None)
        if channel is not None and not self._call.done and not self._process.is_gone:
            channel.drop(self._call)

    def __repr__(self) -> str:
        error = self._call.error
        state = "open" if not self._call.done else "has a reply" if error is None else error.code.name
        return f"<orc.CallFuture {state}>"
