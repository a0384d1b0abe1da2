"""What a training makes of a host's pages, and what is believed of a child's answer."""

from dataclasses import replace
from datetime import UTC, datetime

import orjson
import pytest

from headwater.errors import UsageError
from headwater.extraction.article import Article
from headwater.extraction.extractor import extract
from headwater.extraction.page import Page
from headwater.extraction.templates.explain import TemplateExplanation
from headwater.extraction.templates.guide import Guide, agreement, name_of
from headwater.extraction.templates.template import FORM, template_from
from headwater.extraction.training import (
    Training,
    do_task,
    encode_task,
    explain_page,
    explanation_from,
    house_names_of,
    section_of,
    train,
    training_from,
)

NOW = datetime(2026, 5, 4, 10, tzinfo=UTC)
TOPICS = ("bridge", "harbour", "library", "market", "museum", "school", "station", "theatre", "tower", "park")


def story(number: int) -> list[str]:
    topic = TOPICS[number % len(TOPICS)]
    return [
        f"On day {line} of case {number} the {topic} office said that {topic} number {number * 31 + line} stays shut."
        for line in range(8)
    ]


def page(number: int, section: str = "news", layout: str = "story") -> Page:
    lines = "".join(f"<p>{line}</p>" for line in story(number))
    menu = "".join(f'<li><a href="/{topic}">{topic}</a></li>' for topic in TOPICS)
    title = f"Case {number} at the {TOPICS[number % len(TOPICS)]}"
    html = (
        f"<html><head><title>{title}</title></head><body><ul>{menu}</ul><h1>{title}</h1>"
        f'<div class="{layout}">{lines}</div><p class="note">All rights reserved by the paper, whatever it says.</p>'
    )
    return Page(url=f"http://paper.test/{section}/{number}", body=html.encode())


def pages(first: int, last: int, section: str = "news", layout: str = "story") -> list[Page]:
    return [page(number, section, layout) for number in range(first, last)]


def guided(one: Page, example: Training) -> Page:
    template = orjson.dumps(example.learned_templates[0].template).decode()
    return Page(url=one.url, body=one.body, guide=Guide(name="template@1", template=template))


def test_a_training_teaches_how_the_next_page_is_read() -> None:
    example = train(pages(0, 4), NOW)
    assert [one.section for one in example.learned_templates] == [""]
    found = extract(guided(page(8), example), NOW)
    assert isinstance(found, Article)
    assert found.produced_by == "template@1"
    assert found.text == "\n".join(story(8))


def test_a_training_that_reads_no_more_than_before_changes_nothing() -> None:
    first = train(pages(0, 4), NOW)
    again = train([guided(one, first) for one in pages(0, 4)], NOW)
    assert again.learned_templates == ()
    assert "before" in again.why


def test_a_training_counts_a_page_once() -> None:
    known = [*pages(0, 3, "arts", "arts"), *pages(3, 6, "city", "city"), *pages(6, 8, "food", "food")]
    first = train(known, NOW)
    odd = [page(at + 20, f"{topic}s", topic) for at, topic in enumerate(TOPICS[:8])]
    again = train([guided(one, first) for one in [*known, *odd]], NOW)
    assert (first.pages, again.learned_templates, again.why) == (8, (), "reads 8 pages, 8 before")


def test_a_host_with_many_layouts_is_learned_section_by_section() -> None:
    sections = ("arts", "city", "food", "money", "sport")
    example = train([one for at, name in enumerate(sections) for one in pages(4 * at, 4 * at + 4, name, name)], NOW)
    by_section = {one.section: one for one in example.learned_templates}
    assert set(sections) <= set(by_section)
    for at, name in enumerate(sections):
        template = orjson.dumps(by_section[name].template).decode()
        new = page(40 + at, name, name)
        found = extract(replace(new, guide=Guide(name=name, template=template)), NOW)
        assert isinstance(found, Article)
        assert (found.produced_by, found.text) == (name, "\n".join(story(40 + at)))


def test_two_pages_teach_nothing() -> None:
    assert train(pages(0, 2), NOW) == Training((), "too_few_pages")


def test_a_training_is_the_same_through_the_wire() -> None:
    assert do_task(encode_task("train", pages(0, 4), NOW)) == train(pages(0, 4), NOW)


def test_an_explanation_names_blocks_and_reasons() -> None:
    told = do_task(encode_task("explain", [guided(page(9), train(pages(0, 4), NOW))], NOW))
    assert isinstance(told, TemplateExplanation)
    assert {piece.kept for one in told.tried for piece in one.pieces} == {True, False}
    assert explanation_from(orjson.loads(orjson.dumps(told))) == told
    assert explain_page(page(1)) == TemplateExplanation()


@pytest.mark.parametrize("answer", [None, ["+ text"], {"tried": 5}, {"against": "no such reason"}])
def test_what_is_no_explanation_explains_nothing(answer: object) -> None:
    assert explanation_from(answer) == TemplateExplanation()


@pytest.mark.parametrize(
    "answer",
    [
        None,
        [],
        {"learned_templates": 5},
        {"learned_templates": [{"section": ""}]},
        {"learned_templates": [{"section": "", "template": {"form": FORM}, "pages": 4, "agreement": 1.0}], "why": ""},
    ],
)
def test_what_is_no_training_is_not_believed(answer: object) -> None:
    with pytest.raises(UsageError):
        training_from(answer)


