"""The calling end in Python: a participant's connections to services."""

from __future__ import annotations

import threading
import time
import weakref
from typing import Any, Callable, Dict, Optional, Union

from .._errors import Closed, Forked, Refused
from .._type_description import TypeDescription
from .._typed import Typed
from .attendant import run
from .call import Call, Process
from .channel import Channel
from .errors import CallErrc, CallError
from .message import CallTypes, full_name
from .platform import Participant

_MAX_CALLED_SERVICES = 256
_LONG_S = 3600.0
_UNTYPED = CallTypes(TypeDescription(), TypeDescription())


class ChannelCall:
    """A call of a channel."""

    __slots__ = ("_call", "_process", "channel")

    def __init__(self, channel: Channel, call: Call, process: Process) -> None:
        self.channel, self._call, self._process = channel, call, process

    def wait(self, seconds: float) -> bool:
        return self._process.is_gone or self.channel.wait(self._call, time.monotonic() + seconds)

    def result(self) -> Union[bytes, CallError]:
        while not self.wait(_LONG_S):
            pass
        if self._process.is_gone:
            return CallError(CallErrc.forked)
        error = self._call.error
        return self._call.reply if error is None else error.copy()

    def take_feedback(self) -> Optional[bytes]:
        return None if self._process.is_gone else self.channel.take_feedback(self._call)

    def cancel(self) -> None:
        if not self._process.is_gone:
            self.channel.cancel(self._call)

    def fileno(self) -> int:
        if self._process.is_gone:
            raise Forked()
        return self.channel.fileno(self._call)

    def then(self, ended: Callable[[], object]) -> bool:
        """Returns False when it has ended already."""
        return not self._process.is_gone and self.channel.then(self._call, ended)

    def __del__(self) -> None:
        if not self._call.done and not self._process.is_gone:
            self.channel.drop(self._call)


class ChannelCaller:
    """Any thread may call."""

    def __init__(self, participant: weakref.ReferenceType[Participant]) -> None:
        self._participant = participant
        self._process = Process()
        self._lock = threading.RLock()  # guards the rest
        self._ended = False
        self._channels: Dict[str, Channel] = {}  # by the names that the program uses

    def start(
        self, participant: Any, name: str, request: Typed[Any], reply: Typed[Any], payload: Any, ends: float
    ) -> ChannelCall:
        channel = self._channel(participant, name)
        types = CallTypes(request.description, reply.description)
        return ChannelCall(channel, channel.start(types, payload, ends), self._process)

    def then(self, call: ChannelCall, ended: Callable[[], object]) -> None:
        if not call.then(ended):
            run(ended)

    def wait_for_service(self, participant: Any, name: str, ends: float) -> None:
        try:
            channel = self._channel(participant, name)
        except CallError as error:
            raise Refused(str(error)) from None
        channel.wait_accepted(_UNTYPED, ends)

    def _channel(self, participant: Participant, name: str) -> Channel:
        """Raises BadName, Closed, Forked, CallError."""
        if self._process.is_gone:
            raise Forked()
        found = self._channels.get(name)
        if found is not None and not self._ended:
            return found
        with self._lock:
            if self._ended:
                raise Closed()
            if name in self._channels:
                return self._channels[name]
            full = full_name(participant, name)
            if len(self._channels) >= _MAX_CALLED_SERVICES:
                self._forget_idle()
            return self._channels.setdefault(name, Channel(self._participant, full))

    def _forget_idle(self) -> None:
        """Raises CallError: all are in use."""
        for name in [name for name, each in self._channels.items() if each.is_idle]:
            del self._channels[name]
        if len(self._channels) >= _MAX_CALLED_SERVICES:
            text = f"this participant calls {_MAX_CALLED_SERVICES} services already"
            raise CallError(CallErrc.too_many_calls, text)

    def end(self) -> None:
        with self._lock:
            self.abandon()
            channels = list(self._channels.values())
        for channel in channels:
            channel.stop()

    def join(self, until: float) -> None:
        for channel in list(self._channels.values()):
            channel.join(until)

    def abandon(self) -> None:
        self._ended = True
        for channel in list(self._channels.values()):
            channel.abandon()
