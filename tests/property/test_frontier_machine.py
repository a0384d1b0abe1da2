"""The frontier on a real database against a model in plain Python, in any order hypothesis can think of.

HEADWATER_MACHINE_EXAMPLES=1000 looks longer.
"""

import asyncio
import os
from collections.abc import Coroutine
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)
from tests.integration.frontier.invariants import broken_invariants, counts, record_status_changes, unlawful_changes
from tests.integration.frontier.stage import (
    AT_ONCE,
    LEASE,
    NEVER_BEGAN,
    Stage,
    add_source,
    everything,
    queries,
    seconds,
)
from tests.property.frontier_model import PACES, URLS, VERDICTS, Host, Model

from headwater.database.heartbeat import Heartbeat
from headwater.database.pool import Database
from headwater.frontier.claim import Allowance
from headwater.frontier.control import EntryKey, change
from headwater.frontier.entry import EntryOrigin, EntryStatus, Lease
from headwater.frontier.maintain import fold_counters, promote, queue_revisits
from headwater.frontier.submit import DOMAIN_CLAIM, HOME_CLAIM, NO_CLAIM, FoundUrl, SubmitOutcome, entry_priority
from headwater.frontier.verdicts import Fetched, Released, RetryLater, Verdict
from headwater.politeness.hosts import close_host
from headwater.politeness.slots import Slot
from headwater.urls.canonical import canonicalise
from headwater.urls.domains import NO_VOICE, Voice

EXAMPLES = int(os.environ.get("HEADWATER_MACHINE_EXAMPLES", "70"))
# To shrink a failure takes minutes; it is remembered, and shrunk when somebody looks longer.
PHASES = set(Phase) if "HEADWATER_MACHINE_EXAMPLES" in os.environ else set(Phase) - {Phase.shrink, Phase.explain}
LONG_AGO = datetime.fromisoformat("2000-01-01T00:00:00Z")
TABLES = "url_frontier, hosts, slots, counters, counter_deltas, fetch_log, host_closures, discoveries, sources"
OPEN_HOSTS_WITH_WORK = """
    SELECT h.host, h.is_doubted FROM hosts h
    WHERE h.in_flight < capacity_of(h.max_concurrency, h.bad_in_a_row) AND greatest(h.closed_until, h.yield_until) <= $1
      AND h.next_slot_at - (h.burst - 1) * spacing_of(h.delay_ms, h.penalty_ms) <= $1
      AND EXISTS (SELECT 1 FROM url_frontier e WHERE e.bucket = h.bucket AND e.host = h.host AND e.held IS NULL
                  AND e.status IN ('pending', 'failed') AND e.next_fetch_at <= $1)"""

owners = st.sampled_from(["ann", "bob"])
hosts = st.sampled_from(sorted(PACES))
numbers = st.integers(0, 1_000)
T = TypeVar("T")

HOME = "one.example"


@dataclass
class Ground:
    """One database for the whole run, emptied between examples."""

    database: Database
    runner: asyncio.Runner

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    async def empty(self) -> None:
        await self.database.execute("; ".join(f"DELETE FROM {table}" for table in TABLES.split(", ")))


