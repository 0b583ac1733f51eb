"""What a handler learns about its call beside the event."""

import time

from .log import logger_for


class RequestInfo:
    """The http request of a call: `path` is the one below the function's name, header names are in lower case."""

    __slots__ = ("method", "path", "query", "query_string", "headers", "body")

    def __init__(self, method, path, query, query_string, headers, body):
        self.method = method
        self.path = path
        self.query = query
        self.query_string = query_string
        self.headers = headers
        self.body = body


class Context:
    """The second argument of a handler."""

    __slots__ = ("request_id", "function", "namespace", "trigger", "request", "_expires", "_deadline", "_logger")

    def __init__(self, settings, request_id, trigger, request, expires):
        self.request_id = request_id
        self.function = settings.function
        self.namespace = settings.namespace
        self.trigger = trigger
        self.request = request
        self._expires = expires
        self._deadline = None if expires is None else time.time() + (expires - time.monotonic())
        self._logger = None

    @property
    def deadline(self):
        """When the call is ended, as an aware datetime; None without a limit."""
        if self._deadline is None:
            return None
        from datetime import datetime, timezone

        return datetime.fromtimestamp(self._deadline, timezone.utc)

    def remaining_ms(self):
        """Milliseconds until the deadline, never below 0; None without a limit."""
        if self._expires is None:
            return None
        return max(0, int((self._expires - time.monotonic()) * 1000))

    @property
    def logger(self):
        """Writes one line with level and request id; the methods of `logging`."""
        if self._logger is None:
            self._logger = logger_for(self.request_id)
        return self._logger
