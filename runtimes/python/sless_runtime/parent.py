"""The end of the process that started the server is the end of the server."""

import os
import signal
import threading


def watch_parent(fd):
    """`fd` is a pipe whose other end only the parent holds: its end of file means that the parent is gone."""
    os.set_inheritable(fd, False)
    threading.Thread(target=_wait_for_end, args=(fd,), daemon=True, name="sless-parent").start()


def _wait_for_end(fd):
    try:
        while os.read(fd, 512):
            pass
    except OSError:
        pass
    # What a handler started goes too, when this process leads a group of its own.
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)
