"""Runs a handler: its arguments, its reply, what it raises."""

from __future__ import annotations

import inspect
from typing import Any, Callable, Optional, Tuple

from .._errors import BadSample
from .._log import logger
from .._typed import Typed
from .context import CallContext
from .errors import CallErrc, CallError
from .service_call import ServiceCall


class Handler:
    """Any thread may call."""

    def __init__(self, service: str, function: Callable[..., Any], request: Typed[Any], reply: Typed[Any]) -> None:
        self._service = service
        self._function = function
        self._takes_context = _takes_context(function)
        self._request, self._reply = request, reply

    def run(self, call: ServiceCall) -> Any:
        """Returns the reply as a buffer, or sets the call's error."""
        try:
            request = self._request.decode(call.payload)
        except MemoryError:
            return self._fail(call, CallErrc.no_memory)
        except Exception as error:  # of generated code: anything
            return self._fail(call, CallErrc.bad_request, str(error))
        try:
            reply = self._function(request, CallContext(call)) if self._takes_context else self._function(request)
        except BaseException as error:  # SystemExit, too: the thread serves others
            logger.debug("handler of service %s", self._service, exc_info=True)
            call.error = CallError(CallErrc.exception, _text_of(error), exception_type=_name_of(type(error)))
            return None
        if call.error is not None:
            return None
        try:
            return self._reply.encode(reply)
        except MemoryError:
            return self._fail(call, CallErrc.no_memory)
        except (BadSample, TypeError) as error:
            return self._fail(call, CallErrc.bad_reply, str(error))

    @staticmethod
    def _fail(call: ServiceCall, code: CallErrc, text: str = "") -> None:
        call.error = CallError(code, text)


def _takes_context(function: Callable[..., Any]) -> bool:
    """Whether the handler takes the request and the context. Raises TypeError: it takes neither."""
    if not callable(function):
        raise TypeError(f"a handler is called with a request; this is {type(function).__name__}")
    if inspect.iscoroutinefunction(function):
        raise TypeError("a handler is an ordinary function, and runs on a thread of ORC: async def is none")
    signature = _signature_of(function)
    if signature is None:
        return False
    required, optional = _positional(signature)
    names = [*required, *optional]
    if len(required) > 2 or (not names and not _is_variadic(signature)):
        raise TypeError("a handler takes the request, or the request and the context of the call")
    return len(required) == 2 or names[1:2] == ["context"]


def _signature_of(function: Callable[..., Any]) -> Optional[inspect.Signature]:
    try:
        return inspect.signature(function)
    except ValueError:  # built in
        return None


def _positional(signature: inspect.Signature) -> Tuple[Tuple[str, ...], Tuple[str, ...]]:
    """Returns the names of the parameters without and with a default."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    all = [each for each in signature.parameters.values() if each.kind in kinds]
    required = tuple(each.name for each in all if each.default is inspect.Parameter.empty)
    return required, tuple(each.name for each in all[len(required) :])


def _is_variadic(signature: inspect.Signature) -> bool:
    return any(each.kind is inspect.Parameter.VAR_POSITIONAL for each in signature.parameters.values())


def _text_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # its __str__ raises
        return ""


def _name_of(kind: type) -> str:
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
