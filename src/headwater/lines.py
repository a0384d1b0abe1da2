"""Lines for a reader that may stop, or a disk that may be full: a thread writes them, and nobody waits for it."""

import atexit
import os
import select
import threading
from collections import deque
from collections.abc import Callable
from functools import cache
from typing import TextIO
from weakref import WeakSet

# A minute of a busy worker's log; what comes beyond it is counted and left out.
MOST_WAITING_BYTES = 4 * 1024 * 1024
EXIT_SECONDS = 2.0
STANDARD_ERROR = 2


def plain_text(lines: int) -> str:
    return f"{lines:,} log lines were dropped: they could not be written in time.\n"


class Lines:
    """`put` never waits. Lines that could not be written are counted, and their number is written when it can be."""

    def __init__(self, descriptor: int, say_dropped: Callable[[int], str] = plain_text) -> None:
        self.say_dropped = say_dropped
        self._descriptor = descriptor
        self._waiting: deque[bytes] = deque()
        self._writer: threading.Thread | None = None
        self._footer = ""
        self._changed = threading.Condition()
        self.begin_anew()
        _all.add(self)
        atexit.register(self.flush, EXIT_SECONDS)

    def put(self, line: str) -> None:
        with self._changed:
            self._put(f"{_erasing(self._footer)}{line}{self._footer}")

    def keep_below(self, footer: str) -> None:
        """Lines that stay below all others, on a terminal only; none of them may be wider than it."""
        with self._changed:
            before, self._footer = self._footer, footer
            self._put(f"{_erasing(before)}{footer}")

    def _put(self, text: str) -> None:
        written = text.encode(errors="backslashreplace")
        if self._waiting_bytes + len(written) > MOST_WAITING_BYTES:
            self._overflown += 1
        else:
            self._append_overflown()
            self._append(written)
            if self._writer is None:
                self._writer = threading.Thread(target=self._write_for_ever, name="log lines", daemon=True)
                self._writer.start()
            self._changed.notify_all()

    def flush(self, seconds: float) -> bool:
        """Wait so long for everything to be written; whether it was."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._waiting and not self._is_writing, seconds)

    def begin_anew(self) -> None:
        """With nothing waiting and nobody writing."""
        self._waiting.clear()
        self._waiting_bytes = 0
        self._overflown = 0
        self._failed = 0
        self._footer = ""
        self._is_writing = False
        self._is_mid_line = False
        self._changed = threading.Condition()
        self._writer = None

    def _append(self, line: bytes) -> None:
        self._waiting.append(line)
        self._waiting_bytes += len(line)

    def _append_overflown(self) -> None:
        """Where the lines are missing."""
        if self._overflown:
            self._append(self.say_dropped(self._overflown).encode())
            self._overflown = 0

    def _write_for_ever(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting)
                line = self._waiting.popleft()
                self._waiting_bytes -= len(line)
                self._is_writing = True
            self._write_or_count(line)
            with self._changed:
                self._is_writing = False
                if not self._waiting:
                    self._append_overflown()
                self._changed.notify_all()

    def _write_or_count(self, line: bytes) -> None:
        try:
            if self._failed:
                self._write(self.say_dropped(self._failed).encode())
                self._failed = 0
            self._write(line)
        except OSError:
            # A full disk, or a pipe that nobody reads from any more: neither is a reason to stop working.
            self._failed += 1

    def _write(self, line: bytes) -> None:
        left = b"\n" + line if self._is_mid_line else line
        while left:
            try:
                written = os.write(self._descriptor, left)
            except BlockingIOError:
                self._wait_for_room()
                continue
            left = left[written:]
            self._is_mid_line = bool(left)

    def _wait_for_room(self) -> None:
        """Somebody else may have made our standard error one that does not block."""
        room = select.poll()
        room.register(self._descriptor, select.POLLOUT)
        room.poll()


def _erasing(footer: str) -> str:
    """From the end of it to its beginning, and clear from there on."""
    up = footer.count("\n")
    return ("\r" + (f"\x1b[{up}A" if up else "") + "\x1b[J") if footer else ""


@cache
def standard_error() -> Lines:
    return Lines(STANDARD_ERROR)


def lines_behind(stream: TextIO) -> Lines | None:
    """The lines of standard error where `stream` is it; None for anything that was put in its place."""
    try:
        return standard_error() if stream.fileno() == STANDARD_ERROR else None
    except (OSError, ValueError, AttributeError):
        return None


_all: WeakSet[Lines] = WeakSet()


def _begin_all_anew() -> None:
    for lines in _all:
        lines.begin_anew()


# A forked child has no such thread, and what waits is its parent's to write.
os.register_at_fork(after_in_child=_begin_all_anew)
