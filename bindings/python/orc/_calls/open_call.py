"""What a participant's backend does for the calling end."""

from __future__ import annotations

from typing import Any, Callable, Optional, Protocol, Union

from .._bell import Bell
from .._typed import Typed
from .errors import CallError


class OpenCall(Protocol):
    """A call, until its end and afterwards. Any thread may call. Dropping it cancels the call."""

    def wait(self, seconds: float) -> bool:
        """Waits until the call has ended, at most so long. Returns whether it has."""

    def result(self) -> Union[bytes, CallError]:
        """Waits for the end. Returns the reply, or an error that was not returned before."""

    def take_feedback(self) -> Optional[bytes]:
        """Returns the newest feedback that was not returned yet."""

    def cancel(self) -> None: ...

    def fileno(self) -> int:
        """Returns a descriptor that is readable when there is feedback, and from the end on."""


class Caller(Protocol):
    """The calling end of one participant. Any thread may call."""

    def start(
        self, participant: Any, name: str, request: Typed[Any], reply: Typed[Any], payload: Any, ends: float
    ) -> OpenCall:
        """`payload`: a buffer. `ends`: of time.monotonic(). Raises CallError, Error."""

    def then(self, call: Any, ended: Callable[[], object]) -> None:
        """Calls `ended` at the end of the call, from a thread of ORC, or from this one if it has ended."""

    def wait_for_service(self, participant: Any, name: str, ends: float) -> None: ...

    def end(self) -> None:
        """Comes before the participant's close()."""

    def join(self, until: float) -> None:
        """Comes after the participant's close(). Waits for threads."""

    def abandon(self) -> None:
        """The participant is gone. For finalizers: takes no lock."""


class EndedCall:
    """A call that ended before it began."""

    def __init__(self, why: CallError) -> None:
        self._why = why
        self._bell: Optional[Bell] = None

    def wait(self, seconds: float) -> bool:
        return True

    def result(self) -> CallError:
        return self._why.copy()

    def take_feedback(self) -> None:
        return None

    def cancel(self) -> None:
        pass

    def fileno(self) -> int:
        if self._bell is None:
            self._bell = Bell()
        return self._bell.fileno(lambda: True)
