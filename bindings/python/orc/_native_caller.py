"""The calling end of the native backend: the calls of C++ (liborc/src/calls), and their callbacks."""

from __future__ import annotations

import itertools
import threading
import time
from typing import Any, Callable, Dict, Optional

import orc._native as _native
from orc._calls.callbacks import run_apart
from orc._typed import Typed

_IDLE_MS = 1000
_LOOK = 0  # a token that no call has


class NativeCaller:
    """Any thread may call. The component of C++ in the participant has the connections."""

    def __init__(self) -> None:
        self._callbacks = Callbacks()

    def start(
        self, participant: Any, name: str, request: Typed[Any], reply: Typed[Any], payload: Any, ends: float
    ) -> _native.Call:
        return participant._start_call(name, _type_of(request), _type_of(reply), payload, ends)  # type: ignore[no-any-return]

    def then(self, call: _native.Call, ended: Callable[[], object]) -> None:
        self._callbacks.add(call, ended)

    def wait_for_service(self, participant: Any, name: str, ends: float) -> None:
        participant._wait_for_service(name, ends)

    def end(self) -> None:
        pass  # the participant's close() does it

    def join(self, until: float) -> None:
        self._callbacks.close(until)

    def abandon(self) -> None:
        pass


class Callbacks:
    """Runs the callbacks of calls, on one thread, which lasts while calls with callbacks are open.

    The threads of C++ do not run them: these never take the GIL, and the participant's close() waits for them.
    """

    def __init__(self) -> None:
        self._ends = _native.CallEnds()
        self._tokens = itertools.count(_LOOK + 1)
        self._lock = threading.RLock()  # guards the rest; reentrant for signal handlers
        self._pending: Dict[int, Callable[[], object]] = {}
        self._thread: Optional[threading.Thread] = None
        self._is_closed = False

    def add(self, call: _native.Call, ended: Callable[[], object]) -> None:
        with self._lock:
            token = next(self._tokens)
            self._pending[token] = ended
            try:
                if self._thread is None:
                    thread = threading.Thread(target=self._work, name="orc callbacks", daemon=True)
                    thread.start()
                    self._thread = thread
                call.notify(self._ends, token)
            except BaseException:
                self._pending.pop(token, None)
                raise

    def close(self, until: float) -> None:
        """Waits for the callbacks of calls that have ended, at most until then."""
        self._is_closed = True
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            self._ends.push(_LOOK)
            thread.join(max(0.0, until - time.monotonic()))

    def _work(self) -> None:
        while True:
            token = self._ends.next(_IDLE_MS)
            if token is None or token == _LOOK:
                with self._lock:
                    if not self._pending and (token is None or self._is_closed):
                        self._thread = None
                        return
            else:
                ended = self._pending.pop(token, None)
                if ended is not None:
                    run_apart(ended)
                    del ended  # it may refer to the participant


def _type_of(codec: Typed[Any]) -> Any:
    """Returns the codec's description as C++ wants it, which is made once."""
    made = codec.native_type
    if made is None:
        made = codec.native_type = _native.CallType(codec.description)
    return made
