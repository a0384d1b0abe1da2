"""Lines for readers that stop, leave or have no room."""

import os
import re
import select
from collections.abc import Iterator

import pytest

from headwater.lines import MOST_WAITING_BYTES, Lines

SECONDS = 30.0
LINE = "x" * 1023 + "\n"


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    reading, writing = os.pipe()
    yield reading, writing
    for descriptor in (reading, writing):
        if is_open(descriptor):
            os.close(descriptor)


def is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def drained(reading: int, end: str) -> str:
    """All that comes until it ends like this."""
    text = b""
    while not text.decode().endswith(end):
        assert select.select([reading], [], [], SECONDS)[0], text[-100:]
        text += os.read(reading, 1 << 20)
    return text.decode()


def test_lines_are_written_in_order(pipe: tuple[int, int]) -> None:
    lines = Lines(pipe[1])
    for number in range(100):
        lines.put(f"{number}\n")
    assert lines.flush(SECONDS)
    assert drained(pipe[0], "99\n") == "".join(f"{number}\n" for number in range(100))


def test_nobody_waits_for_a_reader_that_stopped_and_it_hears_how_much_it_missed(pipe: tuple[int, int]) -> None:
    lines = Lines(pipe[1])
    count = 3 * MOST_WAITING_BYTES // len(LINE)
    for _ in range(count):
        lines.put(LINE)
    assert not lines.flush(0.01)
    text = drained(pipe[0], "in time.\n")
    lines.put("on we go\n")
    text += drained(pipe[0], "on we go\n")
    # Said once for each time that there was room again: a busy machine may write while lines still come.
    dropped = [int(number.replace(",", "")) for number in re.findall(r"([\d,]+) log lines were dropped", text)]
    assert dropped
    assert text.count(LINE) + sum(dropped) == count
    assert text.endswith("in time.\non we go\n")


def test_lines_that_come_while_a_reader_catches_up_stand_behind_the_gap(pipe: tuple[int, int]) -> None:
    lines = Lines(pipe[1])
    for _ in range(2 * MOST_WAITING_BYTES // len(LINE)):
        lines.put(LINE)
    begin = b""
    while len(begin) < MOST_WAITING_BYTES // 2:
        begin += os.read(pipe[0], 1 << 20)
    lines.put("after\n")
    rest = drained(pipe[0], "after\n")
    assert rest.index("were dropped") < rest.index("after")
    assert rest.rindex("were dropped") < rest.index("after")


def test_a_full_disk_loses_lines_and_says_so_when_there_is_room_again(pipe: tuple[int, int]) -> None:
    place = os.open("/dev/full", os.O_WRONLY)
    lines = Lines(place)
    for _ in range(3):
        lines.put(LINE)
    assert lines.flush(SECONDS)
    os.dup2(pipe[1], place)
    lines.put("on we go\n")
    assert drained(pipe[0], "on we go\n") == "3 log lines were dropped: they could not be written in time.\non we go\n"
    os.close(place)


def test_a_reader_that_left_does_no_harm(pipe: tuple[int, int]) -> None:
    lines = Lines(pipe[1])
    os.close(pipe[0])
    for _ in range(1000):
        lines.put(LINE)
    assert lines.flush(SECONDS)


def test_a_descriptor_that_does_not_block_is_waited_for(pipe: tuple[int, int]) -> None:
    os.set_blocking(pipe[1], False)
    lines = Lines(pipe[1])
    for _ in range(200):
        lines.put(LINE)
    lines.put("end\n")
    assert drained(pipe[0], "end\n") == LINE * 200 + "end\n"


def test_what_cannot_be_encoded_is_written_all_the_same(pipe: tuple[int, int]) -> None:
    lines = Lines(pipe[1])
    lines.put("\ud800\n")
    assert drained(pipe[0], "\n") == "\\ud800\n"


def test_a_forked_child_does_not_write_what_waits_in_its_parent(pipe: tuple[int, int]) -> None:
    lines = Lines(pipe[1])
    lines.put("parent\n")
    assert lines.flush(SECONDS)
    pid = os.fork()
    if not pid:
        lines.put("child\n")
        os._exit(0 if lines.flush(SECONDS) else 1)
    assert os.waitpid(pid, 0)[1] == 0
    assert drained(pipe[0], "child\n") == "parent\nchild\n"


def test_lines_that_stay_below_are_never_torn_by_others(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    lines = Lines(writing)
    lines.keep_below("figures\n1 2 3")
    lines.put("log\n")
    lines.keep_below("figures\n4 5 6")
    lines.keep_below("")
    lines.put("end\n")
    erase = "\r\x1b[1A\x1b[J"
    assert drained(reading, "end\n") == (f"figures\n1 2 3{erase}log\nfigures\n1 2 3{erase}figures\n4 5 6{erase}end\n")
