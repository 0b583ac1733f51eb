"""Calls a handler, whatever its form: no, one or two arguments, plain or async, a value or a stream."""

import threading

CO_VARARGS = 0x04
_loop = None
_loop_lock = threading.Lock()


def count_arguments(handler):
    """How many of (event, context) the handler takes."""
    code = getattr(handler, "__code__", None)
    if code is None or hasattr(handler, "__wrapped__"):
        return _count_by_signature(handler)
    bound = 1 if getattr(handler, "__self__", None) is not None else 0
    return 2 if code.co_flags & CO_VARARGS else min(2, code.co_argcount - bound)


def _count_by_signature(handler):
    import inspect

    try:
        parameters = inspect.signature(handler).parameters.values()
    except (TypeError, ValueError):
        return 2
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
        return 2
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return min(2, sum(parameter.kind in positional for parameter in parameters))


def event_loop():
    global _loop
    with _loop_lock:
        if _loop is None:
            from .event_loop import EventLoop

            _loop = EventLoop()
        return _loop


class Invoker:
    def __init__(self, handler):
        self._handler = handler
        self._arguments = count_arguments(handler)

    def __call__(self, call, event, context):
        """The handler's result, awaited. A stream comes as an iterator; `call.running` is set while user code runs."""
        call.running = True
        try:
            result = self._handler(*(event, context)[: self._arguments])
        finally:
            call.running = False
        if hasattr(result, "__await__"):
            result = event_loop().run(call, result)
        if isinstance(result, dict) and "statusCode" in result:
            return {**result, "body": self._iterator(call, result.get("body"))}
        return self._iterator(call, result)

    def _iterator(self, call, value):
        if hasattr(value, "__anext__"):
            return event_loop().chunks(call, value)
        return _pulled(call, value) if hasattr(value, "__next__") else value


def _pulled(call, iterator):
    """A plain iterator that marks the time in which user code runs."""
    try:
        while True:
            call.running = True
            try:
                item = next(iterator)
            except StopIteration:
                return
            finally:
                call.running = False
            yield item
    finally:
        close = getattr(iterator, "close", None)
        if close is not None:
            close()
