"""`headwater templates` on a database: what was learned is listed, shown, explained, asked for again, switched off."""

import io
import os
import re
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pytest
from tests.integration.cli.desk import Desk, assert_a_sentence
from tests.integration.ingest.press import Press, a_world, english, reading_pool
from tests.integration.ingest.test_template_trainer import trainings

from headwater.cli.docs.replay import show_rows
from headwater.cli.templates.showing import COLUMNS, explanation_lines, piece_lines, show_hosts
from headwater.database.pool import Database
from headwater.extraction.body import Producer
from headwater.extraction.templates.explain import ExplainedBlock, TemplateExplanation, Tried
from headwater.extraction.templates.facts import FEATURES
from headwater.extraction.templates.guide import DISAGREES
from headwater.extraction.templates.learner import NotLearnedReason
from headwater.extraction.templates.server import TemplateRefusalReason
from headwater.extraction.templates.template import Ranges, hash_of, template_from, template_to_json
from headwater.reports import template_words
from headwater.reports.template_words import place_in_words, reader_in_words
from headwater.sources.store import create_source

HOME = "http://quay.test/news/"
HOST, NAME = "quay.test", "Quay News"
WORDS = ("tide", "wall", "crane", "ferry", "pilot", "market", "storm", "signal", "anchor", "ledger", "mast", "lamp")


def story(number: int) -> str:
    """A page of a site that is laid out as plainly as can be; no two have a paragraph in common."""
    paragraphs = "".join(
        f"<p>On day {number * 10 + part} the {WORDS[(number + part) % 12]} keeper of story {number} told us that the "
        f"{WORDS[(number * part) % 12]} would be mended before the winter, and that part {part} of the work was "
        f"paid for by the town, which had set {number * 100 + part} coins aside for it in the spring.</p>"
        for part in range(1, 9)
    )
    return (
        f"<html><head><title>Story {number} of the quay wall</title></head><body><nav><a href=/>Home</a></nav>"
        f"<main><article class=story><h1>Story {number} of the quay wall</h1>{paragraphs}</article></main>"
        f"<div class=foot><p>Quay News, printed at the old quay since the year of the flood.</p></div></body></html>"
    )


def url_of(number: int) -> str:
    return f"{HOME}story-{number}-of-the-quay-wall"


@pytest.fixture
def desk(database_url: str, open_folder: Path) -> Desk:
    return Desk(database_url, open_folder)


def printed(desk: Desk, *pages: dict[str, str]) -> None:
    """Each batch of pages is read, then trainings are held."""

    async def keep(database: Database) -> None:
        world, source = a_world(), await database.fetchval("select id from sources")
        if source is None:
            async with database.transaction() as connection:
                source = await create_source(connection, NAME, "http://quay.test/")
        async with reading_pool() as pool:
            press = Press(database, world, english(world), source, pool)
            for batch in pages:
                for url, html in batch.items():
                    await press.keep(url, html.encode())
                await trainings(press)

    desk.on_database(keep)


def stories(first: int, last: int, change: Callable[[str], str] = str) -> dict[str, str]:
    return {url_of(number): change(story(number)) for number in range(first, last)}


def moved(html: str) -> str:
    """Another layout, in which nothing is where it was."""
    return html.replace("<main>", "<div class=x>").replace("article", "section").replace("=story", "=y")


def learned(desk: Desk) -> None:
    printed(desk, stories(0, 4), stories(4, 6))


def met(desk: Desk, host: str, **columns: str) -> None:
    """As if pages of a host had been read, and this had come of it; values as SQL writes them."""
    names, values = ", ".join(["", *columns]), ", ".join(["", *columns.values()])
    desk.execute(
        f"insert into learning_hosts (bucket, host, source_id{names}) values (0, $1, gen_random_uuid(){values})", host
    )


def status_of(desk: Desk) -> dict[str, str]:
    return {one["host"]: one["status"] for one in desk.says("templates", "list", "--json").json["hosts"]}


def test_nothing_learned_yet_is_said_so(desk: Desk) -> None:
    said = desk.says("templates", "list")
    assert (said.code, said.out) == (0, "")
    assert said.err == "Nothing is learned yet: no article page has been read.\n"
    assert desk.says("templates", "list", "--json").json == {"hosts": [], "cursor": None}


