"""Vacancies taken out by a person."""

from headwater.archive.jobs import delete_jobs
from headwater.reports.discovery import time_now
from headwater.reports.vacancies import find_vacancy
from headwater.services import Services
from headwater.urls.fingerprint import DocumentKey


async def remove_vacancy(services: Services, named: str, actor: str, reason: str) -> tuple[str, bool]:
    """Its title, and whether it was there until now."""
    about = (await find_vacancy(services.database, named)).about
    key = DocumentKey(about["canonical_hash"][0], about["canonical_hash"])
    now = await time_now(services.database)
    async with services.database.transaction() as connection:
        return about["title"], bool(await delete_jobs(connection, [key], actor, reason, now))
