"""Exceptions of single hosts to what makes a key: set by a person, known to every process, applied to what is stored.

A change is recorded first. Every process reads it within seconds; until then it makes keys by the older rules, which is
why entries are gone through once more after that time. Killed at any step, maintenance goes on where it was.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries
from headwater.errors import NotFound, UsageError
from headwater.urls.canonical import canonicalise
from headwater.urls.fingerprint import bucket_of
from headwater.urls.rules import DEFAULT_RULES, HostRules, use_rules

queries = load_queries("headwater.frontier")

READ_EVERY = timedelta(seconds=10)
# A process that reads them late, or a transaction that began before: by then both are over.
KNOWN_AFTER = timedelta(seconds=60)
BATCH = 200
# Of one host in one turn, so that no host keeps the others waiting.
BATCHES = 20
MOST_PARAMS = 100
MERGED, BUSY = "merged", "busy"
_PARAM = re.compile(r"[^\s&=#?/]{1,100}")


@dataclass(slots=True)
class Rekeyed:
    """How many of the entries looked at got another key."""

    moved: int = 0
    merged: int = 0
    busy: int = 0

    def count(self, outcome: str) -> None:
        if outcome != "gone":
            setattr(self, outcome, getattr(self, outcome) + 1)


@dataclass(frozen=True, slots=True)
class RulesOfHost:
    """`rekeyed_at` None: entries are still being keyed anew."""

    host: str
    rules: HostRules
    changed_at: datetime
    rekeyed_at: datetime | None


@dataclass(frozen=True, slots=True)
class RuleChange:
    """The rules that a person sets; None leaves one as it is."""

    keep_slash: bool | None = None
    keep_params: Collection[str] | None = None
    strip_params: Collection[str] | None = None

    def of(self, rules: HostRules) -> HostRules:
        kept, stripped = self.keep_params, self.strip_params
        changed = HostRules(
            rules.keep_slash if self.keep_slash is None else self.keep_slash,
            rules.keep_params if kept is None else _params(kept),
            rules.strip_params if stripped is None else _params(stripped),
        )
        if both := changed.keep_params & changed.strip_params:
            raise UsageError(
                f"{', '.join(sorted(both))} cannot be kept and stripped.", fix="Name it for one of the two."
            )
        return changed


def _params(names: Collection[str]) -> frozenset[str]:
    chosen = frozenset(name for name in names if name)
    for name in chosen:
        if not _PARAM.fullmatch(name):
            raise UsageError(
                f"{name!r} is not the name of a parameter.", fix="Give what stands before the = in the URL."
            )
    if len(chosen) > MOST_PARAMS:
        raise UsageError(f"{len(chosen)} parameters are too many.", fix=f"Name at most {MOST_PARAMS}.")
    return chosen


async def read_rules(database: Database) -> list[RulesOfHost]:
    return [
        RulesOfHost(
            row["host"],
            HostRules(row["keep_slash"], frozenset(row["keep_params"]), frozenset(row["strip_params"])),
            row["changed_at"],
            row["rekeyed_at"],
        )
        for row in await database.fetch(queries.read_host_rules)
    ]


async def use_stored_rules(database: Database) -> None:
    """Keys that this process makes from now on follow what is stored."""
    use_rules({one.host: one.rules for one in await read_rules(database) if one.rules != DEFAULT_RULES})


async def set_rules(database: Database, host: str, change: RuleChange) -> HostRules:
    """The rules that hold now. Entries follow in the background, the addresses of sources and channels at once."""
    async with database.transaction() as connection:
        await connection.execute(queries.hold_host_rules, bucket_of(host), host)
        row = await connection.fetchrow(queries.rules_of_host, bucket_of(host), host)
        assert row is not None
        before = HostRules(row["keep_slash"], frozenset(row["keep_params"]), frozenset(row["strip_params"]))
        rules = change.of(before)
        if rules != before:
            kept, stripped = sorted(rules.keep_params), sorted(rules.strip_params)
            await connection.execute(queries.set_host_rules, bucket_of(host), host, rules.keep_slash, kept, stripped)
            await _rekey_addresses(connection, host, rules)
    await use_stored_rules(database)
    return rules


async def clear_rules(database: Database, host: str) -> None:
    """Raises NotFound for a host without any: a slip in its name must not look like success."""
    if not any(one.host == host and one.rules != DEFAULT_RULES for one in await read_rules(database)):
        raise NotFound(
            f"No URL rules are set for {host}.",
            fix="`headwater hosts rules list` shows the hosts that have some; `www.` counts.",
        )
    await set_rules(database, host, RuleChange(keep_slash=False, keep_params=(), strip_params=()))


async def _rekey_addresses(connection: Connection, host: str, rules: HostRules) -> None:
    """One that would become the same as another keeps its own: nobody merges two sources but a person."""
    for read, write in (
        (queries.sources_at_host, queries.rekey_source),
        (queries.channels_at_host, queries.rekey_channel),
    ):
        for row in await connection.fetch(read, bucket_of(host), host):
            address = canonicalise(row["url"], rules=rules)
            if address.url_hash != row["url_hash"]:
                await connection.execute(write, row["id"], address.url_hash)


async def apply_rules(database: Database, known_after: timedelta = KNOWN_AFTER) -> Rekeyed:
    """A turn of every host whose rules have changed; done when nothing of it is left under an older key."""
    done = Rekeyed()
    for row in await database.fetch(queries.rules_to_apply, known_after):
        for _ in range(BATCHES):
            if await _take_step(database, row, done, known_after):
                break
    return done


async def _take_step(database: Database, row: Any, done: Rekeyed, known_after: timedelta) -> bool:
    """Whether there is nothing more to do at this host for now. Two processes at one host only do the same twice."""
    place = row["bucket"], row["host"]
    rules = HostRules(row["keep_slash"], frozenset(row["keep_params"]), frozenset(row["strip_params"]))
    walk = await database.fetchrow(queries.take_up_rekeying, *place, row["changed_at"])
    if walk is None:
        return True
    entries = await database.fetch(queries.entries_of_hosts, row["bucket"], [row["host"]], walk["position"], BATCH)
    has_missed = False
    for entry in entries:
        new = canonicalise(entry["url"], rules=rules).url_hash
        if new != entry["url_hash"]:
            outcome = await _rekey(database, *place, entry["url_hash"], new)
            done.count(outcome)
            has_missed |= outcome == BUSY
    after = entries[-1]["url_hash"] if len(entries) == BATCH else None
    await database.execute(queries.note_rekeying, *place, walk["pass_from"], after, has_missed, known_after)
    return after is None


async def _rekey(database: Database, bucket: int, host: str, old: bytes, new: bytes) -> str:
    """A transaction for each entry: its document takes locks that a page of another host may hold in another order."""
    async with database.transaction() as connection:
        await connection.execute(queries.lock_hosts, [bucket], [host])
        outcome: str = await connection.fetchval(queries.rekey_entry, bucket, old, new)
        if outcome == MERGED:
            await connection.execute(queries.refresh_hosts, [bucket], [host], None)
    return outcome
