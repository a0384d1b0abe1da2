"""Hosts whose stories repeat headings, ingredients and boxes: what every page says is not therefore the host's."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from random import Random

import orjson
import pytest

from headwater.extraction.article import Article
from headwater.extraction.extractor import extract
from headwater.extraction.page import Page
from headwater.extraction.templates.guide import Guide
from headwater.extraction.templates.learner import NotLearned, NotLearnedReason, TrainingPage, learn
from headwater.extraction.templates.server import ServedPage, serve
from headwater.extraction.templates.template import Template, template_from
from headwater.extraction.training import Training, train

NOW = datetime(2026, 5, 4, 10, tzinfo=UTC)
DISHES = ("lentil", "pumpkin", "salmon", "barley", "chicken", "leek", "mushroom", "spinach", "tomato", "walnut")
KINDS = ("soup", "pie", "stew", "salad", "bake")
LARDER = ("carrots", "onions", "potatoes", "beans", "rice", "noodles", "cream", "butter", "cheese", "parsley", "flour")
STAPLES = ("1 tsp salt", "2 tbsp olive oil")
VERBS = ("Chop", "Fry", "Simmer", "Roast", "Stir in", "Fold in", "Season", "Grate", "Rinse", "Blend")
NEWSLETTER = "Sign up to our weekly newsletter and get ten new recipes every Friday, free of charge, in your inbox."
SHARING = ("Share on Facebook", "Share on Twitter", "Print this page")


def recipe(number: int) -> tuple[Page, list[str]]:
    """A page and the lines that belong to it."""
    chance = Random(number)
    dish = f"{DISHES[number % len(DISHES)]} {KINDS[number // 2 % len(KINDS)]}"
    needed = chance.sample(LARDER, 4)
    intro = (
        f"This {dish} was cooked for the first time in kitchen {number * 37 + 5}, on a cold evening, by a cook who had "
        f"nothing but {needed[0]} and {needed[1]} at hand and {number + 3} hungry guests at the table."
    )
    ingredients = [f"{chance.randrange(50, 900)} g {one}" for one in needed]
    steps = [
        f"{chance.choice(VERBS)} the {chance.choice(needed)} for {chance.randrange(3, 60)} minutes, then leave it to "
        f"rest beside pan number {chance.randrange(10_000)} until somebody asks for it."
        for _ in range(5)
    ]
    tip = f"It keeps for {number % 5 + 2} days; guest {chance.randrange(10_000)} liked it cold, with a slice of bread."
    title = f"{dish.capitalize()} for {number + 3}"
    share = "".join(f"<li><a href=/share>{one}</a></li>" for one in SHARING)
    more = "".join(
        f'<li><a href="/r/{at}">Another {one} recipe that you will like</a></li>' for at, one in enumerate(DISHES)
    )
    shown = "".join(f"<li>{one}</li>" for one in [*ingredients, *STAPLES])
    done = "".join(f"<li>{one}</li>" for one in steps)
    html = (
        f"<html><head><title>{title} | The Larder</title></head><body><nav><a href=/>Home</a></nav><h1>{title}</h1>"
        f'<article class="recipe"><ul class="share">{share}</ul><p>{intro}</p><p class="yield">Serves 4</p>'
        f'<h2>Ingredients</h2><ul class="ingredients">{shown}</ul>'
        f'<h2>Method</h2><ol class="steps">{done}</ol>'
        f"<h2>Tips</h2><p>{tip}</p>"
        f'<div class="newsletter-box"><h3>Never miss a dish</h3><p>{NEWSLETTER}</p></div>'
        f'<div class="more"><h3>Read more</h3><ul>{more}</ul></div></article>'
        f"<footer><p>All rights reserved by The Larder, a magazine for people who cook.</p></footer></body></html>"
    )
    lines = [intro, "Serves 4", "Ingredients", *ingredients, *STAPLES, "Method", *steps, "Tips", tip]
    return Page(url=f"http://larder.test/recipes/{number}", body=html.encode()), lines


PLACES = ("harbour", "station", "market", "museum", "library", "theatre", "bridge", "school", "tower", "park")


def report(number: int) -> tuple[Page, list[str]]:
    """A story with a box; those of one running story (two numbers) share what the box says."""
    chance = Random(number)
    place, running = PLACES[number % len(PLACES)], number // 2
    title = f"Fire at the {place} number {number}"

    def paragraph() -> str:
        return (
            f"At {chance.randrange(24)} o'clock the {place} was shut for {chance.randrange(90)} days, said officer "
            f"{chance.randrange(10_000)}, and nobody of the {chance.randrange(10_000)} visitors was told the reason."
        )

    first, second = [paragraph() for _ in range(4)], [paragraph() for _ in range(4)]
    known = [
        f"The fire began on floor {running * 13 + 7} of the {running + 5} floors that the building has.",
        f"It took {running * 11 + 9} engines to put it out before the morning of that day.",
    ]
    box = "<h3>What we know</h3><ul>" + "".join(f"<li>{one}</li>" for one in known) + "</ul>"
    html = (
        f"<html><head><title>{title}</title></head><body><nav><a href=/>Home</a></nav><main><h1>{title}</h1>"
        f'<article class="story">{"".join(f"<p>{one}</p>" for one in first)}<div class="facts-box">{box}</div>'
        f"{''.join(f'<p>{one}</p>' for one in second)}"
        f'<div class="promo"><p>{NEWSLETTER}</p></div></article></main></body></html>'
    )
    return Page(url=f"http://paper.test/news/{number}", body=html.encode()), [*first, "What we know", *known, *second]


def guided(page: Page, example: Training, *, audits: bool = False) -> Page:
    template = orjson.dumps(example.learned_templates[0].template).decode()
    return Page(url=page.url, body=page.body, guide=Guide(name="template@1", template=template, audits=audits))


def read(page: Page) -> Article:
    found = extract(page, NOW)
    assert isinstance(found, Article)
    return found


def bare(lines: Sequence[str]) -> list[str]:
    return [line.removeprefix("- ") for line in lines]


Site = Callable[[int], tuple[Page, list[str]]]


@pytest.mark.parametrize("site", [recipe, report])
@pytest.mark.parametrize("learned_templates", [4, 8, 16])
def test_no_page_loses_a_line_because_others_say_it_too(site: Site, learned_templates: int) -> None:
    pages = [site(number) for number in range(20)]
    example = train([page for page, _ in pages[:learned_templates]], NOW)
    assert [one.section for one in example.learned_templates] == [""], example.why
    for page, lines in pages:
        found = read(guided(page, example))
        assert found.produced_by == "template@1"
        assert bare(found.text.split("\n")) == lines


@pytest.mark.parametrize("site", [recipe, report])
def test_lists_are_marked_as_the_general_extractor_marks_them(site: Site) -> None:
    example = train([site(number)[0] for number in range(4)], NOW)
    page, _ = site(9)
    general = read(page).text.split("\n")
    assert read(guided(page, example)).text.split("\n") == [line for line in general if line != NEWSLETTER]


def test_notices_lists_of_links_and_share_bars_stay_out_though_the_general_extractor_kept_some() -> None:
    example = train([report(number)[0] for number in range(8)], NOW)
    assert NEWSLETTER in read(report(9)[0]).text
    assert NEWSLETTER not in read(guided(report(9)[0], example)).text


def test_what_audits_say_takes_nothing_from_later_pages() -> None:
    example = train([recipe(number)[0] for number in range(4)], NOW)
    template = template_from(example.learned_templates[0].template)
    assert template is not None
    for number in range(4, 20):
        found = read(guided(recipe(number)[0], example, audits=True))
        assert found.guided is not None
        assert found.guided.agreement == 1.0
        template = template.after(number, found.guided.doubted)
    assert (template.repeated, template.doubted) == ((), ())


def test_headings_that_only_head_notices_and_links_stay_out() -> None:
    def with_forum(number: int) -> TrainingPage:
        page, lines = report(number)
        notice = "Join thought-provoking talks, follow other readers and see what they say."
        forum = f'<div class="forum"><h2>Join our forum</h2><p>{notice}</p></div>'
        html = page.html().replace("</article>", f"{forum}</article>")
        return TrainingPage(url=page.url, html=html, general="\n".join([*lines, "Join our forum", notice]))

    template = learn([with_forum(number) for number in range(6)])
    assert isinstance(template, Template)
    answer = serve(template, with_forum(9).html)
    assert isinstance(answer, ServedPage)
    assert bare(answer.paragraphs) == report(9)[1]


def test_a_training_that_would_lose_the_headings_is_none() -> None:
    """As where the same elements head junk at length and the story in a word."""

    def headed(number: int) -> TrainingPage:
        page, lines = report(number)
        offers = "".join(
            f"<h2>Offer {at} of shop {number}, which nobody asked for and everybody sees</h2>" for at in "abc"
        )
        html = page.html().replace("</article>", f"{offers}</article>")
        for at in (1, 2):
            html = html.replace(f"<p>{lines[at]}", f"<h2>Part {number} {at}</h2><p>{lines[at]}")
        general = [lines[0], f"Part {number} 1", lines[1], f"Part {number} 2", *lines[2:]]
        return TrainingPage(url=page.url, html=html, general="\n".join(general))

    assert learn([headed(number) for number in range(6)]) == NotLearned(NotLearnedReason.DISAGREES)
