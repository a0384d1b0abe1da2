"""Figures that are redrawn in place on a terminal, and plain lines elsewhere."""

import fcntl
import os
import pty
import re
import select
import signal
import socket
import struct
import subprocess
import termios
import time
from pathlib import Path

import pytest
from tests.integration.cli.conftest import PROGRAM, Person

COLUMNS = 80
PATIENCE_SECONDS = 90
FULL = Path("/dev/full")


ROWS = 24


def on_a_terminal(person: Person, *words: str, until: str, times: int) -> str:
    """All that a terminal of 80 columns and 24 rows gets until a text came so often; then Ctrl-C."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    environment = {name: value for name, value in person.surroundings({}).items() if name != "COLUMNS"}
    process = subprocess.Popen(
        (PROGRAM, *words),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment | {"TERM": "xterm"},
        cwd=person.home,
    )
    os.close(theirs)
    text, end, is_told = b"", time.monotonic() + PATIENCE_SECONDS, False
    try:
        while time.monotonic() < end:
            if select.select([ours], [], [], 0.2)[0]:
                try:
                    text += os.read(ours, 1 << 16)
                except OSError:
                    break  # the last one that held it has ended
            if text.decode(errors="ignore").count(until) >= times and not is_told:
                process.send_signal(signal.SIGINT)
                is_told = True
        process.wait(PATIENCE_SECONDS)
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    return text.decode()


def screen_of(written: str) -> list[str]:
    """What the terminal shows in the end, of the few controls that are used."""
    rows, at = [""], 0
    for piece in re.split(r"(\r\n|\n|\r|\x1b\[\d*[A-Za-z])", written):
        if piece in ("\r\n", "\n"):
            at += 1
            rows += [""] * (at == len(rows))
        elif found := re.fullmatch(r"\x1b\[(\d*)A", piece):
            at -= int(found[1] or 1)
        elif piece == "\x1b[J":
            rows = [*rows[:at], ""]
        elif piece and piece != "\r" and not piece.startswith("\x1b"):
            rows[at] += piece
    return rows


@pytest.mark.long
def test_up_redraws_its_figures_within_the_width_of_the_terminal(person: Person) -> None:
    written = on_a_terminal(person, "up", until="documents", times=4)
    assert written.count("\x1b[2A") >= 3, "the figures were not redrawn in place"
    shown = screen_of(written)
    assert sum("documents" in row for row in shown) == 1, shown
    figures = [row for row in shown if row.startswith("  polls") or re.match(r" +\d+ +\d+ +\d+", row)]
    assert len(figures) == 2
    assert max(map(len, figures)) <= COLUMNS
    assert shown[-2] == "Stopped. Work under way was finished or given back. Go on with: headwater up"


@pytest.mark.long
def test_a_port_that_is_taken_is_told_above_the_figures(person: Person) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        written = on_a_terminal(person, "--set", f"web.port={port}", "up", until="documents", times=4)
    shown = screen_of(written)
    assert f"port {port}: Address already in use. Something else listens there" in " ".join(" ".join(shown).split())
    assert sum("documents" in row for row in shown) == 1, shown


@pytest.mark.long
def test_status_is_watched_in_place(person: Person) -> None:
    written = on_a_terminal(person, "status", "--watch", until="Sources ", times=2)
    assert written.count("\x1b[2J") >= 2
    last = written.rpartition("\x1b[2J")[2]
    assert max(len(row) for row in re.sub(r"\x1b\[[\d;]*m", "", last).splitlines()) <= COLUMNS


@pytest.mark.long
def test_a_watched_schedule_is_no_longer_than_the_terminal(person: Person) -> None:
    names = "\n".join(f"https://a-site-with-a-long-name-{number}.example/" for number in range(40))
    (person.home / "list.txt").write_text(names)
    assert person.says("sources", "import", "list.txt").code == 0
    written = on_a_terminal(person, "status", "--watch", "--show-schedule", until="more: headwater", times=2)
    shown = re.sub(r"\x1b\[[\d;]*m", "", written).split("\x1b[2J")[1].split("\x1b[H")[0].splitlines()
    assert len(shown) < ROWS
    assert max(map(len, shown)) <= COLUMNS
    assert [row for row in shown if re.match(r"… and \d+ more: headwater status --show-schedule --all", row)]
    assert sum("a-site-with" in row for row in shown) >= 8, shown


@pytest.mark.long
def test_up_tells_its_troubles_in_words_and_keeps_its_figures_whole(person: Person) -> None:
    added = person.says("sources", "add", "https://nowhere.invalid/", "--feed", "https://nowhere.invalid/f", "--anyway")
    assert added.code == 0, added.err
    written = on_a_terminal(person, "up", until="last: nowhere.invalid", times=2)
    shown = screen_of(written)
    assert max(map(len, shown)) <= COLUMNS, shown
    inner = [row for row in shown if re.search(r"\w=\S|[a-z]_[a-z]|\dT\d", row) and "headwater-test-" not in row]
    assert inner == []
    assert "nowhere.invalid: robots.txt could not be had (there is no such name" in " ".join(" ".join(shown).split())
    assert sum("documents" in row for row in shown) == 1, shown


@pytest.mark.long
def test_watched_through_a_pipe_status_is_plain_lines(person: Person) -> None:
    process = subprocess.Popen(
        (PROGRAM, "status", "--watch"), stdout=subprocess.PIPE, text=True, env=person.surroundings({}), cwd=person.home
    )
    assert process.stdout is not None
    assert process.stdout.readline().startswith("Sources ")
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=PATIENCE_SECONDS)
    assert "\x1b" not in rest
    assert process.returncode == 130


@pytest.mark.long
@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full")
def test_up_works_on_where_its_messages_cannot_be_written(person: Person) -> None:
    with FULL.open("w") as full:
        process = subprocess.Popen((PROGRAM, "up"), stderr=full, env=person.surroundings({}), cwd=person.home)
    try:
        end = time.monotonic() + PATIENCE_SECONDS
        while not person.server_is_running() and process.poll() is None and time.monotonic() < end:
            time.sleep(0.1)
        time.sleep(2)
        assert process.poll() is None, "it ended"
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE_SECONDS)
    finally:
        process.kill()
        process.wait()