def test_a_learned_host_is_listed_with_what_it_was_good_for(desk: Desk) -> None:
    learned(desk)
    heading, row = desk.says("templates", "list").out.splitlines()
    assert heading.split("  ")[0] == "host"
    assert row.split() == [HOST, "1", "learned", "2", "0", "%", "–", *row.split()[7:9], "on", "drift"]
    desk.execute("update templates set agreeing = 0.974, audited = 3, served = 1900, refused = 100")
    assert desk.says("templates", "list").out.splitlines()[1].split()[3:8] == ["1,900", "5", "%", "97", "%"]
    [told] = desk.says("templates", "list", "--json").json["hosts"]
    assert (told["host"], told["status"], told["pages_wanted"]) == (HOST, "learned", None)
    assert [(one["version"], one["served"], one["refused"]) for one in told["versions"]] == [(1, 1900, 100)]


def test_every_host_says_how_far_it_is(desk: Desk) -> None:
    met(desk, "few.test", pool=r"'{a,b,c}'", fresh="3")
    met(desk, "waiting.test", learn_at="clock_timestamp() + interval '90 seconds'")
    met(desk, "off.test", disabled_at="clock_timestamp()")
    vain = {"learned_at": "clock_timestamp()", "outcome": "'nothing learned: no_container'"}
    met(desk, "vain.test", **vain, failures="2", fresh="1")
    assert status_of(desk) == {
        "few.test": "too few pages (3 of 4)",
        "off.test": "disabled",
        "vain.test": "nothing learned: its texts stand in no common place",
        "waiting.test": "waiting for training",
    }
    ends = {line.split()[0]: line.rpartition("  ")[2] for line in desk.says("templates", "list").out.splitlines()[1:]}
    assert ends["few.test"] == "after 1 more page"
    assert ends["vain.test"] == "after 15 more pages"
    assert ends["off.test"] == "if you ask"
    assert ends["waiting.test"].startswith("in 1m")


@pytest.mark.long
def test_a_template_that_ended_leaves_its_reason(desk: Desk) -> None:
    learned(desk)
    desk.execute("update templates set status = 'expired', ended_at = clock_timestamp(), why_ended = 'not used'")
    assert status_of(desk) == {HOST: "ended: not used"}
    assert desk.says("templates", "show", HOST).out.startswith(f"{HOST}: ended: not used\n")


def test_hosts_are_listed_page_by_page(desk: Desk) -> None:
    for name in ("a.test", "b.test", "c.test"):
        met(desk, name)
    first = desk.says("templates", "list", "--limit", "2")
    assert first.err == "More: add --cursor b.test\n"
    rest = desk.says("templates", "list", "--limit", "2", "--cursor", "https://B.test/x", "--json").json["hosts"]
    assert [one["host"] for one in rest] == ["c.test"]
    assert desk.says("templates", "list", "--cursor", "z.test").err == "No more hosts.\n"


@pytest.mark.parametrize("address", [HOST, "QUAY.test", url_of(1)])
def test_a_host_is_shown_with_what_it_knows(desk: Desk, address: str) -> None:
    learned(desk)
    lines = desk.says("templates", "show", address).out.splitlines()
    assert lines[0] == f"{HOST}: learned"
    assert any(line.startswith("Version 1 for the whole host, learned ") for line in lines)
    assert any(line.startswith("  text stands in ") for line in lines)
    assert any(line.startswith("    + ") and line.endswith("p") for line in lines)
    assert any(line.startswith("  title: ") for line in lines)
    assert any(line.strip().startswith("shortest text in letters 1,") for line in lines)
    assert any("served 2, refused 0; in use" in line for line in lines)
    assert any("template version 1 learned from 4 pages" in line for line in lines)


