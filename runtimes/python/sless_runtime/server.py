"""The server of a replica: one thread per connection, health, drain."""

import os
import signal
import socket
import threading
import time
import uuid

from . import http1, log
from .calls import Call, Calls, error_body, exit_now
from .context import Context, RequestInfo
from .event import InvalidEvent, decode_event, parse_form
from .http1 import BadRequest, Connection
from .invoke import Invoker
from .result import BODYLESS, chunk_bytes, chunk_type, to_answer
from .settings import refuse

HEALTH = b'{"status":"ok"}'
ID_CHARS = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_.:/+="
EXIT_TERMINATED = 143
END_SIGNALS = (signal.SIGTERM, signal.SIGINT)


class Server:
    def __init__(self, settings, handler):
        self._settings = settings
        self._invoke = Invoker(handler)
        self._calls = Calls()
        self._connections = set()
        self._lock = threading.Lock()
        self._draining = False

    def serve(self):
        """Listens until SIGTERM; returns after the calls in flight have ended."""
        signals = _signal_pipe()
        listener = _listen(self._settings.host, self._settings.port)
        threading.Thread(target=self._accept, args=(listener,), daemon=True, name="sless-accept").start()
        _notify(self._settings.notify_fd, listener.getsockname()[1])
        _wait_for_end_signal(signals)
        self._drain(listener, signals)

    def _accept(self, listener):
        while True:
            try:
                sock, _ = listener.accept()
            except OSError:
                if self._draining:
                    return
                time.sleep(0.05)  # out of file descriptors: calls that end free some
                continue
            threading.Thread(target=self._serve_connection, args=(sock,), daemon=True).start()

    def _drain(self, listener, signals):
        self._draining = True
        threading.Thread(target=_exit_on_second_signal, args=(signals,), daemon=True).start()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        with self._lock:
            for connection in self._connections:
                if connection.idle:
                    connection.shutdown()
        ended = self._calls.wait_until_idle(self._settings.drain_sec)
        exit_now(0 if ended else EXIT_TERMINATED)

    def _serve_connection(self, sock):
        try:
            connection = Connection(sock)
        except OSError:
            return
        with self._lock:
            self._connections.add(connection)
        try:
            while not self._draining and self._serve_next(connection):
                pass
        except OSError:
            pass  # the client is gone
        finally:
            with self._lock:
                self._connections.discard(connection)
            connection.close()

    def _serve_next(self, connection):
        """Answers one request; False when the connection is done."""
        request_id = None
        try:
            head = connection.read_head()
            if head is None:
                return False
            request_id = _request_id(head)
            if head.path == "/health" and "x-sless-timeout-ms" not in head.headers:
                connection.read_body(head, self._settings.max_body)
                return self._send(connection, head, 200, [("content-type", "application/json")], HEALTH)
            return self._call(connection, head, request_id)
        except BadRequest as error:
            body = error_body(error.reason, str(error), request_id or uuid.uuid4().hex)
            headers = [("content-type", "application/json"), ("content-length", str(len(body)))]
            connection.sock.sendall(http1.head_bytes(error.status, headers, False) + body)
            connection.drain_and_close()
            return False

    def _call(self, connection, head, request_id):
        call = Call(self._calls, connection, head, request_id, self._timeout_sec(head))
        self._calls.begin(call)
        try:
            return self._answer(call)
        finally:
            self._calls.end(call)

    def _answer(self, call):
        head = call.head
        try:
            body = call.connection.read_body(head, self._settings.max_body)
        except BadRequest:
            if call.claim():
                raise
            return False
        try:
            event = decode_event(head.headers.get("content-type"), body, head.query)
        except InvalidEvent as error:
            return self._fail(call, 400, "invalid_event", str(error))
        try:
            answer = to_answer(self._invoke(call, event, self._context(call, body)))
            if answer.streamed:
                return self._stream(call, answer)
        except BaseException as error:  # SystemExit and CancelledError too: the replica goes on
            return self._handler_failed(call, error)
        if not call.claim():
            return False
        return self._send(call.connection, head, answer.status, answer.headers, answer.body, call.request_id)

    def _context(self, call, body):
        head = call.head
        request = RequestInfo(head.method, head.path, parse_form(head.query), head.query, head.headers, body)
        trigger = head.headers.get("x-sless-trigger", "http")
        return Context(self._settings, call.request_id, trigger, request, call.expires)

    def _timeout_sec(self, head):
        """The smaller of what is left of the gateway's budget and the function's own limit; None = no limit."""
        limits = [self._settings.timeout_sec]
        text = head.headers.get("x-sless-timeout-ms", "")
        if text.isascii() and text.isdigit():
            limits.append(int(text) / 1000)
        return min((limit for limit in limits if limit > 0), default=None)

    def _handler_failed(self, call, error):
        if call.expired:
            log.write_error(call.request_id, f"the handler ended after its deadline with {type(error).__name__}")
            return False
        log.write_error(call.request_id, "the handler failed (handler_error)", error)
        if call.streaming:
            call.connection.reset()
            return False
        return self._fail(call, 500, "handler_error", "The handler failed; its log has the stack under this request id.")

    def _fail(self, call, status, reason, message):
        if not call.claim():
            return False
        body = error_body(reason, message, call.request_id)
        return self._send(call.connection, call.head, status, [("content-type", "application/json")], body, call.request_id)

    def _send(self, connection, head, status, headers, body, request_id=None):
        keep_alive = head.keeps_alive and not self._draining
        own = [] if request_id is None else [("x-request-id", request_id)]
        if status in BODYLESS:
            body = b""
        elif body is not None:
            own.append(("content-length", str(len(body))))
        data = http1.head_bytes(status, [*headers, *_without(own, headers)], keep_alive)
        connection.sock.sendall(data if head.method == "HEAD" or body is None else data + body)
        return keep_alive

    def _stream(self, call, answer):
        """Sends chunk by chunk; the first one is there before the head, so that an error until then is a plain 500."""
        chunks = iter(answer.body)
        first = next(chunks, None)
        if not call.claim():
            chunks.close()
            return False
        call.streaming = True
        if first is None or call.head.method == "HEAD" or answer.status in BODYLESS:
            chunks.close()
            body = None if call.head.method == "HEAD" else b""
            return self._send(call.connection, call.head, answer.status, answer.headers, body, call.request_id)
        chunked = call.head.http11
        keep_alive = chunked and call.head.keeps_alive and not self._draining
        self._send_stream_head(call, answer, first, keep_alive)
        try:
            self._send_chunk(call, first, chunked)
            for chunk in chunks:
                self._send_chunk(call, chunk, chunked)
        except OSError:
            chunks.close()
            return False
        if chunked:
            call.connection.sock.sendall(b"0\r\n\r\n")
        return keep_alive and not call.expired

    def _send_stream_head(self, call, answer, first, keep_alive):
        own = [("content-type", chunk_type(first)), ("x-request-id", call.request_id)]
        if call.head.http11:
            own.append(("transfer-encoding", "chunked"))
        headers = [*answer.headers, *_without(own, answer.headers)]
        call.connection.sock.sendall(http1.head_bytes(answer.status, headers, keep_alive))

    def _send_chunk(self, call, chunk, chunked):
        data = chunk_bytes(chunk)
        if data:
            call.connection.sock.sendall(b"%x\r\n%b\r\n" % (len(data), data) if chunked else data)


def _without(own, headers):
    names = {name for name, _ in headers}
    return [pair for pair in own if pair[0] not in names]


def _request_id(head):
    text = head.headers.get("x-request-id", "")
    usable = 0 < len(text) <= 128 and not text.encode("latin-1").translate(None, ID_CHARS)
    return text if usable else uuid.uuid4().hex


def _listen(host, port):
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=1024)
    except OSError as error:
        refuse(f"port {port} cannot be listened on: {error.strerror}")


def _notify(fd, port):
    if fd is not None:
        os.write(fd, b"sless-listening %d\n" % port)
        os.close(fd)


def _signal_pipe():
    """A pipe with a byte per signal: the system writes it, whichever thread the signal reaches."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    for number in END_SIGNALS:
        signal.signal(number, lambda _number, _frame: None)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    return reader


def _wait_for_end_signal(reader):
    while os.read(reader, 1)[0] not in END_SIGNALS:
        pass


def _exit_on_second_signal(reader):
    _wait_for_end_signal(reader)
    exit_now(EXIT_TERMINATED)
