"""`headwater sources` on a database: listed, shown, changed, paused, deleted, and what is refused with a sentence."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.integration.cli.desk import Desk, assert_a_sentence

from headwater.sources.store import EDITABLE

NOBODY = "00000000-0000-0000-0000-000000000001"


@pytest.fixture
def desk(database_url: str, open_folder: Path) -> Desk:
    return Desk(database_url, open_folder)


def shown(desk: Desk, source: str) -> Any:
    return desk.says("sources", "show", source, "--json").json


def test_an_empty_list_says_how_to_begin(desk: Desk) -> None:
    said = desk.says("sources", "list")
    assert (said.code, said.out) == (0, "")
    assert "headwater sources add https://example.org" in said.err
    assert desk.says("sources", "list", "--json").json == {"sources": [], "next": None}


def test_a_list_says_when_each_is_polled_next(desk: Desk) -> None:
    desk.followed("https://a.example/", "--name", "Alpha", "--feed", "https://a.example/feed.xml")
    desk.polled_in(timedelta(hours=2, seconds=30), timedelta(hours=3))
    header, row = desk.says("sources", "list").out.splitlines()
    assert header.split()[:5] == ["name", "kind", "mode", "health", "next"]
    assert row.split() == ["Alpha", "news", "feed", "ok", "in", "2h", "3h", "0", "never", "https://a.example/"]
    desk.polled_in(timedelta(minutes=-5), timedelta(hours=3))
    assert "  overdue 5m  " in desk.says("sources", "list").out


def test_a_filter_that_nothing_matches_says_so(desk: Desk) -> None:
    desk.followed("https://a.example/")
    said = desk.says("sources", "list", "--tag", "nowhere")
    assert (said.code, said.out, said.err) == (0, "", "No source matches.\n")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--status", "sleeping"), "There is no status 'sleeping'.\n  fix: One of: active, paused, blocked, deleted,"),
        (("--kind", "films"), "There is no kind 'films'.\n  fix: One of: news, jobs, docs."),
        (("--limit", "0"), "--limit"),
        (("--limit", "-1"), "--limit"),
        (("--limit", "many"), "--limit"),
        (("--after", "x"), "'x' is not an id."),
    ],
)
def test_a_wrong_filter_is_a_usage_error(desk: Desk, words: tuple[str, ...], told: str) -> None:
    said = desk.says("sources", "list", *words)
    assert said.code == 2
    assert told in said.err
    assert_a_sentence(said)


def test_pages_follow_each_other_without_a_gap(desk: Desk) -> None:
    for name in ("cedar", "Ash", "Birch", "ash", "Élan"):
        desk.followed(f"https://{desk.value('select count(*) from sources')}.example/", "--name", name)
    names, after = [], ""
    while True:
        page = desk.says("sources", "list", "--limit", "2", "--json", *(("--after", after) if after else ())).json
        names += [one["name"] for one in page["sources"]]
        if not (after := page["next"]):
            break
    assert sorted(names) == sorted(("cedar", "Ash", "Birch", "ash", "Élan"))
    assert names[:2] != ["Birch", "cedar"]


def test_a_full_last_page_promises_no_other(desk: Desk) -> None:
    desk.followed("https://a.example/")
    assert desk.says("sources", "list", "--limit", "1").err == ""


@pytest.mark.parametrize("name", ["Alpha Times", "alpha times", "alpha t", "https://a.example/", "a.example"])
def test_a_source_is_found_by_what_a_person_types(desk: Desk, name: str) -> None:
    source = desk.followed("https://a.example/", "--name", "Alpha Times")
    assert shown(desk, name)["id"] == source
    assert shown(desk, source[:8])["id"] == source


@pytest.mark.parametrize("name", ["nobody", "", "alp", "%%%%", "____", NOBODY, "Alpha_Times"])
def test_a_source_that_is_not_there_is_not_found(desk: Desk, name: str) -> None:
    desk.followed("https://a.example/", "--name", "Alpha Times")
    said = desk.says("sources", "show", name)
    assert said.code == 4
    assert "`headwater sources list`" in said.err
    assert_a_sentence(said)


def test_an_ambiguous_name_lists_what_it_may_mean(desk: Desk) -> None:
    first = desk.followed("https://a.example/", "--name", "Daily")
    desk.followed("https://b.example/", "--name", "Daily")
    said = desk.says("sources", "show", "daily")
    assert said.code == 2
    assert f"Daily (https://a.example/, id {first[:8]})" in said.err
    assert "https://b.example/" in said.err
    assert_a_sentence(said)
    assert desk.says("sources", "pause", "daily").code == 2
    assert shown(desk, "https://a.example/")["status"] == "active"


def test_show_says_why_each_channel_is_polled_when_it_is(desk: Desk) -> None:
    desk.followed("https://a.example/", "--name", "Alpha", "--feed", "https://a.example/feed.xml", "--tag", "x")
    desk.execute("update channels set next_reason = 'every 6 h'")
    out = desk.says("sources", "show", "Alpha").out
    assert out.splitlines()[:2] == ["Alpha  https://a.example/", "  ok: not polled yet"]
    assert "news, priority 5, mode feed, tags x" in out
    assert "every 6 h" in out
    assert "command line  Alpha added" in out
    assert desk.says("explain", "Alpha").out == desk.says("sources", "show", "Alpha").out


def test_json_of_a_source_has_the_names_that_are_asked_for(desk: Desk) -> None:
    feed = ("--feed", "https://a.example/feed.xml")
    desk.followed("https://a.example/", "--name", "Alpha", "--interval", "30m", *feed)
    told = shown(desk, "Alpha")
    assert told["feed_url"] == "https://a.example/feed.xml"
    assert "sitemap_url" not in told
    assert (told["poll_every_seconds"], told["feed_poll_interval_minutes"]) == (1800, 30)
    assert (told["ingestion_mode"], told["status"], told["health"]) == ("feed", "active", "ok")
    assert told["channels"][0]["poll_interval_seconds"] is None
    assert [event["kind"] for event in told["events"]] == ["channel_added", "source_created"]


def test_explain_tells_a_source_a_url_and_neither_apart(desk: Desk) -> None:
    desk.followed("https://a.example/", "--name", "Alpha")
    assert desk.says("explain", "https://a.example/").out.startswith("Alpha  https://a.example/")
    neither, unknown, wrong = (desk.says("explain", what) for what in ("no such", "https://b.example/x", "ftp://x/"))
    assert (neither.code, unknown.code, wrong.code) == (4, 4, 2)
    assert "'no such' is neither a URL nor a source." in neither.err
    assert "not in the frontier" in unknown.err


def test_pausing_resuming_and_blocking_are_told_and_kept(desk: Desk) -> None:
    desk.followed("https://a.example/", "--name", "Alpha", "--feed", "https://a.example/feed.xml")
    assert desk.says("sources", "pause", "Alpha", "--reason", "a holiday").out == "Alpha: paused\n"
    assert "  paused: a holiday" in desk.says("sources", "show", "Alpha").out
    assert [one["name"] for one in desk.says("sources", "list", "--status", "paused", "--json").json["sources"]] == [
        "Alpha"
    ]
    desk.execute("update sources set consecutive_failures = 5")
    assert desk.says("sources", "resume", "Alpha").out == "Alpha: active\n"
    assert shown(desk, "Alpha")["consecutive_failures"] == 0
    assert desk.says("sources", "block", "Alpha").out == "Alpha: blocked\n"
    assert shown(desk, "Alpha")["status_reason"] == "blocked by a person"
    kinds = [event["kind"] for event in shown(desk, "Alpha")["events"][:3]]
    assert kinds == ["source_blocked", "source_resumed", "source_paused"]


@pytest.mark.parametrize("verb", ["pause", "resume", "block", "rm", "run"])
def test_a_verb_needs_sources_and_changes_none_if_one_is_unknown(desk: Desk, verb: str) -> None:
    desk.followed("https://a.example/", "--name", "Alpha")
    consent = ("--yes",) if verb == "rm" else ()
    nobody = desk.says("sources", verb, *consent)
    assert nobody.code == 2
    assert "No source was named." in nobody.err
    unknown = desk.says("sources", verb, "Alpha", "nobody", *consent)
    assert unknown.code == 4
    assert shown(desk, "Alpha")["status"] == "active"


def test_deleting_has_to_be_meant_and_names_what_goes(desk: Desk) -> None:
    desk.followed("https://a.example/", "--name", "Alpha")
    asked = desk.says("sources", "rm", "Alpha")
    assert asked.code == 2
    assert "Delete Alpha (https://a.example/)?" in asked.err
    assert "--yes" in asked.err
    assert shown(desk, "Alpha")["status"] == "active"


def test_a_deleted_source_is_gone_on_record_and_free_to_be_added_again(desk: Desk) -> None:
    old = desk.followed("https://a.example/", "--name", "Alpha")
    assert desk.says("sources", "rm", "Alpha", "--yes").out == "Alpha: deleted\n"
    assert desk.says("sources", "list", "--json").json["sources"] == []
    assert desk.says("sources", "show", old).code == 4
    assert desk.says("sources", "rm", "Alpha", "--yes").code == 4
    [kept] = desk.says("sources", "list", "--status", "deleted", "--json").json["sources"]
    assert kept["id"] == old
    assert desk.followed("https://a.example/", "--name", "Alpha") != old


def test_a_second_source_for_one_address_is_refused_before_anything_is_asked(desk: Desk) -> None:
    desk.followed("https://a.example/")
    for more in ((), ("--dry-run",), ("--no-discover",)):
        said = desk.says("sources", "add", "http://A.example", *more)
        assert said.code == 2
        assert "already" in said.err
        assert "Looking" not in said.err
        assert "headwater sources show" in said.err


def test_a_dry_run_stores_nothing(desk: Desk) -> None:
    said = desk.says("sources", "add", "https://a.example/", "--no-discover", "--dry-run")
    assert (said.code, desk.value("select count(*) from sources")) == (0, 0)
    assert "Nothing was stored." in said.out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("not a url",), "host"),
        (("ftp://a.example/",), "scheme"),
        (("https://a.example/", "--interval", "soon"), "--interval should be a duration"),
        (("https://a.example/", "--interval", "5s"), "poll_every = 5s is not possible: give 1m to 365d."),
        (("https://a.example/", "--kind", "films"), "One of: news, jobs, docs."),
        (("https://a.example/", "--mode", "psychic"), "One of: feed, spider, both."),
        (("https://a.example/", "--priority", "11"), "give 1 to 10"),
        (("https://a.example/", "--priority", "high"), "--priority"),
        (("https://a.example/", "--timezone", "Mars"), "There is no time zone 'Mars'"),
        (("https://a.example/", "--time-window", "9-5"), "write it as 22:00-05:00"),
        (("https://a.example/", "--max-depth", "-2"), "give -1 to 100"),
        (("https://a.example/", "--frequency-days", "0"), "crawl_frequency_days"),
        (("https://a.example/", "--feed", "htp:x"), "scheme"),
        (("https://a.example/", "--api", "--parser-hint", '{"a": 1}'), "The API mapping has no key a."),
        (("https://a.example/", "--name", "x" * 201), "at most 200 characters"),
        ((), "url"),
    ],
)
def test_what_cannot_be_followed_is_refused_with_a_sentence(desk: Desk, words: tuple[str, ...], told: str) -> None:
    said = desk.says("sources", "add", *words, "--no-discover")
    assert said.code == 2
    assert told in said.err
    assert_a_sentence(said)
    assert desk.value("select count(*) from sources") == 0


def test_a_feed_is_followed_for_one_source_only(desk: Desk) -> None:
    desk.followed("https://a.example/", "--feed", "https://a.example/feed.xml")
    said = desk.says("sources", "add", "https://b.example/", "--feed", "https://a.example/feed.xml")
    assert said.code == 2
    assert "https://a.example/feed.xml is followed already" in said.err
    assert desk.value("select count(*) from sources") == 1


EVIL = "Evil \x1b[31mred\x07\x9b1m\nname\u202eX\udc9b"


@pytest.mark.parametrize("verb", [("sources", "list"), ("sources", "show", "evil"), ("status", "--show-schedule")])
def test_what_a_terminal_would_obey_is_printed_inert(desk: Desk, verb: tuple[str, ...]) -> None:
    desk.followed("https://a.example/", "--name", EVIL, "--tag", "t\x1b[1m")
    desk.execute("update channels set last_error = $1, next_reason = $1, consecutive_errors = 1", "\x1b]0;x\x07\u202e")
    desk.execute("update sources set last_run_at = now(), last_run_status = 'fail', last_run_message = $1", "\x1b[2J")
    desk.execute("update events set message = message || $1, actor = $1", "\x1b[5m")
    said = desk.says(*verb)
    assert said.code == 0, said.err
    assert "Evil [31mred 1m name" in said.out
    assert not set(said.out) & {"\x1b", "\x07", "\x9b", "\u202e", "\udc9b"}


def test_a_reason_is_kept_inert(desk: Desk) -> None:
    desk.followed("https://a.example/", "--name", "Alpha")
    assert desk.says("sources", "block", "Alpha", "--reason", "bad\x1b[31m\udc9b news").code == 0
    assert shown(desk, "Alpha")["status_reason"] == "bad [31m news"


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
    "start_urls": ("https://a.example/start", ["https://a.example/start"]),
    "article_patterns": (r"/\d+/", [r"/\d+/"]),
    "selectors": ('{"article": {"title": "h1"}}', {"article": {"title": "h1"}}),
    "parser_hint": (".vacancy", ".vacancy"),
    "rate_limit_ms": ("2500", 2500),
    "revisit_every": ("7d", 604800),
}


def test_every_editable_field_is_tried_here() -> None:
    assert set(EDITS) == set(EDITABLE)


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


@pytest.mark.parametrize(
    ("edit", "told"),
    [
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
        ("allow_external=maybe", "allow_external should be yes or no, not 'maybe'."),
        ("start_urls=foo", "'foo' cannot be a start page."),
        ("article_patterns=(", "The URL pattern '(' cannot be used"),
        ("selectors=nope", "selectors should be a JSON object, not 'nope'."),
        ("selectors=[1]", "selectors should be a JSON object"),
        ('selectors={"article": {"title": "<<"}}', "is not a CSS selector."),
        ("rate_limit_ms=-1", "give 0 to 86400000"),
        ("revisit_every=1s", "give 1m to"),
        ("url=https://b.example/", "The address of a source cannot be changed."),
        ("colour=red", "A source has no field 'colour'."),
        ("priority", "'priority' has no value."),
    ],
)
def test_each_bad_value_is_refused_with_a_sentence_and_nothing_changes(desk: Desk, edit: str, told: str) -> None:
    source = desk.followed("https://a.example/", "--name", "Alpha")
    before = shown(desk, source)
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


def test_the_ingestion_mode_decides_what_is_polled(desk: Desk) -> None:
    source = desk.followed("https://a.example/", "--feed", "https://a.example/feed.xml")
    assert channels_of(desk, source) == {("feed", True)}
    desk.says("sources", "edit", source, "ingestion_mode=spider")
    assert channels_of(desk, source) == {("feed", False), ("listing", True)}
    desk.says("sources", "edit", source, "ingestion_mode=both")
    assert channels_of(desk, source) == {("feed", True), ("listing", True)}
    desk.says("sources", "edit", source, "ingestion_mode=feed")
    assert channels_of(desk, source) == {("feed", True), ("listing", False)}


def test_without_a_feed_the_mode_feed_looks_for_one(desk: Desk) -> None:
    source = desk.followed("https://a.example/", "--mode", "spider")
    desk.says("sources", "edit", source, "ingestion_mode=feed")
    assert channels_of(desk, source) == {("listing", False), ("search", True)}


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
