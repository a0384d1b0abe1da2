"""Pages that look like a host's articles and are not, and hosts that changed: nothing wrong is ever served."""

import re
from collections.abc import Callable

import pytest
from tests.unit.extraction.templates.conftest import ARTICLE, SUBJECTS, Story, changed, prose

from headwater.extraction.templates.learner import learn
from headwater.extraction.templates.server import ServedPage, TemplateRefusal, TemplateRefusalReason, serve
from headwater.extraction.templates.template import Template, hash_of


def renamed(html: str) -> str:
    return re.sub(r'class="([^"]*)"', lambda found: f'class="new-{found[1]}"', html)


def stripped(html: str) -> str:
    return re.sub(r' (?:class|id)="[^"]*"', "", html)


def moved(html: str) -> str:
    return html.replace('class="story-body"', 'class="late-body"').replace(
        "</main>", '<div class="story-body"><p>See above.</p></div></main>'
    )


@pytest.mark.parametrize("change", [renamed, stripped, moved])
def test_a_redesigned_page_is_refused(template: Template, story: Story, change: Callable[[str], str]) -> None:
    assert isinstance(serve(template, change(story.html)), TemplateRefusal)


def teasers(count: int, form: str) -> str:
    return "".join(
        form.format(
            title=f"What the {SUBJECTS[at % 8]} will cost us all, part {at}", text=prose(40 + at)[0].capitalize()
        )
        for at in range(count)
    )


LISTINGS = {
    "headlines above": "<h2><a href=/x>{title}</a></h2><p>{text}</p>",
    "cards": '<div class="card"><h3><a href=/x>{title}</a></h3><p>{text}</p></div>',
    "articles": "<article><h2><a href=/x>{title}</a></h2><p>{text}</p></article>",
    "linked whole": "<a href=/x><p>{text}</p></a>",
    "a container each": '</div><div class="story-body"><p>{text}</p>',
    "in the paragraph class": "<p><a href=/x>{title}</a></p><p>{text}</p>",
}


@pytest.mark.parametrize("form", LISTINGS.values(), ids=LISTINGS.keys())
@pytest.mark.parametrize("head", [ARTICLE, ""], ids=["with article metadata", "without"])
def test_a_listing_is_refused(template: Template, form: str, head: str) -> None:
    page = Story(number=9, paragraphs=("All of our stories.",), inside=teasers(8, form), head=head)
    assert isinstance(serve(template, page.html), TemplateRefusal)


@pytest.mark.parametrize("form", ["<h2><a href=/x>{title}</a></h2><p>{text}</p>", "<p>{text} <a href=/x>More</a></p>"])
def test_a_front_page_that_lists_its_stories_as_linked_data_is_refused(template: Template, form: str) -> None:
    page = Story(number=9, paragraphs=prose(9, 1), inside=teasers(8, form), head=ARTICLE * 5)
    assert isinstance(serve(template, page.html), TemplateRefusal)


def test_a_short_page_that_names_a_section_as_its_address_is_refused(template: Template) -> None:
    page = Story(number=9, paragraphs=prose(9, 2))
    assert isinstance(serve(template, page.html), ServedPage)
    html = page.html.replace(page.url, "https://news.example/politics/")
    assert serve(template, html) == TemplateRefusal(TemplateRefusalReason.FEATURE_MISSING)


def test_a_live_blog_without_entries_is_refused(template: Template, story: Story) -> None:
    live = ARTICLE.replace("NewsArticle", "LiveBlogPosting")
    assert serve(template, changed(story, head=live).html) == TemplateRefusal(TemplateRefusalReason.LIVE_BLOG)


@pytest.mark.parametrize("known", [0, 1, 2])
def test_a_live_blog_whose_entries_its_linked_data_do_not_know_is_refused(
    template: Template, story: Story, known: int
) -> None:
    """What comes in a row with times may be teasers."""
    assert serve(template, live_blog(story, known)) == TemplateRefusal(TemplateRefusalReason.LIVE_BLOG)


def test_a_live_blog_is_read_with_its_entries_in_the_place_of_stories(template: Template, story: Story) -> None:
    found = serve(template, live_blog(story, 4))
    assert isinstance(found, ServedPage)
    entries = [line for at in range(4) for line in (f"What happened at {at}", *prose(60 + at, 2))]
    assert list(found.paragraphs) == [*prose(7), *entries]


