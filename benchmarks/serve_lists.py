"""What is asked of the API: every list at its first page, at places within it, and at its last page.

Where a list is too long to be walked, its cursors are made of rows of the database by the functions that make them.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from headwater.frontier.reads import cursor_at as entry_cursor
from headwater.search.listing import ListPlace
from headwater.search.listing import cursor_at as newest_cursor

FIRST, MIDDLE, LAST = "first", "middle", "last"
LIST, SEARCH, CHANGES, EXPLAIN, FIGURES = "list", "search", "changes", "explain", "figures"
CONSOLE = "console"
# Where a list is looked into, in shares of it; and rows before the end, where its last page begins.
WITHIN = (0.1, 0.3, 0.5, 0.7, 0.9)
LAST_ROWS = 20
# A list that is shorter is walked from page to page.
MOST_WALKED = 60

Fetch = Callable[[str], Awaitable[Mapping[str, Any]]]
Cursors = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Question:
    """`places`: what is asked at each place of a list, in turn; what is no list is asked at its first alone."""

    name: str
    group: str
    places: Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Wish:
    """A list as it is asked for. `order` names the cursors that lead into it; None: it is walked."""

    path: str
    order: str | None = None
    filters: Mapping[str, object] = field(default_factory=dict)
    group: str = LIST
    cursor: str = "cursor"

    def at(self, cursor: str | None) -> str:
        return address(self.path, {**self.filters, **({} if cursor is None else {self.cursor: cursor})})

    @property
    def name(self) -> str:
        return f"{self.path}{''.join(f' {name}={value}' for name, value in self.filters.items())}"


def address(path: str, parameters: Mapping[str, object]) -> str:
    return f"/api/v1{path}" + (f"?{urlencode(parameters)}" if parameters else "")


def wishes(sample: Mapping[str, Any]) -> list[Wish]:
    """All lists by all kinds of filters: common ones, rare ones, and ones that nothing passes."""
    source, host = sample["source"], sample["host"]

    def listed(path: str, order: str | None, *filters: Mapping[str, object]) -> list[Wish]:
        return [Wish(path, order, one) for one in ({}, *filters)]

    return [
        *listed(
            *("/sources", "sources", {"kind": "jobs"}, {"tag": "rare"}, {"status": "paused"}, {"status": "failing"}),
            *({"status": "ok"}, {"status": "struggling"}, {"status": "warning"}),
        ),
        Wish("/sources", None, {"feed_active": "true", "offset": 0}),
        Wish("/sources", None, {"sort_by": "created_at", "offset": 10_000}),
        *listed(
            *("/frontier", "entries", {"status": "fetched"}, {"status": "dead"}, {"status": "fetching"}),
            *({"reason": "trap"}, {"reason": "no such reason"}, {"origin": "manual"}),
        ),
        Wish("/frontier", None, {"host": host}),
        Wish("/frontier", None, {"prefix": f"https://{host}/1"}),
        Wish("/frontier", None, {"source_id": source}),
        Wish("/frontier", None, {"host": host, "sort_by": "priority"}),
        Wish("/frontier/stats", "sources"),
        *listed("/hosts", "hosts"),
        *listed("/runs", "runs", {"status": "fail"}, {"status": "warn"}),
        Wish("/runs", None, {"source": source}),
        *listed("/documents", "documents", {"language": "sw"}, {"language": "xx"}, {"view": sample["view"]}),
        Wish("/documents", None, {"source": source}),
        *listed("/jobs", "jobs", {"country": "KE"}),
        *listed("/events", "events", {"kind": "extraction_decayed"}, {"level": "error"}),
        *listed("/templates", "templates"),
        *(Wish(path) for path in ("/takedowns", "/operations", "/audit", "/views", "/sinks", "/schedule")),
        Wish("/channels", None, {"source": source}),
        Wish("/problems", group=FIGURES),
        Wish("/stats", group=FIGURES),
        *(
            Wish("/changes", "changes", filters, CHANGES, "after")
            for filters in ({}, {"include": "fields"}, {"include": "document"}, {"view": sample["view"]})
        ),
        *(Wish("/search", None, filters, SEARCH) for filters in searches(sample["view"])),
    ]


def searches(view: str) -> list[Mapping[str, object]]:
    """Words in half of all texts, in a few, in ten of all and in none; by their beginning, together, and apart."""
    return [
        *({"q": words} for words in ("harvest", "rare7", "unicorn", "nowhere", "harvest word7", "harvest -word7")),
        *({"q": words} for words in ("word1 or harvest", '"about subject7"', "harvest unicorn")),
        {"q": "harvest", "language": "sw"},
        {"q": "harvest", "since": "7d"},
        {"q": "harvest", "view": view},
        *({"q": words, "facets": "source,host,language,page_type,author,month"} for words in ("harvest", "rare7", "")),
        {"q": "lorry", "kind": "job"},
    ]


def explained(urls: Sequence[str], sources: Sequence[str]) -> list[Question]:
    return [
        Question("/explain url", EXPLAIN, {FIRST: [address("/explain", {"url": one}) for one in urls]}),
        Question("/explain source", EXPLAIN, {FIRST: [address("/explain", {"source": one}) for one in sources]}),
        Question("/sources/{id}", EXPLAIN, {FIRST: [address(f"/sources/{one}", {}) for one in sources]}),
    ]


async def question_of(wish: Wish, cursors: Mapping[str, Cursors], fetch: Fetch) -> Question:
    into = cursors[wish.order] if wish.order else await walked(wish, fetch)
    # A log is read from its beginning, and not from where nobody said.
    first = None if wish.cursor == "cursor" else "0"
    places = {place: [wish.at(one) for one in into[place]] for place in (MIDDLE, LAST) if into.get(place)}
    return Question(wish.name, wish.group, {FIRST: [wish.at(first)], **places})


async def walked(wish: Wish, fetch: Fetch) -> Cursors:
    """From page to page until the end, or as far as is reasonable."""
    found: list[str] = []
    while len(found) < MOST_WALKED:
        cursor = (await fetch(wish.at(found[-1] if found else None))).get("cursor")
        if cursor is None:
            break
        found.append(str(cursor))
    return {MIDDLE: found[:-1][:: max(1, len(found) // len(WITHIN))], LAST: found[-1:]} if found else {}


async def long_lists(connection: Any) -> dict[str, Cursors]:
    """Cursors into each long list, by its order."""
    entries = "select bucket, url_hash from url_frontier"
    return {
        "sources": await _cursors(
            connection,
            "select id from sources where status <> 'deleted' order by lower(name), id offset $1 limit 1",
            "select count(*) from sources where status <> 'deleted'",
            lambda row: str(row["id"]),
        ),
        "hosts": await _cursors(
            connection,
            "select host from hosts order by bucket, host offset $1 limit 1",
            "select count(*) from hosts",
            lambda row: str(row["host"]),
        ),
        "templates": await _cursors(
            connection,
            "select host from learning_hosts order by host offset $1 limit 1",
            "select count(*) from learning_hosts",
            lambda row: str(row["host"]),
        ),
        "events": await _cursors(
            connection,
            "select id from events order by id desc offset $1 limit 1",
            "select count(*) from events",
            lambda row: str(row["id"]),
        ),
        "jobs": await _cursors(
            connection,
            "select created_at, bucket, canonical_hash from jobs order by 1 desc, 2, 3 offset $1 limit 1",
            "select count(*) from jobs",
            lambda row: newest_cursor(ListPlace(*row)),
        ),
        "documents": await _cursors(
            connection,
            "select first_seen_at, bucket, url_hash from documents where deleted_at is null"
            " order by 1 desc, 2, 3 offset $1 limit 1",
            "select count(*) from documents where deleted_at is null",
            lambda row: newest_cursor(ListPlace(*row)),
        ),
        "runs": await _cursors(
            connection,
            "select at, id from runs order by 1 desc, 2 desc offset $1 limit 1",
            "select count(*) from runs",
            lambda row: f"{row['at'].isoformat()}/{row['id']}",
        ),
        "changes": await _cursors(
            connection,
            "select $1::bigint as position",
            "select position from change_counter",
            lambda row: str(row["position"]),
        ),
        "entries": {
            MIDDLE: [entry_cursor(round(256 * share), bytes(32)) for share in WITHIN],
            LAST: [
                entry_cursor(*row)
                for row in await connection.fetch(f"{entries} order by 1 desc, 2 desc offset {LAST_ROWS} limit 1")
            ],
        },
    }


async def _cursors(connection: Any, place: str, count: str, cursor_of: Callable[[Any], str]) -> Cursors:
    rows = await connection.fetchval(count)
    offsets = {MIDDLE: [round(rows * share) for share in WITHIN], LAST: [max(0, rows - LAST_ROWS)]}
    return {
        name: [cursor_of(await connection.fetchrow(place, offset)) for offset in wanted]
        for name, wanted in offsets.items()
    }
