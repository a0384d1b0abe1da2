"""Section G: sites without end. What a crawl of one costs is bounded, its honest pages and other sites are read."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import parse_qs, urlencode

import pytest
from tests.faults.world import DELAY, Articles, article, workbench

from headwater.chance import random_from
from headwater.database.pool import Database
from headwater.discover.adding import WantedSource, take_up
from headwater.simweb.message import Page, Request
from headwater.sources.source import Profile, SourceKind

# Of pages, for each crawl; a trap alone would take all of it for ever.
BUDGET = 30
HONEST = tuple(f"/honest/{name}" for name in ("harbour", "bridge", "museum"))
BESIDE = tuple(f"http://beside.test/page{number}" for number in range(5))


def fresh(*about: str) -> str:
    """Twelve letters that nobody has seen before, and always the same."""
    return f"{random_from(' '.join(about)).getrandbits(48):012x}"


def years(request: Request) -> list[str]:
    month = int(parse_qs(request.query).get("month", ["24000"])[0])
    return [f"/trap?month={month - 1}", f"/trap?month={month + 1}"]


def far_years(request: Request) -> list[str]:
    return [f"/trap/events/{year}/{month:02}" for year in range(2200, 2240) for month in range(1, 13)]


def session_in_path(request: Request) -> list[str]:
    return [f"/trap/{number};jsessionid={fresh(request.path, str(number))}" for number in range(20)]


def session_in_query(request: Request) -> list[str]:
    names = ("PHPSESSID", "sid", "session_id", "CFTOKEN", "aspsessionidabc")
    return [f"/trap/{name}?{name}={fresh(request.query, name)}" for name in names]


def same_segment(request: Request) -> list[str]:
    return [f"{request.path.rstrip('/')}/a", f"{request.path.rstrip('/')}/b/c"]


def doors(request: Request) -> list[str]:
    return [f"/trap/{fresh(request.path, str(number))}" for number in range(1_000)]


def filters(request: Request) -> list[str]:
    """Ten values of each of twelve filters in any order: 10^12 pages, and as many spellings again."""
    chosen = {name: values[0] for name, values in parse_qs(request.query).items()}
    names = [f"f{number}" for number in range(12)]
    return [f"/trap?{urlencode(chosen | {name: value})}" for name in names for value in range(10)]


def relative(request: Request) -> list[str]:
    return ["trap/x/", "./x/", "../trap/y/"]


def next_page(request: Request) -> list[str]:
    return [f"/trap?page={int(parse_qs(request.query).get('page', ['1'])[0]) + 1}"]


def nothing_new(request: Request) -> list[str]:
    return [f"/trap/{fresh(request.path, str(number))}" for number in range(5)]


@dataclass(frozen=True)
class Row:
    """`most` pages of the trap are fetched. Where all of them say the same, no links of the second one are followed."""

    id: str
    links: Callable[[Request], list[str]]
    most: int = BUDGET
    says: str = ""


ROWS = [
    Row("109 a calendar without end", years),
    Row("109 years that are far away", far_years, most=1),
    Row("110 session ids in paths", session_in_path, most=1),
    Row("110 session ids in queries", session_in_query, most=1),
    Row("111 a segment that repeats", same_segment),
    Row("112 a thousand fresh links on every page", doors),
    Row("113 filters that combine", filters),
    Row("114 relative links that grow", relative),
    Row("115 one page under every address", nothing_new, most=1 + 5, says="There is no such page here, try another."),
    Row("117 always a next page", next_page),
    Row("118 one text under every address", nothing_new, most=1 + 5, says="same"),
]


@dataclass
class Trapped:
    """A site whose start page leads to honest pages and to a trap."""

    row: Row

    def page(self, request: Request, now: datetime) -> Page | None:
        if request.path == "/":
            return Page(article(f"start of {request.host}", [*HONEST, "/trap/"]))
        if request.path in HONEST:
            return Page(article(f"{request.host}{request.path}"))
        if not request.path.startswith("/trap"):
            return None
        said = self.row.says or f"{request.path}?{request.query}"
        return Page(article(said, self.row.links(request)))


@pytest.mark.long
async def test_a_trap_costs_a_crawl_no_more_than_its_budget(database: Database, database_url: str) -> None:
    sites = {f"trap{number}.test": Trapped(row) for number, row in enumerate(ROWS)}
    async with workbench(database, {**sites, "beside.test": Articles()}) as bench:
        for host in sites:
            profile = Profile(f"http://{host}/", kind=SourceKind.DOCS, max_depth=-1, max_pages=BUDGET)
            async with database.transaction() as connection:
                source = await take_up(connection, WantedSource(profile), "tester", DELAY)
            await bench.queue(f"http://{host}/", source=source)
        await bench.queue(*BESIDE)
        async with bench.worker(database_url):
            await bench.until_settled()
        visits = bench.pages()
        asked = Counter(visit.host for visit in visits if visit.path.startswith("/trap"))
        spent = {row.id: asked[host] for host, (row) in zip(sites, ROWS, strict=True)}
        assert {row.id: spent[row.id] for row in ROWS if spent[row.id] > row.most} == {}
        assert all(spent.values()), "every trap was entered"
        seen = {f"http://{visit.host}{visit.path}" for visit in visits}
        assert {f"http://{host}{path}" for host in sites for path in HONEST} <= seen
        assert set(BESIDE) <= seen
        per_host = Counter(visit.host for visit in visits)
        assert max(per_host[host] for host in sites) <= BUDGET
