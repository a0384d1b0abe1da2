"""`headwater sources rm`: a source goes with its vacancies; its documents stay."""

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from headwater.cli.consent import Yes, require_consent
from headwater.cli.launch import ACTOR, Launch, Launched, with_services
from headwater.cli.output import show
from headwater.cli.words import inert, quantity

if TYPE_CHECKING:
    from headwater.archive.jobs import Left
    from headwater.discover.adding import Stopped
    from headwater.services import Services
    from headwater.sources.source import Source

WHY = "deleted by a person"


def remove(
    *sources: str,
    yes: Yes = False,
    dry_run: Annotated[bool, Parameter(negative="", help="Only say what would happen.")] = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """Delete sources: they are no longer polled or fetched, and their vacancies expire. Their documents and their
    history stay.

    A vacancy that a list of another source names stays open, and is over when that list leaves it out. One that is
    listed again after its source was added again is open again.

    Parameters
    ----------
    sources
        Ids, addresses, hosts or names.
    """
    if not yes or dry_run:
        leaving = with_services(launch, lambda services: _leaving(services, sources))
        told = [f"{inert(one.name)} ({one.profile.url}{_in_words(left, 'would expire')})" for one, left in leaving]
        if dry_run:
            for one in told:
                show(f"Would delete {one}")
            show("Documents and history would stay. Nothing was changed. Run it again without --dry-run.")
            return
        require_consent(f"Delete {'; '.join(told)}?", is_given=False)

    async def work(services: "Services") -> "list[tuple[Source, Stopped]]":
        from headwater.actions.sources import stop_sources
        from headwater.sources.source import SourceStatus

        return await stop_sources(services, sources, SourceStatus.DELETED, WHY, ACTOR)

    for source, stopped in with_services(launch, work):
        aside = f"; {quantity(stopped.entries, 'waiting URL')} set aside" if stopped.entries else ""
        show(f"{inert(source.name)}: deleted{aside}{_in_words(stopped.left, 'expired')}. Its documents stay.")


async def _leaving(services: "Services", sources: tuple[str, ...]) -> "list[tuple[Source, Left]]":
    from headwater.actions.sources import vacancies_left_by

    return await vacancies_left_by(services, sources)


def _in_words(left: "Left", ends: str) -> str:
    """Empty where it tells no vacancies."""
    over = f"; {quantity(left.expired, 'vacancy', 'vacancies')} {ends}" if left.expired else ""
    others = f"; {quantity(left.to_others, 'vacancy', 'vacancies')} left to other sources that list them"
    return over + (others if left.to_others else "")