@pytest.mark.long
def test_the_past_of_a_host_is_shown_with_its_reasons(desk: Desk) -> None:
    learned(desk)
    desk.says("templates", "disable", HOST)
    desk.execute("update templates set refused = 3, reasons = $1", {"too_short": 2, "never_heard_of": 1})
    out = desk.says("templates", "show", HOST, "--version", "1").out
    assert "    2 × too_short: the page is far shorter than the host's articles\n" in out
    assert "    1 × never_heard_of: the page never heard of\n" in out
    assert "disabled by command line" in out
    assert "command line  quay.test: its templates were disabled\n" in out
    told = desk.says("templates", "show", HOST, "--version", "1", "--json").json
    assert [one["kind"] for one in told["events"]] == ["template_disabled", "template_learned"]
    [known] = told["known"]
    assert known["containers"][0]["kept"]
    assert known["ranges"]["longest"] > known["ranges"]["shortest"] > 1000


def test_events_of_other_hosts_of_a_source_are_not_shown(desk: Desk) -> None:
    learned(desk)
    desk.execute(
        """insert into events (kind, level, actor, source_id, message, details)
           select 'template_learned', 'info', 'x', source_id, 'quay.test.other: learned', '{}' from learning_hosts"""
    )
    assert len(desk.says("templates", "show", HOST, "--json").json["events"]) == 1


def test_a_template_of_another_form_is_shown_as_unused(desk: Desk) -> None:
    learned(desk)
    desk.execute("update templates set template = '{\"form\": 0}'")
    assert "It was written by another version of this program" in desk.says("templates", "show", HOST).out
    assert desk.says("templates", "show", HOST, "--json").json["known"] == [{"section": "", "version": 1}]


@pytest.mark.long
def test_nothing_a_host_wrote_moves_a_cursor(desk: Desk) -> None:
    learned(desk)
    desk.execute(
        "update learning_hosts set outcome = E'nothing \\x1b[2J', why = E'a\\nb', learn_at = clock_timestamp()"
    )
    desk.execute("update templates set section = E's\\x1b[2J', reasons = $1", {"x\x1b[2J": 1})
    out = desk.says("templates", "show", HOST).out + desk.says("templates", "list").out
    assert "\x1b" not in out
    assert "a b" in out


@pytest.mark.parametrize("command", ["show", "relearn", "disable"])
def test_a_host_of_which_nothing_was_read_is_not_found(desk: Desk, command: str) -> None:
    said = desk.says("templates", command, "https://nowhere.test/x")
    assert said.code == 4
    assert said.err.startswith("headwater: No article page of nowhere.test has been read yet")
    assert_a_sentence(said)


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("show", "no host"), 2, "'no host' is not a host"),
        (("show", HOST, "--version", "9"), 4, "quay.test has no template version 9.\n  fix: It has: 1."),
        (("show", HOST, "--version", "x"), 2, "--version"),
        (("list", "--limit", "0"), 2, "--limit"),
        (("explain", "story"), 2, "'story' is neither a URL nor an id"),
        (("explain", "http://quay.test/none"), 4, "No page is stored for http://quay.test/none."),
        (("explain",), 2, "URL"),
        (("disable",), 2, "HOST"),
    ],
)
def test_what_cannot_be_is_a_sentence(desk: Desk, words: tuple[str, ...], code: int, told: str) -> None:
    learned(desk)
    said = desk.says("templates", *words)
    assert said.code == code
    assert told.lower() in said.err.lower()
    assert_a_sentence(said)


@pytest.mark.long
def test_a_page_is_explained_block_by_block(desk: Desk) -> None:
    learned(desk)
    out = desk.says("templates", "explain", url_of(5)).out
    assert "\n  + On day 51 the " in out
    assert "p: this path was kept in training]" in out
    assert "\n  − … 1 block outside the container\n" in out
    assert out.endswith("Served: read by its host's template, version 1.\n")
    assert "Quay News, printed" not in out
    whole = desk.says("templates", "explain", url_of(5), "--all").out
    assert "  − Quay News, printed at the old quay" in whole
    told = desk.says("templates", "explain", url_of(5), "--json").json
    assert (told["template"], told["answer"]) == ("template@1", "served")
    (tried,) = told["explanation"]["tried"]
    assert (tried["against"], sum(one["kept"] for one in tried["pieces"])) == (None, 8)


