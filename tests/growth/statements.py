"""How each named statement is called in earnest: one entry for every `-- name:` of every queries.sql.

Parameters are those of a busy moment, taken from a world that `benchmarks/scale_world.py` filled: a poll with twenty
items, a page of fifty, a batch as its caller makes it. A statement with several plans has several calls.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from headwater.database.queries import load_queries
from headwater.search.facets import Facet
from headwater.search.listing import VACANCY_COLUMNS
from headwater.sources.finding import ids_beginning_with
from headwater.sources.kinds import NEWS
from headwater.sources.source import Profile

# Values by position, or by name where the statement has names.
Calls = Sequence[tuple[object, ...] | Mapping[str, object]]

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
NOBODY, LAST_ID = UUID(int=0), UUID(int=2**128 - 1)
EARLIEST, LATEST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
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
    runs: list[UUID]
    # Since then there were twenty requests, and twenty runs.
    log_since: datetime
    runs_since: datetime
    # A sink that holds every document, is leased, and is behind by some changes; it delivers the view.
    sink: UUID
    sink_token: UUID
    view: UUID
    log_position: int

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
                "192.0.2.7",
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
                ["train=refused"],
                None,
                ["A. Writer"],
                b"packed blocks",
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
        **{f"deliver.{name}": made for name, made in _deliver(w).items()},
        "deliver.sinks.delivered_documents": [{"sink_id": w.sink, "hashes": w.hashes}],
        **{f"discover.{name}": made for name, made in _discover(w).items()},
        **{f"discover.push.{name}": made for name, made in _push(w).items()},
        **{f"fetch.{name}": made for name, made in _fetch(w).items()},
        **{f"frontier.{name}": made for name, made in _frontier(w).items()},
        **{f"ingest.{name}": made for name, made in _ingest(w).items()},
        **{f"learning.{name}": made for name, made in _learning(w).items()},
        **{f"politeness.{name}": made for name, made in _politeness(w).items()},
        **{f"reports.{name}": made for name, made in (_reports(w) | _rollups(w) | _sizes()).items()},
        **{f"accounts.{name}": made for name, made in (_accounts(w) | _audit(w)).items()},
        **{f"serve.{name}": made for name, made in _serve(w).items()},
        **{f"search.{name}": made for name, made in _search(w).items()},
        **{f"sources.{name}": made for name, made in _sources(w).items()},
    }


def _archive(w: Sample) -> dict[str, Calls]:
    key, jobs = (w.bucket, w.hash), ([w.job_bucket], [w.job_hash])
    within = ("elpmaxe.", "", -1, b"", 500)
    return {
        "redirects_of": [(w.buckets, w.hashes)],
        "found_on": [(w.bucket, w.hash)],
        "jobs_read_on_their_pages": [([w.job_bucket], [w.job_hash])],
        "pass_on_list": [(w.job_bucket, w.job_hash, w.job_bucket, w.job_hash)],
        "keep_document": [(w.document(), w.now)],
        "renew_parts": [(w.document(), w.now)],
        "tombstone_documents": [([w.bucket], [w.hash], "gone", w.now)],
        "write_changes": [(["document"], [w.bucket], [w.hash], [2], ["upsert"], w.now)],
        "wake_deliverers": [()],
        "newest_body": [key],
        "newest_bodies_of_source": [(w.source, -1, b"", 50)],
        "has_bodies_in_folder": [()],
        "new_body_id": [()],
        "discard_bodies": [("folder", w.channels)],
        "bodies_to_remove": [("folder", 1_000)],
        "forget_removals": [("folder", w.channels)],
        "removals_waiting": [(100_000,)],
        "sweep_place": [("folder",)],
        "note_sweep": [("folder", w.source), ("folder", None)],
        "bodies_elsewhere": [("folder", -1, b"", None, 16), ("folder", *key, w.now, 16)],
        "move_body": [
            {
                "body": b"",
                "stored_in": "folder",
                "object_id": w.source,
                "bucket": w.bucket,
                "url_hash": w.hash,
                "at": w.now,
                "former_id": None,
            }
        ],
        "keep_outlinks": [(*key, NEW)],
        "outlinks_of": [key],
        "read_document": [key],
        "stated_rights": [key],
        "restate_rights": [(*key, ["train=refused"], [])],
        "find_document": [(w.hash,)],
        "versions_of_document": [key],
        "versions_in_short": [(*key, 1_000_000, 50)],
        "version_of_document": [(*key, 1)],
        "blocks_of_document": [(*key, None), (*key, 1)],
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
    }


def _database() -> dict[str, Calls]:
    return {
        "lock_migrations": [()],
        "say_alive": [("sample",)],
        "ledger_exists": [()],
        "schema_is_there": [("public",)],
        "names_taken": [(["hosts", "slots"], ["submit_urls"])],
        "read_ledger": [()],
        "show_role": [("pg_monitor",)],
        "statements_that_make": [("reports", True, None)],
        "statements_that_grant": [("reports", ["sources"])],
        "statements_that_revoke": [("reports",)],
        "readers": [()],
        "rights_beyond": [("pg_monitor", ["sources"])],
        "record_migration": [(9999, "name", "checksum")],
        "erase_migration": [(9999,)],
        "functions_are_noted": [()],
        "kinds_are_noted": [()],
        "missing_kinds": [(["feed"],)],
        "note_kinds": [(["feed"],)],
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
        "note_bodies_of_day": [(date(2026, 5, 4), None, 20_000), (date(2026, 5, 4), NOBODY, 20_000)],
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
                "is_draining": False,
                "under_way": 0,
            }
        ],
        "ask_to_drain": [(NOBODY, "ann")],
        "end_beats": [(NOBODY,)],
        "forget_processes": [()],
        "keep_lines": [
            (NOBODY, "fetch", "host", 1, '[{"at":"2026-01-01T00:00:00Z","level":"warning","event":"x","url":"y"}]')
        ],
        "forget_lines": [(20_000,)],
    }


def _push(w: Sample) -> dict[str, Calls]:
    hub, topic = "https://hub.example/", "https://a.example/0"
    record = {"proofs": 1, "needed": 3, "pushes": 1, "missed": 0, "last_push_at": w.now, "pinged_at": None}
    token = "token0".ljust(43, "x")
    named = {"protocol": "websub", "hub": hub, "hub_host": "hub.example", "topic": topic}
    ended = {"rhythm": "{}", "last_new_at": w.now, "newest_item_at": w.now, "calls_for_poll": True, "now": w.now}
    return {
        "name_hub": [{"channel_id": w.channel, **named}],
        "forget_callbacks": [(w.channel,)],
        "forget_hub": [(w.channel,)],
        "note_record": [{"channel_id": w.channel, **record, "quiet_until": w.now}],
        "count_unlisted": [(w.channel, w.now, w.now, w.item_hashes[:20], w.now)],
        "claim_subscriptions": [(20,)],
        "drop_unverified": [(w.channel,)],
        "callbacks_to_leave": [(w.channel,)],
        "note_left": [(w.channel,)],
        "end_callback": [("t" * 43,)],
        "add_callback": [{"token": "t" * 43, "channel_id": w.channel, "secret": "s", "hub": hub, "topic": topic}],
        "note_asked": [(w.channel, token, HOUR)],
        "note_not_asked": [(w.channel, "HTTP 503", HOUR)],
        "put_off_hub": [("hub7.example", HOUR, MINUTE)],
        "callback_named": [(token,)],
        "hold_subscription": [(w.channel,)],
        "confirm_callback": [(token,)],
        "begin_lease": [(w.channel, DAY, HOUR)],
        "drop_replaced": [(w.channel, token)],
        "note_denied": [(w.channel, "no", DAY)],
        "keep_push": [(w.channel, "text/xml", b"", MINUTE, 20)],
        "wake_readers": [()],
        "claim_pushed": [("sample", 4, MINUTE)],
        "take_push": [(w.channel, 2)],
        "drop_push": [(1,)],
        "end_push": [{"id": w.leased_channel, "token": w.channel_token, **ended, "shortest": MINUTE, "reason": "so"}],
        "note_ping": [(w.channel, w.now)],
        "forget_pushes": [(DAY,)],
        "look_after_quiet": [()],
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
        "hold_poll": [(w.leased_channel, w.channel_token, MINUTE)],
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
        "note_delays": [(w.source, w.now, [1] * 20)],
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
        "expire_robots": [host],
        "read_tdmrep_of_host": [host],
        "store_tdmrep": [(*host, "https", 443, [["/", "1", ""]], DAY)],
        "freshen_robots": [(*host, "https", 443, DAY)],
        "keep_former_robots": [(*host, "https", 443, NEW)],
        "forget_former_robots": [(30,)],
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
        "offset": 0,
    }
    counted = {name: listed[name] for name in listed if name not in ("after_bucket", "after_hash", "limit", "offset")}
    in_order: dict[str, object] = {
        "bucket": w.host_bucket,
        "host": w.host,
        "level": None,
        "at": w.now - DAY,
        "url_hash": b"",
        "most": 1_001,
        "by_priority": False,
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
        "read_pause": [()],
        "set_pause": [("ann", "moving")],
        "lift_pause": [()],
        "fall_asleep": [("sample", MINUTE)],
        "wake_sleepers": [()],
        "promote_hosts": [(None, 500)],
        "lock_hosts": [hosts],
        "hold_hosts": [(*hosts, 1_000, w.hosts)],
        "refresh_hosts": [(*hosts, None)],
        "due_revisits": [(None, 500)],
        "prepare_revisits": [(*keys, 1)],
        "change_entries": [(*keys, ["fetched"], "pending", None, None, None, None)],
        "put_first": [key],
        "entries_of_source": [(w.source, -1, b"", 500)],
        "hand_over_entries": [(w.source, *keys)],
        "held_entries_of_source": [(w.source, 500)],
        "sources_with_held_entries": [()],
        "entries_of_host": [(*host, b"", ["pending", "failed"], 500)],
        "entries_of_hosts": [(w.host_bucket, [w.host], b"", 500)],
        "count_waiting": [(w.host_bucket, [w.host], 500)],
        "count_living": [keys],
        "robots_blocked_of_host": [(*host, b"", 500)],
        "delete_entries": [(*keys, ["pending"])],
        "failures_by_class": [(10_000, 200)],
        "list_failures": [listed | {"status": "dead", "reason": "not_found"}],
        "count_failures": [counted | {"status": "dead", "reason": "not_found"}],
        "fold_counters": [()],
        "count_statuses": [()],
        "count_entries_of": [(w.sources,)],
        "count_entries": [()],
        "recount_statuses": [()],
        "compare_counts": [()],
        "recount_entries": [()],
        "list_entries": [listed],
        "count_matching": [counted],
        "count_matching_of_source": [counted | {"source_id": w.source}],
        "waiting_in_order": [in_order, in_order | {"level": 5, "by_priority": True}],
        "entries_from": [(w.host_bucket, w.hash[:5], w.hash[:5] + b"\xff" * 27)],
        "owned_by_followed": [keys],
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
        *(None, None, None, None, None, None, None, None, None, None, 1, "poll", None, "192.0.2.7"),
    )
    return {
        "weigh_crowds": [(100,)],
        "judge_crowds": [([w.host_bucket], [w.host], [10], [100.0], [50.0], [2.0])],
        "forget_crowds": [(DAY,)],
        "has_answered": [(w.host_bucket, w.host)],
        "reserve_slot": [(*host, "poll", "sample", MINUTE, second, 1_000, second, None, w.host)],
        "takedowns_over": [([w.host, "example"],)],
        "add_takedown": [("x.example", "x.example", None, None)],
        "remove_takedown": [("gone-1.example",)],
        "want_refused_again": [(w.host,)],
        "one_asks_at_a_time": [()],
        "add_takedown_request": [
            {
                "id": uuid4(),
                "place": "x.example",
                "contact": "ann@x.example",
                "reason": "please",
                "asker": "192.0.2.1",
                "within": DAY,
                "of_one": 5,
                "in_all": 500,
            }
        ],
        "open_takedown_requests": [(500,)],
        "decide_takedown_request": [(NOBODY, "ann", True)],
        "count_takedown_requests": [()],
        "forget_takedown_requests": [(90 * DAY,)],
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
        "lock_policy": [host],
        "set_crawl_delay": [(*host, 1_000)],
        "set_source_delay": [(*host, 1_000)],
        "unpace_host": [host],
        "pace_host": [host],
        "unpaced_hosts": [()],
        "apply_host_policy": [(*host, 1_000, None)],
        "read_host": [host],
        "regrant_slot": [(*slot, second, second, "poll", 200, 100, second, 100, "page", "127.0.0.1", second, None)],
        "end_slots": [([ended], None)],
        "charge_slots": [(*slot, 1, second, w.now, 100, 200, 1_000, "page", "127.0.0.1", None)],
        "weigh_addresses": [(8, 3, 500)],
        "crowded_hosts": [(1_000, None)],
        "pace_hosts": [(*hosts, [100] * len(w.hosts), [second] * len(w.hosts), None)],
        "answering_domains": [("address 1",)],
    }


def _reports(w: Sample) -> dict[str, Calls]:
    key, keys, job = (w.bucket, w.hash), (w.buckets, w.hashes), (w.job_bucket, w.job_hash)
    run: dict[str, object] = {"at": None, "id": NOBODY, "since": None, "looked": 1_000}
    event: dict[str, object] = {"before": w.last_event, "looked": 1_000}
    any_event: dict[str, object] = dict.fromkeys(("kind", "level", "actor", "since"))
    alarms = any_event | {"level": "error"}
    by_source = ((None, None), (w.source, None))
    any_source = dict.fromkeys(("status", "kind", "tag", "mode", "beginning")) | {
        "late": 15 * MINUTE,
        "idle": 30 * DAY,
        "news": NEWS,
        "limit": 50,
    }
    return {
        "log_now": [()],
        "delays_of_log": [()],
        "write_a_little": [()],
        "what_the_role_sees": [()],
        "which_database": [()],
        "server_version": [()],
        "server_time": [()],
        "smallest_gaps": [(HOUR, 20)],
        "pages_requested": [(w.now - 10 * MINUTE, w.now)],
        "robots_in_force": [([w.bucket], [w.host])],
        "requests_near": [
            {
                "earliest": w.now - 2 * MINUTE,
                "latest": w.now + 2 * MINUTE,
                "written_within": 5 * MINUTE,
                "at": w.now,
                "bucket": w.host_bucket if host else None,
                "host": host,
                "url_hash": NEW if host else None,
                "address": "127.0.0.1",
                "most": 20,
            }
            for host in (w.host, None)
        ],
        "recent_addresses": [(10_000,)],
        "span_of_fetch_log": [()],
        "busiest_addresses": [(HOUR, 20)],
        "waiting_hosts": [()],
        "look_up_listed": [keys],
        "walk_documents": [(w.bucket, b"", 50, None), (w.bucket, w.hash, 50, w.now - HOUR)],
        "newest_and_overdue": [(15 * MINUTE, 10_000)],
        "errors_by_host": [(20_000, 10)],
        "upcoming_polls": [(60, 20_000)],
        "list_hosts": [(-1, "", 50)],
        "list_hosts_in_state": [
            {"bucket": -1, "host": "", "state": state, "most": 100, "limit": 50}
            for state in ("open", "closed", "policy")
        ],
        "source_names": [(w.sources,)],
        "page_of_sources": [("", NOBODY, 50)],
        "delays": [()],
        "list_sources": [
            {**any_source, "name": "", "id": NOBODY, "ids": None, **one}
            for one in (
                {},
                *({"status": word} for word in ("paused", "blocked", "failing", "silent", "overdue", "idle")),
                {"kind": "jobs"},
                *({"tag": tag} for tag in ("rare", "nowhere")),
                {"beginning": "publisher 77%"},
                {"mode": "both"},
            )
        ],
        "sources_in_order": [
            {
                **any_source,
                "at": at,
                "errors": 2**31 - 1,
                "key": key,
                "order": order,
                "status": status,
                "is_troubled": status is not None,
            }
            for order, at, key in (
                ("added", EARLIEST, NOBODY),
                ("-added", LATEST, LAST_ID),
                ("next", EARLIEST, NOBODY),
                ("-errors", None, NOBODY),
                ("next", w.now, NOBODY),
                ("-added", w.now, NOBODY),
            )
            for status in (None, "failing")
        ],
        "sources_not_polled": [()],
        "sorted_sources": [
            {"order": f"{name} {way}", "status": None, "kind": None, "tag": None, "feed_active": False}
            | {"limit": 50, "offset": 0}
            for name in ("name", "url", "enabled", "created_at")
            for way in ("asc", "desc")
        ],
        "count_matching_sources": [
            {"status": "paused", "kind": None, "tag": None, "beginning": None, "feed_active": False, "cap": 1_000}
        ],
        "count_sources_in_states": [
            {name: one for name, one in any_source.items() if name not in ("status", "limit")} | {"cap": 10_000}
        ],
        "count_sources": [()],
        "list_runs": [
            run | {"source_id": one, "status": status, "limit": 20} for one, status in (*by_source, (None, "fail"))
        ],
        "last_run_looked_at": [run | {"source_id": one} for one, _ in by_source],
        "list_events": [
            event | about | {"limit": 20, "source_id": one}
            for one, about in ((None, any_event), (w.source, any_event), (None, alarms))
        ],
        "list_lines": [
            {"before": None, "level": "error", "event": None, "role": None, "pid": None, "limit": 50},
        ],
        "last_event_looked_at": [event | {"source_id": one} for one, _ in by_source],
        "source_of_channel": [(w.channel,)],
        "runs_lately": [(None, MINUTE), (w.source, MINUTE)],
        "runs_after": [(w.now - MINUTE, None, w.runs), (w.now - MINUTE, w.source, w.runs)],
        "schedule": [(20,)],
        "schedule_after": [(20, w.now, NOBODY)],
        "discovery_summary": [(500, w.runs_since)],
        "push_summary": [(10_000,)],
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
        "sources_to_look_at": [
            (10, 5_000, ["too many failures"], NEWS, ["dead_domain"], None),
            (10, 5_000, ["too many failures"], NEWS, ["dead_domain"], {"gone": 2}),
        ],
        "read_sources": [(w.sources,)],
        "facts_of_sources": [(w.sources, 10)],
        "troubled_hosts": [(None, 1_000), ([w.host], 1_000)],
        "work_that_waits": [(15 * MINUTE,)],
        "processes_seen": [(35 * MINUTE / 60, 500)],
        "pollers_now": [(35 * MINUTE / 60,)],
        "figures_lately": [()],
        "requests_lately": [()],
        "rows_in_default": [(10_000,)],
        "count_suspects": [(1_000,)],
        "oldest_due": [()],
        "kept_of_page": [key],
        "pages_of_crawl": [(w.source, 2)],
        "page_in_short": [key],
        "way_it_was_found": [key],
        "followers_of_host": [([w.host], [w.host_bucket], [w.host])],
        "listed_at": [key],
    }


def _rollups(w: Sample) -> dict[str, Calls]:
    requests, runs = (w.log_since, w.now), (w.runs_since, w.now)
    minute = w.now.replace(second=0, microsecond=0)
    return {
        "rolled_until": [()],
        "roll_alone": [()],
        "recount_requests": [(*requests, [100, 1_000])],
        "recount_polls": [(*runs, HOUR)],
        "recount_discoveries": [(w.now - 2 * MINUTE, w.now, [60_000, 300_000])],
        "recount_archive": [(w.now - 2 * MINUTE, w.now)],
        "write_rollups": [([minute, minute], ["polls", "polls"], ["a", "new"], [9, 5])],
        "roll_counted": [()],
        "note_levels": [()],
        "move_rollup_mark": [(w.now,)],
        "forget_rollups": [(2 * DAY, 400)],
        "roll_source_hour": [(w.runs_since, 1)],
        "move_source_mark": [(w.now,)],
        "forget_source_days": [(35, 5_000)],
        "forget_source_delays": [(35, 5_000)],
        "delays_of_source": [(w.source, 7)],
        "sink_delays_of_source": [(w.source, 1_000, 7 * DAY)],
        "sink_delays_lately": [("sink_delay",)],
        "polls_avoided_lately": [()],
        "wasteful_channels": [(50,)],
        "crowded_hosts": [(None, 100), ([w.host], 100)],
        "rollup_totals": [()],
        "figure_totals": [()],
        "rollup_state": [()],
        "health_marks": [()],
        "note_health": [(["network"],)],
        "series_by_minutes": [("polls", w.now - DAY, w.now, 5 * MINUTE, False)],
        "series_by_hours": [("polls", w.now - 10 * DAY, w.now, HOUR, False)],
        "days_of_sources": [(w.sources, w.now.date() - 7 * DAY)],
        "runs_since_rolled": [(w.sources, w.now - HOUR)],
    }


def _accounts(w: Sample) -> dict[str, Calls]:
    token = {"id": uuid4(), "name": "tool", "hash": NEW, "prefix": "hw_1", "role": "viewer", "created_by": "ann"}
    return {
        "standing": [()],
        "add_user": [("ann", "admin", "hash", "command line")],
        "lock_admins": [()],
        "lock_user": [("ann",)],
        "read_user": [("ann",)],
        "list_users": [("", 51)],
        "change_user": [("ann", "viewer", None, None)],
        "remove_user": [("nobody",)],
        "add_token": [token | {"expires_at": w.now + DAY}],
        "token_shown": [(NEW,)],
        "note_token_used": [(token["id"],)],
        "list_tokens": [(w.now, NOBODY, 51)],
        "tokens_called": [("tool",)],
        "revoke_token": [(token["id"],)],
        "note_wait": [(["account ann"],)],
        "begin_attempt": [("account ann", 5, 300.0, DAY)],
        "wait_for_attempt": [("account ann",)],
        "forgive_account": [("account ann",)],
        "forgive_address": [("address 192.0.2.1",)],
        "forget_attempts": [(DAY,)],
        "begin_session": [(NEW, "ann", "hash", "192.0.2.1", DAY)],
        "note_login": [("ann", "hash", None)],
        "drop_oldest_sessions": [("ann", 20)],
        "session_shown": [(NEW, HOUR)],
        "note_session_seen": [(NEW,)],
        "end_session": [(NEW,)],
        "list_sessions_of": [("ann", DAY, 50)],
        "end_session_called": [("ann", "00")],
        "end_sessions_of": [("ann",)],
        "forget_sessions": [(HOUR,)],
        "count_accounts": [()],
    }


def _audit(w: Sample) -> dict[str, Calls]:
    page = (w.now, 2**62, w.now - 30 * DAY, 51)
    line = {"actor": "ann", "role": "admin", "proof": "session", "action": "add_view", "target": "/api/v1/views"}
    return {
        "write_audit": [line | {"status": 201, "request_id": "r", "address": "192.0.2.1", "details": {}}],
        "audit_page": [page],
        "audit_page_of_actor": [(*page, "ann")],
        "audit_page_of_action": [(*page, "add_view")],
        "audit_page_of_both": [(*page, "ann", "add_view")],
        "forget_audit": [(400, 5_000)],
    }


def _serve(w: Sample) -> dict[str, Calls]:
    operation = uuid4()
    return {
        "begin_operation": [(operation, "sources.import", "ann", 100)],
        "note_progress": [(operation, 50)],
        "end_operation": [(operation, "done", {"added": 100}, None, 100)],
        "read_operation": [(operation, MINUTE)],
        "list_operations": [(MINUTE, w.now, NOBODY, 51)],
        "forget_operations": [(7 * DAY,)],
        "begin_answer": [("ann", "key", NEW, MINUTE)],
        "kept_answer": [("ann", "key")],
        "keep_answer": [("ann", "key", 200, b"{}")],
        "drop_answer": [("ann", "key")],
        "forget_answers": [(DAY,)],
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
        **dict.fromkeys(("language", "sources", "since", "until", "rank", "bucket", "hash")),
        **dict.fromkeys(("view_id", "view_question")),
        "duplicates": False,
        "rights": ["train=allowed", "tdm=unknown"],
        "most": 1_000,
        "looked": 1_000,
        "limit": 21,
        "mark": "*",
        "angles": "()",
    }

    def asked(word: str) -> dict[str, object]:
        question = {"anywhere": f"'{word}' & 'language english'", "configs": ["english"], "questions": [f"'{word}'"]}
        return filters | question

    newest: dict[str, object] = {
        **dict.fromkeys(("first_seen_at", "language", "since", "until", "view_id", "view_question")),
        "bucket": 0,
        "hash": b"",
        "duplicates": False,
        "rights": [],
        "most": 500,
        "limit": 21,
    }
    newest_jobs = newest | dict.fromkeys(VACANCY_COLUMNS)
    in_view: dict[str, object] = {"view_id": w.view, "view_question": "'harvest' & 'language english'"}
    everywhere: dict[str, object] = dict.fromkeys(("host", "page_type"))
    by: dict[str, object] = {"author": "A. Writer", **everywhere}
    nobody: dict[str, object] = {"author": None, **everywhere}
    counted: dict[str, object] = {
        **{name: filters[name] for name in ("language", "sources", "since", "until", "view_id", "view_question")},
        **nobody,
        "duplicates": False,
        "rights": [],
        "facets": list(Facet),
        "values": 10,
    }

    def counted_with(word: str) -> dict[str, object]:
        return counted | {"anywhere": asked(word)["anywhere"], "looked": 1_000, "most": 1_000}

    found: dict[str, object] = {
        **{
            name: filters[name] for name in ("language", "sources", "since", "until", "view_id", "duplicates", "rights")
        },
        "buckets": w.buckets,
        "hashes": w.hashes,
    }
    place, batch = (w.bucket, w.hash), (0, b"", 200)
    view: dict[str, object] = {
        **{name: [] for name in ("kinds", "source_ids", "tags", "languages", "countries", "rights")},
        "query": "harvest",
        "min_quality": None,
    }
    return {
        "question_to_documents": [("harvest", None)],
        "search_documents": [asked("rare7") | by, asked("harvest") | nobody, asked("harvest") | nobody | in_view],
        "facets_of_search": [
            counted_with("rare7"),
            counted_with("harvest"),
            counted_with("harvest") | {"page_type": "article"},
            counted_with("harvest") | in_view,
        ],
        "facets_of_newest": [
            *(counted | {"sources": one, "looked": 1_000} for one in (None, [w.source])),
            counted | in_view | {"looked": 500},
            counted | {"language": "en", "looked": 1_000},
        ],
        "facets_of_found": [
            {name: value for name, value in counted.items() if name != "view_question"}
            | {"view_id": view_id, "buckets": w.buckets, "hashes": w.hashes}
            for view_id in (None, w.view)
        ],
        "names_of_sources": [(w.sources,)],
        "question_to_jobs": [("lorry", None)],
        "search_jobs": [asked("lorri"), asked("lorri") | in_view],
        "sources_of_view": [(w.view, 500)],
        "has_language": [("en",), ("xx",)],
        "newest_documents": [
            *(newest | by | {"sources": one} for one in (None, [w.source])),
            newest | nobody | {"sources": None} | in_view,
            newest | nobody | {"sources": None, "language": "en"},
        ],
        "newest_jobs": [
            *(newest_jobs | {"sources": one} for one in (None, [w.source])),
            newest_jobs | {"sources": None} | in_view,
        ],
        "add_view": [view | {"name": "another"}],
        "change_view": [view | {"name": "sample", "id": w.view}],
        "remove_view": [(NOBODY,)],
        "sinks_of_view": [(w.view,)],
        "view_named": [("sample",)],
        "lock_view": [("sample",)],
        "view_with_id": [(w.view,)],
        "list_views": [()],
        "count_documents_in_view": [(w.view, "'harvest' & 'language english'", 500)],
        "count_jobs_in_view": [(w.view, "'lorri' & 'language english'", 500)],
        "search_column_now": [()],
        "question_as_typed": [("harvest -tide",)],
        "words_left_out": [(["english", "simple"], ["the", "harvest"])],
        "documents_found": [found | nobody, found | by | {"view_id": w.view}],
        "jobs_found": [found, found | {"view_id": w.view}],
        "duplicates_of_found": [(w.buckets, w.hashes, 20)],
        "begin_switch": [("kept",)],
        "lock_switch": [()],
        "note_switch": [("", -1, b"", 0)],
        "end_switch": [("away", "kept")],
        "empty_documents": [batch, (*place, 200)],
        "empty_jobs": [batch],
        "fill_documents": [batch, (*place, 200)],
        "fill_jobs": [batch],
        "writers_now": [()],
        "is_index_whole": [("documents_search",)],
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
        "write_source": [(None, edited | {"url_hash": f"\\x{NEW.hex()}", "url": profile.url}), (w.source, edited)],
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
        "refill_sinks": [(w.source, "its name changed")],
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


def _deliver(w: Sample) -> dict[str, Calls]:
    kinds = ["document"] * len(w.buckets)
    keys: dict[str, object] = {"kinds": kinds, "buckets": w.buckets, "hashes": w.hashes}
    columns = (kinds, w.buckets, w.hashes)
    places = [""] * len(w.buckets)
    reader: dict[str, object] = {"sink_id": w.sink, "view_id": w.view, "question": "'harvest' & 'language english'"}
    range_ = bytes([7]) + bytes(31), bytes([7, 1]) + bytes(30)
    key, job = (w.bucket, w.hash), {"buckets": [w.job_bucket], "hashes": [w.job_hash]}
    documents = {"buckets": w.buckets, "hashes": w.hashes}
    versions = [1] * len(w.buckets)
    sink: dict[str, object] = {"type": "jsonl", "options": "{}"}
    failed: dict[str, object] = {
        "positions": [w.log_position] * len(w.buckets),
        "versions": versions,
        "finals": [False] * len(w.buckets),
        "from_archive": [False] * len(w.buckets),
        "errors": ["no"] * len(w.buckets),
        "first_wait": MINUTE,
        "longest": DAY,
        "most": 8,
    }
    settled = {"id": w.sink, "token": w.sink_token, "position": w.log_position, "lease": MINUTE, "is_success": True}
    return {
        "move_changes": [(20,)],
        "wake_log_readers": [()],
        "sleep_at_log": [("reader", MINUTE)],
        "look_for_work": [("deliverer", MINUTE, MINUTE)],
        "log_state": [()],
        "read_log": [(w.log_position - 20, w.log_position, 500)],
        "note_oldest": [()],
        "documents_as_they_are": [documents | reader, documents | dict.fromkeys(reader)],
        "jobs_as_they_are": [job | reader],
        "bodies_as_they_came": [(w.buckets, w.hashes)],
        "document_keys": [(*key, 500)],
        "job_keys": [(w.job_bucket, w.job_hash, 500)],
        "document_keys_of_source": [(w.source, None, -1, b"", 500)],
        "job_keys_of_source": [(w.source, None, -1, b"", 500)],
        "lease_sink": [(w.sink, "sample", MINUTE, MINUTE)],
        "filled_places": [(w.sink,)],
        "begin_batch": [(w.sink, w.sink_token, MINUTE)],
        "note_intents": [keys | {"sink_id": w.sink, "token": w.sink_token, "batch_number": 1, "places": places}],
        "settle_sink": [settled | {"sent": 20}],
        "release_sink": [(w.sink, w.sink_token)],
        # A place without records, as one of a new source, and a sink with some anywhere.
        "holds_records": [(w.sink, "nowhere"), (w.sink, None)],
        "outnumber": [(w.sink, w.sink_token, 1)],
        "feeds_of_sources": [([w.source],)],
        "try_sink_at_once": [(w.sink,)],
        "document_keys_to_export": [(-1, b"", 500, None)],
        "job_keys_to_export": [(-1, b"", 500, None)],
        "put_sink_off": [(w.sink, w.sink_token, MINUTE, "down", 1)],
        "disable_sink": [(w.sink, w.sink_token, "gone")],
        "note_delivered": [keys | {"sink_id": w.sink, "versions": versions, "batch_number": 1, "places": places}],
        "forget_delivered": [(w.sink, *columns)],
        "note_failures": [keys | {"sink_id": w.sink} | failed],
        "forget_failures": [(w.sink, *columns)],
        "failures_due": [(w.sink, 500)],
        "move_backfill": [(1, "document", None, *key, 500)],
        "end_backfill": [(1,)],
        "ask_backfill": [(w.sink, None, "it is new")],
        "clear_failures": [(w.sink,)],
        "retry_failures": [(w.sink, None)],
        "add_sink": [sink | {"name": "another", "view_id": None, "set_by": None}],
        "change_sink": [sink | {"id": w.sink}],
        "remove_sink": [(NOBODY,)],
        "set_sink_state": [(w.sink, "paused", None)],
        "list_sinks": [(None,)],
        "sinks_of_search": [("",), ("search",)],
        "failures_of_sink": [(w.sink, 20)],
        "failures_of_sink_by_error": [(w.sink, 10_000, 50)],
        "way_into_sinks": [("document", *key)],
        "changes_of_record": [("document", *key)],
        "count_documents_in_range": [(*range_, 5_001)],
        "count_jobs_in_range": [(*range_, 5_001)],
        "documents_in_range": [reader | {"first": range_[0], "last": range_[1]}],
        "jobs_in_range": [reader | {"first": range_[0], "last": range_[1]}],
        "records_on_their_way": [(w.sink, "document", w.log_position, w.hashes)],
        "note_strays": [(w.sink, "document", w.buckets, w.hashes, places)],
        "ask_again": [(w.sink, "document", w.buckets, w.hashes, versions, places)],
        "held_by_sinks": [("document", w.buckets, w.hashes)],
        "vacancies_to_remove": [(w.sink, -1, b"", 20)],
    }


# A log and a sink as large as the archive.
VIEW = """
insert into views (name, query, tags) values ('sample', 'harvest', '{news}')
on conflict (name) do update set query = excluded.query returning id
"""
SINK = """
insert into sinks (name, type, view_id, position, token, leased_until)
values ('sample', 'jsonl', $1, $2 - 20, gen_random_uuid(), now() + interval '1 hour')
on conflict (name) do update set position = excluded.position returning id, token
"""
LOGGED = """
insert into changes (position, at, kind, bucket, hash, version, op, changed_at)
select row_number() over (order by d.changed_at), now(), 'document', d.bucket, d.url_hash, d.version, 'upsert',
       d.changed_at
from documents d
"""
COUNTED = "update change_counter set position = (select max(position) from changes) returning position"
HELD = """
insert into delivered (sink_id, kind, bucket, hash, version, batch_number, place, at)
select $1::uuid, 'document', bucket, url_hash, version, 1, '', now() from documents
union all
select $1::uuid, 'job', bucket, canonical_hash, version, 1, '', now() from jobs
"""


async def delivered(connection: Any) -> dict[str, Any]:
    if not await connection.fetchval("select exists (select from changes)"):
        await connection.execute(LOGGED)
    position = await connection.fetchval(COUNTED)
    view = await connection.fetchval(VIEW)
    sink = await connection.fetchrow(SINK, view, position)
    await connection.execute(f"{HELD} on conflict do nothing", sink["id"])
    await connection.execute("analyze changes, delivered, sinks, views, delivery_failures, backfills")
    return {"sink": sink["id"], "sink_token": sink["token"], "view": view, "log_position": position}


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
        runs=[uuid4() for _ in range(20)],
        log_since=await connection.fetchval("select at from fetch_log order by at desc offset 20 limit 1"),
        runs_since=await connection.fetchval("select at from runs order by at desc offset 20 limit 1"),
        **await delivered(connection),
    )