def live_blog(story: Story, known: int) -> str:
    """With four entries, of which linked data know the first."""
    told = ",".join(f'{{"headline":"What happened at {at}"}}' for at in range(known))
    said = f'{{"@type":"LiveBlogPosting","author":{{"name":"Ada Quill"}},"liveBlogUpdate":[{told}]}}'
    entries = "".join(
        f'<section class="entry-{at}"><time datetime="2026-05-08T1{at}:00:00Z">1{at}:00</time><h3>What happened at {at}'
        f"</h3>{''.join(f'<div><p>{line}</p></div>' for line in prose(60 + at, 2))}</section>"
        for at in range(4)
    )
    head = f'<script type="application/ld+json">{said}</script>'
    return changed(story, head=head, inside=f'<div class="updates">{entries}</div>').html


def test_a_live_blog_that_does_not_say_so_is_refused(template: Template, story: Story) -> None:
    posts = "".join(
        f'<div class="post-entry"><time>10:{at:02}</time><h3>Now</h3><p>{prose(60 + at)[0]}</p></div>'
        for at in range(12)
    )
    assert isinstance(
        serve(template, changed(story, paragraphs=("Follow us here.",), inside=posts).html), TemplateRefusal
    )


def test_a_page_that_holds_its_text_twice_is_served_once(template: Template, story: Story) -> None:
    copy = '<div class="story-body">' + "".join(f"<p>{line}</p>" for line in prose(7)) + "</div>"
    found = serve(template, changed(story, after=copy).html)
    assert isinstance(found, ServedPage)
    assert found.paragraphs == prose(7)


def test_two_stories_on_one_page_are_refused(template: Template, story: Story) -> None:
    other = '<div class="story-body">' + "".join(f"<p>{line}</p>" for line in prose(8)) + "</div>"
    assert serve(template, changed(story, after=other).html) == TemplateRefusal(
        TemplateRefusalReason.TOO_MANY_CONTAINERS
    )


def test_teasers_in_the_paragraph_class_outside_the_container_stay_outside(template: Template, story: Story) -> None:
    found = serve(template, changed(story, after=teasers(3, "<p>{title}</p>")).html)
    assert isinstance(found, ServedPage)
    assert found.paragraphs == prose(7)


CONSENT = (
    "We and our partners store cookies on your device with your consent, and process personal data under our privacy "
    "policy. You may accept all cookies or manage your consent at any time on our privacy page, where every one of our "
    "partners is listed with its own privacy policy and its legitimate interest in your data and your cookies."
)


def test_a_consent_wall_in_place_of_the_text_is_refused(template: Template, story: Story) -> None:
    assert serve(template, changed(story, paragraphs=(CONSENT,)).html) == TemplateRefusal(
        TemplateRefusalReason.CONSENT_WALL
    )


def test_a_consent_wall_is_a_page_without_the_features_of_an_article(template: Template) -> None:
    html = f'<title>Before you go on</title><div class="story-body"><p>{CONSENT}</p><p>{CONSENT} Really.</p></div>'
    assert serve(template, html) == TemplateRefusal(TemplateRefusalReason.FEATURE_MISSING)


def test_a_page_that_says_there_is_nothing_is_refused(template: Template, story: Story) -> None:
    notice = " ".join(prose(70)[0].split()[:60]) + " " + " ".join(prose(71)[0].split()[:30])
    html = changed(story, paragraphs=(notice,)).html.replace(f"<title>{story.title}", "<title>Page not found")
    assert serve(template, html) == TemplateRefusal(TemplateRefusalReason.SOFT_404)


def test_teasers_among_the_paragraphs_are_refused(template: Template, story: Story) -> None:
    mixed = teasers(3, "<p><a href=/x>{title}</a> {text}</p>")
    assert serve(template, changed(story, inside=mixed).html) == TemplateRefusal(TemplateRefusalReason.TEASERS)


