"""Tables and hints on a terminal of any width."""

import pytest

from headwater.cli.tables import laid_out, steps_in, wrap_text
from headwater.cli.words import columns_of, in_words, shorten_word
from headwater.phrases import as_stored, spelt_out

ID = "c143d75b-c2f2-484d-b07b-1b6f176e0b16"
ADDRESS = "https://news.example/2026/02/28/a-long-address-that-goes-on-for-ever-and-ever-7/"
COLUMNS = ("name", "state", "url")
ROWS = [
    ("Harbour News", "ok", ADDRESS),
    ("Seeland Kurier", "closed: its robots.txt cannot be had", "https://b.example/"),
]


def test_an_address_without_room_loses_its_middle() -> None:
    lines = laid_out(COLUMNS, ROWS, 80)
    assert max(map(columns_of, lines)) <= 80
    assert any("https://n" in line and "…" in line and line.endswith("-7/") for line in lines)


def test_a_column_below_is_whole() -> None:
    lines = laid_out(COLUMNS, ROWS, 60, below=("url",))
    assert f"  {ADDRESS}" in lines
    assert "url" not in lines[0]


def test_spare_columns_go_only_where_there_is_no_room() -> None:
    assert "state" in laid_out(COLUMNS, ROWS, 200, spare=("state",))[0]
    assert "state" not in laid_out(COLUMNS, ROWS, 50, spare=("state",))[0]


def test_whole_cells_are_never_shortened_and_a_table_without_room_is_told_cell_by_cell() -> None:
    lines = laid_out(("id", "state"), [(ID, "ok")], 30, whole=("id",))
    assert lines == [f"id: {ID}", "  state: ok"]


def test_rows_of_a_flat_table_are_one_line_each() -> None:
    assert len(laid_out(COLUMNS, ROWS, 50, is_flat=True)) == 2 + len(ROWS)


def test_wide_letters_count_twice() -> None:
    lines = laid_out(("name", "n"), [("日本語新聞", "1"), ("abc", "2")], 40)
    assert columns_of(lines[2].rpartition("1")[0]) == columns_of(lines[3].rpartition("2")[0])


@pytest.mark.parametrize("room", [10, 40, 79])
def test_a_fold_breaks_no_word_and_no_command(room: int) -> None:
    text = f"  Look at one of them first: headwater sources show {ID}, then headwater explain URL. It is well."
    lines = wrap_text(text, room, 2)
    assert " ".join(" ".join(lines).split()) == text.strip()
    assert any(f"headwater sources show {ID}" in line for line in lines)
    assert all(line.startswith("  ") for line in lines)


@pytest.mark.parametrize(
    ("hint", "steps"),
    [
        (
            f"Resume it: headwater sources resume {ID}",
            [("Resume it:", False), (f"headwater sources resume {ID}", True)],
        ),
        (
            "Start one: headwater up, or headwater run poll",
            [("Start one:", False), ("headwater up", True), ("or", False), ("headwater run poll", True)],
        ),
        (
            "See it: headwater hosts robots a.example. Or remove it: headwater sources rm x",
            [
                ("See it:", False),
                ("headwater hosts robots a.example", True),
                ("Or remove it:", False),
                ("headwater sources rm x", True),
            ],
        ),
        (
            "Resume: headwater sources resume 'A, B. C'",
            [("Resume:", False), ("headwater sources resume 'A, B. C'", True)],
        ),
        (
            "Set it with `headwater sources edit x max_pages=90`, then: headwater crawl run x",
            [
                ("Set it with", False),
                ("headwater sources edit x max_pages=90", True),
                ("then:", False),
                ("headwater crawl run x", True),
            ],
        ),
        ("Its host refuses us. Write to its owner.", [("Its host refuses us. Write to its owner.", False)]),
    ],
)
def test_a_hint_falls_into_sentences_and_commands(hint: str, steps: list[tuple[str, bool]]) -> None:
    assert steps_in(hint) == steps


def test_inner_words_are_spelt_out_and_addresses_and_settings_stay() -> None:
    assert in_words("dns_not_found: Domain name not found") == "there is no such name: Domain name not found"
    assert in_words("too_many_redirects") == "too many redirects"
    kept = "see https://a.example/not_found?utm_source=x and poll.secrets_file, a_b=c"
    assert in_words(kept) == kept


@pytest.mark.parametrize("word", ["not_found", "robots_blocked", "max_retries", "blocked_address", "gone"])
def test_a_reason_may_be_asked_for_as_it_is_shown(word: str) -> None:
    assert as_stored(spelt_out(word)) == word == as_stored(word)


@pytest.mark.parametrize("columns", range(1, 20))
def test_a_shortened_word_is_never_wider(columns: int) -> None:
    assert columns_of(shorten_word("https://日本語.example/a", columns)) <= columns
