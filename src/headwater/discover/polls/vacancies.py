"""Vacancies in a job source's own lists: what a listing, a feed or an API says of them is stored with the run."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from headwater.archive.job import Teller
from headwater.archive.jobs import keep_jobs
from headwater.archive.vacancies import jobs_from
from headwater.database.pool import Connection
from headwater.discover.items import Item
from headwater.discover.polls.lease import Leased
from headwater.discover.polls.walk import Tally, Walk
from headwater.extract.jobs.normalise import Employer, Harvest, harvest_of
from headwater.extract.jobs.pages import vacancies_in
from headwater.extract.jobs.records import vacancy_listed
from headwater.extract.jobs.vacancy import FoundBy, RawVacancy
from headwater.sources.channels import ChannelKind
from headwater.sources.source import Kind

LISTS = frozenset({ChannelKind.FEED, ChannelKind.LISTING, ChannelKind.API})


def has_vacancies(channel: Leased) -> bool:
    return channel.source.kind is Kind.JOBS and channel.kind in LISTS


def vacancies_on_page(channel: Leased, html: str, url: str) -> tuple[RawVacancy, ...]:
    return vacancies_in(html, url, channel.source.parser_hint or "")


def vacancies_listed(channel: Leased, items: Sequence[Item]) -> tuple[RawVacancy, ...]:
    found_by = FoundBy.API if channel.kind is ChannelKind.API else FoundBy.FEED
    return tuple(vacancy_listed(item, found_by) for item in items)


def items_from(found: Sequence[RawVacancy]) -> tuple[Item, ...]:
    """Their own pages, where they have one."""
    return tuple(Item(one.url, one.title) for one in found if one.url)


def harvest_from(channel: Leased, found: Sequence[RawVacancy], now: datetime) -> Harvest:
    source = channel.source
    return harvest_of(found, Employer(source.name, source.org_type or "", channel.url.url), now)


async def keep_vacancies(
    connection: Connection, channel: Leased, walk: Walk, found: Sequence[RawVacancy], now: datetime
) -> Walk:
    """A job source is counted by its vacancies; why some were left out is said."""
    harvest = harvest_from(channel, found, now)
    teller = Teller(channel.source_id, channel.url.url, channel.voice, channel.id, channel.source.url)
    counts = await keep_jobs(connection, teller, jobs_from(harvest.vacancies, teller.url, is_detailed=False), now)
    tally = Tally(
        found=len(found),
        inserted=counts.inserted,
        updated=counts.updated,
        skipped=counts.skipped + len(harvest.skipped),
    )
    reasons = Counter(str(one.reason) for one in harvest.skipped)
    told = ", ".join(f"{count} {reason}" for reason, count in reasons.most_common())
    return walk.counting(tally).noting(f"left out: {told}" if told else "")
