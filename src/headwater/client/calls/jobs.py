"""Calls about jobs.

Written by `make client` from the description of the API: not to be changed by hand.
"""

from collections.abc import Iterator
from typing import Literal

from headwater.client.connection import Connection, in_path
from headwater.client.shapes.jobs import JobList, JobShape
from headwater.client.shapes.shared import JobHit


class JobsCalls(Connection):
    """A part of the client."""

    def list_jobs(
        self,
        *,
        q: str | None = None,
        source: str | None = None,
        language: str | None = None,
        since: str | None = None,
        view: str | None = None,
        rights: list[str] | None = None,
        author: str | None = None,
        host: str | None = None,
        page_type: str | None = None,
        month: str | None = None,
        day: str | None = None,
        duplicates: bool | None = None,
        country: str | None = None,
        level: str | None = None,
        modality: str | None = None,
        career: str | None = None,
        contract: str | None = None,
        mission: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> JobList:
        """List open vacancies, the newest first, or search them by words, the best match first.

        `q`: Words, "whole phrases", or, and -without; nothing: the newest.
        `source`: Only of this source: its id, address, host or name.
        `language`: Only in this language, by its two letters.
        `since`: Only published, or else first seen, since: 7d, 12h, or a date.
        `view`: Only in this view.
        `rights`: Only documents about whose use publishers say so: train, input, search, tdm or images, = allowed,
        refused or unknown; all must hold.
        `author`: Only documents of this author, as the name is written there. Vacancies have none.
        `host`: Only documents of pages of this host.
        `page_type`: Only documents of such pages: article, video, gallery, live, listing, stub, other.
        `month`: Only published, or else first seen, in this month (UTC).
        `day`: Only published, or else first seen, on this day (UTC).
        `duplicates`: Also those that say the same as an older document.
        `country`: Its name or its two letters.
        `level`: intern, junior, mid, senior, …
        `modality`: onsite, field, remote, hybrid, …
        `career`: staff, consultancy, fellowship, …
        `contract`: full_time, part_time, fixed_term, …
        `mission`: Its subject, such as health.
        `limit`: The most that one page lists.
        `cursor`: Where the page before ended: its `cursor`. Nothing begins at the beginning.
        Role: viewer.
        """
        told: JobList = self._ask(
            "GET",
            "/api/v1/jobs",
            query={
                "q": q,
                "source": source,
                "language": language,
                "since": since,
                "view": view,
                "rights": rights,
                "author": author,
                "host": host,
                "page_type": page_type,
                "month": month,
                "day": day,
                "duplicates": duplicates,
                "country": country,
                "level": level,
                "modality": modality,
                "career": career,
                "contract": contract,
                "mission": mission,
                "limit": limit,
                "cursor": cursor,
            },
        )
        return told

    def iter_jobs(
        self,
        *,
        q: str | None = None,
        source: str | None = None,
        language: str | None = None,
        since: str | None = None,
        view: str | None = None,
        rights: list[str] | None = None,
        author: str | None = None,
        host: str | None = None,
        page_type: str | None = None,
        month: str | None = None,
        day: str | None = None,
        duplicates: bool | None = None,
        country: str | None = None,
        level: str | None = None,
        modality: str | None = None,
        career: str | None = None,
        contract: str | None = None,
        mission: str | None = None,
        limit: int | None = None,
    ) -> Iterator[JobHit]:
        """Each of `list_jobs`, page by page."""
        return self._each(
            "jobs",
            lambda cursor: self.list_jobs(
                q=q,
                source=source,
                language=language,
                since=since,
                view=view,
                rights=rights,
                author=author,
                host=host,
                page_type=page_type,
                month=month,
                day=day,
                duplicates=duplicates,
                country=country,
                level=level,
                modality=modality,
                career=career,
                contract=contract,
                mission=mission,
                limit=limit,
                cursor=cursor,
            ),
        )

    def export_jobs(
        self,
        *,
        format_: Literal["jsonl", "csv", "atom"] | None = None,
        view: str | None = None,
        source: str | None = None,
        since: str | None = None,
    ) -> Iterator[bytes]:
        """Write all open vacancies, or those of a view, as a stream.

        An answer that ends before its end, without its last chunk, broke off: ask again.

        `format_`: jsonl, csv or atom.
        `view`: Only in this view.
        `source`: Only of this source: its id, address, host or name.
        `since`: Only published, or else first seen, since: 7d, 12h, or a date.
        Role: viewer.
        """
        return self._stream(
            "GET", "/api/v1/jobs/export", query={"format": format_, "view": view, "source": source, "since": since}
        )

    def show_job(self, id_: str, /) -> JobShape:
        """Show a vacancy: its facts, the source that tells it, other places that name it, and its end.

        `id_`: Its id, its canonical hash, or the escaped URL where one applies.
        Role: viewer.
        """
        told: JobShape = self._ask("GET", f"/api/v1/jobs/{in_path(id_)}")
        return told

    def remove_jobs(self, id_: str, /, *, reason: str) -> None:
        """Take a vacancy out for good: it stays out however often it is listed again.

        `id_`: Its id, its canonical hash, or the escaped URL where one applies.
        `reason`: Why; GET says it.
        Role: operator.
        """
        self._ask("DELETE", f"/api/v1/jobs/{in_path(id_)}", query={"reason": reason})
