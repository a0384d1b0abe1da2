"""Which of several readings of a page is believed."""

import pytest

from headwater.extraction.arbiter import why_fuller, why_poor, why_thorough


def words(count: int, name: str = "w") -> str:
    return "\n".join(" ".join(f"{name}{at + n}" for n in range(20)) for at in range(0, count, 20))[:100_000]


@pytest.mark.parametrize(
    ("text", "shown", "is_poor"),
    [
        (words(100), 100, True),
        (words(200), 300, False),
        (words(200), 2_000, True),
        ("\n".join(f"Label {n} of a long archive of the host here"[:20] for n in range(60)), 400, True),
        ("", 0, True),
    ],
    ids=["few words", "most of the page", "little of the page", "labels", "nothing"],
)
def test_a_reading_is_poor_by_words_share_or_labels(text: str, shown: int, is_poor: bool) -> None:
    assert bool(why_poor(text, shown)) is is_poor


def test_the_thorough_reading_is_believed_where_it_found_more() -> None:
    assert why_thorough(words(60), words(600), "")
    assert not why_thorough(words(600), words(60), "")
    assert not why_thorough("", "", "")


def test_a_longer_reading_that_lost_what_the_page_is_about_is_another_story() -> None:
    summary = words(20)
    assert not why_thorough(words(200), words(600, "other"), summary)
    assert why_thorough(words(200), words(600), summary)
    # A short text may be no more than the summary.
    assert why_thorough(words(20), words(600, "other"), summary)


def test_sentences_are_believed_rather_than_labels() -> None:
    labels = "\n".join(f"Month {n}" for n in range(80))
    assert why_thorough(labels, words(80), "")
    assert not why_thorough(labels, "\n".join(f"Year {n}" for n in range(40)), "")


def test_a_text_said_twice_is_no_fuller() -> None:
    text = words(300)
    assert not why_fuller(text, f"{text}\n{text}")
    assert why_fuller(words(100), text)
    assert why_fuller("Another text altogether, and a short one.", f"{text}\n{text}")
