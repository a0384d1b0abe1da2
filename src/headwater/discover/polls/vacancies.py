"""Vacancies in a job source's own lists: those that a listing, a feed or an API names are stored with the run, and
those that it no longer names expire."""

from collections import Counter
from datetime import datetime

from headwater.archive.job import Teller
from headwater.archive.jobs import count_named_and_unnamed, expire_unnamed, keep_jobs
from headwater.database.pool import Connection
from headwater.discover.polls.lease import Leased
from headwater.discover.polls.naming import PATIENCE_WITH_FEEDS, Named
from headwater.discover.polls.run_state import ItemTally, RunState
from headwater.extraction.jobs.normalise import Harvest
from headwater.sources.kinds import ChannelKind
from headwater.vacancy import jobs_on


async def keep_vacancies(
    connection: Connection, channel: Leased, run_state: RunState, harvest: Harvest, own_page: str, now: datetime
) -> RunState:
    """A job source is counted by its vacancies; why some were left out is said. `own_page`: of the only vacancy."""
    teller = Teller(channel.source_id, own_page or channel.url.url, channel.voice, channel.id, channel.source.url)
    jobs = jobs_on(harvest.vacancies, teller.url, is_detailed=bool(own_page))
    counts = await keep_jobs(connection, teller, jobs, now)
    tally = ItemTally(
        found=len(harvest.vacancies) + len(harvest.skipped),
        inserted=counts.inserted,
        updated=counts.updated,
        skipped=counts.skipped + len(harvest.skipped),
    )
    reasons = Counter(str(one.reason) for one in harvest.skipped)
    told = ", ".join(f"{count} {reason}" for reason, count in reasons.most_common())
    return run_state.counting(tally).noting(f"left out: {told}" if told else "")


async def count_named(connection: Connection, channel: Leased, run_state: RunState) -> Named:
    """At the end of a run: how many of those that stood the list still names."""
    began = run_state.began_at
    if began is None:
        return Named()
    doubted_since = channel.past.naming.doubted_since
    # An answer that was not modified names those of the answer that was doubted.
    since = doubted_since if doubted_since and run_state.is_unchanged else began
    # What a doubted list has named since bears nothing out.
    still, no_more = await count_named_and_unnamed(connection, channel.id, since, doubted_since or began)
    return Named(still, no_more)


async def expire_left_out(connection: Connection, channel: Leased, since: datetime | None, now: datetime) -> int:
    """Vacancies that the answers of their list have left out since then."""
    if since is None:
        return 0
    if channel.kind is ChannelKind.FEED:
        since = min(since, now - PATIENCE_WITH_FEEDS)
    return await expire_unnamed(connection, channel.id, since, now)
