"""The calls in flight and the watch over their deadlines."""

import faulthandler
import json
import os
import socket
import sys
import threading
import time

from . import http1, log
from .settings import EXIT_STUCK

GRACE_SEC = 1.0
# A handler that holds the interpreter's lock (a regular expression without end) stops every Python thread: then a
# timer in C ends the process. It is set again when it would fire less than the first figure after a deadline.
LOCKED_MIN_SEC = 1.5
LOCKED_MAX_SEC = 3.5
IDLE_SEC = 1.0
CLIENT_POLL_SEC = 0.5


class Call:
    """One call. Whoever claims it first (the handler's thread or the watch) writes the answer's head."""

    def __init__(self, calls, connection, head, request_id, timeout_sec):
        self._calls = calls
        self.connection = connection
        self.head = head
        self.request_id = request_id
        self.timeout_sec = timeout_sec
        self.expires = None if timeout_sec is None else time.monotonic() + timeout_sec
        self.thread_id = threading.get_ident()
        self.running = False
        self.streaming = False
        self.expired = False
        self.cancellable = False
        self._cancel = None
        self._claim = threading.Lock()

    def claim(self):
        return self._claim.acquire(blocking=False)

    def became_cancellable(self, cancel):
        """Its handler is asynchronous: `cancel` ends it early, from any thread."""
        self._cancel = cancel
        if not self.cancellable:
            self.cancellable = True
            self._calls.poll_clients()
        if self.expired:
            cancel()

    def cancel(self):
        if self._cancel is not None:
            self._cancel()


class Calls:
    def __init__(self):
        self._changed = threading.Condition(threading.Lock())
        self._active = set()
        self._wake_at = None
        self._armed_until = None
        self.closing = False
        threading.Thread(target=self._watch, daemon=True, name="sless-watch").start()

    def begin(self, call):
        with self._changed:
            self._active.add(call)
            if call.expires is None:
                return
            self._arm(call.expires, len(self._active) == 1)
            if self._wake_at is None or call.expires < self._wake_at:
                self._changed.notify_all()

    def end(self, call):
        with self._changed:
            self._active.discard(call)
            if self._armed_until is not None and self._active and call.expires is not None:
                soonest = self._soonest()
                if soonest is not None:
                    self._arm(soonest, True)
            if not self._active and (self.closing or self._is_armed_for_long()):
                self._changed.notify_all()

    def poll_clients(self):
        """There is a call whose handler can be cancelled: the watch looks whether its client is still there."""
        with self._changed:
            if self._wake_at is None or self._wake_at > time.monotonic() + CLIENT_POLL_SEC:
                self._changed.notify_all()

    def wait_until_idle(self, seconds):
        """True once no call is in flight."""
        with self._changed:
            self.closing = True
            return self._changed.wait_for(lambda: not self._active, seconds)

    def _is_armed_for_long(self):
        """The timer stands although nothing runs, and the watch would not look soon."""
        return self._armed_until is not None and (self._wake_at or 0) > time.monotonic() + IDLE_SEC

    def _soonest(self):
        return min((call.expires for call in self._active if call.expires is not None), default=None)

    def _arm(self, expires, may_move_back):
        armed = self._armed_until
        if armed is None or armed > expires + LOCKED_MAX_SEC or (may_move_back and armed < expires + LOCKED_MIN_SEC):
            self._armed_until = expires + LOCKED_MAX_SEC
            seconds = max(self._armed_until - time.monotonic(), 0.1)
            faulthandler.dump_traceback_later(seconds, exit=True, file=sys.__stderr__)

    def _watch(self):
        while True:
            try:
                self._look()
            except Exception as error:  # the watch goes on whatever happens to one call
                log.write_error(None, "the watch over the deadlines failed", error)

    def _look(self):
        with self._changed:
            self._changed.wait(self._sleep_sec())
            now = time.monotonic()
            due = [call for call in self._active if call.expires is not None and call.expires <= now]
            cancellable = [call for call in self._active if call.cancellable]
            self._disarm_when_idle(now)
        for call in due:
            self._expire(call, now)
        for call in cancellable:
            if client_is_gone(call.connection):
                call.cancel()

    def _sleep_sec(self):
        now = time.monotonic()
        moments = []
        for call in self._active:
            if call.expires is not None:
                moments.append(call.expires + (GRACE_SEC if call.expired else 0))
            if call.cancellable:
                moments.append(now + CLIENT_POLL_SEC)
        if self._armed_until is not None and not self._active:
            moments.append(now + IDLE_SEC)
        self._wake_at = min(moments, default=None)
        return None if self._wake_at is None else max(self._wake_at - now, 0.001)

    def _disarm_when_idle(self, now):
        if self._armed_until is None:
            return
        soonest = self._soonest()
        if soonest is not None:
            self._arm(soonest, True)
        elif self._wake_at is not None and now >= self._wake_at:
            faulthandler.cancel_dump_traceback_later()
            self._armed_until = None

    def _expire(self, call, now):
        if not call.expired:
            call.expired = True
            self._end_call(call)
        elif call.running and now >= call.expires + GRACE_SEC:
            self._replace_replica(call)

    def _end_call(self, call):
        shown = f"{call.timeout_sec:g} s"
        if call.claim():
            log.write_error(call.request_id, f"the handler did not answer within {shown} (function_timeout)")
            error = f"The handler did not answer within {shown}; make it faster, or raise spec.timeoutSec."
            send_error(call, 504, "function_timeout", error)
            call.connection.shutdown()
        else:
            log.write_error(call.request_id, f"the answer was cut off after {shown} (function_timeout)")
            call.connection.reset()
        call.cancel()

    def _replace_replica(self, stuck):
        log.write_error(
            stuck.request_id,
            "the handler still runs after its deadline and cannot be stopped: the replica is replaced; it stands at",
        )
        log.write_stack(stuck.thread_id)
        with self._changed:
            others = [call for call in self._active if call is not stuck]
        for call in others:
            if call.claim():
                error = "The replica was replaced because another call blocked it beyond its time limit; try again."
                send_error(call, 503, "replica_replaced", error)
        exit_now(EXIT_STUCK)


def error_body(reason, message, request_id):
    body = {"error": message, "component": "runtime", "reason": reason, "requestId": request_id}
    return json.dumps(body, separators=(",", ":")).encode()


def send_error(call, status, reason, message):
    """Writes a whole answer without waiting for a slow client; the connection is not used again."""
    body = error_body(reason, message, call.request_id)
    headers = [
        ("content-type", "application/json"),
        ("x-request-id", call.request_id),
        ("content-length", str(len(body))),
    ]
    data = http1.head_bytes(status, headers, False) + (b"" if call.head.method == "HEAD" else body)
    try:
        call.connection.sock.send(data, getattr(socket, "MSG_DONTWAIT", 0))
    except OSError:
        pass


def client_is_gone(connection):
    try:
        peek = socket.MSG_PEEK | getattr(socket, "MSG_DONTWAIT", 0)
        return connection.sock.recv(1, peek) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def exit_now(code):
    """Ends the process whatever its threads do; what they printed is written if that is possible at once."""
    flusher = threading.Thread(target=_flush, daemon=True)
    flusher.start()
    flusher.join(0.5)
    os._exit(code)


def _flush():
    sys.stdout.flush()
    sys.stderr.flush()
