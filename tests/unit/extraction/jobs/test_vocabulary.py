import pytest

from headwater.extraction.jobs.labels import deadline_in_prose, fact_named
from headwater.extraction.jobs.terms import duration_months, level_of_title
from headwater.extraction.jobs.vocabulary import Vocabulary
from headwater.extraction.jobs.words import CRISES, LEVELS, MISSIONS, MODALITIES, to_bool

ANIMALS = Vocabulary({"cat": ("cat", "wild cat"), "dog": ("dog", "großer hund"), "": ("dog house",)})


def test_only_whole_words_are_found() -> None:
    assert ANIMALS.found_in("catalogue, hotdog, dogma") == ()
    assert LEVELS.found_in("International Relations") == ()


def test_the_longest_term_wins_and_hides_the_shorter() -> None:
    assert ANIMALS.found_in("a dog house for the wild cat") == ("cat",)
    assert MISSIONS.found_in("health insurance") == ()
    assert CRISES.found_in("no conflict of interest") == ()


def test_case_accents_and_hyphens_do_not_matter() -> None:
    assert ANIMALS.found_in("GROSSER-HUND") == ("dog",)
    assert MODALITIES.found_in("À DISTANCE") == MODALITIES.found_in("work_from-home") == ("remote",)


def test_a_term_does_not_reach_over_a_comma() -> None:
    assert ANIMALS.found_in("wild, cat") == ("cat",)
    assert ANIMALS.exactly("wild, cat") == ""


@pytest.mark.parametrize(
    ("title", "level"),
    [
        ("International Communications Officer", "mid"),
        ("Public Health Intern", "intern"),
        ("Junior Education Associate", "junior"),
        ("Senior Finance Assistant", "senior"),
        ("Team Lead, Governance", "lead"),
        ("Associate Director", "senior"),
        ("Assistant to the Director", "junior"),
        ("Executive Assistant", "junior"),
        ("Executive Director", "executive"),
        ("Head of Mission", "senior"),
        ("Nurse", None),
    ],
)
def test_a_title_tells_its_level(title: str, level: str | None) -> None:
    assert level_of_title(title) == level


def test_a_label_means_the_same_wherever_it_stands() -> None:
    assert {fact_named(label) for label in ("Closing date:", "closing_date", "job-deadline", "closingDate")} == {
        "deadline"
    }
    assert fact_named("the closing date of our office in winter") == ""


def test_a_deadline_in_prose_needs_a_word_for_it() -> None:
    assert deadline_in_prose("Nairobi. Closing date 2026-09-14.").startswith("2026-09-14")
    assert deadline_in_prose("Bewerbungsfrist: 14. September 2026") != ""
    assert deadline_in_prose("Founded on 14 September 1926 in Geneva.") == ""
    assert deadline_in_prose("The deadline will be announced.") == ""


def test_the_length_of_a_contract_is_not_that_of_experience() -> None:
    assert duration_months(None, "We offer a 12-month contract.") == 12
    assert duration_months(None, "Contract of initially 2 years.") == 24
    assert duration_months(None, "You bring 5 years of experience.") is None
    assert duration_months("6", "") == 6
    assert [duration_months(said, "") for said in ("6 mois", "1 an", "3 meses", "2 Jahre")] == [6, 12, 3, 24]


def test_yes_and_no_are_understood_and_nothing_else() -> None:
    assert [to_bool(said) for said in ("Yes", "T", "1", "no", "F", "0", "maybe", "")] == [
        *(True, True, True, False, False, False, None, None),
    ]
