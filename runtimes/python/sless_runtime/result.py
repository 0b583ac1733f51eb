"""A handler's result → an answer; the rules are the same in every runtime."""

import base64
import json

TOKEN = b"!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
# What frames the answer belongs to the server.
FRAMING = {"connection", "content-length", "transfer-encoding", "keep-alive", "upgrade", "trailer", "te"}

BODYLESS = (204, 304)
JSON = "application/json"
TEXT = "text/plain; charset=utf-8"
OCTETS = "application/octet-stream"
LINES = "application/x-ndjson"


class InvalidResult(Exception):
    """What the handler returned cannot be an answer."""


class Answer:
    """`body` is bytes, or an iterator of chunks (bytes, str, or values for a JSON line each) when `streamed`."""

    __slots__ = ("status", "headers", "body", "streamed")

    def __init__(self, status, headers, body, streamed=False):
        self.status = status
        self.headers = headers
        self.body = body
        self.streamed = streamed


def to_answer(result):
    if isinstance(result, dict) and "statusCode" in result:
        return _from_map(result)
    body, content_type, streamed = _encode(result)
    if body is None:
        return Answer(204, [], b"")
    return Answer(200, [("content-type", content_type)] if content_type else [], body, streamed)


def _from_map(result):
    status = _status(result["statusCode"])
    headers = _headers(result.get("headers") or {})
    body = result.get("body")
    if result.get("isBase64Encoded"):
        body = _from_base64(body)
    body, content_type, streamed = _encode(body)
    if content_type and status not in BODYLESS and not any(name == "content-type" for name, _ in headers):
        headers.append(("content-type", content_type))
    return Answer(status, headers, b"" if body is None else body, streamed)


def _encode(value):
    """(bytes or iterator, content type, streamed); the type of a stream is that of its first chunk."""
    if value is None:
        return None, None, False
    if isinstance(value, str):
        return value.encode("utf-8", "replace"), TEXT, False
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value), OCTETS, False
    if hasattr(value, "__next__"):
        return value, None, True
    return to_json(value), JSON, False


def chunk_type(chunk):
    if isinstance(chunk, str):
        return TEXT
    return OCTETS if isinstance(chunk, (bytes, bytearray, memoryview)) else LINES


def chunk_bytes(chunk):
    if isinstance(chunk, str):
        return chunk.encode("utf-8", "replace")
    if isinstance(chunk, (bytes, bytearray, memoryview)):
        return bytes(chunk)
    return to_json(chunk) + b"\n"


def to_json(value):
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidResult(f"the result is no JSON value: {error}") from None
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:  # half a surrogate pair
        return json.dumps(value, allow_nan=False, separators=(",", ":"), default=_plain).encode("ascii")


def _plain(value):
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if type(value).__name__ in ("Decimal", "UUID"):
        return str(value)
    raise TypeError(f"a {type(value).__name__} is none")


def _status(status):
    if isinstance(status, bool) or not isinstance(status, (int, float)) or int(status) != status:
        raise InvalidResult(f"statusCode is {status!r}, which is no whole number")
    if not 200 <= status <= 599:
        raise InvalidResult(f"statusCode is {status}, which is not within 200 to 599")
    return int(status)


def _headers(headers):
    if not isinstance(headers, dict):
        raise InvalidResult("headers is no map")
    pairs = []
    for name, value in headers.items():
        for one in value if isinstance(value, (list, tuple)) else [value]:
            pairs.append(_header(str(name), one))
    return [pair for pair in pairs if pair is not None]


def _header(name, value):
    if isinstance(value, bool):
        value = "true" if value else "false"
    text = str(value)
    if not name or name.encode("utf-8", "replace").translate(None, TOKEN):
        raise InvalidResult(f"{name!r} is no header name")
    if any(char < " " and char != "\t" or char == "\x7f" for char in text):
        raise InvalidResult(f"the header {name} holds a control character")
    if any(char > "\xff" for char in text):
        raise InvalidResult(f"the header {name} holds a character beyond Latin-1")
    return None if name.lower() in FRAMING else (name.lower(), text)


def _from_base64(body):
    if not isinstance(body, str):
        raise InvalidResult("isBase64Encoded is set and body is no string")
    try:
        return base64.b64decode(body, validate=True)
    except ValueError:
        raise InvalidResult("isBase64Encoded is set and body is no base64") from None
