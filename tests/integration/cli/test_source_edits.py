"""`headwater sources edit`: every field, every bad value, and what follows from an edit."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.integration.cli.desk import Desk, assert_a_sentence

from headwater.sources.store import EDITABLE


@pytest.fixture
def desk(database_url: str, open_folder: Path) -> Desk:
    return Desk(database_url, open_folder)


def shown(desk: Desk, source: str) -> Any:
    return desk.says("sources", "show", source, "--json").json


EDITS: dict[str, tuple[str, Any]] = {
    "name": ("New name", "New name"),
    "kind": ("jobs", "jobs"),
    "priority": ("8", 8),
    "tags": ("a, b", ["a", "b"]),
    "org_type": ("un", "un"),
    "timezone": ("Europe/Paris", "Europe/Paris"),
    "country": ("FR", "FR"),
    "ingestion_mode": ("both", "both"),
    "policy": ("tiers", "tiers"),
    "poll_every": ("1h30m", 5400),
    "crawl_frequency_days": ("2.5", 2.5),
    "time_window": ("22:00-05:00", "22:00-05:00"),
    "max_depth": ("-1", -1),
    "max_pages": ("100", 100),
    "allowed_domains": ("a.example,b.example", ["a.example", "b.example"]),
    "include_paths": ("/news", ["/news"]),
    "exclude_paths": ("/old,/tag", ["/old", "/tag"]),
    "allow_external": ("yes", True),
    "skips_tdmrep": ("yes", True),
    "speaks_for": ("a.example,b.example", ["a.example", "b.example"]),
    "start_urls": ("https://a.example/start", ["https://a.example/start"]),
    "article_patterns": (r"/\d+/", [r"/\d+/"]),
    "selectors": ('{"article": {"title": "h1"}}', {"article": {"title": "h1"}}),
    "parser_hint": (".vacancy", ".vacancy"),
    "rate_limit_ms": ("2500", 2500),
    "revisit_every": ("24h,7d", [86400, 604800]),
}


def test_every_editable_field_is_tried_here() -> None:
    assert set(EDITS) == set(EDITABLE)


def test_a_list_may_be_written_as_it_is_exported(desk: Desk) -> None:
    source = desk.followed("https://a.example/")
    assert desk.says("sources", "edit", source, 'include_paths=["/news", "/a,b"]').code == 0
    assert shown(desk, source)["include_paths"] == ["/news", "/a,b"]


def test_every_field_can_be_edited_and_taken_back(desk: Desk) -> None:
    source = desk.followed("https://a.example/", "--name", "Alpha")
    before = shown(desk, source)
    said = desk.says("sources", "edit", source, *(f"{name}={text}" for name, (text, _) in EDITS.items()))
    assert said.code == 0, said.err
    assert said.out.startswith(f"Changed: {', '.join(EDITS)}\nNew name  https://a.example/")
    after = shown(desk, source)
    for name, (_, value) in EDITS.items():
        assert after.get(f"{name}_seconds", after.get(name)) == value, name

    back = desk.says("sources", "edit", source, "name=Alpha", *(f"{name}=" for name in EDITS if name != "name"))
    assert back.code == 0, back.err
    again = shown(desk, source)
    kept = {f"{name}_seconds" if f"{name}_seconds" in before else name for name in EDITS}
    assert {name: again[name] for name in kept} == {name: before[name] for name in kept}


BAD_EDITS = [
    ("name=" + "x" * 201, "at most 200 characters"),
    ("kind=films", "One of: news, jobs, docs."),
    ("priority=99", "priority = 99 is not possible: give 1 to 10."),
    ("priority=high", "priority should be a whole number, not 'high'."),
    ("tags=" + ",".join(map(str, range(51))), "at most 50 tags"),
    ("timezone=Mars/Base", "There is no time zone 'Mars/Base'"),
    ("country=Atlantis", "'Atlantis' is no country"),
    ("ingestion_mode=psychic", "One of: feed, spider, both."),
    ("policy=whim", "One of: adaptive, tiers, frequency, fixed."),
    ("poll_every=soon", "poll_every should be a duration"),
    ("poll_every=10s", "give 1m to 365d"),
    ("crawl_frequency_days=often", "crawl_frequency_days should be a number, not 'often'."),
    ("crawl_frequency_days=nan", "give 0.04 to 365"),
    ("crawl_frequency_days=1000", "give 0.04 to 365"),
    ("time_window=night", "'night' is no time window"),
    ("max_depth=1.5", "max_depth should be a whole number"),
    ("max_depth=101", "give -1 to 100"),
    ("max_pages=0", "give 1 to 1000000"),
    ("allowed_domains=https://b.example/", "is no domain: write it as example.org."),
    ("speaks_for=nonsense/", "is no domain: write it as example.org."),
    ("allow_external=maybe", "allow_external should be yes or no, not 'maybe'."),
    ("start_urls=foo", "'foo' cannot be a start page."),
    ("article_patterns=(", "The URL pattern '(' cannot be used"),
    ("selectors=nope", "selectors should be a JSON object, not 'nope'."),
    ("selectors=[1]", "selectors should be a JSON object"),
    ('selectors={"article": {"title": "<<"}}', "is not a CSS selector."),
    ("rate_limit_ms=-1", "give 0 to 86400000"),
    ("revisit_every=1s", "give 1m to"),
    ("revisit_every=24h,1s", "one time or several such as 24h,7d."),
    ("revisit_every=weekly", "revisit_every should be a duration such as 7d, or several such as 24h,7d"),
    ("revisit_every=24h 7d later", "or several such as 24h,7d"),
    ("url=https://b.example/", "The address of a source cannot be changed."),
    ("feed_url=htp://a.example/feed", "feed_url: unsupported scheme (did you mean http://?)"),
    ("sitemap_url=https://a.example/1.xml,https://u:p@a.example/", "sitemap_url: "),
    ("colour=red", "A source has no field 'colour'."),
    ("colour=red", "speaks_for, feed_url, sitemap_url, backfill."),
    ("priority", "'priority' has no value."),
]


@pytest.mark.long
def test_each_bad_value_is_refused_with_a_sentence_and_nothing_changes(desk: Desk, subtests: pytest.Subtests) -> None:
    source = desk.followed("https://a.example/", "--name", "Alpha")
    before = shown(desk, source)
    for edit, told in BAD_EDITS:
        with subtests.test(edit=edit, told=told):
            said = desk.says("sources", "edit", source, "org_type=ngo", edit)
            assert said.code == 2
            assert told in said.err
            assert_a_sentence(said)
            assert shown(desk, source) == before


def test_an_edit_needs_a_change_and_a_source(desk: Desk) -> None:
    source = desk.followed("https://a.example/", "--name", "Alpha")
    nothing = desk.says("sources", "edit", "Alpha")
    assert nothing.code == 2
    assert "poll_every" in nothing.err
    assert desk.says("sources", "edit", "nobody", "priority=8").code == 4
    same = desk.says("sources", "edit", source, "priority=5")
    assert same.out.startswith("Nothing changed: it was so already.\n")
    assert [one["kind"] for one in shown(desk, source)["events"]] == ["channel_added", "source_created"]


def channels_of(desk: Desk, source: str) -> set[tuple[str, bool]]:
    return {(one["kind"], one["is_enabled"]) for one in shown(desk, source)["channels"]}


@pytest.mark.long
def test_the_ingestion_mode_decides_what_is_polled(desk: Desk) -> None:
    source = desk.followed("https://a.example/", "--feed", "https://a.example/feed.xml")
    assert channels_of(desk, source) == {("feed", True)}
    desk.says("sources", "edit", source, "ingestion_mode=spider")
    assert channels_of(desk, source) == {("feed", False), ("listing", True)}
    desk.says("sources", "edit", source, "ingestion_mode=both")
    assert channels_of(desk, source) == {("feed", True), ("listing", True)}
    desk.says("sources", "edit", source, "ingestion_mode=feed")
    assert channels_of(desk, source) == {("feed", True), ("listing", False)}


def polled(desk: Desk, source: str) -> dict[str, set[str]]:
    channels = [one for one in shown(desk, source)["channels"] if one["is_active"]]
    kinds = {one["kind"] for one in channels}
    return {kind: {one["url"] for one in channels if one["kind"] == kind} for kind in kinds}


@pytest.mark.long
def test_the_feeds_and_sitemaps_of_a_source_are_those_a_person_names(desk: Desk) -> None:
    a, b, c, comma = (f"https://a.example/{name}.xml" for name in ("a", "b", "c", "d,sort=1,view=rss2"))
    source = desk.followed("https://a.example/", "--name", "Alpha", "--feed", a, "--feed", b, "--sitemap", a)
    desk.polled_in(timedelta(days=3))
    said = desk.says("sources", "edit", source, f"feed_url={b}, {comma},{c}", f"sitemap_url={b}")
    assert said.out.splitlines()[0] == "Changed: feed_url, sitemap_url"
    assert polled(desk, source) == {"feed": {b, c, comma}, "sitemap": {b}}
    channels = shown(desk, source)["channels"]
    assert {(one["kind"], one["url"], one["disabled_reason"]) for one in channels if not one["is_enabled"]} == {
        ("feed", a, "replaced by a person"),
        ("sitemap", a, "replaced by a person"),
    }
    assert desk.value("select count(*) from channels where is_active and next_poll_at <= now()") == 3
    trail = [one["details"] for one in shown(desk, source)["events"] if one["kind"] == "source_edited"]
    assert trail == [{"sitemap_url": [[a], [b]]}, {"feed_url": [[a, b], [b, comma, c]]}]

    same = desk.says("sources", "edit", source, f"feed_url={c},{comma},{b}")
    assert same.out.startswith("Nothing changed: it was so already.\n")
    desk.says("sources", "edit", source, f"feed_url={a}", "sitemap_url=")
    assert polled(desk, source) == {"feed": {a}}
    desk.says("sources", "edit", source, "feed_url=")
    assert polled(desk, source) == {}


def test_a_feed_that_another_source_follows_changes_nothing(desk: Desk) -> None:
    source = desk.followed("https://a.example/", "--name", "Alpha", "--feed", "https://a.example/feed.xml")
    desk.followed("https://b.example/", "--feed", "https://b.example/feed.xml")
    before = shown(desk, source)
    said = desk.says(
        "sources", "edit", source, "priority=9", "feed_url=https://a.example/new.xml,https://b.example/feed.xml"
    )
    assert said.code == 2
    assert "https://b.example/feed.xml is followed already, for another source." in said.err
    assert_a_sentence(said)
    assert shown(desk, source) == before


@pytest.mark.long
def test_a_named_feed_ends_the_search_for_one_and_is_told_by_the_mode(desk: Desk) -> None:
    searched = desk.followed("https://a.example/")
    desk.says("sources", "edit", searched, "feed_url=https://a.example/feed.xml")
    assert polled(desk, searched) == {"feed": {"https://a.example/feed.xml"}}
    assert shown(desk, searched)["ingestion_mode"] == "feed"

    listed = desk.followed("https://b.example/", "--mode", "spider")
    desk.says("sources", "edit", listed, "feed_url=https://b.example/feed.xml")
    assert polled(desk, listed) == {"feed": {"https://b.example/feed.xml"}, "listing": {"https://b.example/"}}
    assert shown(desk, listed)["ingestion_mode"] == "both"


def test_a_feed_that_was_replaced_does_not_come_back_with_the_mode(desk: Desk) -> None:
    source = desk.followed("https://a.example/", "--mode", "both", "--feed", "https://a.example/old.xml")
    desk.says("sources", "edit", source, "ingestion_mode=spider")
    desk.says("sources", "edit", source, "feed_url=https://a.example/new.xml")
    assert polled(desk, source)["feed"] == {"https://a.example/new.xml"}


def test_the_host_of_a_named_feed_is_asked_at_the_pace_of_its_source(desk: Desk) -> None:
    source = desk.followed("https://a.example/jobs", "--kind", "jobs")
    desk.says("sources", "edit", source, "feed_url=https://feeds.example/jobs.xml")
    assert desk.value("select serves_jobs from host_policies where host = 'feeds.example'")


def test_without_a_feed_the_mode_feed_looks_for_one(desk: Desk) -> None:
    source = desk.followed("https://a.example/", "--mode", "spider")
    desk.says("sources", "edit", source, "ingestion_mode=feed")
    assert channels_of(desk, source) == {("listing", False), ("search", True)}


@pytest.mark.long
def test_a_rate_limit_that_is_edited_holds_for_the_host(desk: Desk) -> None:
    source = desk.followed("https://a.example/", "--feed", "https://a.example/feed.xml")
    desk.says("frontier", "add", "https://a.example/one")
    desk.says("sources", "edit", source, "rate_limit_ms=7000")
    assert "7 s" in desk.says("hosts", "show", "a.example").out
    desk.says("sources", "edit", source, "rate_limit_ms=")
    assert "7 s" not in desk.says("hosts", "show", "a.example").out


def test_a_shorter_interval_holds_from_now_on(desk: Desk) -> None:
    source = desk.followed("https://a.example/", "--feed", "https://a.example/feed.xml")
    desk.polled_in(timedelta(days=3), timedelta(days=3))
    desk.says("sources", "edit", source, "poll_every=30m")
    [told] = desk.says("status", "--show-schedule", "--json").json["schedule"]
    assert told["in_seconds"] <= 1800
    assert told["why"] == "a person set the interval"


def test_a_hint_that_is_no_selector_is_refused_and_the_old_one_stays(desk: Desk) -> None:
    source = desk.followed("https://a.example/jobs", "--kind", "jobs", "--parser-hint", "li.job")
    wrong = desk.says("sources", "edit", source, "parser_hint=div[[")
    assert wrong.code == 2
    assert "'div[[' is not a CSS selector" in wrong.err
    assert shown(desk, source)["parser_hint"] == "li.job"
    assert desk.says("sources", "edit", source, "parser_hint=").code == 0


def test_a_recipe_that_is_edited_is_the_one_that_is_asked_by(desk: Desk) -> None:
    recipe = {"data_path": "items", "map": {"url": "link"}}
    address = "https://a.example/api"
    source = desk.followed(address, "--api", "--parser-hint", json.dumps(recipe))
    changed = json.dumps({"data_path": "results", "map": {"url": "link"}})
    assert desk.says("sources", "edit", source, f"parser_hint={changed}").code == 0
    assert desk.value("select recipe from channels") == changed
    wrong = desk.says("sources", "edit", source, 'parser_hint={"a": 1}')
    assert wrong.code == 2
    assert shown(desk, source)["parser_hint"] == changed
