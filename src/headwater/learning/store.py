"""Hosts and their templates in the database: what workers report, and what trainings change."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NamedTuple
from uuid import UUID

from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries
from headwater.errors import NotFound
from headwater.extraction.templates.template import FORM, Template, template_to_json
from headwater.extraction.training import LearnedTemplate, Training
from headwater.learning.life import HostLearning, TemplateStanding, UseTally, after, after_use, why_learn, why_off
from headwater.sources.store import Event, Level, record
from headwater.urls.canonical import site_named

queries = load_queries("headwater.learning")

# A training takes a second: a worker that is not back after this is dead.
TRAINING_LASTS = timedelta(minutes=2)
VERSIONS_KEPT = 10
LEARNED, NOT_LEARNED, SWITCHED_OFF, EXPIRED = (
    "template_learned",
    "template_not_learned",
    "template_switched_off",
    "template_expired",
)
DISABLED, ASKED = "template_disabled", "template_lesson_asked"
# The bucket of a host's name, and its site: the name with the port.
HostKey = tuple[int, str]
_ASKED_BY = "asked for by "
_OTHER_FORM = "another release of Headwater learned it in a form of its own"


class Due(NamedTuple):
    """A host whose training is ours."""

    bucket: int
    host: str
    source_id: UUID
    hashes: tuple[bytes, ...]
    why: str

    @property
    def is_asked(self) -> bool:
        """For by a person: what is in use may be what is wrong, so it has no say."""
        return self.why.startswith(_ASKED_BY)


@dataclass(frozen=True, slots=True)
class Report:
    """The observations of one worker at hosts, and its templates as they are after that."""

    tallies: Mapping[HostKey, UseTally]
    templates: Mapping[HostKey, Mapping[tuple[str, int], Template]]


async def hand_in(database: Database, report: Report) -> dict[HostKey, set[tuple[str, int]]]:
    """Answers with the versions that are active by now."""
    hosts = sorted(report.tallies)
    if not hosts:
        return {}
    buckets, names = [bucket for bucket, _ in hosts], [name for _, name in hosts]
    async with database.transaction() as connection:
        await connection.execute(
            queries.add_learning, buckets, names, [report.tallies[host].source_id for host in hosts]
        )
        learning_hosts = {
            (row["bucket"], row["host"]): _host_learning(row) for row in await _held(connection, buckets, names)
        }
        standings: dict[HostKey, list[TemplateStanding]] = defaultdict(list)
        for row in await connection.fetch(queries.standings_of, buckets, names, FORM):
            host = row["bucket"], row["host"]
            if row["is_readable"]:
                standings[host].append(_standing(row))
            else:
                await connection.fetch(queries.end_templates, *host, [row["section"]], "expired", _OTHER_FORM)
        active: dict[HostKey, set[tuple[str, int]]] = {}
        learning_rows, standing_rows = list[dict[str, Any]](), list[dict[str, Any]]()
        for host in hosts:
            tally = report.tallies[host]
            now = [after_use(one, tally.uses[one.key]) if one.key in tally.uses else one for one in standings[host]]
            lasting = [one for one in now if not await _switched_off(connection, host, one, tally.source_id)]
            host_learning = after(learning_hosts[host], tally)
            learning_rows.append(_learning_row(host, tally, host_learning, why_learn(host_learning, lasting)))
            known = report.templates.get(host, {})
            standing_rows += [_standing_row(host, one, known.get(one.key)) for one in lasting if one.key in tally.uses]
            active[host] = {one.key for one in lasting}
        await connection.execute(queries.write_learning, learning_rows)
        await connection.execute(queries.write_standings, standing_rows)
    return active


async def begin_training(database: Database) -> Due | None:
    row = await database.fetchrow(queries.begin_training, TRAINING_LASTS)
    if row is None:
        return None
    return Due(row["bucket"], row["host"], row["source_id"], (*row["pool"], *row["refused"]), row["why"])


async def end_training(database: Database, due: Due, training: Training) -> list[int]:
    """The new versions; none if nothing was learned, or a person disabled learning for this host."""
    found = sorted(training.learned_templates, key=lambda one: one.section)
    outcome = f"learned from {training.pages} pages" if found else f"nothing learned: {training.why}"
    async with database.transaction() as connection:
        if not await connection.fetchval(queries.end_training, due.bucket, due.host, outcome, bool(found)):
            return []
        if not found:
            message = f"{due.host}: {outcome} ({due.why})"
            await record(connection, Event(NOT_LEARNED, message, due.source_id, details={"host": due.host}))
            return []
        # One for the whole host makes all others superfluous; those for sections leave the others alone, unless a
        # person wants all of it learned anew.
        named = [one.section for one in found]
        sections = None if due.is_asked or named == [""] else named
        await connection.fetch(
            queries.end_templates, due.bucket, due.host, sections, "replaced", f"learned anew: {due.why}"
        )
        versions = [await _added(connection, due, one) for one in found]
        await connection.execute(queries.forget_versions, due.bucket, due.host, VERSIONS_KEPT)
    return versions


async def expire(database: Database, days: int) -> int:
    async with database.transaction() as connection:
        ended = await connection.fetch(queries.expire_templates, days)
        for row in ended:
            host_learning = await connection.fetchrow(queries.read_learning, row["bucket"], row["host"])
            message = f"{row['host']}: template version {row['version']} was not used for {days} days"
            source_id = host_learning["source_id"] if host_learning else None
            await record(connection, Event(EXPIRED, message, source_id, details={"host": row["host"]}))
    return len(ended)


async def relearn(database: Database, host: str, actor: str) -> None:
    """Asked for by a person; what was disabled is enabled by it."""
    bucket = site_named(host).bucket
    async with database.transaction() as connection:
        if not await connection.fetchval(queries.request_training, bucket, host, f"{_ASKED_BY}{actor}"):
            raise unknown(host)
        host_learning = await connection.fetchrow(queries.read_learning, bucket, host)
        assert host_learning is not None
        await record(
            connection, Event(ASKED, f"{host}: training was asked for", host_learning["source_id"], actor=actor)
        )


async def disable(database: Database, host: str, actor: str) -> int:
    """How many templates that ended."""
    bucket = site_named(host).bucket
    async with database.transaction() as connection:
        source_id = await connection.fetchval(queries.disable_host, bucket, host)
        if source_id is None:
            raise unknown(host)
        ended = await connection.fetch(queries.end_templates, bucket, host, None, "off", f"disabled by {actor}")
        await record(connection, Event(DISABLED, f"{host}: its templates were disabled", source_id, actor=actor))
    return len(ended)


def unknown(host: str) -> NotFound:
    return NotFound(
        f"No article page of {host} has been read yet, so there is nothing to learn from.",
        fix="`headwater templates list` shows the hosts there are.",
    )


async def _held(connection: Connection, buckets: list[int], names: list[str]) -> list[Any]:
    return await connection.fetch(queries.lock_learning, buckets, names)


async def _switched_off(connection: Connection, host: HostKey, standing: TemplateStanding, source_id: UUID) -> bool:
    why = why_off(standing)
    if why:
        await connection.fetch(queries.end_templates, *host, [standing.section], "off", why)
        message = f"{host[1]}: template version {standing.version} was switched off: it {why}"
        details = {"host": host[1], "version": standing.version}
        await record(connection, Event(SWITCHED_OFF, message, source_id, level=Level.WARN, details=details))
    return bool(why)


async def _added(connection: Connection, due: Due, one: LearnedTemplate) -> int:
    version: int = await connection.fetchval(
        queries.add_template, due.bucket, due.host, one.section, one.template, one.pages, one.agreement
    )
    where = f"{due.host}/{one.section}" if one.section else due.host
    message = f"{where}: template version {version} learned from {one.pages} pages ({due.why})"
    details = {"host": due.host, "section": one.section, "version": version, "agreement": one.agreement}
    await record(connection, Event(LEARNED, message, due.source_id, details=details))
    return version


def _host_learning(row: Any) -> HostLearning:
    return HostLearning(
        pool=tuple(row["pool"]),
        refused=tuple(row["refused"]),
        fresh=row["fresh"],
        failures=row["failures"],
        is_waiting=row["is_waiting"],
        is_disabled=row["is_disabled"],
    )


def _standing(row: Any) -> TemplateStanding:
    return TemplateStanding(
        section=row["section"],
        version=row["version"],
        agreement=row["agreement"],
        served=row["served"],
        refused=row["refused"],
        audited=row["audited"],
        refusing=row["refusing"],
        agreeing=row["agreeing"],
        reasons=Counter(row["reasons"]),
    )


def _learning_row(host: HostKey, tally: UseTally, host_learning: HostLearning, why: str) -> dict[str, Any]:
    return {
        "bucket": host[0],
        "host": host[1],
        "source_id": str(tally.source_id),
        "pool": [f"\\x{one.hex()}" for one in host_learning.pool],
        "refused": [f"\\x{one.hex()}" for one in host_learning.refused],
        "fresh": host_learning.fresh,
        "why": why,
    }


def _standing_row(host: HostKey, standing: TemplateStanding, template: Template | None) -> dict[str, Any]:
    return {
        "bucket": host[0],
        "host": host[1],
        "section": standing.section,
        "version": standing.version,
        "served": standing.served,
        "refused": standing.refused,
        "audited": standing.audited,
        "refusing": standing.refusing,
        "agreeing": standing.agreeing,
        "reasons": dict(standing.reasons),
        "template": template_to_json(template) if template else None,
    }
