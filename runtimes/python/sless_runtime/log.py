"""Lines of the log: the level, the request id and the message on one line; stacks follow as they are."""

import os
import sys
import traceback


def write_error(request_id, message, error=None):
    """One line on stderr, then the error's stack (that of the user's code) if there is one."""
    text = f"ERROR [{request_id or '-'}] {one_line(message)}\n"
    if error is not None:
        text += "".join(traceback.format_exception(type(error), error, own_frames_skipped(error.__traceback__)))
    _write(text)


def write_stack(thread_id):
    """Where the user's code of a thread is now, for handlers that block."""
    frame = sys._current_frames().get(thread_id)
    if frame is None:
        return
    stack = traceback.extract_stack(frame)
    here = os.path.dirname(__file__)
    own = [index for index, entry in enumerate(stack) if os.path.dirname(entry.filename) == here]
    _write("".join(traceback.format_list(stack[own[-1] + 1 :] if own else stack)))


def _write(text):
    sys.stderr.write(text)
    sys.stderr.flush()


def own_frames_skipped(trace):
    """The traceback from the first frame outside this package on; all of it when there is none."""
    here = __name__.rpartition(".")[0]
    first = trace
    while first is not None and (
        first.tb_frame.f_globals.get("__name__", "").partition(".")[0] == here
        or first.tb_frame.f_code.co_filename.startswith("<frozen importlib")
    ):
        first = first.tb_next
    return first or trace


def one_line(text):
    return str(text).replace("\r", "\\r").replace("\n", "\\n")


def logger_for(request_id):
    """A `logging` logger whose lines carry the request id; imported only by functions that log this way."""
    import logging

    base = logging.getLogger("sless.function")
    if not base.handlers:

        class Lines(logging.StreamHandler):
            def format(self, record):
                line = f"{record.levelname} [{record.request_id}] {one_line(record.getMessage())}"
                if record.exc_info:
                    line += "\n" + "".join(traceback.format_exception(*record.exc_info)).rstrip("\n")
                return line

        base.addHandler(Lines(sys.stdout))
        base.setLevel(logging.DEBUG)
        base.propagate = False
    return logging.LoggerAdapter(base, {"request_id": request_id})
