"""robots.txt in the database: one copy for all workers."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from typing import Any

from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.fetch.robots import RobotsAnswer
from headwater.politeness.hosts import set_crawl_delay
from headwater.politeness.robots import Robots
from headwater.politeness.robots_access import RobotsAccess, RobotsFailure
from headwater.urls.fingerprint import bucket_of
from headwater.urls.origin import Origin

queries = load_queries("headwater.fetch")

RulesChanged = Callable[[Origin, Robots | None], None]


@dataclass(frozen=True, slots=True)
class DatabaseRobots:
    """`changed` is told of rules that are not what they were: waiting entries are woken or ended by them."""

    database: Database
    default_delay: timedelta
    changed: RulesChanged

    async def store(
        self, origin: Origin, heard: RobotsAnswer, access: RobotsAccess, term: timedelta, robots: Robots | None
    ) -> None:
        has_rules = access is RobotsAccess.RULES
        delay = robots.crawl_delay if robots else None
        async with self.database.transaction() as connection:
            await connection.execute(
                *queries.store_robots(
                    bucket=bucket_of(origin.host),
                    host=origin.host,
                    scheme=origin.scheme,
                    port=origin.port,
                    access=str(access),
                    body=heard.body if has_rules else None,
                    body_hash=sha256(heard.body).digest() if has_rules else None,
                    http_status=None if isinstance(heard.answer, RobotsFailure) else heard.answer,
                    failure=heard.detail or str(heard.answer) if access is RobotsAccess.UNREACHABLE else None,
                    term=term,
                    etag=heard.validators.etag,
                    last_modified=heard.validators.last_modified,
                    crawl_delay_ms=round(delay.total_seconds() * 1000) if delay is not None else None,
                    sitemaps=list(robots.sitemaps) if robots else [],
                    disallow=list(robots.disallowed) if robots else [],
                )
            )
            if access is not RobotsAccess.UNREACHABLE:
                await set_crawl_delay(connection, origin.host, delay or timedelta(), self.default_delay)

    def rules_changed(self, origin: Origin, robots: Robots | None) -> None:
        self.changed(origin, robots)

    async def freshen(self, origin: Origin, term: timedelta) -> None:
        await self.database.execute(queries.freshen_robots, *_key(origin), term)


async def robots_of_host(database: Database, host: str) -> list[Any]:
    return await database.fetch(queries.read_robots_of_host, bucket_of(host), host)


def _key(origin: Origin) -> tuple[int, str, str, int]:
    return bucket_of(origin.host), origin.host, origin.scheme, origin.port
