"""HTTP/1.1 over one connection: strict about framing, so that no request hides in another."""

import socket
import time
from functools import lru_cache
from http import HTTPStatus

from .result import TOKEN

IDLE_SEC = 75
HEAD_MAX = 64 * 1024
HEADERS_MAX = 200
REASONS = {status.value: status.phrase for status in HTTPStatus}


class BadRequest(Exception):
    """The request is no HTTP that this server takes; the connection ends with the answer."""

    def __init__(self, status, reason, message):
        super().__init__(message)
        self.status = status
        self.reason = reason


class Head:
    """The request line and the headers (names in lower case, repeated ones joined)."""

    __slots__ = ("method", "path", "query", "headers", "http11")

    def __init__(self, method, target, http11):
        self.method = method
        self.http11 = http11
        self.headers = {}
        if not target.startswith("/") and "://" in target:
            target = "/" + target.split("://", 1)[1].partition("/")[2]
        self.path, _, self.query = target.partition("#")[0].partition("?")

    @property
    def keeps_alive(self):
        tokens = [token.strip().lower() for token in self.headers.get("connection", "").split(",")]
        return "close" not in tokens if self.http11 else "keep-alive" in tokens


class Connection:
    def __init__(self, sock):
        self.sock = sock
        self.idle = True
        self._file = sock.makefile("rb", 64 * 1024)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)

    def read_head(self):
        """The next request, or None when the client is done."""
        self.idle = True
        self.sock.settimeout(IDLE_SEC)
        try:
            line = self._line(HEAD_MAX)
            if line in (b"\r\n", b"\n"):
                line = self._line(HEAD_MAX)
        except OSError:
            return None
        if not line:
            return None
        self.idle = False
        head = parse_request_line(line)
        self._read_headers(head)
        self.sock.settimeout(None)
        return head

    def _line(self, limit):
        line = self._file.readline(limit + 1)
        if len(line) > limit:
            raise BadRequest(431, "headers_too_large", f"The request's head is larger than {HEAD_MAX} bytes.")
        return line

    def _read_headers(self, head):
        left = HEAD_MAX
        for _ in range(HEADERS_MAX):
            line = self._line(left)
            left -= len(line)
            if line in (b"\r\n", b"\n"):
                return
            if not line.endswith(b"\n"):
                raise BadRequest(400, "bad_request", "The request's head is not complete.")
            add_header(head.headers, line)
        raise BadRequest(431, "headers_too_large", f"The request has more than {HEADERS_MAX} headers.")

    def read_body(self, head, limit):
        """The whole body. @raises BadRequest 413 beyond `limit` bytes"""
        chunked, length = framing(head)
        if length > limit:
            raise too_large(limit)
        if head.headers.get("expect", "").lower() == "100-continue" and head.http11 and (chunked or length):
            self.sock.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        if chunked:
            return self._read_chunks(limit)
        return self._exactly(length) if length else b""

    def _exactly(self, length):
        body = self._file.read(length)
        if len(body) < length:
            raise ConnectionResetError("the client left in the middle of its body")
        return body

    def _read_chunks(self, limit):
        body = bytearray()
        while True:
            text = self._line(1024).partition(b";")[0].strip()
            if not text or text.translate(None, b"0123456789abcdefABCDEF") or len(text) > 15:
                raise BadRequest(400, "bad_request", "The chunked body is malformed.")
            size = int(text, 16)
            if size == 0:
                break
            if len(body) + size > limit:
                raise too_large(limit)
            body += self._exactly(size)
            if self._exactly(2) != b"\r\n":
                raise BadRequest(400, "bad_request", "The chunked body is malformed.")
        left = HEAD_MAX
        while True:
            line = self._line(left)
            left -= len(line)
            if line in (b"\r\n", b"\n", b""):
                return bytes(body)

    def reset(self):
        """Breaks the connection so that nobody takes what was sent for a whole answer."""
        try:
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            self.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def shutdown(self):
        try:
            self.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def drain_and_close(self):
        """Takes what the client still sends for a moment, so that it reads the answer rather than a reset."""
        try:
            self.sock.shutdown(socket.SHUT_WR)
            self.sock.settimeout(1)
            for _ in range(1024):
                if not self.sock.recv(64 * 1024):
                    break
        except OSError:
            pass
        self.close()

    def close(self):
        try:
            self._file.close()
            self.sock.close()
        except OSError:
            pass


def parse_request_line(line):
    parts = line.decode("latin-1").rstrip("\r\n").split(" ")
    if len(parts) != 3 or not parts[0] or parts[0].encode("latin-1").translate(None, TOKEN):
        raise BadRequest(400, "bad_request", "The request line is malformed.")
    method, target, version = parts
    if version not in ("HTTP/1.1", "HTTP/1.0"):
        raise BadRequest(505, "bad_request", "Only HTTP/1.1 and HTTP/1.0 are spoken here.")
    if not target or any(char <= " " or char == "\x7f" for char in target):
        raise BadRequest(400, "bad_request", "The request target is malformed.")
    return Head(method, target, version == "HTTP/1.1")


def add_header(headers, line):
    name, colon, value = line.partition(b":")
    if not colon or not name or name.translate(None, TOKEN):
        raise BadRequest(400, "bad_request", "A header is malformed.")
    value = value.strip(b" \t\r\n")
    if b"\r" in value or b"\0" in value:
        raise BadRequest(400, "bad_request", "A header is malformed.")
    key, text = name.decode("ascii").lower(), value.decode("latin-1")
    if key in headers:
        if key == "content-length":
            raise BadRequest(400, "bad_request", "Content-Length stands twice.")
        headers[key] += ("; " if key == "cookie" else ", ") + text
    else:
        headers[key] = text


def framing(head):
    """(chunked, length). @raises BadRequest for what two servers could read differently"""
    encoding = head.headers.get("transfer-encoding")
    length = head.headers.get("content-length")
    if encoding is not None:
        if length is not None or encoding.lower() != "chunked":
            raise BadRequest(400, "bad_request", "Transfer-Encoding must be chunked alone, without Content-Length.")
        return True, 0
    if length is None:
        return False, 0
    if not (length.isascii() and length.isdigit()) or len(length) > 15:
        raise BadRequest(400, "bad_request", "Content-Length is no number.")
    return False, int(length)


def too_large(limit):
    return BadRequest(413, "body_too_large", f"The body is larger than {limit} bytes; send less.")


def head_bytes(status, headers, keep_alive):
    lines = [f"HTTP/1.1 {status} {REASONS.get(status, 'Status')}"]
    if not any(name == "date" for name, _ in headers):
        lines.append(f"date: {http_date(int(time.time()))}")
    lines += [f"{name}: {value}" for name, value in headers]
    lines.append("connection: keep-alive" if keep_alive else "connection: close")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


@lru_cache(maxsize=1)
def http_date(second):
    """The names of days and months are English whatever the locale."""
    at = time.gmtime(second)
    day = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")[at.tm_wday]
    month = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")[at.tm_mon - 1]
    return f"{day}, {at.tm_mday:02} {month} {at.tm_year} {at.tm_hour:02}:{at.tm_min:02}:{at.tm_sec:02} GMT"
