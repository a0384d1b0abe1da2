"""`maintain`: the role that keeps the database in order. Any number of it may run."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial

from headwater.archive.collecting import collect_bodies, grace_of, remove_bodies
from headwater.archive.forgetting import forget_old_versions
from headwater.archive.jobs import BATCH as EXPIRED_AT_ONCE
from headwater.archive.jobs import end_jobs_of_removed, expire_jobs, forget_sightings
from headwater.archive.stores.known import NO_STORES, BodyStores, try_store
from headwater.chance import Random
from headwater.clock import Clock, SystemClock
from headwater.database.days import keep_days
from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.deliver.log import move_changes, note_oldest
from headwater.discover.polls.submit_items import forget_items
from headwater.errors import DatabaseDown
from headwater.fetch.robots import forget_former_robots
from headwater.figures import LEASES_RESCUED, Figures
from headwater.frontier import maintain
from headwater.frontier.clock_steps import ClockWatch
from headwater.frontier.host_rules import apply_rules
from headwater.ingest.decay import watch_decay
from headwater.ingest.old_documents import remove_old_documents
from headwater.ingest.taking_down import finish_takedowns
from headwater.learning.store import expire
from headwater.log import Logger
from headwater.politeness.addresses import pace_addresses
from headwater.politeness.crowds import forget_crowds, judge_crowds
from headwater.politeness.takedown_requests import forget_requests
from headwater.reports.health import note_health
from headwater.reports.rolling import RollupDays, forget_rollups, roll_up, roll_up_sources
from headwater.reports.sizes import note_sizes
from headwater.run.chores import Chore, start_chores
from headwater.run.heartbeat import heartbeat_of
from headwater.run.presence import MAINTAIN, forget_lines, forget_processes, present
from headwater.run.stopping import owner_name
from headwater.services import Services
from headwater.settings.durations import bound_of
from headwater.sources.store import fold_totals, forget_events, prove_sources
from headwater.supervisor import Supervisor

EVENT_DAYS = 180
# Workers that lost the database find it again sooner.
LONGEST_GRACE = timedelta(seconds=10)

queries = load_queries("headwater.reports")
archive_queries = load_queries("headwater.archive")


@dataclass(slots=True)
class Contact:
    """Since when the database has answered without a break."""

    _since: float = float("-inf")

    def begin(self, moment: float) -> None:
        self._since = moment

    def is_settled(self, moment: float, grace: timedelta) -> bool:
        return moment - self._since >= grace.total_seconds()


@dataclass(frozen=True, slots=True)
class ArchiveDays:
    """How long documents and what they said before are kept; none is for ever."""

    documents: int | None = None
    versions: int | None = None


def maintenance_of(services: Services) -> "Maintenance":
    settings = services.settings
    return Maintenance(
        services.database,
        services.clock,
        services.random,
        services.log,
        settings.lease.sweep_every,
        {
            "fetch_log": settings.keep.fetch_log_days,
            "runs": settings.keep.run_days,
            "raw_bodies": settings.keep.raw_days,
            "changes": settings.keep.change_days,
        },
        settings.keep.item_days,
        settings.extract.template_days,
        address_delay=settings.politeness.address_delay,
        lease=settings.lease.duration,
        archive_days=ArchiveDays(
            bound_of(settings.keep.document_days),
            bound_of(settings.keep.version_days),
        ),
        rollup_days=RollupDays(settings.keep.rollup_days, settings.keep.source_rollup_days),
        stores=services.stores,
        figures=services.figures,
    )


async def run_maintenance(services: Services) -> None:
    """Until cancelled."""
    async with (
        heartbeat_of(services, owner_name(MAINTAIN, services.random)) as heart,
        Supervisor(services.clock, services.log, services.figures) as supervisor,
        present(services, heart, MAINTAIN, [MAINTAIN]),
    ):
        maintenance_of(services).start(supervisor)
        await supervisor.wait()


@dataclass(frozen=True, slots=True)
class Maintenance:
    database: Database
    clock: Clock
    random: Random
    log: Logger
    sweep_every: timedelta
    history_days: Mapping[str, int]
    item_days: int
    template_days: int
    longest_snapshot: timedelta = timedelta(seconds=60)
    address_delay: timedelta = timedelta(seconds=1)
    lease: timedelta = timedelta(seconds=60)
    archive_days: ArchiveDays = ArchiveDays()
    rollup_days: RollupDays = field(default_factory=RollupDays)
    stores: BodyStores = NO_STORES
    figures: Figures = field(default_factory=Figures)
    contact: Contact = field(default_factory=Contact)
    watch: ClockWatch = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "watch", ClockWatch(self.database, SystemClock(), self.lease))

    def chores(self) -> tuple[Chore, ...]:
        database = self.database
        return (
            Chore("follow_clock", timedelta(seconds=1), self._follow_clock),
            Chore("promote", timedelta(seconds=1), lambda: maintain.promote(database)),
            Chore("rescue", self.sweep_every, self._rescue),
            Chore("queue_revisits", timedelta(seconds=5), lambda: maintain.queue_revisits(database)),
            Chore("fold_counters", timedelta(seconds=5), lambda: maintain.fold_counters(database)),
            Chore("fold_statistics", timedelta(seconds=60), lambda: maintain.fold_statistics(database)),
            Chore("roll_up", timedelta(seconds=60), lambda: roll_up(database)),
            Chore("roll_up_sources", timedelta(minutes=10), lambda: roll_up_sources(database)),
            Chore("forget_rollups", timedelta(hours=1), lambda: forget_rollups(database, self.rollup_days)),
            Chore("note_health", timedelta(seconds=60), lambda: note_health(database)),
            Chore("fold_totals", timedelta(seconds=60), lambda: fold_totals(database)),
            Chore("name_domains", timedelta(seconds=60), lambda: maintain.name_domains(database)),
            Chore("pace_addresses", timedelta(minutes=1), lambda: pace_addresses(database, self.address_delay)),
            Chore("judge_crowds", timedelta(minutes=10), lambda: judge_crowds(database)),
            Chore("forget_crowds", timedelta(hours=1), lambda: forget_crowds(database)),
            Chore("forget_new_hosts", timedelta(hours=1), lambda: maintain.forget_new_hosts(database)),
            Chore("follow_source_status", timedelta(seconds=30), lambda: maintain.follow_source_status(database)),
            Chore("watch_snapshots", timedelta(seconds=30), self._watch_snapshots),
            Chore("forget_sleepers", timedelta(minutes=5), lambda: maintain.forget_sleepers(database)),
            Chore("vacuum_hot_tables", timedelta(minutes=5), lambda: maintain.vacuum_hot_tables(database)),
            Chore("expire_jobs", timedelta(minutes=10), self._expire_jobs),
            Chore("apply_rules", timedelta(seconds=5), self._apply_rules),
            Chore("finish_takedowns", timedelta(seconds=30), lambda: finish_takedowns(database)),
            Chore("watch_decay", timedelta(hours=1), lambda: watch_decay(database)),
            Chore("prove_sources", timedelta(minutes=10), lambda: prove_sources(database)),
            Chore("expire_templates", timedelta(hours=1), lambda: expire(database, self.template_days)),
            Chore("forget_events", timedelta(hours=1), lambda: forget_events(database, EVENT_DAYS)),
            Chore("forget_items", timedelta(hours=1), lambda: forget_items(database, self.item_days)),
            Chore("forget_sightings", timedelta(hours=1), lambda: forget_sightings(database, self.item_days)),
            Chore("forget_requests", timedelta(hours=1), lambda: forget_requests(database)),
            Chore("forget_former_robots", timedelta(hours=1), self._forget_former_robots),
            Chore("forget_lines", timedelta(minutes=5), lambda: forget_lines(database)),
            Chore("forget_processes", timedelta(hours=1), lambda: forget_processes(database)),
            # Processes of `deliver` do it at once; where none runs, the log goes on all the same.
            Chore("move_changes", timedelta(minutes=1), lambda: move_changes(database)),
            Chore("keep_archive", timedelta(hours=1), self._keep_archive),
            Chore("keep_history", timedelta(hours=1), self._keep_history),
            Chore("try_body_store", timedelta(minutes=5), self._try_body_store),
            Chore("remove_bodies", timedelta(seconds=10), self._remove_bodies),
            Chore("collect_bodies", timedelta(hours=1), self._collect_bodies),
            Chore("note_sizes", timedelta(hours=1), lambda: note_sizes(database)),
        )

    def start(self, supervisor: Supervisor) -> None:
        self.contact.begin(self.clock.monotonic())
        watched = (replace(chore, work=partial(self._in_contact, chore.work)) for chore in self.chores())
        start_chores(watched, supervisor, self.random)

    async def once(self) -> None:
        """Every chore one time, in order."""
        for chore in self.chores():
            await chore.work()

    async def _in_contact(self, work: Callable[[], Awaitable[object]]) -> None:
        try:
            await work()
        except DatabaseDown:
            self.contact.begin(self.clock.monotonic())
            raise

    async def _follow_clock(self) -> None:
        if step := await self.watch.look():
            self.log.error("database_clock_was_set", by_seconds=round(step.total_seconds(), 1))

    async def _forget_former_robots(self) -> None:
        await forget_former_robots(self.database, self.history_days["fetch_log"])

    async def _rescue(self) -> None:
        # First: a clock that was set forward makes every lease look expired.
        await self._follow_clock()
        # Who could not reach the database either is given time to say that it lives.
        if not self.contact.is_settled(self.clock.monotonic(), min(LONGEST_GRACE, self.lease / 3)):
            return
        done = await maintain.rescue(self.database, lease=self.lease)
        if done.rescued:
            self.figures.add(LEASES_RESCUED, times=done.rescued)
            counts = {"rescued": done.rescued, "suspected": done.suspected, "poisoned": done.poisoned}
            self.log.warning("leases_rescued", **counts)

    async def _apply_rules(self) -> None:
        done = await apply_rules(self.database)
        if done.moved or done.merged:
            self.log.info("entries_rekeyed", moved=done.moved, merged=done.merged, waiting=done.busy)

    async def _expire_jobs(self) -> None:
        """Vacancies whose deadline has passed, and those whose source was removed."""
        await end_jobs_of_removed(self.database)
        while True:
            async with self.database.transaction() as connection:
                now = await connection.fetchval(queries.server_time)
                if await expire_jobs(connection, now) < EXPIRED_AT_ONCE:
                    return

    async def _watch_snapshots(self) -> None:
        found = await maintain.oldest_snapshot(self.database)
        if found and found.age > self.longest_snapshot:
            self.log.error(
                "old_snapshot_holds_vacuum_back",
                age_seconds=round(found.age.total_seconds()),
                pid=found.pid,
                application=found.application,
                state=found.state,
            )

    async def _keep_archive(self) -> None:
        """Documents before versions: what they leave goes in the same round."""
        removed = {
            "documents": await remove_old_documents(self.database, self.archive_days.documents),
            "versions": await forget_old_versions(self.database, self.archive_days.versions),
        }
        if any(removed.values()):
            self.log.info("archive_aged", **removed)

    async def _try_body_store(self) -> None:
        if self.stores.chosen:
            await try_store(self.stores.chosen, await self.database.fetchval(archive_queries.new_body_id))

    async def _remove_bodies(self) -> None:
        if removed := await remove_bodies(self.database, self.stores):
            self.log.info("raw_bodies_removed", count=removed)

    async def _collect_bodies(self) -> None:
        if found := await collect_bodies(self.database, self.stores, grace_of(self.lease)):
            self.log.info("raw_bodies_collected", count=found)

    async def _keep_history(self) -> None:
        for table, days in self.history_days.items():
            if dropped := await keep_days(self.database, table, days):
                self.log.info("days_dropped", table=table, count=len(dropped))
        await note_oldest(self.database)
