from dataclasses import replace

import pytest

from headwater.chance import random_from
from headwater.ingest.decay import Decayed, DecayFigures, Recovered, judge_decay

PAST = DecayFigures(
    pages=450, documents=430, dated=428, titled=430, words=600, words_low=350, quality=80, quality_low=70
)
WELL = DecayFigures(pages=50, documents=48, dated=48, titled=48, words=580, words_low=330, quality=80, quality_low=70)
FAILING = DecayFigures(pages=50, documents=5, dated=5, titled=5, words=590, quality=80)


def sentence(recent: DecayFigures, past: DecayFigures = PAST) -> str:
    match judge_decay(recent, past, None):
        case Decayed(told):
            return told
    return ""


def test_a_source_that_reads_as_ever_says_nothing() -> None:
    assert judge_decay(WELL, PAST, None) is None


@pytest.mark.parametrize(
    ("recent", "told"),
    [
        (FAILING, "10 % of its last 50 pages yield a document, before 96 %"),
        (replace(WELL, dated=2), "4 % of its documents have a date, before 100 %"),
        (replace(WELL, titled=20), "42 % of its documents have a title, before 100 %"),
        (replace(WELL, words=90), "the median text has 90 words, before 600"),
        (replace(WELL, quality=45), "the median quality is 45, before 80"),
        (
            replace(WELL, words=90, quality=45),
            "the median text has 90 words, before 600; the median quality is 45, before 80",
        ),
    ],
)
def test_each_fall_is_told_in_a_sentence(recent: DecayFigures, told: str) -> None:
    assert sentence(recent) == told


def test_a_new_source_never_alarms() -> None:
    assert sentence(FAILING, DecayFigures()) == ""
    assert sentence(FAILING, replace(PAST, pages=29, documents=29, dated=29, titled=29)) == ""


def test_too_few_pages_are_no_evidence() -> None:
    assert sentence(DecayFigures(pages=9)) == ""
    assert sentence(DecayFigures(pages=10)) == "0 % of its last 10 pages yield a document, before 96 %"
    assert sentence(DecayFigures()) == ""


def test_few_documents_say_nothing_of_a_median() -> None:
    few = DecayFigures(pages=29, documents=29, dated=29, titled=29, words=90, quality=20)
    assert sentence(few) == ""


def test_a_fall_that_chance_may_explain_is_none() -> None:
    half = DecayFigures(pages=450, documents=225, dated=225, titled=225, words=600, words_low=350)
    assert sentence(DecayFigures(pages=12, documents=3), half) == ""
    assert sentence(DecayFigures(pages=50, documents=3), half) != ""


def test_lengths_that_always_varied_may_vary() -> None:
    mixed = replace(PAST, words_low=80)
    assert sentence(replace(WELL, words=250), mixed) == ""
    assert sentence(replace(WELL, words=70), mixed) == "the median text has 70 words, before 600"


def test_what_is_known_is_not_told_again() -> None:
    assert judge_decay(FAILING, PAST, alarm=PAST) is None


def test_a_long_decay_does_not_become_the_measure() -> None:
    assert judge_decay(FAILING, past=FAILING, alarm=PAST) is None


def test_a_recovery_is_told_once_most_of_the_fall_is_made_good() -> None:
    halfway = DecayFigures(
        pages=50, documents=36, dated=36, titled=36, words=590, words_low=350, quality=80, quality_low=70
    )
    assert judge_decay(halfway, FAILING, alarm=PAST) is None
    assert judge_decay(WELL, FAILING, alarm=PAST) == Recovered("96 % of the last 50 pages yield a document, as before")
    assert judge_decay(WELL, PAST, alarm=None) is None


@pytest.mark.parametrize(
    "lagging", [replace(WELL, dated=30), replace(WELL, titled=30), replace(WELL, words=300), replace(WELL, quality=60)]
)
def test_it_has_not_recovered_while_anything_lags(lagging: DecayFigures) -> None:
    assert judge_decay(lagging, FAILING, alarm=PAST) is None


def test_silence_is_no_recovery() -> None:
    assert judge_decay(DecayFigures(), PAST, alarm=PAST) is None


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8, 0.95])
def test_chance_alone_does_not_ring(share: float) -> None:
    """Five thousand looks at sources that stay as they are."""
    random = random_from(7)
    past = replace(PAST, documents=round(450 * share), dated=round(450 * share), titled=round(450 * share))
    rung = 0
    for _ in range(5_000):
        pages = random.randint(10, 50)
        documents = sum(random.random() < share for _ in range(pages))
        recent = replace(WELL, pages=pages, documents=documents, dated=documents, titled=documents)
        rung += sentence(recent, past) != ""
    assert rung == 0
