"""The pictures of the README: pages of the console over the demo's world, taken by a headless Chromium.

Run: make screenshots, or python -m tests.browser.pictures [--folder F]

A demo is run until its world has reached the present. What it did in those two minutes is then moved to the hours of
the world in which it was done, since charts of a day would else show one stroke; everything else is as it is.
"""

import argparse
import asyncio
import sys
import tempfile
from asyncio.subprocess import DEVNULL, PIPE, Process
from base64 import b64decode
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from playwright.async_api import Browser
from tests.browser.console.watching import DESK, PHONE, Scheme, WatchedPage, a_browser, watched

from headwater.cli.demo.world import LONGEST_ARRIVAL_SECONDS
from headwater.database.pool import Database
from headwater.frontier.maintain import fold_statistics
from headwater.reports.rolling import roll_up, roll_up_sources
from headwater.services import open_services
from headwater.settings import Given, load

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
# Small enough that nobody waits for them, and letters stay letters.
QUALITY = 72
PHONE_HIGH = 740
PACE = 600
# After the arrival: the last requests are of the present.
LOOKED_AFTER_SECONDS = 20
SCHEMES: Sequence[Scheme] = ("light", "dark")

# Times of what was done, which are the database's own.
TIMES = {
    "fetch_log": ("at", "started_at"),
    "documents": ("crawled_at", "first_seen_at", "changed_at"),
    "document_versions": ("crawled_at", "changed_at", "replaced_at"),
    "url_frontier": ("changed_at", "last_fetched_at", "discovered_at", "created_at", "updated_at"),
    "discoveries": ("first_seen_at",),
    "jobs": ("fetched_at", "last_seen_at", "created_at", "updated_at"),
    "channels": ("created_at",),
    "sources": ("created_at",),
    "hosts": ("created_at", "last_fetch_at"),
    "robots": ("fetched_at",),
    "events": ("at",),
}
MOVED = "update {table} set {name} = now() - (now() - {name}) * $1 where {name} > $2 and {name} < now()"
LEVELS = """
    insert into rollup_minutes (figure, minute, label, count)
    select 'frontier', date_trunc('minute', t), label, count(*)
    from generate_series($1::timestamptz, now(), interval '10 minutes') t
    join lateral (
        select case when last_fetched_at > t or last_fetched_at is null then 'pending' else status end as label
        from url_frontier where created_at <= t
    ) e on true
    group by 1, 2, 3
    on conflict do nothing
"""


# What processes have summed up so far, and what it grew by: nothing else says when.
SUMS = """
    select split_part(figure, '.', 1), substr(figure, strpos(figure || '.', '.') + 1), count
    from figure_totals where figure like 'politeness%'
"""
GROWN = """
    with grown as (
        select * from unnest($3::text[], $4::text[], $5::bigint[]) as g (figure, label, count) where count > 0
    ), totals as (
        insert into rollup_totals as t (figure, label, count) select * from grown
        on conflict (figure, label) do update set count = t.count + excluded.count
    )
    insert into rollup_minutes as m (figure, minute, label, count)
    select figure, date_trunc('minute', now() - (now() - $1::timestamptz) * $2), label, count from grown
    on conflict (figure, minute, label) do update set count = m.count + excluded.count
"""
SUMMED_EVERY_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Sums:
    at: datetime
    counts: Mapping[tuple[str, str], int]


@dataclass(frozen=True, slots=True)
class Picture:
    """`path` may name what `SHOWN` finds."""

    name: str
    path: str
    has_phone: bool = False
    high: int = 860


PICTURES = (
    Picture("overview", "/console", has_phone=True, high=1400),
    Picture("sources", "/console/sources", has_phone=True),
    Picture("source", "/console/sources/{source}"),
    Picture("crawl", "/console/crawl"),
    Picture("frontier", "/console/frontier"),
    Picture("url", "/console/frontier/url?url={url}"),
    Picture("hosts", "/console/hosts"),
    Picture("host", "/console/hosts/{host}"),
    Picture("documents", "/console/documents?q=harbour"),
    Picture("document", "/console/documents/{document}"),
    Picture("jobs", "/console/jobs"),
    Picture("settings", "/console/settings"),
    Picture("crawler", "/crawler"),
)
# What is shown on pages of one thing.
SHOWN = {
    "source": "select source_id::text from documents group by 1 order by count(*) desc, 1 limit 1",
    "url": "select url from url_frontier where status = 'fetched' and origin = 'feed'"
    " order by fetch_count desc, url limit 1",
    "host": "select host from url_frontier where status = 'fetched' group by 1 order by count(*) desc, 1 limit 1",
    "document": "select encode(url_hash, 'hex') from documents where language = 'en'"
    " order by version desc, word_count desc limit 1",
}


