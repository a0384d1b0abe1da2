from dataclasses import replace
from datetime import UTC, datetime

import pytest
from tests.unit.extraction.templates.conftest import NOTICE, Story, changed, prose

from headwater.extraction.templates.guide import doubted_sentences
from headwater.extraction.templates.learner import learn
from headwater.extraction.templates.server import ServedPage, TemplateRefusal, TemplateRefusalReason, serve
from headwater.extraction.templates.template import Template, hash_of


def served(template: Template, html: str) -> ServedPage:
    found = serve(template, html)
    assert isinstance(found, ServedPage), found
    return found


def refusal(template: Template, html: str) -> TemplateRefusalReason:
    found = serve(template, html)
    assert isinstance(found, TemplateRefusal), found
    return found.reason


def test_a_page_is_read_whole_and_without_its_surroundings(template: Template, story: Story) -> None:
    assert served(template, story.html).paragraphs == prose(story.number)
    assert served(template, story.html).text == story.text


def test_the_facts_come_with_the_text(story: Story) -> None:
    pages = [Story(number=number).example() for number in range(4)]
    learned = learn([replace(page, published_at=eight_on(1 + at)) for at, page in enumerate(pages)])
    assert isinstance(learned, Template)
    found = served(learned, story.html)
    assert (found.title, found.author, found.published_at) == (story.title, "Ada Quill", eight_on(8))


def eight_on(day: int) -> datetime:
    return datetime(2026, 5, day, 8, tzinfo=UTC)


FIELDS = [{"og_type": "website"}, {"published": ""}, {"head": ""}]


@pytest.mark.parametrize("fields", FIELDS, ids=lambda fields: next(iter(fields)))
def test_a_feature_of_all_training_pages_may_be_missing_on_a_plain_story(
    template: Template, story: Story, fields: dict[str, str]
) -> None:
    assert served(template, changed(story, **fields).html).paragraphs == prose(7)
    brief = changed(story, paragraphs=prose(7, 2), **fields)
    assert refusal(template, brief.html) is TemplateRefusalReason.FEATURE_MISSING


@pytest.mark.parametrize("at", range(3))
def test_two_features_may_not(template: Template, story: Story, at: int) -> None:
    page = changed(story, **FIELDS[at], **FIELDS[at - 1])
    assert refusal(template, page.html) is TemplateRefusalReason.FEATURE_MISSING


def test_headings_of_what_is_kept_may_stand_on_paths_that_no_training_page_had(
    template: Template, story: Story
) -> None:
    parts = [(f"Number {at} of the long list", " ".join(prose(50 + at)[0].split()[:8])) for at in range(14)]
    page = changed(story, inside="".join(f"<div><h3>{heading}</h3></div><p>{line}</p>" for heading, line in parts))
    assert served(template, page.html).paragraphs == (*prose(7), *(line for part in parts for line in part))


def test_a_list_of_names_may_stand_below_a_story(template: Template, story: Story) -> None:
    names = tuple(f"{' '.join(prose(23 + at)[0].split()[:2])}" for at in range(60))
    text = (*prose(7), *names)
    assert served(template, changed(story, paragraphs=text).html).paragraphs == text


def test_a_page_without_the_container_is_refused(template: Template, story: Story) -> None:
    assert refusal(template, changed(story, container="other").html) is TemplateRefusalReason.NO_CONTAINER


def test_a_text_far_longer_or_shorter_than_any_known_is_refused(template: Template, story: Story) -> None:
    assert refusal(template, changed(story, paragraphs=("Too short.",)).html) is TemplateRefusalReason.TOO_SHORT
    assert refusal(template, changed(story, paragraphs=prose(7, 45)).html) is TemplateRefusalReason.TOO_LONG
    assert served(template, changed(story, paragraphs=prose(7, 25)).html).paragraphs == prose(7, 25)


BOXES = {
    "box": "<section class=box><p>{}</p></section>",
    "author": "<div class=author-bio><p>{}</p></div>",
    "related": "<p class=related>{}</p>",
    "cookies": "<p id=cookie-notice>{}</p>",
    "list": "<ul><li>{}</li></ul>",
}


@pytest.mark.parametrize("box", BOXES.values(), ids=BOXES.keys())
def test_more_than_a_tenth_on_unknown_paths_is_refused_and_a_little_is_not(
    template: Template, story: Story, box: str
) -> None:
    assert refusal(template, changed(story, inside=box.format(prose(20)[0])).html) is TemplateRefusalReason.UNSEEN_PATHS
    little = " ".join(prose(20)[0].split()[:10])
    item = f"- {little}" if "<li>" in box else little
    assert served(template, changed(story, inside=box.format(little)).html).paragraphs == (*prose(7), item)