@pytest.mark.parametrize(
    ("url", "section"),
    [
        ("http://a.test/", ""),
        ("http://a.test/story", ""),
        ("http://a.test/sport/story", "sport"),
        ("http://a.test/2026/05/story", ""),
        ("http://a.test/" + "x" * 200 + "/story", "x" * 60),
    ],
)
def test_a_section_is_the_first_part_of_a_path_that_goes_on(url: str, section: str) -> None:
    assert section_of(url) == section


def test_agreement_is_one_for_equal_and_zero_for_other_texts() -> None:
    assert agreement("a b c d", "a b c d") == 1.0
    assert agreement("a b c d", "e f g h") == 0.0
    assert agreement("", "") == 1.0


HEADINGS = ("Ingredients", "Method", "Tips")
HEADED = "\n".join([story(1)[0], "Ingredients", *story(1)[1:4], "Method", *story(1)[4:7], "Tips", story(1)[7]])


def test_agreement_sees_headings_that_are_lost() -> None:
    whole, bare = HEADED, "\n".join(story(1))
    assert agreement(whole, whole, {"ingredients", "method", "tips"}) == 1.0
    assert agreement(bare, whole, {"ingredients", "method", "tips"}) == 0.25
    assert agreement(bare, whole) < 0.9, "every line counts once, whatever its element"
    one = whole.replace("Tips\n", "")
    assert 0.7 < agreement(one, whole, {"ingredients", "method", "tips"}) < 0.8


def test_a_heading_of_nothing_that_a_template_kept_is_not_missed() -> None:
    general = "\n".join([*story(1), "Most read", "What became of the other stories that nobody asked for in May"])
    assert agreement("\n".join(story(1)), general, {"most read"}) > 0.85


def test_agreement_takes_the_rows_of_a_table_one_by_one() -> None:
    text, rows = "\n".join(story(1)), [f"| Mill {number} | 1,200 sacks |" for number in range(3)]
    whole = "\n".join([text, rows[0], "|---|---|", *rows[1:]])
    assert agreement("\n".join([text, *rows]), whole) > 0.99, "but for the rule below the head"
    assert agreement("\n".join([text, *rows[:2]]), whole) == 0.75


def test_an_audit_that_finds_headings_lost_keeps_the_general_text() -> None:
    example = train(pages(0, 4), NOW)
    new = page(9)
    template, headed = example.learned_templates[0].template, new.body
    for at, heading in enumerate(HEADINGS):
        line = f"<p>{story(9)[at * 2 + 1]}</p>".encode()
        headed = headed.replace(line, f"<h2>{heading}</h2>".encode() + line)
    template["variants"][0]["steps"] = ["p", "h2"]
    template["variants"][0]["kept"], template["variants"][0]["dropped"] = ["0"], ["1"]
    guide = Guide(name="template@1", template=orjson.dumps(template).decode(), audits=True)
    found = extract(replace(new, body=headed, guide=guide), NOW)
    assert isinstance(found, Article)
    assert found.guided is not None
    assert (found.guided.refused, found.produced_by) == ("disagrees", "trafilatura")
    assert all(heading in found.text.split("\n") for heading in HEADINGS)


def test_a_document_says_which_template_read_it() -> None:
    assert name_of("", 3) == "template@3"
    assert name_of("sport", 4) == "template/sport@4"


def posted(number: int, byline: str = "") -> Page:
    """Under one account, whoever wrote it."""
    one = page(number)
    head = b'<head><meta name=author content="Harbour Desk Team">'
    shown = b"<h1>" + one.body.split(b"<h1>")[1].split(b"</h1>")[0] + b"</h1>" + byline.encode()
    return replace(one, body=one.body.replace(b"<head>", head).replace(shown.removesuffix(byline.encode()), shown))


def test_a_name_on_nearly_every_page_gives_way_to_who_is_shown() -> None:
    example = train([posted(number) for number in range(4)], NOW)
    [learned] = example.learned_templates
    assert learned.template["house_names"] == ["Harbour Desk Team"]
    written = posted(5, "<p>By Ann Lee</p>")
    for one, expected in ((written, "Ann Lee"), (posted(6), "Harbour Desk Team")):
        found = extract(guided(one, example), NOW)
        assert isinstance(found, Article)
        assert found.author == expected
    unguided = extract(written, NOW)
    assert isinstance(unguided, Article)
    assert unguided.author == "Harbour Desk Team"


def test_few_pages_and_few_mentions_make_no_house_name() -> None:
    assert house_names_of([["Ann"], ["Ann"]]) == ()
    assert house_names_of([["Ann"], ["Ann"], ["Bo"], ["Ann"]]) == ()
    assert house_names_of([["Ann"], ["Ann", "Bo"], ["Ann", "Cy"], ["Ann"]]) == ("Ann",)
    assert len(house_names_of([[str(at) for at in range(100)]] * 4)) == 8


def test_a_template_of_before_has_no_house_names() -> None:
    learned = train([posted(number) for number in range(4)], NOW).learned_templates[0].template
    before = {name: value for name, value in learned.items() if name != "house_names"}
    found = template_from(before)
    assert found is not None
    assert found.house_names == ()
