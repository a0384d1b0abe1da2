"""Which of several readings of a page is believed."""

import pytest

from headwater.extraction.arbiter import Witness, why_fuller, why_joined, why_partial, why_poor, why_thorough


def words(count: int, name: str = "w") -> str:
    return "\n".join(" ".join(f"{name}{at + n}" for n in range(20)) for at in range(0, count, 20))[:100_000]


LABELS = "\n".join(f"Label {n} of a host" for n in range(60))


@pytest.mark.parametrize(
    ("text", "shown", "is_poor"),
    [
        (words(40), 100, True),
        (words(100), 100, False),
        (words(100), 1_000, True),
        (words(200), 300, False),
        (words(200), 2_000, True),
        ("\n".join(f"Label {n} of a long archive of the host here"[:20] for n in range(60)), 400, True),
        (LABELS, 400, True),
        ("\n".join(f"Entry {n}" for n in range(600)), 1_300, False),
        (words(400).replace("\n", " "), 500, True),
        ("", 0, True),
    ],
    ids=[
        "few words",
        "short page",
        "short and little of the page",
        "most of the page",
        "little of the page",
        "labels",
        "labels again",
        "a long list and no more",
        "one line",
        "nothing",
    ],
)
def test_a_reading_is_poor_by_words_share_or_labels(text: str, shown: int, is_poor: bool) -> None:
    assert bool(why_poor(text, shown)) is is_poor


def test_the_thorough_reading_is_believed_where_it_found_more() -> None:
    assert why_thorough(words(60), words(600), Witness())
    assert not why_thorough(words(600), words(60), Witness())
    assert not why_thorough("", "", Witness())


def test_a_longer_reading_that_lost_what_the_page_is_about_is_another_story() -> None:
    summary = words(20)
    assert not why_thorough(words(200), words(600, "other"), Witness(summary))
    assert why_thorough(words(200), words(600), Witness(summary))
    # A short text may be no more than the summary.
    assert why_thorough(words(20), words(600, "other"), Witness(summary))


def test_sentences_are_believed_rather_than_labels() -> None:
    labels = "\n".join(f"Month {n}" for n in range(80))
    assert why_thorough(labels, words(80), Witness())
    assert not why_thorough(labels, "\n".join(f"Year {n}" for n in range(40)), Witness())


def test_a_text_said_twice_is_no_fuller() -> None:
    text = words(300)
    assert not why_fuller(text, f"{text}\n{text}")
    assert why_fuller(words(100), text)
    assert why_fuller("Another text altogether, and a short one.", f"{text}\n{text}")


def test_a_far_longer_reading_than_one_of_usual_length_needs_a_witness() -> None:
    usual, longer = words(200), words(800)
    assert not why_thorough(usual, longer, Witness())
    assert why_thorough(words(100), longer, Witness())
    assert why_thorough(usual, words(390), Witness())
    assert why_thorough(usual, longer, Witness(words=700))
    assert not why_thorough(usual, longer, Witness(words=240))
    assert not why_thorough(usual, longer, Witness(words(20), words=240))


def test_a_reading_is_partial_by_what_stands_in_elements_like_its_own() -> None:
    assert why_partial(words(100), 2_000)
    assert not why_partial(words(100), 100)
    assert not why_partial(words(2_000), 1_000)
    assert not why_partial("", 0)


def test_all_parts_are_believed_where_they_say_the_first_as_well() -> None:
    assert why_joined(words(100), words(300))
    assert not why_joined(words(100), words(300, "other"))
    assert not why_joined(words(100), words(100))


def test_paragraphs_are_believed_rather_than_one_line() -> None:
    line = words(400).replace("\n", " ")
    assert why_thorough(line, words(320), Witness())
    assert not why_thorough(line, words(320).replace("\n", " "), Witness())
    assert not why_thorough(line, words(100), Witness())
