"""Values as people read them."""

from datetime import UTC, datetime, timedelta

import pytest

from headwater.serve.console.shown import foreign_paragraphs, moment

NOW = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(0.2, "just now"), (-0.4, "just now"), (-0.9, "1s ago"), (-8.3, "8s ago"), (75, "in 1m 15s"), (-86_400, "1d ago")],
)
def test_times_are_told_by_the_second(seconds: float, told: str) -> None:
    shown = moment(NOW + timedelta(seconds=seconds), NOW)
    assert f">{told}</time>" in shown.replace("\N{NO-BREAK SPACE}", " ")


def test_a_text_of_others_is_paragraphs_and_no_markup() -> None:
    shown = foreign_paragraphs("One.\n\n <b>Two</b>\u202e.\nThree", 15)
    assert shown.startswith('<div class="foreign-paragraphs"><p dir="auto">One.</p><p dir="auto">&lt;b&gt;Two&lt;')
    assert shown.count("<p dir") == 2
    assert "Cut after 15 of" in shown
