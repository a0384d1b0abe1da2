"""Lists of the systems that people come from: whole, with their ids, and twice as well as once."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.integration.cli.desk import Desk

AID_JOBS = """\
id,org_name,careers_url,source_type,org_type,status,crawl_frequency_days,next_run_at,last_crawled_at,last_crawl_status,\
last_crawl_message,consecutive_failures,consecutive_nochange,parser_hint,time_window,created_at,updated_at
7f1c1c1e-0000-4000-8000-000000000001,UN Example,https://un.example/careers,html,un,active,1,,,ok,Found 12 jobs,0,0,\
div.vacancy,22:00-05:00,2025-01-01,2025-01-02
7f1c1c1e-0000-4000-8000-000000000002,Aid Example,https://aid.example/jobs.rss,rss,ingo,paused,2,,,fail,\
auto-paused after failures,5,0,,,2025-01-01,2025-01-02
7f1c1c1e-0000-4000-8000-000000000003,Closed Example,https://closed.example/jobs,html,ngo,blocked,3,,,fail,\
robots disallow,0,0,,,2025-01-01,2025-01-02
7f1c1c1e-0000-4000-8000-000000000004,Gone Example,https://gone.example/jobs,html,ngo,deleted,3,,,ok,Found 0 jobs,0,9,,,\
2025-01-01,2025-01-02
"""


def news(**said: Any) -> str:
    base = {
        "id": "b7a1",
        "name": "Northern News",
        "url": "https://north.example",
        "rate_limit": "2s",
        "max_depth": 3,
        "time": ["11:45"],
        "selectors": {
            "article": {"container": "article", "title": "h1", "byline": "", "image": None, "exclude": ["", ".ad"]},
            "list": {"container": "", "article_cards": "", "exclude_from_list": None},
            "page": {},
        },
        "enabled": True,
        "feed_url": "https://north.example/feed",
        "ingestion_mode": "both",
        "feed_poll_interval_minutes": 15,
        "article_url_patterns": [r"/\d{4}/\d{2}/", ""],
        "render_mode": "static",
        "type": "news",
    }
    return json.dumps(base | said) + "\n"


@pytest.fixture
def desk(database_url: str, open_folder: Path) -> Desk:
    return Desk(database_url, open_folder)


def imported(desk: Desk, file: str, *words: str) -> dict[str, Any]:
    told: dict[str, Any] = desk.says("sources", "import", file, "--json", *words).json
    return told


def shown(desk: Desk, name: str) -> dict[str, Any]:
    told: dict[str, Any] = desk.says("sources", "show", name, "--json").json
    return told


EVERYTHING = """
select md5(string_agg(line, '|' order by line)) from (
    select s::text as line from sources s union all select c::text from channels c
    union all select e::text from external_ids e union all select p::text from host_policies p
    union all select v.id::text from events v
) all_lines
"""


def assert_again_changes_nothing(desk: Desk, file: str, *words: str) -> None:
    before = desk.value(EVERYTHING)
    again = imported(desk, file, *words)
    assert (again["added"], again["feeds_added"], again["updated"], again["deleted"]) == (0, 0, 0, 0)
    assert desk.value(EVERYTHING) == before


def test_a_job_boards_table_comes_in_whole(desk: Desk) -> None:
    file = desk.file("sources.csv", AID_JOBS)
    said = desk.says("sources", "import", file, "--kind", "jobs")
    assert said.code == 0, said.out
    assert said.out == "  added 3 sources · noted as deleted 1 · already known 0 · invalid 0\n"
    assert "1 source came paused" in said.err
    assert "1 source came blocked" in said.err
    assert "1 source came deleted" in said.err
    told = {one["name"]: one for one in desk.says("sources", "list", "--json").json["sources"]}
    assert {one["kind"] for one in told.values()} == {"jobs"}
    states = {name: (one["status"], one["status_reason"]) for name, one in told.items()}
    assert states == {
        "UN Example": ("active", None),
        "Aid Example": ("paused", "auto-paused after failures"),
        "Closed Example": ("blocked", "robots disallow"),
    }
    [gone] = desk.says("sources", "list", "--status", "deleted", "--json").json["sources"]
    assert (gone["name"], gone["status_reason"], gone["channels"]) == ("Gone Example", "imported as deleted", [])
    assert desk.value("select string_agg(host, ',') from channels where is_active") == "un.example"
    assert_again_changes_nothing(desk, file, "--kind", "jobs")


def test_rows_that_say_their_kind_keep_it(desk: Desk) -> None:
    file = desk.file("list.csv", "url,kind\nhttps://a.example/,docs\nhttps://b.example/,\n")
    imported(desk, file, "--kind", "jobs")
    kinds = "select string_agg(kind, ',' order by url) from sources"
    assert desk.value(kinds) == "docs,jobs"
    assert desk.says("sources", "import", file, "--kind", "vacancies").code == 2


def test_ids_of_another_system_are_shown_found_and_exported(desk: Desk) -> None:
    imported(desk, desk.file("sources.csv", AID_JOBS), "--kind", "jobs")
    theirs = "7f1c1c1e-0000-4000-8000-000000000001"
    assert shown(desk, theirs)["name"] == "UN Example"
    assert shown(desk, "UN Example")["external_ids"] == [theirs]
    assert f"called {theirs} elsewhere" in desk.says("sources", "show", "un.example").out
    for form in ("jsonl", "csv"):
        assert theirs in desk.says("sources", "export", "--format", form).out


def test_a_source_that_is_known_gets_the_ids_of_a_second_system(desk: Desk) -> None:
    imported(desk, desk.file("one.csv", "id,url\naid-1,https://a.example/\n"))
    file = desk.file("two.jsonl", json.dumps({"id": "north-7", "url": "https://a.example/"}))
    told = imported(desk, file)
    assert (told["added"], told["known"], told["updated"]) == (0, 1, 1)
    assert shown(desk, "north-7")["external_ids"] == ["aid-1", "north-7"]
    assert_again_changes_nothing(desk, file)


def test_an_exact_name_is_surer_than_an_id_of_elsewhere(desk: Desk) -> None:
    table = "id,url,name\nBeta,https://a.example/,Alpha\n2,https://b.example/,Beta\n"
    imported(desk, desk.file("list.csv", table))
    assert shown(desk, "Beta")["url"] == "https://b.example/"


def test_a_news_systems_json_lines_come_in_whole(desk: Desk) -> None:
    file = desk.file("sources.jsonl", news())
    said = desk.says("sources", "import", file)
    assert (said.code, said.out) == (0, "  added 1 source · already known 0 · invalid 0\n")
    told = shown(desk, "b7a1")
    assert told["article_patterns"] == [r"/\d{4}/\d{2}/"]
    article = {"container": "article", "title": "h1", "exclude": [".ad"]}
    assert told["selectors"] == {"article": article}
    assert (told["rate_limit_ms"], told["max_depth"], told["poll_every_seconds"]) == (2000, 3, 900)
    assert {(one["kind"], one["is_active"]) for one in told["channels"]} == {("feed", True), ("listing", True)}
    assert_again_changes_nothing(desk, file)


def test_a_feed_that_was_switched_off_there_is_not_polled_here(desk: Desk) -> None:
    off = {"feed_disabled_at": "2026-01-02T03:04:05Z", "feed_disable_reason": "404 for a week"}
    file = desk.file("sources.jsonl", news(**off))
    imported(desk, file)
    channels = {one["kind"]: one for one in shown(desk, "Northern News")["channels"]}
    assert (channels["feed"]["is_enabled"], channels["listing"]["is_active"]) == (False, True)
    assert channels["feed"]["disabled_reason"] == "switched off: 404 for a week"
    assert_again_changes_nothing(desk, file)
    row = json.loads(desk.says("sources", "export", "--format", "jsonl").out)
    assert (row["feed_url"], row["feed_disable_reason"]) == ("https://north.example/feed", "404 for a week")


@pytest.mark.parametrize("never", [None, "", "0001-01-01T00:00:00Z", "false"])
def test_a_feed_that_was_never_switched_off_is_polled(desk: Desk, never: str | None) -> None:
    imported(desk, desk.file("sources.jsonl", news(feed_disabled_at=never, disabled_at=never)))
    assert desk.value("select count(*) from channels where kind = 'feed' and is_active") == 1


def test_what_was_switched_off_as_a_whole_is_paused(desk: Desk) -> None:
    imported(desk, desk.file("sources.jsonl", news(disabled_at="2026-01-02T03:04:05Z", disable_reason="too slow")))
    told = shown(desk, "Northern News")
    assert (told["status"], told["status_reason"]) == ("paused", "too slow")


ALLOWS_JS = "select allow_js from host_policies where host = 'north.example'"


def test_pages_that_need_a_browser_get_one_where_the_file_is_ones_own(desk: Desk) -> None:
    file = desk.file("sources.jsonl", news(render_mode="dynamic"))
    said = desk.says("sources", "import", file)
    assert "1 source asked for a browser (render_mode dynamic), such as https://north.example" in said.err
    assert desk.value(ALLOWS_JS) is None
    assert imported(desk, file, "--trusted")["updated"] == 1
    assert desk.value(ALLOWS_JS) is True
    assert json.loads(desk.says("sources", "export", "--format", "jsonl").out)["render_mode"] == "dynamic"
    assert_again_changes_nothing(desk, file, "--trusted")


def test_a_persons_own_word_about_a_browser_stands(desk: Desk) -> None:
    desk.says("hosts", "policy", "set", "north.example", "--no-allow-js")
    imported(desk, desk.file("sources.jsonl", news(render_mode="dynamic")), "--trusted")
    assert desk.value(ALLOWS_JS) is False


def test_trust_given_later_reaches_what_is_known_already(desk: Desk) -> None:
    row = {"feed_url": "https://feeds.elsewhere.example/north", "speaks_for": ["cdn.example", "more.example"]}
    file = desk.file("sources.jsonl", news(**row))
    said = desk.says("sources", "import", file)
    assert "would speak for sites other than those of their feeds" in said.err
    believed = "select bool_and(speaks_for_site) from channels where kind = 'feed'"
    assert (shown(desk, "b7a1")["speaks_for"], desk.value(believed)) == ([], False)
    said = desk.says("sources", "import", file, "--trusted")
    assert (said.code, said.out) == (0, "  added 0 sources · already known 1 · invalid 0\n")
    assert "1 source known already: new ids and trusted fields were noted." in said.err
    assert (shown(desk, "b7a1")["speaks_for"], desk.value(believed)) == (["cdn.example", "more.example"], True)
    assert_again_changes_nothing(desk, file, "--trusted")


def test_trust_does_not_reach_a_source_of_another_site(desk: Desk) -> None:
    """The feed is known, but for a publisher of whom this row says nothing."""
    desk.followed("https://other.example/", "--feed", "https://feeds.elsewhere.example/north")
    row = {"feed_url": "https://feeds.elsewhere.example/north", "speaks_for": ["cdn.example"]}
    imported(desk, desk.file("sources.jsonl", news(**row)), "--trusted")
    assert shown(desk, "other.example")["speaks_for"] == []


def test_a_known_source_that_may_not_speak_for_everybody_is_told(desk: Desk) -> None:
    file = desk.file("sources.jsonl", news())
    imported(desk, file)
    bad = desk.file("bad.jsonl", news(speaks_for=["co.uk"]))
    told = imported(desk, bad, "--trusted")
    assert "is everybody's" in told["invalid"][0]["reason"]
    assert (told["known"], told["added"], len(told["invalid"])) == (0, 0, 1)
    assert shown(desk, "b7a1")["speaks_for"] == []


OPML = """<opml><body><outline text="News">
<outline text="A" xmlUrl="https://a.example/feed" htmlUrl="https://a.example/"/>
<outline text="B" xmlUrl="https://b.example/feed"/>
<outline text="C" xmlUrl="https://c.example/feed" htmlUrl="https://c.example/"/>
</outline></body></opml>"""


@pytest.mark.long
def test_the_same_opml_again_changes_nothing_whatever_became_of_its_feeds(desk: Desk) -> None:
    file = desk.file("list.opml", OPML)
    imported(desk, file)
    assert_again_changes_nothing(desk, file)
    # One moved for good, one was replaced by a person, and one is not wanted any more.
    moved = "url = $1, url_hash = sha256($1::text::bytea), former_urls = array[url]"
    desk.execute(f"update channels set {moved} where host = 'b.example'", "https://b.example/news.xml")
    assert desk.says("sources", "edit", "https://a.example/", "feed_url=https://a.example/better.xml").code == 0
    assert desk.says("sources", "edit", "https://c.example/", "ingestion_mode=spider").code == 0
    assert_again_changes_nothing(desk, file)


def test_what_was_deleted_and_taken_up_again_comes_in_as_both(desk: Desk) -> None:
    rows = ["id,url,status", "1,https://a.example/,deleted", "2,https://a.example/,active"]
    for number, table in enumerate((rows, [rows[0], *reversed(rows[1:])])):
        file = desk.file("list.csv", "\n".join(table).replace("a.example", f"a{number}.example"))
        told = imported(desk, file)
        assert (told["added"], told["deleted"], told["duplicates"]) == (1, 1, 0)
        assert_again_changes_nothing(desk, file)
        assert shown(desk, f"a{number}.example")["external_ids"] == ["2"]


@pytest.mark.parametrize("words", [("--dry-run",), ()])
def test_every_row_is_counted_once(desk: Desk, words: tuple[str, ...]) -> None:
    desk.followed("https://known.example/", "--feed", "https://known.example/feed.xml")
    rows = ["id,url,status", "1,https://a.example/,", "2,https://a.example/,", "3,https://gone.example/,deleted"]
    rows += ["4,https://known.example/,", "5,nonsense,"]
    said = desk.says("sources", "import", desk.file("list.csv", "\n".join(rows)), *words)
    assert said.err.startswith("Read 5 rows")
    counts = "1 source · noted as deleted 1 · already known 1 · duplicates 1 · invalid 1"
    assert said.out.splitlines()[0] == f"  {'would add' if words else 'added'} {counts}"
    if not words:
        assert shown(desk, "a.example")["external_ids"] == ["1", "2"]


def test_a_plain_api_is_said_to_be_one(desk: Desk) -> None:
    said = desk.says("sources", "import", desk.file("list.csv", "url,source_type\nhttps://a.example/api.json,api\n"))
    assert "1 source of this list read an API" in said.err
    assert "other than those of their feeds" not in said.err


def test_a_dry_run_counts_what_would_come_deleted_and_blocked(desk: Desk) -> None:
    told = imported(desk, desk.file("sources.csv", AID_JOBS), "--dry-run")
    assert (told["added"], told["paused"], told["blocked"], told["deleted"]) == (3, 1, 1, 1)
    assert desk.value("select count(*) from sources") == 0


@pytest.mark.parametrize(
    "recipe",
    [
        {"v": 1, "method": "POST", "body": {"q": "x"}},
        {
            "v": 1,
            "auth": {
                "type": "oauth2",
                "token_url": "https://id.example/token",
                "client_id": "me",
                "client_secret": "{{SECRET:S}}",
            },
        },
    ],
)
def test_a_recipe_that_posts_comes_in_only_from_a_list_of_your_own(desk: Desk, recipe: dict[str, Any]) -> None:
    row = {"url": "https://api.example/jobs", "source_type": "api", "parser_hint": json.dumps(recipe)}
    file = desk.file("sources.jsonl", json.dumps(row) + "\n")
    for words in ((), ("--dry-run",)):
        said = desk.says("sources", "import", file, *words)
        assert "invalid 1" in said.out + said.err
        assert "import it with --trusted" in said.out + said.err
    assert desk.value("select count(*) from sources") == 0
    assert imported(desk, file, "--trusted")["added"] == 1
