"""What answers of a list of vacancies mean for those they leave out."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from headwater.discover.polls.naming import Named, Naming, Wholeness, after_run, wholeness_of
from headwater.discover.polls.run_state import RunState, UnreadPage

START = datetime(2026, 3, 2, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
SOME, NONE_OF_THEM, NOTHING_STOOD = Named(3, 1), Named(0, 4), Named(0, 0)


def after(*runs: tuple[Wholeness, Named, timedelta]) -> Naming:
    naming = Naming()
    for wholeness, named, since_start in runs:
        naming = after_run(naming, wholeness, named, START + since_start)
    return naming


def test_what_two_whole_answers_leave_out_is_over() -> None:
    first, second = (Wholeness.WHOLE, NOTHING_STOOD, 0 * DAY), (Wholeness.WHOLE, SOME, DAY)
    assert after(first) == Naming(named_at=START)
    assert after(first, second) == Naming(named_at=START + DAY, gone_before=START)


def test_not_modified_is_the_last_answer_once_more() -> None:
    runs = [(Wholeness.WHOLE, SOME, 0 * DAY), (Wholeness.REPEATED, SOME, DAY)]
    assert after(*runs) == Naming(START, START)
    assert after(*runs, (Wholeness.REPEATED, SOME, 9 * DAY)) == Naming(START, START)
    assert after((Wholeness.REPEATED, SOME, DAY)) == Naming()


def test_part_of_an_answer_says_nothing() -> None:
    first = (Wholeness.WHOLE, SOME, 0 * DAY)
    assert after(first, (Wholeness.PARTIAL, NONE_OF_THEM, DAY)) == after(first)


def test_an_answer_that_names_none_of_those_that_stood_is_doubted_for_a_day() -> None:
    first, odd = (Wholeness.WHOLE, SOME, 0 * DAY), (Wholeness.WHOLE, NONE_OF_THEM, DAY)
    doubted = Naming(START, None, START + DAY)
    assert after(first, odd) == doubted
    assert after(first, odd, (Wholeness.WHOLE, NONE_OF_THEM, DAY + HOUR)) == doubted
    assert after(first, odd, (Wholeness.REPEATED, NONE_OF_THEM, DAY + HOUR)) == doubted
    believed = Naming(START + 2 * DAY, START + DAY)
    assert after(first, odd, (Wholeness.WHOLE, NONE_OF_THEM, 2 * DAY)) == believed
    assert after(first, odd, (Wholeness.REPEATED, NONE_OF_THEM, 2 * DAY)) == Naming(START + DAY, START + DAY)
    assert after(first, odd, (Wholeness.WHOLE, SOME, 2 * DAY)).doubted_since is None


def test_an_answer_is_whole_if_nothing_of_it_is_missing() -> None:
    run = RunState(())
    assert wholeness_of(run) is Wholeness.WHOLE
    assert wholeness_of(replace(run, is_unchanged=True, has_unchanged=True)) is Wholeness.REPEATED
    assert wholeness_of(replace(run, unread=UnreadPage("http://a.test/2", "HTTP 500"))) is Wholeness.UNREAD
    partial = replace(run, is_partial=True)
    for one in (partial, replace(run, has_unchanged=True), replace(partial, is_unchanged=True)):
        assert wholeness_of(one) is Wholeness.PARTIAL


def test_the_loss_of_most_of_many_is_doubted_and_of_a_few_is_not() -> None:
    assert Named(1, 40).is_doubtful
    assert Named(0, 1).is_doubtful
    assert not Named(1, 2).is_doubtful
    assert not Named(40, 30).is_doubtful
