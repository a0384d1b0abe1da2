"""Sentences for those who ask for a poll: who does it, or that everything is paused."""

from typing import TYPE_CHECKING

from headwater.cli.output import say
from headwater.cli.words import inert

if TYPE_CHECKING:
    from headwater.reports.pollers import PollersNow
    from headwater.services import Services

WHEN_RESUMED = "when everything is resumed"


async def who_polls(services: "Services") -> "PollersNow":
    from headwater.reports.pollers import pollers_now

    return await pollers_now(services.database)


def pollers_in_words(now: "PollersNow", *, are_many: bool = False) -> str:
    """Empty where nobody polls. Pure."""
    if now.pause:
        said = now.pause.with_fix
        return f"{said[0].upper()}{said[1:]}"
    polled = "them" if are_many else "it"
    if now.count == 1:
        return f"The running poller polls {polled}."
    return f"{now.count:,} running pollers poll {polled}." if now.count else ""


def say_who_polls(now: "PollersNow", *, are_many: bool = True) -> None:
    nobody = "Nobody polls now. Poll once by `headwater crawl run-due`, or keep polling: headwater up"
    say(inert(pollers_in_words(now, are_many=are_many)) or nobody)


async def warn_while_paused(services: "Services") -> None:
    """For commands that ask a site because a person wants it, pause or not."""
    if pause := (await who_polls(services)).pause:
        say(f"! The site is asked although {inert(pause.with_fix)}")
