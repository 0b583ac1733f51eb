"""A single run of the handler: the event from a file, the result into a file."""

import os
import sys
import threading
import time
import uuid

from . import log
from .calls import LOCKED_MAX_SEC, exit_now
from .context import Context, RequestInfo
from .event import parse_json
from .invoke import Invoker
from .result import to_answer
from .result_file import write_result
from .settings import EXIT_STUCK, refuse


class Run:
    """Stands where a call stands in the server."""

    def __init__(self):
        self.running = False
        self.expired = False

    def became_cancellable(self, cancel):
        """A job ends with its process."""


def run_job(settings, handler):
    """Runs once and ends the process: 0 done, 1 failed, 75 timed out."""
    limit = settings.timeout_sec or None
    expires = None if limit is None else time.monotonic() + limit
    if limit is not None:
        _watch(limit)
    body, event = _read_event(settings.event_file)
    request_id = settings.request_id or uuid.uuid4().hex
    headers = {"content-type": "application/json"} if body else {}
    request = RequestInfo("POST", "/", {}, "", headers, body)
    context = Context(settings, request_id, "job", request, expires)
    try:
        answer = to_answer(Invoker(handler)(Run(), event, context))
        write_result(settings, answer)
    except BaseException as error:
        _fail(request_id, error)
    if answer.status >= 400:
        sys.stderr.write(f"sless: the handler answered with status {answer.status}\n")
        exit_now(1)
    exit_now(0)


def _fail(request_id, error):
    if isinstance(error, SystemExit) and error.code in (None, 0):
        exit_now(0)
    log.write_error(request_id, "the handler failed", error)
    sys.stderr.write(f"sless: the handler failed: {log.one_line(f'{type(error).__name__}: {error}')}\n")
    exit_now(1)


def _watch(limit):
    import faulthandler

    main = threading.get_ident()

    def end():
        log.write_stack(main)
        sys.stderr.write(f"sless: timed out after {limit} s\n")
        exit_now(EXIT_STUCK)

    timer = threading.Timer(limit, end)
    timer.daemon = True
    timer.start()
    # When the handler holds the interpreter's lock, this one ends it.
    faulthandler.dump_traceback_later(limit + LOCKED_MAX_SEC, exit=True, file=sys.__stderr__)


def _read_event(path):
    if path is None or not os.path.exists(path):
        return b"", {}
    with open(path, "rb") as file:
        body = file.read()
    if not body.strip():
        return b"", {}
    try:
        return body, parse_json(body)
    except ValueError as error:
        refuse(f"the event is not valid JSON: {error}; correct eventJSON")