class FrontierMachine(RuleBasedStateMachine):
    ground: Ground

    def __init__(self) -> None:
        super().__init__()
        self.run = self.ground.run
        self.database = self.ground.database
        self.run(self.ground.empty())
        self.stage = Stage(self.database, self.run(add_source(self.database)))
        self.sources = [self.stage.source, self.run(add_source(self.database, priority=7))]
        self.model = Model(active=dict.fromkeys(self.sources, True))
        self.issued: list[Lease] = []
        self.slots: list[Slot] = []
        self.living: dict[str, Heartbeat] = {}
        self.run(self._make_hosts())

    async def _make_hosts(self) -> None:
        for name, (delay_ms, max_concurrency, burst) in PACES.items():
            await self.stage.end(await self.stage.reserve(name), visit=NEVER_BEGAN)
            await self.stage.set_host(
                name, delay_ms=delay_ms, max_concurrency=max_concurrency, burst=burst, owes_claim=False
            )
            self.model.hosts[name] = Host(timedelta(milliseconds=delay_ms), max_concurrency, burst, LONG_AGO)

    @property
    def now(self) -> datetime:
        return self.stage.now

    @rule(count=st.sampled_from([0.01, 0.3, 0.53, 0.53, 1.03, 1.03, 2.03, 2.03, 5, 11, 700]))
    def time_passes(self, count: float) -> None:
        self.stage.wait(count)

    @rule()
    def everybody_freezes(self) -> None:
        """Longer than a lease, and nobody has noticed yet."""
        self.stage.wait(LEASE.total_seconds() + 0.5)

    @rule()
    def everybody_dies(self) -> None:
        self.stage.wait(LEASE.total_seconds() + 10)
        self.rescue()
        self.stage.wait(2.03)

    @initialize(due_in=st.sampled_from([None, 3.0]))
    def something_waits(self, due_in: float | None) -> None:
        self.submit(URLS[::2], 0, EntryOrigin.FEED, due_in, None)
        self.submit(URLS[1::4], 1, EntryOrigin.SPIDER, due_in, None)

    @rule(
        urls=st.lists(st.sampled_from(URLS), min_size=1, max_size=4, unique=True),
        which=st.integers(0, 1),
        origin=st.sampled_from([EntryOrigin.FEED, EntryOrigin.SPIDER]),
        due_in=st.sampled_from([None, None, 30.0, -5.0]),
        changed=st.sampled_from([None, None, 0.0, -100.0, 500.0]),
        rank=st.sampled_from([NO_CLAIM, NO_CLAIM, DOMAIN_CLAIM, HOME_CLAIM]),
    )
    def submit(
        self,
        urls: list[str],
        which: int,
        origin: EntryOrigin,
        due_in: float | None,
        changed: float | None,
        *,
        rank: int = NO_CLAIM,
    ) -> None:
        found = [
            FoundUrl(
                url,
                due_in=None if due_in is None else seconds(due_in),
                changed_at=None if changed is None else self.now + seconds(changed),
            )
            for url in urls
        ]
        source, priority = self.sources[which], entry_priority(5 + 2 * which, origin)
        voice = Voice(named=frozenset(PACES)) if rank else NO_VOICE
        home = f"https://{HOME}/" if rank == HOME_CLAIM else None
        expected = [self._submitted(one, source, priority, rank) for one in found]
        assert self.run(self.stage.submit(*found, source=source, origin=origin, voice=voice, home=home)) == expected

    def _submitted(self, found: FoundUrl, source: UUID, priority: int, rank: int) -> SubmitOutcome:
        host = canonicalise(found.url).host
        heard = min(rank, HOME_CLAIM if host == HOME else DOMAIN_CLAIM) if self.model.active[source] else NO_CLAIM
        return self.model.submit(found, host, source, priority, self.now, rank=heard)

    @rule(
        owner=owners,
        rounds=st.integers(1, 3),
        pause=st.sampled_from([0.0, 0.0, 0.53, 1.03, 2.03, 7.0]),
        verdict=st.sampled_from(VERDICTS),
        late=st.sampled_from([0.0, 0.02, 7.0]),
    )
    def work(self, owner: str, rounds: int, pause: float, verdict: Verdict, late: float) -> None:
        """What a worker does all day."""
        for _ in range(rounds):
            known = len(self.issued)
            self.claim(5, owner)
            self.stage.wait(pause)
            for lease in self.issued[known:]:
                self._settle(lease, verdict, late)
            self.the_model_agrees()

    @rule(limit=st.integers(1, 5), owner=owners, doubted=st.sampled_from([5, 5, 0, 1]))
    def claim(self, limit: int, owner: str, doubted: int = 5) -> None:
        due = {name: self.model.best_due(name, self.now) for name in PACES}
        looked = self.run(self.stage.look(limit, owner, Allowance(doubted, 0)))
        in_doubt = [lease for lease in looked.leases if self.model.hosts[lease.host].is_doubted]
        assert [lease for lease in looked.leases if lease.is_doubted] == in_doubt
        assert len(in_doubt) <= doubted
        self._note_set_aside(due)
        for lease in sorted(
            looked.leases, key=lambda lease: (lease.window.earliest, self.model.entries[lease.url].rank)
        ):
            self._expect_best(lease, due[lease.host])
            self._note_lease(lease, "page", owner)
        # One that rose above the level at which it was visited is left for a moment, and the claim says so.
        if len(looked.leases) < limit and looked.come_back_in != seconds(0.05):
            left = self.run(self.database.fetch(OPEN_HOSTS_WITH_WORK, self.now))
            assert [row for row in left if not row["is_doubted"] or len(in_doubt) < doubted] == []
        # Hosts that answer come first: where one in doubt was taken, none of them was left.
        if in_doubt and looked.come_back_in != seconds(0.05):
            left = self.run(self.database.fetch(OPEN_HOSTS_WITH_WORK, self.now))
            assert [row for row in left if not row["is_doubted"]] == []
        assert len(looked.leases) <= limit

    def _place(self, lease: Lease) -> tuple[object, ...]:
        return lease.window.earliest, self.model.entries[lease.url].rank

    def _note_set_aside(self, due: dict[str, list[str]]) -> None:
        for url, row in self.run(self._rows()).items():
            entry = self.model.entries[url]
            if row["held"] == "paused" and entry.held is None:
                assert not self.model.active[entry.source]
                assert url in due[entry.host]
                entry.held = "paused"

    def _expect_best(self, lease: Lease, due: list[str]) -> None:
        """The best of its host that has not been taken or set aside before it."""
        entries = self.model.entries
        left = [url for url in due if entries[url].held is None and entries[url].status != "fetching"]
        assert entries[lease.url].rank == entries[left[0]].rank
        assert self.model.active[entries[lease.url].source]

    def _note_lease(self, lease: Lease, kind: str, owner: str) -> None:
        assert self.model.hosts[lease.host].closed_until <= self.now
        starts_at = self.now + seconds(lease.window.earliest - self.stage.clock.monotonic())
        self.model.lease(lease, kind, owner, starts_at, self.now + LEASE)
        self.issued.append(lease)

    @rule(owner=owners)
    def claim_suspect(self, owner: str) -> None:
        lease = self.run(self.stage.claim_suspect(owner))
        if lease is not None:
            assert self.model.entries[lease.url].held == "suspect"
            assert owner not in {running.owner for running in self.model.running.values()}
            self._note_lease(lease, "suspect", owner)

    # No preconditions: whose turn the database calls first among equals is not ours to say, and what is tried next must
    # not depend on it.
    @rule(which=numbers, verdict=st.sampled_from(VERDICTS), late=st.sampled_from([0.0, 0.02, 7.0]))
    def settle(self, which: int, verdict: Verdict, late: float) -> None:
        """Any lease ever issued, also one that has long been lost: a frozen worker that thaws."""
        if self.issued:
            self._settle(self._some_lease(which), verdict, late)

    def _some_lease(self, which: int) -> Lease:
        """Rather one that has not been settled, if there is any."""
        unsettled = [lease for lease in self.issued if lease.token in self.model.running]
        leases = unsettled if unsettled and which % 4 else self.issued
        return leases[which % len(leases)]

    def _settle(self, lease: Lease, verdict: Verdict, late: float) -> None:
        if not self.model.is_live(lease.token, self.now):
            self._nothing_changes_by(self.stage.settle(lease, verdict))
            return
        running = self.model.running[lease.token]
        if running.starts_at > self.now:
            verdict = Released()
        lateness = self._possible_lateness(lease, late)
        visit = NEVER_BEGAN if isinstance(verdict, Released) else replace(AT_ONCE, started_after=lateness)
        if isinstance(verdict, RetryLater):
            visit = replace(visit, status=None)
        if visit.started_after:
            self.model.began_late(lease.token, visit.started_after)
        assert self.run(self.stage.settle(lease, verdict, visit))
        self.model.settle(lease.token, verdict, self.now)

    def _possible_lateness(self, lease: Lease, late: float) -> timedelta:
        running = self.model.running[lease.token]
        is_alone = self.model.hosts[lease.host].max_concurrency == 1
        return max(timedelta(), min(seconds(late if is_alone else min(late, 0.03)), self.now - running.starts_at))

    def _nothing_changes_by(self, settling: Coroutine[Any, Any, bool]) -> None:
        before = self.run(everything(self.database))
        assert not self.run(settling)
        assert self.run(everything(self.database)) == before

    @rule(verdict=st.sampled_from([Fetched(), Released()]))
    def settle_all_at_once(self, verdict: Verdict) -> None:
        live = [lease for lease in self.issued if self.model.is_live(lease.token, self.now)]
        chosen = [(lease, verdict if self._may_have_begun(lease) else Released()) for lease in live]
        assert self.run(self.stage.settle_all(chosen)) == len(live)
        for lease, fitting in chosen:
            self.model.settle(lease.token, fitting, self.now)

    def _may_have_begun(self, lease: Lease) -> bool:
        return self.model.running[lease.token].starts_at <= self.now

    @rule(which=numbers)
    def heartbeat(self, which: int) -> None:
        if not self.issued:
            return
        lease = self._some_lease(which)
        is_live = self.model.is_live(lease.token, self.now)
        assert self.run(self.stage.extend(lease)) == is_live
        if is_live:
            self.model.running[lease.token].expires_at = self.now + LEASE

    @rule()
    def rescue(self) -> None:
        expected = self.model.rescue(self.now, LEASE, self.living)
        assert self.run(self.stage.rescue(LEASE))[0] == expected

    @rule(owner=owners)
    def heart_begins_to_beat(self, owner: str) -> None:
        if owner not in self.living:
            self.living[owner] = Heartbeat(self.database, owner, 30)
            self.run(self.living[owner].fetchval("SELECT 1"))

    @rule(owner=owners)
    def heart_stops(self, owner: str) -> None:
        if heart := self.living.pop(owner, None):
            self.run(self._end_heart(heart))

    async def _end_heart(self, heart: Heartbeat) -> None:
        await heart.__aexit__(None, None, None)
        while await self.database.fetchval("SELECT is_owner_alive($1, NULL)", heart.owner):
            await asyncio.sleep(0.001)

    def teardown(self) -> None:
        for owner in list(self.living):
            self.heart_stops(owner)

    @rule(which=numbers, verdict=st.sampled_from(VERDICTS), pause=st.sampled_from([0.0, 1.03, 61.0]), owner=owners)
    def settle_unheard(self, which: int, verdict: Verdict, pause: float, owner: str) -> None:
        """The answer is lost, and its worker tries again: meanwhile the entry may be somebody else's."""
        if not self.issued:
            return
        lease = self._some_lease(which)
        self._settle(lease, verdict, late=0.0)
        self.the_model_agrees()
        self.stage.wait(pause)
        self.claim(5, owner)
        self._nothing_changes_by(self.stage.settle(lease, verdict))

    @rule(which=numbers, verdict=st.sampled_from(VERDICTS), owner=owners)
    def settle_after_another_took_it(self, which: int, verdict: Verdict, owner: str) -> None:
        """Tried again for so long that the lease ran out, was taken back and given to somebody else."""
        if not self.issued:
            return
        lease = self._some_lease(which)
        self.stage.wait(LEASE.total_seconds() + 0.5)
        self.rescue()
        self.the_model_agrees()
        self.stage.wait(2.03)
        self.claim(5, owner)
        self._nothing_changes_by(self.stage.settle(lease, verdict))

    @rule(host=hosts)
    def reserve_thrice(self, host: str) -> None:
        for _ in range(3):
            self.reserve(host)

    @rule(host=hosts)
    def reserve(self, host: str) -> None:
        answer = self.run(self.stage.ask(host))
        if isinstance(answer, Slot):
            assert self.model.hosts[host].closed_until <= self.now
            starts_at = self.now + seconds(answer.window.earliest - self.stage.clock.monotonic())
            assert starts_at <= self.now + seconds(10)
            self.model.reserve(answer, starts_at, starts_at + LEASE)
            self.slots.append(answer)

    @rule(which=numbers, asked=st.sampled_from([None, None, 0.0, 40.0]))
    def end_reservation(self, which: int, asked: float | None) -> None:
        if not self.slots:
            return
        slot = self.slots[which % len(self.slots)]
        close_for = None if asked is None else seconds(asked)
        if not self.model.is_live(slot.token, self.now):
            self._nothing_changes_by(self.stage.end(slot, close_for=close_for))
            return
        assert self.run(self.stage.end(slot, close_for=close_for))
        self.model.running.pop(slot.token)
        self.model.hosts[slot.host].is_doubted = False
        if close_for is not None:
            self.model.close(slot.host, self.now + close_for)

    @rule()
    def pause(self) -> None:
        self.run(self.stage.set_source("paused", self.sources[1]))
        self.model.active[self.sources[1]] = False

    @rule()
    def resume(self) -> None:
        self.run(self._resume(self.sources[1]))
        self.model.active[self.sources[1]] = True
        for entry in self.model.entries.values():
            if entry.held == "paused":
                entry.held = None

    async def _resume(self, source: Any) -> None:
        await self.stage.set_source("active", source)
        rows = await self.database.fetch(queries.held_entries_of_source, source, 100)
        keys = [EntryKey(row["bucket"], row["url_hash"]) for row in rows]
        await change(self.database, keys, before=(EntryStatus.PENDING, EntryStatus.FAILED), now=self.now)

    @rule()
    def a_person_asks_again(self) -> None:
        ended = {url: entry for url, entry in self.model.entries.items() if entry.status in ("dead", "fetched")}
        keys = [EntryKey(key.bucket, key.url_hash) for key in map(canonicalise, ended)]
        before = (EntryStatus.DEAD, EntryStatus.FETCHED)
        changing = change(self.database, keys, before=before, status=EntryStatus.PENDING, now=self.now)
        assert self.run(changing) == len(ended)
        for entry in ended.values():
            entry.status, entry.retry_count = "pending", 0

    @rule(host=hosts, wait=st.sampled_from([None, 5.0, 90.0]))
    def close_by_hand(self, host: str, wait: float | None) -> None:
        """A person's pause; opening it leaves what the server asked for in force."""
        until = None if wait is None else self.now + seconds(wait)
        self.run(close_host(self.database, host, "paused", until, self.now))
        row = self.run(self.stage.host(host))
        is_ever_closed = row["closed_until"].year > LONG_AGO.year
        self.model.hosts[host].closed_until = row["closed_until"] if is_ever_closed else LONG_AGO

    @rule()
    def maintenance(self) -> None:
        self.run(promote(self.database, self.now))
        self.run(fold_counters(self.database))
        self.run(queue_revisits(self.database, self.now))
        for url, row in self.run(self._rows()).items():
            entry = self.model.entries[url]
            if entry.status == "fetched" and row["status"] == "pending":
                entry.status = "pending"

    @invariant()
    def the_model_agrees(self) -> None:
        rows = self.run(self._rows())
        assert rows.keys() == self.model.entries.keys()
        for url, row in rows.items():
            entry = self.model.entries[url]
            found = row["status"], row["held"], row["priority"], row["retry_count"]
            assert found == (entry.status, entry.held, entry.priority, entry.retry_count), url
            # The exact time has jitter in it; that it is never advanced is the model's to say.
            if entry.status == "failed":
                assert row["next_fetch_at"] >= entry.next_fetch_at, url
            entry.next_fetch_at = row["next_fetch_at"]
        assert self.run(counts(self.database)) == self.model.counts()

    @invariant()
    def starts_lie_a_delay_apart(self) -> None:
        for name, host in self.model.hosts.items():
            assert host.crowded_starts() == [], name

    @invariant()
    def running_requests_are_slots(self) -> None:
        tokens = self.run(self.database.fetch("SELECT token FROM slots"))
        assert {row["token"] for row in tokens} == self.model.running.keys()

    @invariant()
    def the_database_is_in_order(self) -> None:
        assert self.run(broken_invariants(self.database, self.now)) == []

    async def _rows(self) -> dict[str, Any]:
        rows = await self.database.fetch(
            "SELECT url, status, held, priority, retry_count, next_fetch_at FROM url_frontier"
        )
        return {row["url"]: row for row in rows}


@pytest.mark.long
def test_the_frontier_does_what_its_model_says(database_url: str) -> None:
    with asyncio.Runner() as runner:
        database = runner.run(Database.connect(database_url, size=2))
        runner.run(record_status_changes(database))
        ground = Ground(database, runner)
        machine = type("Machine", (FrontierMachine,), {"ground": ground})
        run_state_machine_as_test(
            machine,
            settings=settings(
                max_examples=EXAMPLES,
                stateful_step_count=50,
                deadline=None,
                suppress_health_check=list(HealthCheck),
                phases=PHASES,
            ),
        )
        assert runner.run(unlawful_changes(database)) == set()
        runner.run(database.close())