@pytest.mark.long
def test_a_page_that_is_refused_is_explained_with_the_reason(desk: Desk) -> None:
    learned(desk)
    moved = {
        url_of(9): story(9).replace("<main>", "<div class=x>").replace("article", "section").replace("story>", "y>")
    }
    printed(desk, moved)
    out = desk.says("templates", "explain", url_of(9)).out
    assert "Refused by its host's template, version 1: the page has no text where the host's articles" in out
    assert desk.says("templates", "explain", url_of(9), "--json").json["why"] == "no_container"


@pytest.mark.long
def test_a_page_whose_source_has_selectors_is_read_by_them(desk: Desk) -> None:
    learned(desk)
    desk.execute("update sources set selectors = $1", {"article": {"body": "article > p"}})
    out = desk.says("templates", "explain", url_of(5)).out
    assert out.endswith("Read by its source's selectors, which comes before its host's template, version 1.\n")


def test_a_page_without_a_template_says_how_far_its_host_is(desk: Desk) -> None:
    printed(desk, stories(0, 2))
    said = desk.says("templates", "explain", url_of(0))
    assert said.code == 4
    assert said.err.startswith("headwater: No template reads this page of quay.test: too few pages (2 of 4).\n")


def test_the_readings_of_a_page_are_told_with_the_one_that_is_believed(desk: Desk) -> None:
    printed(desk, stories(0, 2))
    said = desk.says("docs", "inspect", url_of(0))
    assert said.out.startswith("+ ")
    assert said.out.endswith("The text is read by the general extractor.\n")
    told = desk.says("docs", "inspect", url_of(0), "--json").json
    assert told["chosen"] == "trafilatura"
    assert [one["producer"] for one in told["readings"]] == ["trafilatura"]
    assert desk.says("docs", "inspect", "http://quay.test/none").code == 4


@pytest.mark.long
def test_disabling_says_how_to_go_back_and_relearning_goes_there(desk: Desk) -> None:
    learned(desk)
    said = desk.says("templates", "disable", url_of(0))
    assert said.out == "Within a minute quay.test is read by the general extractor; 1 template ended.\n"
    assert said.err == "To have it learned again: headwater templates relearn quay.test\n"
    assert status_of(desk) == {HOST: "disabled"}
    again = desk.says("templates", "relearn", HOST)
    assert again.out.startswith("quay.test will be learned from 4 stored pages by the next process that fetches.")
    assert status_of(desk) == {HOST: "waiting for training"}
    printed(desk, {})
    assert status_of(desk) == {HOST: "learned"}
    [told] = desk.says("templates", "list", "--json").json["hosts"]
    assert told["versions"][0]["version"] == 2


def test_asking_for_a_training_where_templates_are_off_is_warned_of(desk: Desk) -> None:
    learned(desk)
    desk.settings["extract.templates"] = "false"
    assert "extract.templates is off here" in desk.says("templates", "relearn", HOST).err


def remember(desk: Desk, paragraphs: Sequence[str]) -> None:
    """As if an audit of one page had found that only its template keeps these."""

    async def change(database: Database) -> None:
        template = template_from(await database.fetchval("select template from templates"))
        assert template is not None
        known = replace(template, doubted=((1, *map(hash_of, paragraphs)),))
        await database.execute("update templates set template = $1", template_to_json(known))

    desk.on_database(change)


@pytest.mark.long
def test_a_page_that_is_read_again_is_not_taken_for_a_copy_of_itself(desk: Desk) -> None:
    learned(desk)
    remember(desk, re.findall("<p>(.*?)</p>", story(5))[2:4])
    assert desk.says("docs", "reextract", "--source", NAME).err == "6 pages: 6 as they were.\n"
    told = desk.says("docs", "reextract", "--source", NAME, "--compare", "--json").json
    assert told["summary"]["differ"] == 0
    assert "said on other pages" not in desk.says("templates", "explain", url_of(5)).out