@asynccontextmanager
async def a_demo(folder: Path, seconds: int) -> AsyncIterator[tuple[str, Database]]:
    """Its console's address, and its database."""
    # The database's server of a root runs as another user.
    folder.chmod(0o711)
    flags = ("--set", f"service.data_dir={folder}")
    words = ("demo", "--headless", "--keep", "--seconds", str(seconds), "--pace", str(PACE))
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "headwater", *flags, *words, stdout=DEVNULL, stderr=PIPE
    )
    try:
        address = await _line(process, "Console:")
        await _line(process, "One process polls")
        heard = asyncio.create_task(_listen(process))
        (kept,) = folder.iterdir()
        of_database = {"service.data_dir": str(kept), "log.level": "error"}
        try:
            async with open_services(load(Given(flags=of_database))) as services:
                yield address.rstrip("/"), services.database
        finally:
            # It may have ended by itself.
            with suppress(ProcessLookupError):
                process.terminate()
            await heard
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()


async def _line(process: Process, begins: str) -> str:
    """The word after these, in the first line that begins so."""
    assert process.stderr is not None
    async for line in process.stderr:
        told = line.decode()
        if told.startswith(begins):
            return told.removeprefix(begins).split()[0]
    raise RuntimeError(f"The demo ended before it said {begins!r}.")


async def _listen(process: Process) -> None:
    """A pipe that nobody reads would stop it."""
    assert process.stderr is not None
    while await process.stderr.read(65_536):
        pass


async def move_to_its_hours(database: Database, since: datetime, pace: float, sums: Sequence[Sums]) -> None:
    for table, names in TIMES.items():
        for name in names:
            await database.execute(MOVED.format(table=table, name=name), pace, since)
    begins = await database.fetchval("select now() - (now() - $1::timestamptz) * $2", since, pace)
    await database.execute("truncate rollup_minutes, rollup_hours, rollup_totals")
    for before, after in pairwise(sums):
        grown = [count - before.counts.get(name, 0) for name, count in after.counts.items()]
        figures, labels = ([name[part] for name in after.counts] for part in (0, 1))
        await database.execute(GROWN, after.at, pace, figures, labels, grown)
    await database.execute(
        "update rollup_mark set rolled_until = $1, sources_rolled_until = date_trunc('hour', $1::timestamptz)", begins
    )
    await database.execute(LEVELS, begins)
    # What was counted of hosts and of runs is counted anew.
    await database.execute("truncate host_statistics, request_minutes, request_totals, run_minutes")
    await database.execute("update statistics_mark set folded_until = $1, runs_folded_until = $1", begins)
    await fold_statistics(database)
    await roll_up(database)
    await roll_up_sources(database)


async def paths_shown(database: Database) -> dict[str, str]:
    found = {name: await database.fetchval(query) for name, query in SHOWN.items()}
    named = {name: quote(str(told), safe="") for name, told in found.items()}
    return {one.name: one.path.format(**named) for one in PICTURES}


async def take_all(browser: Browser, address: str, paths: dict[str, str], folder: Path) -> list[Path]:
    taken = []
    for scheme in SCHEMES:
        async with watched(browser, address, width=DESK, scheme=scheme) as one:
            taken += [await take(one, paths[of.name], folder / f"{of.name}-{scheme}.webp", of.high) for of in PICTURES]
        async with watched(browser, address, width=PHONE, scheme=scheme) as one:
            for of in PICTURES:
                if of.has_phone:
                    name = f"{of.name}-phone-{scheme}.webp"
                    taken.append(await take(one, paths[of.name], folder / name, PHONE_HIGH))
    return taken


async def take(one: WatchedPage, path: str, into: Path, high: int, kind: Literal["webp", "png"] = "webp") -> Path:
    width = (one.page.viewport_size or {"width": DESK})["width"]
    await one.page.set_viewport_size({"width": width, "height": high})
    await one.go(path)
    session = await one.page.context.new_cdp_session(one.page)
    wish = {"format": kind, **({"quality": QUALITY} if kind == "webp" else {})}
    shot = await session.send("Page.captureScreenshot", wish)
    await session.detach()
    into.parent.mkdir(parents=True, exist_ok=True)
    into.write_bytes(b64decode(shot["data"]))
    return into


async def lived_through(database: Database, seconds: float = LONGEST_ARRIVAL_SECONDS) -> None:
    """Until its world has reached the present, and what it did stands where it belongs."""
    since = await database.fetchval("select min(created_at) - interval '1 second' from sources")
    sums = [Sums(since, {})]
    for _ in range(round(seconds / SUMMED_EVERY_SECONDS)):
        await asyncio.sleep(SUMMED_EVERY_SECONDS)
        rows = await database.fetch(SUMS)
        sums.append(Sums(await database.fetchval("select now()"), {(row[0], row[1]): row[2] for row in rows}))
    await move_to_its_hours(database, since, PACE, sums)


async def run(folder: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="headwater-pictures-") as place:
        kept = Path(place)
        length = timedelta(seconds=LONGEST_ARRIVAL_SECONDS + LOOKED_AFTER_SECONDS + 120)
        async with a_demo(kept, round(length.total_seconds())) as (address, database), a_browser() as browser:
            await lived_through(database)
            await asyncio.sleep(LOOKED_AFTER_SECONDS)
            taken = await take_all(browser, address, await paths_shown(database), folder)
    weight = sum(one.stat().st_size for one in taken)
    print(f"{len(taken)} pictures in {folder}, {weight / 1000:,.0f} kB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where they are put")
    asyncio.run(run(parser.parse_args().folder))


if __name__ == "__main__":
    main()
