from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from tests.unit.extraction.templates.conftest import ARTICLE, NOTICE, Story, changed, prose

from headwater.extraction.templates.facts import FEATURES
from headwater.extraction.templates.learner import NotLearned, NotLearnedReason, TrainingPage, learn
from headwater.extraction.templates.server import ServedPage, TemplateRefusal, serve
from headwater.extraction.templates.template import Template


def examples(count: int, **fields: object) -> list[TrainingPage]:
    return [changed(Story(number=number), **fields).example() for number in range(count)]


def learned(pages: list[TrainingPage]) -> Template:
    found = learn(pages)
    assert isinstance(found, Template)
    return found


@pytest.mark.parametrize("count", [0, 1, 2])
def test_fewer_than_three_pages_teach_nothing(count: int) -> None:
    assert learn(examples(count)) == NotLearned(NotLearnedReason.TOO_FEW_PAGES)


def test_the_same_page_again_is_no_further_page() -> None:
    same_address = [*examples(2), *examples(2)]
    same_text = [*examples(2), replace(examples(1)[0], url="https://news.example/elsewhere")]
    assert learn(same_address) == learn(same_text) == NotLearned(NotLearnedReason.TOO_FEW_PAGES)


def test_addresses_that_differ_in_their_query_are_different_pages() -> None:
    pages = [replace(page, url=f"https://news.example/article.php?id={at}") for at, page in enumerate(examples(3))]
    assert isinstance(learn(pages), Template)


def test_a_page_whose_text_nobody_found_is_not_counted() -> None:
    pages = [*examples(2), replace(examples(3)[2], general="Nothing much.")]
    assert learn(pages) == NotLearned(NotLearnedReason.TOO_FEW_PAGES)


def test_equal_pages_teach_equal_templates() -> None:
    assert learn(examples(4)) == learn(examples(4))


def test_the_container_holds_the_text_and_little_else(template: Template) -> None:
    assert [variant.selector for variant in template.variants] == ["div.story-body"]


def test_what_is_kept_and_dropped_inside_is_learned(template: Template) -> None:
    verdicts = template.variants[0].verdicts
    assert verdicts.ways == {("p",): True}
    assert verdicts.barren == {("div.promo",)}


def test_teachers_that_keep_the_hosts_notice_are_overruled_by_its_repetition(template: Template) -> None:
    assert all(NOTICE in page.general for page in examples(4))
    served = serve(template, Story(number=7).html)
    assert isinstance(served, ServedPage)
    assert NOTICE not in served.paragraphs


def test_a_container_without_a_lasting_name_is_not_learned() -> None:
    pages = [replace(page, html=page.html.replace("<main>", "<div>")) for page in examples(4, container="")]
    assert learn(pages) == NotLearned(NotLearnedReason.NO_CONTAINER)


def test_two_layouts_of_one_host_are_two_variants() -> None:
    pages = [changed(Story(number=at), container="story-body" if at % 2 else "essay-text").example() for at in range(4)]
    found = learned([replace(page, html=page.html.replace("<main>", "<div>")) for page in pages])
    assert {variant.selector for variant in found.variants} == {"div.story-body", "div.essay-text"}
    for container in ("story-body", "essay-text"):
        html = changed(Story(number=7), container=container).html.replace("<main>", "<div>")
        assert isinstance(serve(found, html), ServedPage)


def test_a_layout_seen_once_is_no_variant() -> None:
    odd = changed(Story(number=3), container="essay-text").example()
    pages = [*examples(3), odd]
    found = learned([replace(page, html=page.html.replace("<main>", "<div>")) for page in pages])
    assert [variant.selector for variant in found.variants] == ["div.story-body"]


def test_a_template_that_its_teachers_would_not_know_again_is_not_kept() -> None:
    half = [replace(page, general="\n".join(prose(at)[:2])) for at, page in enumerate(examples(4))]
    assert learn(half) == NotLearned(NotLearnedReason.DISAGREES)


def test_only_what_every_page_has_is_required(template: Template) -> None:
    assert set(template.required) == set(FEATURES)
    found = learned([*examples(3), changed(Story(number=3), og_type="website").example()])
    assert set(template.required) - set(found.required) == {"og:article"}


def test_facts_are_taken_from_where_they_proved_right(template: Template) -> None:
    assert template.places.title == "meta:og:title"
    assert template.places.author == "linked:author"
    assert learned(examples(4, head="")).places.author == "block:p.byline"


