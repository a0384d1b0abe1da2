"""Sentences for those who ask for a poll: who does it, or that everything is paused."""

from typing import TYPE_CHECKING

from headwater.cli.output import say
from headwater.cli.words import inert

if TYPE_CHECKING:
    from headwater.reports.pollers import PollersNow
    from headwater.services import Services

WHEN_RESUMED = "when everything is resumed"


def say_who_polls(now: "PollersNow", *, are_many: bool = True) -> None:
    nobody = "Nobody polls now. Poll once by `headwater crawl run-due`, or keep polling: headwater up"
    say(inert(now.in_words(are_many=are_many)) or nobody)


async def warn_while_paused(services: "Services") -> None:
    """For commands that ask a site because a person wants it, pause or not."""
    from headwater.reports.pollers import pollers_now

    if pause := (await pollers_now(services.database)).pause:
        say(f"! The site is asked although {inert(pause.with_fix)}")
