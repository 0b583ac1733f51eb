"""Where the result of a run goes: into a file, and what that does not hold into the log. docs/runtimes.md has the lines."""

import base64
import hashlib
import os
import sys

from .result import chunk_bytes

# Of a line's part: with what stands around it, a pipe takes the line as a whole.
PART_BYTES = 2970


def write_result(settings, answer):
    """What an http caller would get as body."""
    chunks = (chunk_bytes(chunk) for chunk in answer.body) if answer.streamed else (answer.body,)
    path = settings.result_file
    if settings.result_max is not None:
        _write_cut(path or os.devnull, settings.result_max, settings.result_copy, chunks)
    elif path is None:
        for _ in chunks:
            pass
    else:
        part = f"{path}.part"
        with open(part, "wb") as file:
            for chunk in chunks:
                file.write(chunk)
        os.replace(part, path)


def _write_cut(path, limit, copy, chunks):
    """For a file that holds so much and cannot be replaced. A longer result says that it was cut, and stands whole in the log."""
    kept = max(limit + 1, copy)
    head = b""
    total = 0
    for chunk in chunks:
        before = total
        total += len(chunk)
        if total > limit:
            _log(chunk if before > limit else head + chunk)
        if len(head) < kept:
            head += chunk[: kept - len(head)]
    if total > limit:
        _log(b"\n")
    with open(path, "wb") as file:
        file.write(_cut(head, limit, total) if total > limit else head)
    if total > limit:
        _write_copy(head[:copy])


def _cut(data, limit, total):
    """No character is cut in two."""
    mark = f"\u2026 (truncated, {total} bytes in all; see the log)".encode()
    end = max(0, limit - len(mark))
    while end > 0 and data[end] & 0xC0 == 0x80:
        end -= 1
    return data[:end] + mark


def _write_copy(data):
    """The result once more, for who reads it back: whatever else is printed meanwhile stands between the lines, never in one."""
    sys.stdout.flush()
    identity = hashlib.sha256(data).hexdigest()[:16]
    parts = [data[at : at + PART_BYTES] for at in range(0, len(data), PART_BYTES)]
    for number, part in enumerate(parts, 1):
        _log(f"sless-result {identity} {number}/{len(parts)} ".encode() + base64.b64encode(part) + b"\n")


def _log(data):
    sys.stderr.flush()
    sys.stderr.buffer.write(data)
    sys.stderr.buffer.flush()
