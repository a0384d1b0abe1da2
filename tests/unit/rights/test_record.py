"""The record that statements make together, and how it is asked for."""

import pytest

from headwater.errors import UsageError
from headwater.rights.record import (
    MOST_KEPT,
    OUTSIDE,
    Convention,
    PageUse,
    StatedIn,
    answers_in,
    marks_wanted,
    restated,
    rights_as_dict,
    rights_from,
    rights_in_words,
    statement,
    statement_from,
)

TRAIN_NO = statement(Convention.CONTENT_SIGNAL, StatedIn.ROBOTS, "ai-train=no", refused=[PageUse.TRAIN])
TRAIN_YES = statement(Convention.CONTENT_USAGE, StatedIn.HEADER, "train-ai=y", allowed=[PageUse.TRAIN])
LICENCE = statement(Convention.RSL, StatedIn.PAGE, "licence", licence="https://a.example/l")


def test_nothing_said_is_unknown_and_not_allowed() -> None:
    told = rights_as_dict(rights_from([]).marks, None)
    assert {told[use] for use in PageUse} == {"unknown"}
    assert rights_in_words(told) == ""


def test_a_refusal_wins_wherever_it_stands() -> None:
    for order in ([TRAIN_NO, TRAIN_YES], [TRAIN_YES, TRAIN_NO]):
        assert rights_from(order).marks == ["train=refused"]


def test_every_statement_is_kept_with_its_place_and_words() -> None:
    rights = rights_from([TRAIN_NO, TRAIN_YES, LICENCE])
    told = rights_as_dict(rights.marks, rights.said)
    assert told["train"] == "refused"
    assert told["licences"] == ["https://a.example/l"]
    assert [(one["place"], one["said"]) for one in told["statements"]] == [
        ("robots.txt", "ai-train=no"),
        ("header", "train-ai=y"),
        ("page", "licence"),
    ]
    assert tuple(map(statement_from, rights.said)) == rights.statements
    assert answers_in(told) == {"train": "refused"}


def test_of_a_flood_the_refusals_are_kept_first_and_all_of_it_counts() -> None:
    flood = [
        statement(Convention.CONTENT_USAGE, StatedIn.ROBOTS, f"search=y, n{n}=y", allowed=[PageUse.SEARCH])
        for n in range(150)
    ]
    rights = rights_from([*flood, TRAIN_NO])
    assert len(rights.statements) == MOST_KEPT
    assert TRAIN_NO in rights.statements
    assert rights.marks == ["train=refused", "search=allowed"]


def test_what_is_said_anew_replaces_what_was_said_at_its_places_only() -> None:
    before = rights_from([TRAIN_NO, LICENCE]).said
    assert restated(before, [TRAIN_YES], OUTSIDE).statements == (TRAIN_YES, LICENCE)
    assert restated(before, [], OUTSIDE - {StatedIn.ROBOTS}).statements == (TRAIN_NO, LICENCE)


def test_filters_are_words_of_the_vocabulary() -> None:
    assert marks_wanted(["rights.train=allowed", " TDM=unknown ", "train=allowed", ""]) == (
        "train=allowed",
        "tdm=unknown",
    )
    for wrong in ("train", "train=yes", "sell=allowed", "=", "train=allowed=refused"):
        with pytest.raises(UsageError, match="no filter of rights"):
            marks_wanted([wrong])
