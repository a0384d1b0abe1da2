"""How each named statement is called in earnest: one entry for every `-- name:` of every queries.sql.

Parameters are those of a busy moment, taken from a world that `benchmarks/scale_world.py` filled: a poll with twenty
items, a page of fifty, a batch as its caller makes it. A statement with several plans has several calls.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from headwater.database.queries import load_queries
from headwater.search.listing import VACANCY_COLUMNS
from headwater.sources.kinds import NEWS
from headwater.sources.source import Profile
from headwater.sources.store import ids_beginning_with

# Values by position, or by name where the statement has names.
Calls = Sequence[tuple[object, ...] | Mapping[str, object]]

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
NOBODY = UUID(int=0)
NEW = bytes(range(32))


@dataclass(frozen=True, slots=True)
class Sample:
    """What statements are asked about: a source, its channel, host, pages and documents, and leases that are held."""

    now: datetime
    source: UUID
    channel: UUID
    leased_channel: UUID
    channel_token: UUID
    host: str
    host_bucket: int
    url: str
    bucket: int
    hash: bytes
    buckets: list[int]
    hashes: list[bytes]
    hosts: list[str]
    host_buckets: list[int]
    sources: list[UUID]
    channels: list[UUID]
    item_hashes: list[bytes]
    address: bytes
    job_bucket: int
    job_hash: bytes
    job_id: UUID
    leases: list[Any]  # rows of claim_entries for the owner "sample"
    slot_bucket: int
    slot_token: UUID
    last_event: int
    last_change: int
    runs: list[UUID]
    # Since then there were twenty requests, and twenty runs.
    log_since: datetime
    runs_since: datetime

    def settlement(self, lease: Any) -> tuple[object, ...]:
        return (
            *(
                lease["bucket"],
                lease["token"],
                lease["host"],
                "fetched",
                "fetched",
                None,
                False,
                None,
                None,
                200,
                40_000,
            ),
            *(
                timedelta(milliseconds=5),
                120,
                '"new"',
                None,
                NEW,
                None,
                None,
                None,
                None,
                DAY,
                None,
                None,
                1,
                "page",
                None,
            ),
        )

    def document(self) -> tuple[object, ...]:
        return (
            *(
                self.bucket,
                self.hash,
                self.source,
                self.url,
                self.url,
                "A new title",
                "word1 word2 harvest " * 40,
                160,
                NEW,
            ),
            *(
                "",
                "",
                self.now,
                None,
                "en",
                "",
                ["news"],
                [],
                "article",
                80,
                "{}",
                12345,
                "trafilatura",
                "{}",
                None,
                None,
            ),
        )

    def body(self) -> tuple[object, ...]:
        return (self.bucket, self.hash, self.source, self.url, 200, "{}", b"x" * 2_000, 40_000, "zstd")

    def submissions(self) -> list[tuple[object, ...]]:
        known = [(b, h, self.host, self.url, "feed") for b, h in zip(self.buckets, self.hashes, strict=True)]
        new = [(self.bucket, bytes([n]) * 32, self.host, f"{self.url}/{n}", "feed") for n in range(10)]
        return [(*one, None, 0, 5, None, None, 0, self.host, 1) for one in known + new]


def calls(w: Sample) -> dict[str, list[tuple[object, ...]]]:
    """By package and name, values in the order of the statement."""
    return {name: [_in_order(name, values) for values in made] for name, made in _by_name(w).items()}


def _in_order(name: str, values: tuple[object, ...] | Mapping[str, object]) -> tuple[object, ...]:
    if not isinstance(values, Mapping):
        return values
    package, _, query = name.rpartition(".")
    return load_queries(f"headwater.{package}")[query](**values)[1:]


def _by_name(w: Sample) -> dict[str, Calls]:
    return {
        **{f"archive.{name}": made for name, made in _archive(w).items()},
        **{f"database.{name}": made for name, made in _database().items()},
        **{f"discover.{name}": made for name, made in _discover(w).items()},
        **{f"fetch.{name}": made for name, made in _fetch(w).items()},
        **{f"frontier.{name}": made for name, made in _frontier(w).items()},
        **{f"ingest.{name}": made for name, made in _ingest(w).items()},
        **{f"learning.{name}": made for name, made in _learning(w).items()},
        **{f"politeness.{name}": made for name, made in _politeness(w).items()},
        **{f"reports.{name}": made for name, made in (_reports(w) | _sizes()).items()},
        **{f"search.{name}": made for name, made in _search(w).items()},
        **{f"sources.{name}": made for name, made in _sources(w).items()},
    }


def _archive(w: Sample) -> dict[str, Calls]:
    key, jobs = (w.bucket, w.hash), ([w.job_bucket], [w.job_hash])
    within = ("elpmaxe.", "", -1, b"", 500)
    listed: dict[str, object] = {
        "at": None,
        "bucket": -1,
        "url_hash": b"",
        "since": None,
        "duplicates": False,
        "limit": 50,
    }
    return {
        "redirects_of": [(w.buckets, w.hashes)],
        "found_on": [(w.bucket, w.hash)],
        "jobs_read_on_their_pages": [([w.job_bucket], [w.job_hash])],
        "pass_on_list": [(w.job_bucket, w.job_hash, w.job_bucket, w.job_hash)],
        "keep_document": [(w.document(), w.now)],
        "tombstone_documents": [([w.bucket], [w.hash], "gone", w.now)],
        "write_changes": [(["document"], [w.bucket], [w.hash], [2], ["upsert"], w.now)],
        "take_pending": [(100,)],
        "forget_changes": [([w.last_change, w.last_change - 1],)],
        "newest_body": [key],
        "newest_bodies_of_source": [(w.source, -1, b"", 50)],
        "keep_outlinks": [(*key, NEW)],
        "outlinks_of": [key],
        "read_document": [key],
        "find_document": [(w.hash,)],
        "list_documents": [listed],
        "list_documents_of_source": [listed | {"source_id": w.source}],
        "versions_of_document": [key],
        "hold_jobs": [jobs],
        "write_jobs": [([], w.source, w.channel, w.now)],
        "see_jobs_again": [(*jobs, w.channel, w.now)],
        "overdue_jobs": [(w.now, 500)],
        "unnamed_jobs": [(w.channel, w.now - DAY)],
        "named_and_unnamed": [(w.channel, w.now - DAY, w.now)],
        "pages_gone": [(w.buckets, w.hashes)],
        "expire_jobs": [(*jobs, w.now)],
        "open_jobs_of_source": [(w.source, None, -1, b"", 500), (w.source, w.now, 100, NEW, 500)],
        "open_jobs_of_lists": [(w.source, -1, b"", 500)],
        "hold_left_jobs": [jobs],
        "leave_to_lists": [(*jobs, [w.channel] * len(jobs[0]), [w.now] * len(jobs[0]), w.now)],
        "count_jobs_left": [(w.source,)],
        "lately_removed_sources": [()],
        "note_sightings": [(*jobs, w.source, w.channel, w.url, w.now)],
        "forget_sightings": [(30, 1_000)],
        "delete_jobs": [(*jobs, "person", "gone", w.now)],
        "buckets_of_domain": [(w.host,)],
        "standing_in_bucket": [(w.bucket, b"", w.host, 500)],
        "documents_claiming_within": [within],
        "documents_in_words_of": [([w.source],)],
        "strip_claim": [key],
        "jobs_applied_for_within": [within],
        "jobs_read_within": [within],
        "jobs_told_by": [([w.source], [w.channel], 500)],
        "server_now": [()],
        "old_documents": [
            (2, w.now - timedelta(days=3650), -1, b"", 50),
            (3650, w.now - timedelta(days=3650), -1, b"", 50),
        ],
        "lock_documents": [(w.hashes,)],
        "removable_documents": [(1, w.buckets, w.hashes)],
        "empty_documents": [(w.buckets, w.hashes)],
        "forget_versions_of": [(w.buckets, w.hashes)],
        "forget_outlinks_of": [(w.buckets, w.hashes)],
        "forget_old_versions": [(1, 50), (3650, 50)],
        "forget_old_changes": [(1, 1_000), (3650, 1_000)],
    }


def _database() -> dict[str, Calls]:
    return {
        "lock_migrations": [()],
        "say_alive": [("sample",)],
        "ledger_exists": [()],
        "schema_is_there": [("public",)],
        "names_taken": [(["hosts", "slots"], ["submit_urls"])],
        "read_ledger": [()],
        "record_migration": [(9999, "name", "checksum")],
        "erase_migration": [(9999,)],
        "functions_are_noted": [()],
        "read_functions": [()],
        "record_functions": [(["sample"], ["checksum"])],
        "drop_of_functions": [()],
        "forget_functions": [()],
        "show_types": [()],
        "show_tables": [()],
        "show_views": [()],
        "show_functions": [()],
        "take_over_ledger": [([9999], ["name"], ["checksum"])],
        "take_over_functions": [(["amend_function"],)],
        "found_installation": [("test",)],
        "read_installation": [()],
        "ensure_days": [("runs", 16, 10_000)],
        "old_days": [("runs", 30)],
        "forget_in_default": [("runs", 30, 1_000)],
        "days_ahead": [(["fetch_log", "runs", "raw_bodies"],)],
        "beat": [
            {
                "id": NOBODY,
                "owner": "sample",
                "role": "up",
                "does": ["poll"],
                "host": "host",
                "pid": 1,
                "version": "1.0",
                "failing": "{}",
                "is_first": True,
                "figures": ["lost"],
                "counts": [1],
                "said": ["so"],
            }
        ],
        "end_beats": [(NOBODY,)],
        "forget_processes": [()],
    }


def _discover(w: Sample) -> dict[str, Calls]:
    twenty: list[tuple[object, ...]] = [tuple(w.item_hashes[:20])]
    hashes = list(twenty[0])
    count = len(hashes)
    items = (
        *(w.channel, w.now, hashes, [w.host_bucket] * count, [b"\x02"] * count, ["Title"] * count, ["Author"] * count),
        *(["Summary"] * count, [None] * count, ["en"] * count, [w.now] * count, [None] * count, [None] * count),
    )
    return {
        "claim_channels": [("sample", 32, MINUTE, None, 5, 10, MINUTE, None, 8)],
        "make_everything_due": [(MINUTE, ["feed", "sitemap", "listing", "api"])],
        "read_leased": [([w.leased_channel], "poller", None, ["feed", "sitemap"])],
        "read_channels_of_source": [(w.source,)],
        "extend_polls": [([w.channel_token], MINUTE)],
        "release_polls": [([w.channel_token],)],
        "release_unheld_polls": [("poller", [w.channel_token])],
        "set_channel_aside": [(w.leased_channel, w.channel_token, "unreadable")],
        "known_items": [(w.channel, hashes)],
        "remember_items": [items],
        "settle_page_read": [(w.bucket, w.hash, w.source)],
        "note_page_read": [(w.bucket, w.hash, w.source, None, None)],
        "note_domains": [(w.channel, [w.host], w.now)],
        "foreign_taken": [(w.channel, w.now.date())],
        "count_foreign": [(w.channel, w.now.date(), 3)],
        "see_items_again": [(w.channel, w.now, hashes)],
        "forget_items": [(30, 1_000)],
        "hold_source": [(w.source,)],
        "put_away": [(w.leased_channel, w.channel_token, {"asked": []}, None, None, MINUTE)],
        "finish_poll": [(w.leased_channel, w.channel_token, {"last_status": 200}, None)],
        "who_has_address": [(w.channel, w.source, w.address, "feed")],
        "set_mode": [(w.source, "feed")],
        "sought_no_sitemap": [(w.source,)],
        "was_searched": [(w.source, w.now - DAY)],
        "log_run": [
            (
                *(w.now, w.source, w.channel, "feed", "schedule", "ok", 1, 20, 3, 0, 0, 0, 120, 200, None, "", w.now),
                *("adaptive", "adaptive"),
            )
        ],
        "note_run_of_source": [(w.source, w.now, "ok", "", True)],
        "robots_sitemaps": [(w.host_bucket, w.host)],
        "polls_made": [(w.now - 5 * MINUTE, w.now, ["feed", "listing", "api"])],
        "read_cadence": [(None,)],
        "steer_cadence": [({}, w.now, w.now)],
        "some_rhythms": [(200,)],
        "has_got_to": [(w.leased_channel, w.channel_token, {})],
        "redirects_of": [(w.buckets, w.hashes)],
        "crawl_counts": [(w.source,)],
        "begin_next_round": [(w.source, w.channel, w.now)],
        "begin_round_in_full": [(w.source, w.channel, w.now)],
        "pages_of_source": [(w.source, -1, b"", None, 50)],
    }


def _fetch(w: Sample) -> dict[str, Calls]:
    host = (w.host_bucket, w.host)
    return {
        "look_before_request": [(*host, "https", 443, [w.host, "example"], NEW)],
        "store_robots": [(*host, "https", 443, "rules", b"", NEW, 200, None, DAY, None, None, None, [], None)],
        "freshen_robots": [(*host, "https", 443, DAY)],
        "read_robots_of_host": [host],
        "expired_robots": [(20,)],
        "is_known_host": [host],
    }


def _frontier(w: Sample) -> dict[str, Calls]:
    key, keys, host = (w.bucket, w.hash), (w.buckets, w.hashes), (w.host_bucket, w.host)
    hosts = (w.host_buckets, w.hosts)
    lease = w.leases[0]
    listed: dict[str, object] = {
        **dict.fromkeys(("bucket", "status", "host", "origin", "reason", "url_prefix")),
        "after_bucket": -1,
        "after_hash": b"",
        "most": 500,
        "limit": 51,
    }
    return {
        "submit_urls": [(w.source, w.channel, w.submissions(), 1_000, None, 100)],
        "read_source_for_submit": [(w.source,)],
        "claim_entries": [("another", 20, MINUTE, None, None, None, 5, 0, [], [])],
        "claim_suspect": [("another", MINUTE, None)],
        "has_suspects": [()],
        "settle_requests": [([w.settlement(lease)], None)],
        "extend_leases": [([one["bucket"] for one in w.leases], [one["token"] for one in w.leases], MINUTE, None)],
        "release_all_but": [("sample", [lease["token"]], None)],
        "rescue_expired": [(500, None, MINUTE)],
        "fall_asleep": [("sample", MINUTE)],
        "wake_sleepers": [()],
        "promote_hosts": [(None, 500)],
        "lock_hosts": [hosts],
        "hold_hosts": [(*hosts, 1_000, w.hosts)],
        "refresh_hosts": [(*hosts, None)],
        "due_revisits": [(None, 500)],
        "prepare_revisits": [(*keys, 1)],
        "change_entries": [(*keys, ["fetched"], "pending", None, None, None)],
        "entries_of_source": [(w.source, -1, b"", 500)],
        "hand_over_entries": [(w.source, *keys)],
        "held_entries_of_source": [(w.source, 500)],
        "sources_with_held_entries": [()],
        "entries_of_host": [(*host, b"", ["pending", "failed"], 500)],
        "entries_of_hosts": [(w.host_bucket, [w.host], b"", 500)],
        "count_living": [keys],
        "robots_blocked_of_host": [(*host, b"", 500)],
        "delete_entry": [key],
        "fold_counters": [()],
        "count_statuses": [()],
        "count_entries_of": [(w.sources,)],
        "count_entries": [()],
        "recount_statuses": [()],
        "compare_counts": [()],
        "recount_entries": [()],
        "list_entries": [listed],
        "list_entries_of_source": [listed | {"source_id": w.source}],
        "find_entry": [(*key, None)],
        "closures_of_host": [host],
        "better_waiting_on_host": [(*host, 3, w.now, 1_000, None)],
        "history_of_entry": [(*key, 20)],
        "still_owned": [(w.source, *keys)],
        "try_to_be_alone": [("something",)],
        "recently_stopped_sources": [()],
        "statistics_to_fold": [()],
        "fold_statistics": [(w.log_since, w.now)],
        "fold_requests": [(w.log_since, w.now)],
        "fold_runs": [(w.runs_since, w.now)],
        "oldest_snapshot": [()],
        "forget_sleepers": [()],
        "hosts_without_domain": [(500,)],
        "name_domains": [(*hosts, w.hosts)],
        "pass_on_clock_mark": [(timedelta(seconds=5),)],
        "hold_clock_mark": [()],
        "read_clock": [()],
        "note_clock": [(w.now,)],
        "follow_clock_back": [(w.host_bucket, HOUR, MINUTE)],
        "follow_clock_back_in_channels": [(HOUR, MINUTE)],
        "follow_clock_ahead": [(w.host_bucket, HOUR, w.now, MINUTE)],
        "forget_new_hosts": [()],
        "read_host_rules": [()],
        "hold_host_rules": [host],
        "rules_of_host": [host],
        "set_host_rules": [(*host, True, [], [])],
        "sources_at_host": [host],
        "channels_at_host": [host],
        "rekey_source": [(w.source, NEW)],
        "rekey_channel": [(w.channel, NEW)],
        "rules_to_apply": [(MINUTE,)],
        "take_up_rekeying": [(*host, w.now)],
        "note_rekeying": [(*host, w.now, None, False, MINUTE)],
        "rekey_entry": [(*key, NEW)],
        "known_to_source": [(w.source, *keys)],
        "count_entries_of_source": [(w.source,)],
    }


def _ingest(w: Sample) -> dict[str, Calls]:
    key, keys = (w.bucket, w.hash), (w.buckets, w.hashes)
    count = len(w.buckets)
    lease = w.leases[1]
    return {
        "now": [()],
        "keep_page": [(w.settlement(lease), lease["url_hash"], None, NEW, None, "en", [w.host], w.url)],
        "known_of_pages": [(*keys, [w.source] * count, [w.host] * count, [w.host] * count, [w.host] * count)],
        "pass_on_items": [(*key, w.bucket, NEW)],
        "last_body": [(*key, 40_000)],
        "owner_speaks": [(*key, w.source)],
        "missing_page": [key],
        "repeats_another_page": [(w.source, *key, NEW, 12345)],
        "forget_bodies": [keys],
        "forget_items_of_pages": [keys],
        "forget_items_of_channels": [([w.channel],)],
        "welcome_channels": [([w.channel], [w.source])],
        "welcome_sources": [([w.channel], [w.source])],
        "wake_pollers": [()],
        "sources_within_domain": [(w.host,)],
        "channels_within_domain": [(w.host,)],
        "sighting_urls_within_domain": [("jobs-7.example",)],
        "forget_sightings_at": [([w.url],)],
        "forget_sightings_by": [([w.source],)],
    }


def _learning(w: Sample) -> dict[str, Calls]:
    host, hosts = (w.host_bucket, w.host), (w.host_buckets, w.hosts)
    return {
        "add_learning": [(*hosts, [w.source] * len(w.hosts))],
        "lock_learning": [hosts],
        "standings_of": [(*hosts, 1)],
        "write_learning": [
            (
                [
                    {
                        "bucket": w.host_bucket,
                        "host": w.host,
                        "source_id": str(w.source),
                        "pool": [],
                        "refused": [],
                        "fresh": 1,
                        "why": "",
                    }
                ],
            )
        ],
        "write_standings": [
            (
                [
                    {
                        "bucket": w.host_bucket,
                        "host": w.host,
                        "section": "",
                        "version": 1,
                        "served": 1,
                        "refused": 0,
                        "audited": 0,
                        "refusing": 0,
                        "reasons": {},
                    }
                ],
            )
        ],
        "begin_training": [(HOUR,)],
        "end_training": [(*host, "learned", True)],
        "end_templates": [(*host, None, "expired", "old")],
        "add_template": [(*host, "other", {}, 4, 0.9)],
        "forget_versions": [(*host, 5)],
        "expire_templates": [(90,)],
        "list_learning": [("", 50)],
        "list_templates": [hosts],
        "read_learning": [host],
        "versions_of_host": [host],
        "request_training": [(*host, "a person")],
        "disable_host": [host],
        "count_templates": [()],
    }


def _politeness(w: Sample) -> dict[str, Calls]:
    host, hosts, slot = (w.host_bucket, w.host), (w.host_buckets, w.hosts), (w.slot_bucket, w.slot_token)
    second = timedelta(seconds=1)
    ended = (
        *(w.slot_bucket, w.slot_token, w.host, "fetched", None, None, False, None, None, 200, 1_000, second, 100),
        *(None, None, None, None, None, None, None, None, None, None, 1, "poll", None),
    )
    return {
        "has_answered": [(w.host_bucket, w.host)],
        "reserve_slot": [(*host, "poll", "sample", MINUTE, second, 1_000, second, None, w.host)],
        "takedowns_over": [([w.host, "example"],)],
        "add_takedown": [("x.example", "x.example", None, None)],
        "remove_takedown": [("gone-1.example",)],
        "want_refused_again": [(w.host,)],
        "list_takedowns": [("", 50)],
        "takedowns_of_domains": [([w.host, "example"],)],
        "unswept_takedowns": [(MINUTE,)],
        "is_recorded": [(w.host,)],
        "mark_swept": [("gone-1.example",)],
        "outlive_watchers": [(timedelta(),)],
        "hosts_within_domain": [(w.host,)],
        "closures_of_host": [host],
        "close_host": [(*host, "breaker", w.now + HOUR, None)],
        "set_policy": [(*host, 1, 1_000, 1, 10, 100, False)],
        "clear_policy": [host],
        "set_crawl_delay": [(*host, 1_000)],
        "set_source_delay": [(*host, 1_000)],
        "unpace_host": [host],
        "pace_host": [host],
        "unpaced_hosts": [()],
        "apply_host_policy": [(*host, 1_000, None)],
        "read_host": [host],
        "regrant_slot": [(*slot, second, second, "poll", 200, 100, second, 100, "page", second, None)],
        "end_slots": [([ended], None)],
        "charge_slots": [(*slot, 1, second, w.now, 100, 200, 1_000, "page", None)],
        "weigh_addresses": [(8, 3, 500)],
        "crowded_hosts": [(1_000, None)],
        "pace_hosts": [(*hosts, [100] * len(w.hosts), [second] * len(w.hosts), None)],
        "answering_domains": [("address 1",)],
    }


def _reports(w: Sample) -> dict[str, Calls]:
    key, keys, job = (w.bucket, w.hash), (w.buckets, w.hashes), (w.job_bucket, w.job_hash)
    first = ("", NOBODY)
    return {
        "write_a_little": [()],
        "what_the_role_sees": [()],
        "which_database": [()],
        "server_version": [()],
        "server_time": [()],
        "smallest_gaps": [(HOUR, 20)],
        "busiest_addresses": [(HOUR, 20)],
        "waiting_hosts": [()],
        "list_hosts": [(-1, "", 50)],
        "source_names": [(w.sources,)],
        "page_of_sources": [("", NOBODY, 50)],
        "delays": [()],
        "list_sources": [
            (*first, None, None, None, None, 50),
            (*first, "paused", None, None, None, 50),
            (*first, "blocked", None, None, None, 50),
            (*first, "failing", None, None, None, 50),
            (*first, "silent", None, None, None, 50),
            (*first, None, "jobs", None, None, 50),
            (*first, None, None, "rare", None, 50),
            (*first, None, None, "nowhere", None, 50),
            (*first, None, None, None, "publisher 77%", 50),
        ],
        "count_sources": [()],
        "list_runs": [(None, None, 20, NOBODY), (w.source, None, 20, NOBODY)],
        "runs_lately": [(None, MINUTE), (w.source, MINUTE)],
        "runs_after": [(w.now - MINUTE, None, w.runs), (w.now - MINUTE, w.source, w.runs)],
        "schedule": [(20,)],
        "schedule_after": [(20, w.now, NOBODY)],
        "discovery_summary": [(500, w.runs_since)],
        "runs_folded_until": [()],
        "delays_to_discovery": [(w.now - HOUR,)],
        "channel_that_reads": [(w.host_bucket, w.host, w.url)],
        "archive_in_figures": [()],
        "a_common_word": [()],
        "describe_documents": [keys],
        "describe_jobs": [([w.job_bucket], [w.job_hash])],
        "relatives_of_document": [(*key, 10)],
        "claim_of_document": [key],
        "count_stored_pages": [(w.source,)],
        "why_page_ended": [key],
        "watch_alone": [()],
        "watched_sources": [(NOBODY, 100)],
        "extraction_of_sources": [(w.sources, None, 50, 200, DAY, 30)],
        "template_events": [(w.source, w.host, 20)],
        "hurried_documents": [(HOUR,)],
        "find_vacancy": [job],
        "end_of_page": [(*key, w.now - HOUR)],
        "vacancy_with_id": [(w.job_bucket, w.job_id)],
        "sightings_of_vacancy": [job],
        "sources_to_look_at": [(10, 5_000, "too many failures", NEWS)],
        "read_sources": [(w.sources,)],
        "facts_of_sources": [(w.sources, 10)],
        "troubled_hosts": [(None, 1_000), ([w.host], 1_000)],
        "work_that_waits": [(15 * MINUTE,)],
        "processes_seen": [(35 * MINUTE / 60, 500)],
        "figures_lately": [()],
        "requests_lately": [()],
        "rows_in_default": [(10_000,)],
        "count_suspects": [(1_000,)],
        "kept_of_page": [key],
        "pages_of_crawl": [(w.source, 2)],
        "page_in_short": [key],
        "way_it_was_found": [key],
        "followers_of_host": [([w.host], [w.host_bucket], [w.host])],
        "listed_at": [key],
    }


def _sizes() -> dict[str, Calls]:
    return {
        "sizes_of_tables": [()],
        "note_sizes": [(["documents", "runs"], [1, 2])],
        "forget_sizes": [(60,)],
        "sizes_noted": [(DAY, 8 * DAY)],
        "place_of_data": [()],
    }


def _search(w: Sample) -> dict[str, Calls]:
    filters: dict[str, object] = {
        **dict.fromkeys(("language", "source_id", "since", "until", "rank", "bucket", "hash")),
        "duplicates": False,
        "most": 1_000,
        "limit": 21,
        "mark": "*",
        "angles": "()",
    }

    def asked(word: str) -> dict[str, object]:
        question = {"anywhere": f"'{word}' & 'language english'", "configs": ["english"], "questions": [f"'{word}'"]}
        return filters | question

    newest: dict[str, object] = {
        **dict.fromkeys(("first_seen_at", "language", "since", "until")),
        "bucket": 0,
        "hash": b"",
        "duplicates": False,
        "most": 500,
        "limit": 21,
    }
    newest_jobs = newest | dict.fromkeys(VACANCY_COLUMNS)
    return {
        "question_to_documents": [("harvest", None)],
        "search_documents": [asked("rare7"), asked("harvest")],
        "question_to_jobs": [("lorry", None)],
        "search_jobs": [asked("lorri")],
        "newest_documents": [newest | {"source_id": one} for one in (None, w.source)],
        "newest_jobs": [newest_jobs | {"source_id": one} for one in (None, w.source)],
    }


def _sources(w: Sample) -> dict[str, Calls]:
    hosts, host = (w.host_buckets, w.hosts), (w.host_bucket, w.host)
    profile = Profile("https://new.example/", "Name")
    edited = {one.name: getattr(profile, one.name) for one in fields(Profile) if one.name != "url"}

    def sought(text: str, bucket: int = 1) -> dict[str, object]:
        first, last = ids_beginning_with(text)
        return {
            "wanted": text,
            "url_hash": NEW,
            "beginning": f"{text.lower()}%",
            "bucket": bucket,
            "host": text.lower(),
            "site": None,
            "first_id": first,
            "last_id": last,
        }

    return {
        "create_source": [edited | {"url_hash": NEW, "url": profile.url}],
        "update_source": [edited | {"id": w.source}],
        "bring_polls_forward": [(w.source, HOUR)],
        "plan_revisits": [(w.source, [HOUR])],
        "want_all_again": [(w.source,)],
        "wait_to_be_alone": [()],
        "find_manual_source": [()],
        "create_manual_source": [()],
        "read_source": [(w.source,)],
        "lock_source": [(w.source,)],
        "find_sources": [
            sought("Publisher 77"),
            sought(w.host, w.host_bucket),
            sought(str(w.source)),
            sought(str(w.source)[:8]),
            sought("nothing of ours"),
        ],
        "prove_sources": [(1_000, NEWS)],
        "fold_totals": [()],
        "set_source_status": [(w.source, "paused", "a person")],
        "follow_source_status": [(w.source,)],
        "record_event": [("kind", "info", "person", w.source, w.channel, "said", {})],
        "forget_events": [(180,)],
        "events_of_source": [(w.source, None, 20)],
        "add_channel": [
            {
                "source_id": w.source,
                "kind": "feed",
                "url": w.url,
                "url_hash": NEW,
                "reason": "new",
                "now": None,
                "bucket": w.host_bucket,
                "host": w.host,
                "title": None,
                "recipe": None,
                "heard": None,
                "speaks_for_site": False,
                "due_in": timedelta(),
            }
        ],
        "feed_is_followed": [(w.address,)],
        "site_of_source": [(w.source,)],
        "disable_channel": [(w.channel, "a person")],
        "poll_now": [(w.source, None, "a person", "manual", None)],
        "wake_pollers": [()],
        "channels_of_sources": [(w.sources,)],
        "known_addresses": [([w.address, NEW],)],
        "known_feeds": [([w.address, NEW],)],
        "deleted_addresses": [([w.address, NEW],)],
        "note_external_ids": [(w.sources, [f"x-{n}" for n in range(len(w.sources))])],
        "external_ids_of": [(w.sources,)],
        "voices_of": [(w.sources,)],
        "believe_channels": [(w.sources[:1], [w.address])],
        "render_hosts": [hosts],
        "rendered_hosts": [hosts],
        "slow_down_for_jobs": [host],
        "raise_base_delay": [(*host, 2_000)],
        "source_at": [(w.address,)],
        "source_of_site": [(w.host, w.address, True)],
        "followers_of_feeds": [([w.address, NEW],)],
        "sources_blocked_by_robots": [(*host, "robots")],
        "day_before": [(DAY,)],
        "begin_backfill": [(w.channel, timedelta(), "a person")],
    }


CHANNEL = "select * from channels where kind = 'feed' and is_active and token is null order by md5(url) limit 1"
LEASED = "select id, token from channels where token is not null order by url limit 1"
# One that was fetched, has a document and was listed by its channel.
PAGES = """
select e.bucket, e.url_hash, e.url
from url_frontier e join documents d on d.bucket = e.bucket and d.url_hash = e.url_hash
where e.source_id = $1 and e.status = 'fetched' order by e.url limit 20
"""
CLAIM = "select * from claim_entries('sample', 20, interval '1 hour')"


async def sample(connection: Any) -> Sample:
    """Leases some entries, and looks at what there is."""
    channel = await connection.fetchrow(CHANNEL)
    leased = await connection.fetchrow(LEASED)
    pages = await connection.fetch(PAGES, channel["source_id"])
    leases = [row for row in await connection.fetch(CLAIM) if row["token"]]
    hosts = await connection.fetch("select bucket, host from hosts order by md5(host) limit 20")
    slot = await connection.fetchrow("select bucket, token from slots where kind = 'poll' order by host limit 1")
    job = await connection.fetchrow("select bucket, canonical_hash, id from jobs order by apply_url limit 1")
    ids = [
        row[0]
        for row in await connection.fetch("select id from sources where status = 'active' order by md5(name) limit 50")
    ]
    return Sample(
        now=datetime.now(UTC),
        source=channel["source_id"],
        channel=channel["id"],
        leased_channel=leased["id"],
        channel_token=leased["token"],
        host=channel["host"],
        host_bucket=channel["bucket"],
        url=pages[0]["url"],
        bucket=pages[0]["bucket"],
        hash=pages[0]["url_hash"],
        buckets=[row["bucket"] for row in pages],
        hashes=[row["url_hash"] for row in pages],
        hosts=[row["host"] for row in hosts],
        host_buckets=[row["bucket"] for row in hosts],
        sources=ids,
        channels=[row[0] for row in await connection.fetch("select id from channels where source_id = any ($1)", ids)],
        item_hashes=[
            row[0]
            for row in await connection.fetch("select url_hash from channel_items where channel_id = $1", channel["id"])
        ],
        address=channel["url_hash"],
        job_bucket=job["bucket"],
        job_hash=job["canonical_hash"],
        job_id=job["id"],
        leases=leases,
        slot_bucket=slot["bucket"],
        slot_token=slot["token"],
        last_event=await connection.fetchval("select max(id) from events"),
        last_change=await connection.fetchval("select max(seq) from outbox"),
        runs=[uuid4() for _ in range(20)],
        log_since=await connection.fetchval("select at from fetch_log order by at desc offset 20 limit 1"),
        runs_since=await connection.fetchval("select at from runs order by at desc offset 20 limit 1"),
    )
