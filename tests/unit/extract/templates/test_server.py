from dataclasses import replace
from datetime import UTC, datetime

import pytest
from tests.unit.extract.templates.conftest import NOTICE, Story, changed, prose

from headwater.extract.templates.learner import learn
from headwater.extract.templates.server import Reason, Refused, Served, serve
from headwater.extract.templates.template import Template, hash_of


def served(template: Template, html: str) -> Served:
    found = serve(template, html)
    assert isinstance(found, Served), found
    return found


def refusal(template: Template, html: str) -> Reason:
    found = serve(template, html)
    assert isinstance(found, Refused), found
    return found.reason


def test_a_page_is_read_whole_and_without_its_surroundings(template: Template, story: Story) -> None:
    assert served(template, story.html).paragraphs == prose(story.number)
    assert served(template, story.html).text == story.text


def test_the_facts_come_with_the_text(story: Story) -> None:
    pages = [Story(number=number).lesson() for number in range(4)]
    learned = learn([replace(page, published_at=eight_on(1 + at)) for at, page in enumerate(pages)])
    assert isinstance(learned, Template)
    found = served(learned, story.html)
    assert (found.title, found.author, found.published_at) == (story.title, "Ada Quill", eight_on(8))


def eight_on(day: int) -> datetime:
    return datetime(2026, 5, day, 8, tzinfo=UTC)


@pytest.mark.parametrize(
    "fields",
    [{"og_type": "website"}, {"published": ""}, {"head": ""}],
    ids=lambda fields: next(iter(fields)),
)
def test_a_feature_of_all_training_pages_is_required(template: Template, story: Story, fields: dict[str, str]) -> None:
    assert refusal(template, changed(story, **fields).html) is Reason.FEATURE_MISSING


def test_a_page_without_the_container_is_refused(template: Template, story: Story) -> None:
    assert refusal(template, changed(story, container="other").html) is Reason.NO_CONTAINER


def test_a_text_far_longer_or_shorter_than_any_known_is_refused(template: Template, story: Story) -> None:
    assert refusal(template, changed(story, paragraphs=("Too short.",)).html) is Reason.TOO_SHORT
    assert refusal(template, changed(story, paragraphs=prose(7, 45)).html) is Reason.TOO_LONG
    assert served(template, changed(story, paragraphs=prose(7, 25)).html).paragraphs == prose(7, 25)


def test_much_text_on_unknown_paths_is_refused_and_a_little_is_not(template: Template, story: Story) -> None:
    strange = "".join(f"<section class=box><p>{line}</p></section>" for line in prose(20, 5))
    assert refusal(template, changed(story, inside=strange).html) is Reason.UNSEEN_PATHS
    quote = f"<section class=box><p>{prose(20)[0]}</p></section>"
    assert served(template, changed(story, inside=quote).html).paragraphs == (*prose(7), prose(20)[0])


def test_text_full_of_links_is_refused(template: Template, story: Story) -> None:
    linked = tuple(f"{line[:100]} <a href=/x>{line[100:250]}</a> {line[250:]}" for line in prose(7))
    assert refusal(template, changed(story, paragraphs=linked).html) is Reason.TOO_MANY_LINKS


def test_a_container_that_is_mostly_dropped_is_refused(template: Template, story: Story) -> None:
    promo = "".join(f"<div class=promo><p>{line}</p></div>" for line in prose(21, 15))
    assert refusal(template, changed(story, inside=promo).html) is Reason.TOO_LITTLE_KEPT


def test_much_paragraph_text_outside_the_container_is_refused(template: Template, story: Story) -> None:
    outside = "".join(f"<p>{line}</p>" for line in prose(22, 6))
    assert refusal(template, changed(story, before=f"<div class=lead>{outside}</div>").html) is Reason.TEXT_OUTSIDE


def test_a_text_in_scraps_is_refused(template: Template, story: Story) -> None:
    scraps = tuple(f"{' '.join(prose(23 + at)[0].split()[:5])}" for at in range(40))
    assert refusal(template, changed(story, paragraphs=scraps).html) is Reason.CHOPPED


def test_a_paragraph_said_twice_comes_out_once(template: Template, story: Story) -> None:
    twice = (*prose(7), prose(7)[0], prose(7)[1].upper())
    assert served(template, changed(story, paragraphs=twice).html).paragraphs == prose(7)


def test_the_title_inside_the_text_is_left_out(template: Template, story: Story) -> None:
    again = (f"{story.title}.", *prose(7))
    assert served(template, changed(story, paragraphs=again).html).paragraphs == prose(7)


def test_a_paragraph_that_is_a_link_is_left_out(template: Template, story: Story) -> None:
    linked = (*prose(7), "<a href=/x>Read this other story of ours as well</a>")
    assert served(template, changed(story, paragraphs=linked).html).paragraphs == prose(7)


def test_what_two_stories_of_the_host_said_is_dropped_from_the_third(template: Template, story: Story) -> None:
    for number in (7, 8):
        lines = (*prose(number), NOTICE + " Now.")
        answer = served(template, changed(story, number=number, paragraphs=lines).html)
        assert answer.paragraphs == lines, "once may be a quotation"
        template = template.after(answer.hashes)
    assert served(
        template, changed(story, number=9, paragraphs=(*prose(9), NOTICE + " Now.")).html
    ).paragraphs == prose(9)


def test_what_is_known_to_be_the_hosts_is_dropped_however_much_of_the_page_it_is(template: Template) -> None:
    notices = prose(50, 3)
    for number in (8, 9):
        page = Story(number=number, paragraphs=(*prose(number, 12), *notices))
        template = template.after(hash_of(line) for line in (*prose(number, 12), *notices))
        assert isinstance(serve(template, page.html), Served)
    assert served(template, Story(number=10, paragraphs=(*prose(10, 4), *notices)).html).paragraphs == prose(10, 4)


def test_a_post_embedded_from_elsewhere_is_left_out(template: Template, story: Story) -> None:
    tweet = f'<blockquote class="twitter-tweet"><p>{prose(51)[0]}</p></blockquote>'
    assert served(template, changed(story, inside=tweet).html).paragraphs == prose(7)


def test_the_same_page_again_loses_nothing(template: Template, story: Story) -> None:
    later = template
    for _ in range(3):
        later = later.after(served(later, story.html).hashes)
    assert served(later, story.html).paragraphs == prose(7)
    corrected = changed(story, paragraphs=(*prose(7), prose(30)[0]))
    assert served(later, corrected.html).paragraphs == (*prose(7), prose(30)[0])
