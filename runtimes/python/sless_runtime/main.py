"""Settings → handler → server or job."""

import os
import sys

from .loader import load_handler
from .parent import watch_parent
from .server import Server
from .settings import Settings


def main():
    # Line by line, also into a pipe.
    sys.stdout.reconfigure(line_buffering=True, encoding="utf-8", errors="backslashreplace")
    sys.stderr.reconfigure(line_buffering=True, encoding="utf-8", errors="backslashreplace")
    settings = Settings(os.environ)
    if settings.parent_fd is not None:
        watch_parent(settings.parent_fd)
    if settings.notify_fd is not None:
        os.set_inheritable(settings.notify_fd, False)
    handler = load_handler(settings)
    if settings.job:
        from .job import run_job

        run_job(settings, handler)
    Server(settings, handler).serve()
