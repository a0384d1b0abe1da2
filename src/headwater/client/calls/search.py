"""Calls about search.

Written by `make client` from the description of the API: not to be changed by hand.
"""

from headwater.client.connection import Connection
from headwater.client.shapes.search import SearchResults
from headwater.client.shapes.shared import RecordKind


class SearchCalls(Connection):
    """A part of the client."""

    def search(
        self,
        *,
        q: str | None = None,
        kind: RecordKind | None = None,
        facets: list[str] | None = None,
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
    ) -> SearchResults:
        """Search documents or open vacancies, the best match first, with a piece of the text around it.

        Filters of vacancies are refused with documents, and `author`, `host`, `page_type` and `facets` with vacancies.
        `engine` and `took_ms` say who answered, and how quickly.

        `q`: Words, "whole phrases", or, and -without; nothing: the newest.
        `kind`: document or job.
        `facets`: Fields whose values are counted over all documents that match, with commas between them: source, host,
        language, page_type, author, month, day. Each value can be given to the filter of that name.
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
        told: SearchResults = self._ask(
            "GET",
            "/api/v1/search",
            query={
                "q": q,
                "kind": kind,
                "facets": facets,
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