@pytest.mark.parametrize(
    ("kind", "reason"),
    [("", TemplateRefusalReason.UNSEEN_PATHS), (" class=more", TemplateRefusalReason.TEXT_OUTSIDE)],
    ids=["without a name", "with a name"],
)
def test_a_list_of_text_where_the_host_had_lists_of_links_is_missed(kind: str, reason: TemplateRefusalReason) -> None:
    def with_list(number: int, item: str) -> Story:
        items = "".join(f"<li>{item.format(' '.join(line.split()[:8]))}</li>" for line in prose(number + 60, 8))
        return Story(number=number, inside=f"<ul{kind}>{items}</ul>")

    template = learn([with_list(number, "<a href=/x>{}</a>").example() for number in range(4)])
    assert isinstance(template, Template)
    assert served(template, with_list(7, "<a href=/x>{}</a>").html).paragraphs == prose(7)
    assert refusal(template, with_list(7, "{}").html) is reason


def test_text_full_of_links_is_refused(template: Template, story: Story) -> None:
    linked = tuple(f"{line[:100]} <a href=/x>{line[100:250]}</a> {line[250:]}" for line in prose(7))
    assert refusal(template, changed(story, paragraphs=linked).html) is TemplateRefusalReason.TOO_MANY_LINKS


def test_a_container_that_is_mostly_dropped_is_refused(template: Template, story: Story) -> None:
    promo = "".join(f"<div class=promo><p>{line}</p></div>" for line in prose(21, 15))
    assert refusal(template, changed(story, inside=promo).html) is TemplateRefusalReason.TOO_LITTLE_KEPT


def test_much_paragraph_text_outside_the_container_is_refused(template: Template, story: Story) -> None:
    outside = "".join(f"<p>{line}</p>" for line in prose(22, 6))
    assert (
        refusal(template, changed(story, before=f"<div class=lead>{outside}</div>").html)
        is TemplateRefusalReason.TEXT_OUTSIDE
    )


def test_short_paragraphs_outside_the_container_are_missed_where_the_hosts_are_short() -> None:
    def short(number: int) -> tuple[str, ...]:
        return tuple(" ".join(line.split()[:9]) for line in prose(number, 24))

    template = learn([Story(number=number, paragraphs=short(number)).example() for number in range(4)])
    assert isinstance(template, Template)
    below = "".join(f"<p>{line}</p>" for line in short(7)[14:])
    page = Story(number=7, paragraphs=short(7)[:14], after=f"<div class=continued>{below}</div>")
    assert refusal(template, page.html) is TemplateRefusalReason.TEXT_OUTSIDE


def test_a_caption_below_every_picture_of_a_gallery_is_missed_once(template: Template, story: Story) -> None:
    gallery = f"<div class=slide><p>{' '.join(prose(40)[0].split()[:18])}</p></div>" * 4
    assert served(template, changed(story, after=gallery).html).paragraphs == prose(7)


def test_a_text_in_scraps_is_refused(template: Template, story: Story) -> None:
    scraps = tuple(f"{' '.join(prose(23 + at)[0].split()[:5])}" for at in range(40))
    assert refusal(template, changed(story, paragraphs=scraps).html) is TemplateRefusalReason.CHOPPED


def test_a_paragraph_said_twice_comes_out_once(template: Template, story: Story) -> None:
    twice = (*prose(7), prose(7)[0], prose(7)[1].upper())
    assert served(template, changed(story, paragraphs=twice).html).paragraphs == prose(7)


def test_the_title_inside_the_text_is_left_out(template: Template, story: Story) -> None:
    again = (f"{story.title}.", *prose(7))
    assert served(template, changed(story, paragraphs=again).html).paragraphs == prose(7)


def test_a_paragraph_that_is_a_link_is_left_out(template: Template, story: Story) -> None:
    linked = (*prose(7), "<a href=/x>Read this other story of ours as well</a>")
    assert served(template, changed(story, paragraphs=linked).html).paragraphs == prose(7)


def test_a_paragraph_that_is_a_label_and_a_link_is_left_out(template: Template, story: Story) -> None:
    linked = (*prose(7), "Read more: <a href=/x>The other story of ours about the harbour</a>")
    assert served(template, changed(story, paragraphs=linked).html).paragraphs == prose(7)


def test_a_single_short_paragraph_may_be_a_teaser(template: Template, story: Story) -> None:
    said = [f"The {number} men of the old town saw it go by as it was." for number in range(20)]
    brief, long = " ".join(said[:8]), " ".join(said)
    assert refusal(template, changed(story, paragraphs=(brief,)).html) is TemplateRefusalReason.TOO_SHORT
    assert served(template, changed(story, paragraphs=(long,)).html).paragraphs == (long,)
    two = (" ".join(said[:4]), " ".join(said[4:8]))
    assert served(template, changed(story, paragraphs=two).html).paragraphs == two


