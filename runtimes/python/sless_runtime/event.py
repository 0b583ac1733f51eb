"""A request's body and query → the handler's event; the rules are the same in every runtime."""

import json
from urllib.parse import parse_qsl

FORM = "application/x-www-form-urlencoded"


class InvalidEvent(Exception):
    """The caller's body is not what its content type says."""


def decode_event(content_type, body, query):
    """JSON, a form's map, text, bytes; without a body the query as a map of strings."""
    if not body:
        return parse_form(query)
    kind, charset = split_content_type(content_type)
    if kind == "application/json" or kind.endswith("+json"):
        try:
            return parse_json(body)
        except ValueError as error:
            raise InvalidEvent(f"The body is not valid JSON: {error}.") from None
    if kind in ("", FORM):
        try:
            return parse_json(body)
        except ValueError:
            return parse_form(body.decode("utf-8", "replace")) if kind else body
    if kind.startswith("text/"):
        return decode_text(body, charset)
    return body


def split_content_type(content_type):
    kind, _, parameters = (content_type or "").partition(";")
    charset = ""
    for parameter in parameters.split(";"):
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            charset = value.strip().strip('"').lower()
    return kind.strip().lower(), charset


def parse_json(body):
    text = body.decode("utf-8-sig")
    try:
        return json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _no_constant(name):
    raise ValueError(f"{name} is no JSON")


def parse_form(text):
    return dict(parse_qsl(text, keep_blank_values=True, errors="replace"))


def decode_text(body, charset):
    if charset in ("iso-8859-1", "latin1"):
        return body.decode("latin-1")
    return body.decode("utf-8", "replace")
