"""Input 126: whatever is printed is one line, bounded, with nothing in it that a terminal would obey."""

import json
import os
import re
from contextlib import redirect_stdout
from decimal import Decimal
from io import StringIO
from unicodedata import category
from unittest.mock import patch

import pytest

from headwater.cli.output import (
    LONGEST_LINE,
    harmless,
    say,
    show,
    show_json,
    show_lines,
    show_many,
    show_marked,
    show_table,
)

ESC, CSI_C1, OSC_C1 = "\x1b[2J", "\x9b2J", "\x9d0;title\x9c"
BIDI = "\u202egnp.exe\u2066\u2069\u200f\u061c"
HOSTILE = f"a\r\nfake: line\x00{ESC}{CSI_C1}{OSC_C1}\u2028b\u2029{BIDI}\ufeff\U000e0041\x7f"


def is_obeyed(letter: str) -> bool:
    return category(letter) in ("Cc", "Zl", "Zp", "Cs") or (category(letter) == "Cf" and letter not in "\u200c\u200d")


def assert_tame(printed: str, lines: int = 1) -> None:
    assert printed.count("\n") == lines
    assert [letter for letter in printed.replace("\n", "") if is_obeyed(letter)] == []


@pytest.mark.parametrize("printing", [say, show])
def test_a_line_stays_one_line(printing: object, capsys: pytest.CaptureFixture[str]) -> None:
    printing(HOSTILE)  # type: ignore[operator]
    told = capsys.readouterr()
    assert_tame(told.out + told.err)
    assert "\\u001b[2J" in told.out + told.err


def test_a_table_keeps_its_rows(capsys: pytest.CaptureFixture[str]) -> None:
    show_table(("name", "value"), [("host", HOSTILE), ("other", "x")])
    assert_tame(capsys.readouterr().out, lines=3)


def test_texts_of_several_lines_keep_them_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    show_lines(f"User-agent: *\r\nDisallow:\t/{ESC}\n")
    told = capsys.readouterr().out
    assert told == "User-agent: *\nDisallow:\t/\\u001b[2J\n"


def test_json_means_the_same_and_is_tame_on_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    show_json({"title": HOSTILE, HOSTILE: [HOSTILE]})
    told = capsys.readouterr().out
    assert_tame(told)
    assert json.loads(told) == {"title": HOSTILE, HOSTILE: [HOSTILE]}


def test_json_with_half_a_letter_is_still_json(capsys: pytest.CaptureFixture[str]) -> None:
    show_json({"file": "caf\udce9"})
    assert json.loads(capsys.readouterr().out) == {"file": "caf\udce9"}


def test_a_megabyte_is_cut_and_says_so() -> None:
    shown = harmless("x" * 1_000_000)
    assert len(shown) < LONGEST_LINE + 50
    assert shown.endswith("(1,000,000 characters)")


@pytest.mark.parametrize("text", ["Ünïcode – 日本語 العربية हिन्दी", "👩\u200d🚀", "नमस्ते\u200c", "a\tb"])
def test_letters_of_any_script_stay(text: str) -> None:
    assert harmless(text) == text


def test_amounts_are_written_in_full(capsys: pytest.CaptureFixture[str]) -> None:
    show_json({"salary": Decimal("4E+4"), "part": Decimal("1234.50")})
    assert json.loads(capsys.readouterr().out) == {"salary": "40000", "part": "1234.50"}


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_an_excerpt_is_folded_between_words_and_keeps_its_marks() -> None:
    out = Terminal()
    words = "the slow grey ferry came home before the harbour froze "
    with patch.dict(os.environ, {"COLUMNS": "30", "TERM": "xterm"}), redirect_stdout(out):
        show_marked([f"  {words}", "ferry harbour", f" and {'x' * 40} {words}"])
    lines = [re.sub(r"\x1b\[\d*m", "", line).rstrip() for line in out.getvalue().splitlines()]
    assert " ".join(line.strip() for line in lines) == f"{words}ferry harbour and {'x' * 40} {words}".strip()
    assert all(line.startswith("  ") and (len(line) <= 30 or line == f"  {'x' * 40}") for line in lines)
    assert "\x1b[1m" in out.getvalue()


def test_a_long_list_is_written_in_few_pieces() -> None:
    class Counting(StringIO):
        flushes = 0

        def flush(self) -> None:
            self.flushes += 1

    with redirect_stdout(Counting()) as out:
        show_many(f"line {number}\x1b" for number in range(2_000))
    lines = out.getvalue().splitlines()
    assert (len(lines), lines[1_999]) == (2_000, "line 1999\\u001b")
    assert out.flushes < 10