@pytest.mark.long
def test_a_comparison_shows_the_lines_that_differ_and_changes_nothing(desk: Desk) -> None:
    learned(desk)
    lost = re.findall("<p>(.*?)</p>", story(5))[2:4]
    embedded = re.sub(f"<p>({'|'.join(lost)})</p>", r"<blockquote class=embed><p>\1</p></blockquote>", story(5))
    printed(desk, {url_of(5): embedded, url_of(9): moved(story(9))})
    before = desk.value("select string_agg(text || version, '' order by url) from documents")
    said = desk.says("docs", "reextract", "--source", NAME, "--compare")
    telling = [line for line in said.out.splitlines() if not line.startswith("served    100 %")]
    assert telling[0].startswith("refused          http://") or telling[-1].startswith("refused          http://")
    assert f"    − {lost[0][:60]}" in said.out
    assert said.out.count("    − ") == 2
    assert "7 pages: 6 read by a template, 1 refused." in said.err
    assert "  refused 1: has no text where the host's articles have theirs" in said.err
    assert "; 1 of 6 pages below 95 %.\nNothing was changed.\n" in said.err
    told = desk.says("docs", "reextract", "--source", NAME, "--compare", "--json").json
    assert told["summary"] | {"mean_likeness": 0} == {
        "pages": 7,
        "served": 6,
        "refused": {"no_container": 1},
        "unasked": {},
        "nothing": 0,
        "mean_likeness": 0,
        "differ": 1,
    }
    [odd] = [one for one in told["pages"] if one["rows"]]
    assert (odd["url"], odd["rows"]) == (url_of(5), [[lost[0], ""], [lost[1], ""]])
    assert odd["template_words"] < odd["general_words"]
    assert 0.8 < odd["likeness"] < 0.95
    assert desk.value("select string_agg(text || version, '' order by url) from documents") == before


@pytest.mark.long
def test_a_comparison_is_told_page_by_page_and_summed_up(desk: Desk) -> None:
    learned(desk)
    said = desk.says("docs", "reextract", "--source", NAME, "--compare")
    assert said.code == 0
    assert len(said.out.splitlines()) == 6
    assert all(line.startswith("served    100 %  http://quay.test/news/story-") for line in said.out.splitlines())
    assert said.err.splitlines() == [
        "6 pages: 6 read by a template.",
        "The template and the general extractor share 100 % of words and lines; 0 of 6 pages below 95 %.",
        "Nothing was changed.",
    ]
    limited = desk.says("docs", "reextract", "--source", NAME, "--compare", "--limit", "2")
    assert limited.err.startswith("2 pages: ")


def test_a_comparison_without_templates_says_so(desk: Desk) -> None:
    printed(desk, stories(0, 2))
    said = desk.says("docs", "reextract", "--source", NAME, "--compare")
    assert said.out.count("unasked          http://quay.test/news/story-") == 2
    assert said.out.count("(no template)") == 2
    assert said.err == "2 pages: 2 no template.\nNothing was changed.\n"


@pytest.mark.long
def test_the_status_counts_hosts_by_how_they_are_read(desk: Desk) -> None:
    none = "Templates 0 hosts read by a learned template, 0 waiting for training, 0 disabled"
    assert desk.says("status").out.splitlines()[-1] == none
    learned(desk)
    met(desk, "off.test", disabled_at="clock_timestamp()")
    some = "Templates 1 host read by a learned template, 0 waiting for training, 1 disabled"
    assert desk.says("status").out.splitlines()[-1] == some
    told = desk.says("status", "--json").json
    assert told["templates"] == {"is_on": True, "active": 1, "waiting": 0, "disabled": 1}
    assert told["hurried_by_source"] == {}
    desk.settings["extract.templates"] = "false"
    assert desk.says("status").out.splitlines()[-1] == f"{some} · off here: extract.templates"


@pytest.mark.long
def test_the_status_tells_of_pages_read_in_a_hurry_for_an_hour(desk: Desk) -> None:
    printed(desk, stories(0, 3))
    desk.execute(f"/* by hand */ update documents set produced_by = 'trafilatura_cropped' where url <> '{url_of(0)}'")
    last = desk.says("status").out.splitlines()[-2:]
    assert last[0].startswith("In hurry  2 documents of the last hour were read from the densest part of their pages")
    assert last[1].strip() == "read them whole: headwater docs reextract --source 'Quay News'"
    assert desk.says("status", "--json").json["hurried_by_source"] == {NAME: 2}
    desk.execute("/* by hand */ update documents set changed_at = changed_at - interval '61 minutes'")
    assert "In hurry" not in desk.says("status").out


