"""A handler as C++ calls it: its arguments, its reply, what it raises."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Callable, Optional, Tuple

from .._errors import BadSample
from .._log import logger
from .._typed import Typed
from .context import CallContext
from .errors import CallErrc

if TYPE_CHECKING:
    from orc._native import ServedCall

Failure = Tuple[int, int, str, str]  # code, number, text, exception_type


def runner(
    service: str, function: Callable[..., Any], request: Typed[Any], reply: Typed[Any]
) -> Callable[[bytes, Optional[ServedCall]], Any]:
    """Returns what the threads of C++ call. It returns the reply as a buffer, or why there is none; None: the call has
    an error already."""

    def run(data: bytes, call: Optional[ServedCall]) -> Any:
        try:
            value = request.decode(data)
        except MemoryError:
            return _failure(CallErrc.no_memory)
        except Exception as error:  # of generated code: anything
            return _failure(CallErrc.bad_request, str(error))
        try:
            result = function(value) if call is None else function(value, CallContext(call))
        except BaseException as error:  # SystemExit, too: the thread serves others
            logger.debug("handler of service %s", service, exc_info=True)
            return _failure(CallErrc.exception, _text_of(error), _name_of(type(error)))
        if call is not None and call.has_error:
            return None
        try:
            return reply.encode(result)
        except MemoryError:
            return _failure(CallErrc.no_memory)
        except (BadSample, TypeError) as error:
            return _failure(CallErrc.bad_reply, str(error))

    return run


def _failure(code: CallErrc, text: str = "", exception_type: str = "") -> Failure:
    return int(code), 0, text, exception_type


def takes_call(function: Callable[..., Any]) -> bool:
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
