"""Sizes to come, from sizes that are there."""

from headwater.reports.doctor import judge_size
from headwater.reports.forecast import Day, Part, SizeForecast, daily_growth

MB = 1024**2


def test_what_is_kept_for_ever_grows_for_ever() -> None:
    part = Part("documents", 100 * MB, per_day=2 * MB, age_days=50)
    assert (part.bytes_in(30), part.bytes_in(365)) == (160 * MB, 830 * MB)


def test_what_is_as_old_as_it_may_become_grows_no_more() -> None:
    assert Part("documents", 100 * MB, 2 * MB, keep_days=400, age_days=390).bytes_in(365) == 120 * MB
    assert Part("documents", 100 * MB, 2 * MB, keep_days=400, age_days=900).bytes_in(365) == 100 * MB


def test_days_that_are_dropped_are_replaced_by_days_to_come() -> None:
    days = tuple(Day(ago, 3 * MB) for ago in range(11))
    part = Part("raw pages", 34 * MB, per_day=5 * MB, keep_days=10, days=(*days, Day(-1, 1 * MB)))
    # Tomorrow the oldest is gone, and one is ahead as today.
    assert part.bytes_in(1) == 30 * MB + 5 * MB + 1 * MB
    assert part.bytes_in(365) == 11 * 5 * MB + 1 * MB


def test_days_that_are_kept_for_ever_add_up() -> None:
    part = Part("runs", 6 * MB, per_day=2 * MB, days=(Day(0, 3 * MB), Day(1, 3 * MB)))
    assert part.bytes_in(30) == 66 * MB


def test_growth_by_days_leaves_out_today_and_days_before_the_beginning() -> None:
    days = [Day(-1, 1), Day(0, 500), Day(1, 10), Day(2, 20), Day(3, 0), Day(9, 1000)]
    assert daily_growth(days, known_days=2) == 15
    assert daily_growth(days, known_days=90) == 10
    assert daily_growth(days, known_days=0) is None


def test_the_disk_is_full_on_the_day_that_does_not_fit() -> None:
    part = Part("documents", 10 * MB, per_day=2 * MB)
    assert SizeForecast((part,), free_bytes=21 * MB).days_of_room == 10
    assert SizeForecast((part,), free_bytes=10_000 * MB).days_of_room is None
    assert SizeForecast((part,), free_bytes=None).days_of_room is None
    assert SizeForecast((part,), free_bytes=0).days_of_room == 0


def test_a_disk_that_is_full_within_a_month_is_a_warning() -> None:
    part = Part("documents", 10 * MB, per_day=2 * MB)
    near = judge_size(SizeForecast((part,), free_bytes=59 * MB))
    assert near.level == "warning"
    assert "room for 29 days" in near.says
    assert "keep.raw_days" in near.fix
    assert judge_size(SizeForecast((part,), free_bytes=61 * MB)).level == "ok"


def test_a_forecast_says_both_sums_and_every_part() -> None:
    parts = (Part("runs", 1 * MB, 0.0, 90), Part("documents", 1024 * MB, 10 * MB))
    check = judge_size(SizeForecast(parts, free_bytes=100_000 * MB))
    assert check.says == (
        "The database takes 1.0 GB, 1.3 GB in 30 days, 4.6 GB in 365 days; the disk has room for more than a year"
    )
    assert [line.split()[0] for line in check.details] == ["documents", "runs"]
    assert check.details[0].endswith("in 365 days")
    assert check.details[1].endswith("kept 90 days")
    assert check.figures["bytes_in_30_days"] == 1025 * MB + 300 * MB
    assert check.figures["parts"]["runs"]["keep_days"] == 90


def test_before_the_first_note_is_a_day_old_it_is_too_early() -> None:
    check = judge_size(SizeForecast((Part("documents", 5 * MB),), free_bytes=1 * MB))
    assert (check.level, "too early to tell" in check.says) == ("ok", True)
    figures = check.figures
    assert (figures["days_of_room"], figures["bytes_per_day"], figures["bytes_in_30_days"]) == (None, None, None)
    assert figures["bytes"] == 5 * MB