def test_differing_lines_stand_in_two_columns_where_there_is_room() -> None:
    rows = [("What only the general extractor has", ""), ("", "What only the template has")]
    narrow, wide = shown(lambda: show_rows(rows), 80), shown(lambda: show_rows(rows), 140)
    assert narrow == "    − What only the general extractor has\n    + What only the template has\n"
    assert "only the general extractor" in wide.splitlines()[0]
    assert "−" not in wide
    assert next(line for line in wide.splitlines() if "What only the template has" in line).index("What") > 30
    many = shown(lambda: show_rows([("x", "")] * 30), 80)
    assert many.endswith("    … 18 more; --json has them\n")


def test_two_like_lines_begin_where_they_differ() -> None:
    same = "the same words again and again " * 5
    out = shown(lambda: show_rows([(f"{same}first end", f"{same}other end")]), 80)
    assert out == "    − …he same words again and again first end\n    + …he same words again and again other end\n"


def test_a_narrow_terminal_gets_a_block_a_host() -> None:
    row = ("a.test", "sport", "3", "learned", "12", "0 %", "–", "1d ago", "on drift")
    assert len(row) == len(COLUMNS)
    first, second, _ = shown(lambda: show_hosts([row]), 80).splitlines()
    assert first == "a.test/sport"
    assert second.startswith("  version 3 · status learned · served 12 · ")
    assert "next training" in shown(lambda: show_hosts([row]), 140).splitlines()[0]


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(act: Callable[[], None], columns: int) -> str:
    screen = Screen()
    with patch.dict(os.environ, {"COLUMNS": str(columns), "TERM": "xterm", "NO_COLOR": "1"}), redirect_stdout(screen):
        act()
    return re.sub(r"\x1b\[[0-9;]*m", "", screen.getvalue())


def test_everything_a_template_can_say_has_words() -> None:
    assert {*TemplateRefusalReason, DISAGREES} <= set(template_words.REASONS)
    assert set(Ranges.__dataclass_fields__) == set(template_words.RANGES)
    assert set(FEATURES) == set(template_words.FEATURES)
    assert set(Producer) == set(template_words.READERS)
    assert set(NotLearnedReason) == set(template_words.NOT_LEARNED)


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("meta:og:title", "<meta> og:title"),
        ("linked:author", "author in the linked data"),
        ("block:p.byline", "the first p.byline"),
        ("h1", "the first <h1>"),
        ("", "read as on any page"),
        ("elsewhere", "elsewhere"),
    ],
)
def test_places_are_said_in_words(place: str, words: str) -> None:
    assert place_in_words(place) == words


@pytest.mark.parametrize(
    ("produced_by", "words"),
    [
        ("template@3", "its host's template, version 3"),
        ("template/sport@12", "its host's template for /sport, version 12"),
        ("trafilatura", "the general extractor"),
        ("something else", "something else"),
    ],
)
def test_who_read_a_document_is_said_in_words(produced_by: str, words: str) -> None:
    assert reader_in_words(produced_by) == words


def test_blocks_outside_the_container_are_one_line_a_run() -> None:
    outside = ExplainedBlock(kept=False, text="menu", where="nav", why="outside the container")
    kept = ExplainedBlock(kept=True, text="story", where="p", why="kept")
    lines = list(piece_lines([outside, outside, kept, outside], is_whole=False))
    assert lines == [
        "  − … 2 blocks outside the container",
        "  + story  [p: kept]",
        "  − … 1 block outside the container",
    ]
    assert len(list(piece_lines([outside, outside], is_whole=True))) == 2


def test_an_explanation_says_what_is_missing_and_what_speaks_against_each_variant() -> None:
    tried = (Tried("main", TemplateRefusalReason.NO_CONTAINER, ()), Tried("div.story", None, ()))
    found = TemplateExplanation(TemplateRefusalReason.FEATURE_MISSING, ("og:article",), tried)
    assert list(explanation_lines(found, is_whole=False)) == [
        "The page lacks what every page it learned from had: og:type says article.",
        "main: the page has no text where the host's articles have theirs",
        "div.story: served",
    ]