def test_a_teaser_that_other_pages_had_too_is_one_nonetheless(template: Template, story: Story) -> None:
    forms = [teasers(at + 1, "<p><a href=/x>{title}</a> {text}</p>").split("</p>")[at] for at in range(2)]
    known = re.sub("<[^>]*>", "", forms[0])
    page = changed(story, inside="".join(forms))
    template = template.after(1, [hash_of(known)]).after(2, [hash_of(known)])
    assert serve(template, page.html) == TemplateRefusal(TemplateRefusalReason.TEASERS)


def test_leads_that_each_end_in_a_link_are_refused(template: Template) -> None:
    page = Story(number=9, paragraphs=("All of it.",), inside=teasers(8, "<p>{text} <a href=/x>More</a></p>"))
    assert serve(template, page.html) == TemplateRefusal(TemplateRefusalReason.TEASERS)


COPIES = {
    "all in one": "<p>{text}</p>",
    "cut elsewhere": "<p>{first}</p><p>{second}</p>",
}


@pytest.mark.parametrize("form", COPIES.values(), ids=COPIES.keys())
def test_a_copy_cut_another_way_is_refused(template: Template, story: Story, form: str) -> None:
    text = " ".join(prose(7))
    words = text.split()
    copy = form.format(text=text, first=" ".join(words[:100]), second=" ".join(words[100:]))
    assert serve(template, changed(story, inside=copy).html) == TemplateRefusal(TemplateRefusalReason.SAID_TWICE)


def test_a_sentence_that_is_shown_large_is_no_copy(template: Template, story: Story) -> None:
    quoted = f"<p>{' '.join(prose(7)[2].split()[4:30])} and so on</p>"
    assert isinstance(serve(template, changed(story, inside=quoted).html), ServedPage)


def test_a_refrain_is_no_copy(template: Template, story: Story) -> None:
    refrain = " ".join(prose(70)[0].split()[:10])
    text = tuple(f"{refrain} {line}" for line in prose(7))
    assert isinstance(serve(template, changed(story, paragraphs=text).html), ServedPage)


def test_hidden_text_beside_the_text_is_not_served(template: Template, story: Story) -> None:
    much = f'<p style="display:none">{" ".join(prose(80))}</p>'
    little = f"<p hidden>{' '.join(prose(80)[0].split()[:6])}</p>"
    for hidden in (much, little):
        found = serve(template, changed(story, inside=hidden).html)
        assert isinstance(found, ServedPage)
        assert found.paragraphs == prose(7)


def test_a_text_below_its_old_place_is_missed_whatever_its_elements(template: Template, story: Story) -> None:
    below = "".join(f"<div>{line}</div>" for line in prose(7))
    assert serve(template, changed(story, paragraphs=prose(7)[:2], after=below).html) == TemplateRefusal(
        TemplateRefusalReason.TEXT_OUTSIDE
    )


def test_a_text_swallowed_by_an_element_that_never_held_any_is_missed(template: Template, story: Story) -> None:
    swallowed = "".join(f"<p>{line}</p>" for line in prose(7)[3:])
    html = changed(story, paragraphs=prose(7)[:3], inside=f'<div class="promo">{swallowed}</div>').html
    assert serve(template, html) == TemplateRefusal(TemplateRefusalReason.TEXT_OUTSIDE)


def test_the_beginning_of_a_text_with_an_offer_to_buy_the_rest_is_refused(template: Template, story: Story) -> None:
    offer = "This story is for subscribers. Subscribe now and read on wherever you are, for four weeks and longer."
    html = changed(story, paragraphs=(*prose(7)[:2], offer)).html
    assert serve(template, html) == TemplateRefusal(TemplateRefusalReason.PAYWALL)


def test_a_notice_in_any_language_is_off_its_title() -> None:
    def titled(number: int) -> Story:
        page = Story(number=number)
        return changed(page, paragraphs=(f"{page.title} is told here.", *prose(number)))

    template = learn([titled(number).example() for number in range(4)])
    assert isinstance(template, Template)
    assert isinstance(serve(template, titled(7).html), ServedPage)
    notice = " ".join(prose(90, 3))
    assert serve(template, Story(number=7, paragraphs=(notice,)).html) == TemplateRefusal(
        TemplateRefusalReason.OFF_ITS_TITLE
    )
