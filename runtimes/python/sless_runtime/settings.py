"""The environment of a replica, read once."""

import os
import sys

DEFAULT_MAX_BODY = 100 * 1024 * 1024
EXIT_UNLOADABLE = 65
EXIT_STUCK = 75


class Settings:
    """What whoever starts the server says; see docs/runtimes.md."""

    def __init__(self, env):
        self.source = os.path.abspath(env.get("SLESS_SOURCE") or os.getcwd())
        self.deps = env.get("SLESS_DEPS") or None
        self.entrypoint = env.get("SLESS_ENTRYPOINT") or "handler.handle"
        self.function = env.get("SLESS_FUNCTION", "")
        self.namespace = env.get("SLESS_NAMESPACE", "")
        self.host = env.get("SLESS_HOST") or "0.0.0.0"
        self.port = _number(env, "PORT", 8080)
        self.timeout_sec = _number(env, "SLESS_TIMEOUT_SEC", 0)
        self.drain_sec = _number(env, "SLESS_DRAIN_SEC", 30)
        self.max_body = _number(env, "SLESS_MAX_BODY", DEFAULT_MAX_BODY)
        self.notify_fd = _number(env, "SLESS_NOTIFY_FD", None)
        self.parent_fd = _number(env, "SLESS_PARENT_FD", None)
        self.job = env.get("SLESS_JOB") == "1"
        self.event_file = env.get("SLESS_EVENT_FILE") or None
        self.result_file = env.get("SLESS_RESULT_FILE") or None
        self.result_max = _number(env, "SLESS_RESULT_MAX", None)
        self.result_copy = _number(env, "SLESS_RESULT_COPY", 0)
        self.request_id = env.get("SLESS_REQUEST_ID") or None


def _number(env, name, default):
    text = env.get(name, "")
    if text == "":
        return default
    if not text.isdigit():
        refuse(f"{name} is {text!r}, which is no number; correct it where the server is started")
    return int(text)


def refuse(reason):
    """Ends the process before it serves: one line for people, exit code 65."""
    sys.stdout.flush()
    sys.stderr.write("sless: " + " ".join(reason.split()) + "\n")
    sys.stderr.flush()
    os._exit(EXIT_UNLOADABLE)