def test_what_only_the_template_kept_on_two_stories_is_dropped_from_the_third(template: Template, story: Story) -> None:
    for number in (7, 8):
        lines = (*prose(number), NOTICE + " Now.")
        answer = served(template, changed(story, number=number, paragraphs=lines).html)
        assert answer.paragraphs == lines, "once may be a quotation"
        template = template.after(number, doubted_sentences(answer, "\n".join(prose(number))))
    assert served(
        template, changed(story, number=9, paragraphs=(*prose(9), NOTICE + " Now.")).html
    ).paragraphs == prose(9)


def test_the_background_of_a_story_that_goes_on_is_not_taken_for_the_hosts(template: Template) -> None:
    background = prose(50, 2)
    for number in (8, 9, 10):
        lines = (*prose(number), *background)
        answer = served(template, Story(number=number, paragraphs=lines).html)
        assert answer.paragraphs == lines
        template = template.after(number, doubted_sentences(answer, "\n".join(lines)))


def test_a_page_that_says_much_of_what_the_host_says_is_refused(template: Template) -> None:
    notices = prose(50, 2)
    for number in (8, 9):
        template = template.after(number, map(hash_of, notices))
    third = Story(number=10, paragraphs=(*prose(10), *notices))
    assert refusal(template, third.html) is TemplateRefusalReason.SAID_ELSEWHERE


def test_headings_and_labels_are_never_doubted(template: Template, story: Story) -> None:
    answer = served(template, changed(story, paragraphs=("What we know", *prose(7))).html)
    assert doubted_sentences(answer, "\n".join(prose(7))) == ()


@pytest.mark.parametrize("kind", ["p", "div"])
def test_what_the_host_says_on_every_page_is_dropped_however_much_it_is(kind: str) -> None:
    def noticed(number: int) -> Story:
        return Story(number=number, inside="".join(f"<{kind}>{line}</{kind}>" for line in prose(50, 2)))

    template = learn([noticed(number).example() for number in range(4)])
    assert isinstance(template, Template)
    assert served(template, noticed(7).html).paragraphs == prose(7)


def test_a_post_embedded_from_elsewhere_is_left_out(template: Template, story: Story) -> None:
    tweet = f'<blockquote class="twitter-tweet"><p>{prose(51)[0]}</p></blockquote>'
    assert served(template, changed(story, inside=tweet).html).paragraphs == prose(7)


def test_a_heading_never_seen_before_is_kept_above_text_that_is(template: Template, story: Story) -> None:
    parts = [f"<p>{line}</p>" for line in prose(7)]
    parts[2:2] = ['<div class="part-title"><h3 class="subhead">What we know</h3></div>']
    links = (
        '<div class="more"><h3 class="subhead">Read more</h3><a href=/x>Another story of ours, somewhere else</a></div>'
    )
    html = story.html.replace("".join(f"<p>{line}</p>" for line in prose(7)), "".join(parts) + links)
    assert served(template, html).paragraphs == (*prose(7)[:2], "What we know", *prose(7)[2:])


def test_a_label_that_is_said_again_is_kept(template: Template, story: Story) -> None:
    lines = (prose(7)[0], "1 tsp salt", *prose(7)[1:3], "1 tsp salt", *prose(7)[3:])
    assert served(template, changed(story, paragraphs=lines).html).paragraphs == lines


def test_labels_of_a_copy_go_with_it(template: Template, story: Story) -> None:
    lines = (prose(7)[0], "Method", *prose(7)[1:])
    labels = tuple(f"{number} g of what number {number} needs" for number in range(6))
    for copied in (lines[:3], labels):
        page = changed(story, paragraphs=(*lines, *labels, *copied))
        assert served(template, page.html).paragraphs == (*lines, *labels)


@pytest.mark.parametrize(
    "written",
    [
        "<dl><dt>{0}<dd>{1}</dl>",
        '<dl class="glossary"><dt id="term-{0}">{0}</dt><dd><p>{1}</p></dd></dl>',
        "<dl><dt><p>{0}</p></dt><dt>Mark</dt><dd><p>{1}</p></dd></dl>",
    ],
)
def test_a_term_never_seen_before_is_kept_above_its_meaning(template: Template, story: Story, written: str) -> None:
    meaning = "How deep the water stands at the quay."
    page = served(template, changed(story, inside=written.format("Draught", meaning)).html)
    told = page.text.removeprefix(story.text).strip().split("\n")
    assert told == ["- Draught", *(["- Mark"] if "Mark" in written else []), f"- {meaning}"]
