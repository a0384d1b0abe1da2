"""The last line of `headwater up`."""

from headwater.cli.up import parting
from headwater.figures import NOT_GIVEN_BACK, Figures


def test_it_says_how_to_go_on() -> None:
    assert parting(Figures()) == ["Stopped. Work under way was finished or given back. Go on with: headwater up"]


def test_without_its_database_it_does_not_say_that_work_was_given_back() -> None:
    figures = Figures()
    figures.add(NOT_GIVEN_BACK, "The database does not answer.")
    stopped, following = parting(figures)
    assert stopped == "Stopped. Work under way could not be given back: The database does not answer."
    assert "once its leases have run out" in following