def test_a_date_is_learned_where_the_page_says_what_we_know() -> None:
    pages = [
        replace(page, published_at=datetime(2026, 5, 1 + at, 8, tzinfo=UTC)) for at, page in enumerate(examples(4))
    ]
    assert learned(pages).places.published == "meta:article:published_time"
    assert learned(examples(4)).places.published == ""


def test_linked_data_with_the_whole_text_votes_too() -> None:
    body = '<script type="application/ld+json">{{"@type":"NewsArticle","articleBody":"{text}"}}</script>'
    pages = [
        replace(
            story.example(), html=changed(story, head=body.format(text=" ".join(prose(at)))).html, general=story.text
        )
        for at, story in enumerate(Story(number=number) for number in range(4))
    ]
    assert learned(pages).variants[0].verdicts.ways == {("p",): True}


def test_a_page_of_another_kind_is_refused_not_misread(template: Template) -> None:
    assert isinstance(serve(template, "<title>Hello</title><p>Hello."), TemplateRefusal)


def test_the_same_story_under_another_address_counts_once_though_it_changed() -> None:
    changed_text = replace(
        examples(1)[0], url="https://news.example/amp/1", general=f"{Story(number=0).text}\nAnd more."
    )
    assert learn([*examples(2), changed_text]) == NotLearned(NotLearnedReason.TOO_FEW_PAGES)
    assert isinstance(learn([*examples(4), changed_text]), Template)


def moved(number: int) -> Story:
    """After the relaunch: what held the text holds a notice, and the text stands below."""
    text = "".join(f"<p>{line}</p>" for line in prose(number))
    return Story(number=number, paragraphs=("Write to us.",), after=f'<section class="longread">{text}</section>')


def test_a_relaunch_that_leaves_the_old_place_standing_is_learned_beside_the_old() -> None:
    new = [replace(moved(number).example(), general="\n".join(prose(number))) for number in (11, 12, 13)]
    template = learned([*examples(4), *new])
    for page in (Story(number=7), moved(14)):
        found = serve(template, page.html)
        assert isinstance(found, ServedPage)
        assert found.paragraphs == prose(page.number)


def test_where_an_old_place_passes_for_the_text_nothing_is_learned() -> None:
    def divided(number: int) -> TrainingPage:
        text = prose(number, 12)
        most = "".join(f"<p>{line}</p>" for line in text[4:])
        page = Story(number=number, paragraphs=text[:4], before=f'<section class="rest">{most}</section>')
        return replace(page.example(), general="\n".join(text))

    # The old pages had so much text beside their own that what the new ones have there raises no suspicion.
    beside = "".join(f"<p>{line}</p>" for number in (50, 51, 52) for line in prose(number, 6))
    old = examples(4, after=f"<div>{beside}</div>")
    assert isinstance(learn(old), Template)
    assert learn([*old, *map(divided, (21, 22, 23))]) == NotLearned(NotLearnedReason.DISAGREES)


LEADS = [line for number in range(30, 36) for line in prose(number, 1)]
LISTED = "".join(f"<p>{line} <a href=/x>Read on</a></p>" for line in LEADS)
OFFER = "Subscribe now. This text is for subscribers."


@pytest.mark.parametrize(
    ("odd", "general"),
    [
        (Story(number=5, paragraphs=("All of it.",), inside=LISTED), LEADS),
        (Story(number=5, head=ARTICLE.replace("NewsArticle", "LiveBlogPosting")), prose(5)),
        (Story(number=5, paragraphs=(*prose(5)[:3], OFFER)), [*prose(5)[:3], OFFER]),
        (Story(number=5, paragraphs=(*prose(5), " ".join(prose(5)))), [*prose(5), " ".join(prose(5))]),
    ],
    ids=["listing", "live blog", "paywall", "text twice"],
)
def test_a_page_that_is_no_plain_story_is_no_training(odd: Story, general: Sequence[str]) -> None:
    page = replace(odd.example(), general="\n".join(general))
    assert isinstance(learn(examples(3)), Template)
    assert learn([*examples(2), page]) == NotLearned(NotLearnedReason.TOO_FEW_PAGES)


def test_what_stands_on_the_hosts_live_blogs_as_well_is_no_story_s() -> None:
    box = '<section class="talk"><p>Join what others say of it, and see what they answer you there.</p></section>'
    live = ARTICLE.replace("NewsArticle", "LiveBlogPosting")
    stories = [Story(number=number, inside=box if number == 0 else "") for number in range(2)]
    others = [Story(number=number, inside=box, head=live).example() for number in (2, 3)]
    template = learned([*(one.example() for one in stories), *others])
    found = serve(template, Story(number=7, inside=box).html)
    assert isinstance(found, ServedPage)
    assert found.paragraphs == prose(7)
