"""Vacancies in a job source's own lists: what a listing, a feed or an API says of them is stored with the run."""

from collections import Counter
from datetime import datetime

from headwater.archive.job import Teller
from headwater.archive.jobs import keep_jobs
from headwater.archive.vacancies import jobs_from
from headwater.database.pool import Connection
from headwater.discover.polls.lease import Leased
from headwater.discover.polls.walk import Tally, Walk
from headwater.extract.jobs.normalise import Harvest
from headwater.sources.channels import ChannelKind
from headwater.sources.source import Kind

LISTS = frozenset({ChannelKind.FEED, ChannelKind.LISTING, ChannelKind.API})


def has_vacancies(channel: Leased) -> bool:
    return channel.source.kind is Kind.JOBS and channel.kind in LISTS


async def keep_vacancies(
    connection: Connection, channel: Leased, walk: Walk, harvest: Harvest, own_page: str, now: datetime
) -> Walk:
    """A job source is counted by its vacancies; why some were left out is said. `own_page`: of the only vacancy."""
    teller = Teller(channel.source_id, own_page or channel.url.url, channel.voice, channel.id, channel.source.url)
    jobs = jobs_from(harvest.vacancies, teller.url, is_detailed=bool(own_page))
    counts = await keep_jobs(connection, teller, jobs, now)
    tally = Tally(
        found=len(harvest.vacancies) + len(harvest.skipped),
        inserted=counts.inserted,
        updated=counts.updated,
        skipped=counts.skipped + len(harvest.skipped),
    )
    reasons = Counter(str(one.reason) for one in harvest.skipped)
    told = ", ".join(f"{count} {reason}" for reason, count in reasons.most_common())
    return walk.counting(tally).noting(f"left out: {told}" if told else "")
