"""What the length of the search index's pending list costs: WAL for each document written, and time for each search.

Run: python -m benchmarks.search [--documents N] [--more M] [--limits KB …]

GIN puts new documents into a list first and sorts them into the index when the list is full. A long list writes less
WAL, because words that several documents share are sorted in together; but every search reads the whole list. Each
limit is measured in one run on the same archive: documents written one by one, and searches between them.
"""

import argparse
import asyncio
import json
import sys
import time
from bisect import bisect
from dataclasses import dataclass
from itertools import accumulate
from random import Random
from statistics import median, quantiles

from benchmarks.frontier_world import plain_connection
from benchmarks.path_sides import empty_folder
from headwater.database.pool import Connection
from headwater.search.question import Filters
from headwater.search.search import search
from headwater.services import Services, open_services
from headwater.settings import Given, load

VOCABULARY = 60_000
WORDS = 550
SEARCH_EVERY = 25
INSERT = """
insert into documents (bucket, url_hash, source_id, url, canonical_url, title, text, summary, author, language, section,
    keywords, images, word_count, page_type, quality_parts, content_hash, produced_by, metadata, version, crawled_at,
    first_seen_at, changed_at, search)
select ('x' || substr(md5(u), 1, 3))::bit(12)::int % 256, sha256(u::bytea), gen_random_uuid(), u, u, title, body, '',
    '', 'en', '', '{}', '{}', 550, 'article', '{}', sha256(body::bytea), 'benchmark', '{}', 1, now(), now(), now(),
    search_vector('en', title, '', '', body)
from unnest($1::text[], $2::text[], $3::text[]) as new (u, title, body)
"""


@dataclass(frozen=True, slots=True)
class Measured:
    limit_kb: int
    wal_kb: float  # for each document
    search_ms: float
    slow_search_ms: float  # one in twenty is slower
    slow_write_ms: float  # one in a hundred is slower
    slowest_write_ms: float


class Words:
    """Words as frequent as in any language: the n-th comes about 1/n as often as the first."""

    def __init__(self, random: Random) -> None:
        self._random = random
        letters = "bcdfghjklmnprstvwz"
        self.words = [
            "".join(random.choice(letters) + random.choice("aeiou") for _ in range(random.randint(1, 4))) + str(n % 7)
            for n in range(VOCABULARY)
        ]
        self._steps = list(accumulate(1 / (n + 3) for n in range(VOCABULARY)))

    def text(self, count: int) -> str:
        most = self._steps[-1]
        return " ".join(self.words[bisect(self._steps, self._random.random() * most)] for _ in range(count))

    def questions(self) -> list[str]:
        """Pairs of a common and a rarer word."""
        return [f"{self.words[40 + n]} {self.words[400 + 90 * n]}" for n in range(10)]


async def write(connection: Connection, words: Words, numbers: range) -> None:
    urls = [f"https://news.example/{n}" for n in numbers]
    titles, bodies = [words.text(8) for _ in numbers], [words.text(WORDS) for _ in numbers]
    await connection.execute(INSERT, urls, titles, bodies)


async def measure(services: Services, connection: Connection, words: Words, limit_kb: int, numbers: range) -> Measured:
    await connection.execute(f"alter index documents_search set (gin_pending_list_limit = {limit_kb})")
    await connection.execute("select gin_clean_pending_list('documents_search')")
    await connection.execute("checkpoint")
    began = await connection.fetchval("select pg_current_wal_insert_lsn()::text")
    writes, searches = [], []
    questions = words.questions()
    for number in numbers:
        start = time.perf_counter()
        await write(connection, words, range(number, number + 1))
        writes.append(time.perf_counter() - start)
        if number % SEARCH_EVERY == 0:
            question = questions[number // SEARCH_EVERY % len(questions)]
            start = time.perf_counter()
            await search(services.database, question, Filters())
            searches.append(time.perf_counter() - start)
    await connection.execute("select gin_clean_pending_list('documents_search')")
    wal = await connection.fetchval("select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), $1::text::pg_lsn)", began)
    return Measured(
        limit_kb,
        round(float(wal) / 1024 / len(numbers), 1),
        round(median(searches) * 1000, 1),
        round(quantiles(searches, n=20)[-1] * 1000, 1),
        round(quantiles(writes, n=100)[-1] * 1000, 1),
        round(max(writes) * 1000, 1),
    )


async def run(documents: int, more: int, limits: list[int]) -> list[Measured]:
    words = Words(Random(1))
    with empty_folder() as folder:
        settings = load(Given(flags={"service.data_dir": str(folder), "log.level": "error"}))
        async with open_services(settings) as services, plain_connection(services.dsn) as connection:
            for at in range(0, documents, 200):
                await write(connection, words, range(at, at + 200))
            await connection.execute("vacuum analyze documents")
            found = []
            for number, limit in enumerate(limits):
                first = documents + number * more
                one = await measure(services, connection, words, limit, range(first, first + more))
                print(one, file=sys.stderr, flush=True)
                found.append(one)
            return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--documents", type=int, default=20_000, help="in the archive beforehand")
    parser.add_argument("--more", type=int, default=3_000, help="written for each limit")
    parser.add_argument("--limits", type=int, nargs="+", default=[64, 1024, 4096, 16384, 65536], help="in kB")
    asked = parser.parse_args()
    found = asyncio.run(run(asked.documents, asked.more, asked.limits))
    first = found[0]
    print(
        json.dumps(
            {
                "benchmark": "search",
                "documents": asked.documents,
                "by_limit_kb": {
                    one.limit_kb: {
                        "wal_kb_per_document": one.wal_kb,
                        "wal_ratio": round(one.wal_kb / first.wal_kb, 2),
                        "search_ratio": round(one.search_ms / first.search_ms, 2),
                        "slow_search_ratio": round(one.slow_search_ms / first.slow_search_ms, 2),
                        "slowest_write_ms": one.slowest_write_ms,
                    }
                    for one in found
                },
            }
        )
    )


if __name__ == "__main__":
    main()
