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
from .result import chunk_bytes, to_answer
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
        _write_result(settings, answer)
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


def _write_result(settings, answer):
    chunks = (chunk_bytes(chunk) for chunk in answer.body) if answer.streamed else (answer.body,)
    path = settings.result_file
    if settings.result_max is not None:
        _write_cut(path or os.devnull, settings.result_max, chunks)
    elif path is None:
        for _ in chunks:
            pass
    else:
        part = f"{path}.part"
        with open(part, "wb") as file:
            for chunk in chunks:
                file.write(chunk)
        os.replace(part, path)


def _write_cut(path, limit, chunks):
    """For a file that holds so much and cannot be replaced. A longer result says that it was cut, and stands whole in the log."""
    head = b""
    total = 0
    for chunk in chunks:
        total += len(chunk)
        if total > limit:
            _log(chunk if total - len(chunk) > limit else head + chunk)
        if len(head) <= limit:
            head = (head + chunk)[: limit + 1]
    if total > limit:
        _log(b"\n")
        head = _cut(head, limit, total)
    with open(path, "wb") as file:
        file.write(head)


def _log(data):
    sys.stderr.flush()
    sys.stderr.buffer.write(data)
    sys.stderr.buffer.flush()


def _cut(data, limit, total):
    """No character is cut in two."""
    mark = f"\u2026 (truncated, {total} bytes in all)".encode()
    end = max(0, limit - len(mark))
    while end > 0 and data[end] & 0xC0 == 0x80:
        end -= 1
    return data[:end] + mark
