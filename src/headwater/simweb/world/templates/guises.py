"""Pages a reader must not be taken in by: in the frame of a site's articles, but not what that frame promises.

Every guise knows its truth: the article that is really told there, or none. They stand below `/guise/NAME/` at the
address of the story they are made from; nothing links to them. Three of them are the whole site after a relaunch.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Literal, NamedTuple, get_args

from headwater.simweb.world.markup import in_html
from headwater.simweb.world.newsroom import Item
from headwater.simweb.world.templates.articles import Sheet, story_lines
from headwater.simweb.world.templates.clutter import Teaser

GuiseName = Literal[
    "listing",
    "listing_of_leads",
    "linked_leads",
    "live_blog",
    "live_ticker",
    "named_titles",
    "co_authors",
    "print_copy",
    "amp_copy",
    "hidden_copy",
    "teasers_inside",
    "consent_wall",
    "soft_404",
    "paywall",
    "summarised",
    "partial_main",
    "split_story",
    "teaser_river",
    "cross_references",
    "renamed",
    "stripped",
    "moved",
]
GUISE_NAMES: tuple[GuiseName, ...] = get_args(GuiseName)
GUISES_AT = "/guise/"
TEASERS = 12
BETWEEN = 4
AGENCY = "Reuters"
PARTS = 3
BETWEEN_POSTS = timedelta(minutes=7)
_NAMES = re.compile(r"(?<=\s)(class|id)=(\"[^\"]*\"|[\w-]+)")
_SENTENCE_END = re.compile(r"(?<=[.!?؟]) ")


class Guise(NamedTuple):
    """A page as it can be asked for; `truth` is none where no article is told."""

    name: GuiseName
    url: str
    truth: Item | None


class Guised(NamedTuple):
    sheet: Sheet
    truth: Item | None


def _listing(sheet: Sheet, teasers: Sequence[Teaser]) -> Guised:
    """A section's front that names itself an article: headline and lead, again and again."""
    lines = tuple(line for teaser in teasers for line in (_headline(teaser), in_html(teaser.lead)))
    return Guised(_retitled(sheet, sheet.item.section, lines), None)


def _listing_of_leads(sheet: Sheet, teasers: Sequence[Teaser]) -> Guised:
    more = sheet.look.label("more")
    lines = tuple(f'{in_html(one.lead)} <a href="{in_html(one.path)}">{more}</a>' for one in teasers)
    return Guised(_retitled(sheet, sheet.item.section, lines), None)


def _linked_leads(sheet: Sheet, teasers: Sequence[Teaser]) -> Guised:
    lines = tuple(f"{_headline(one)} {in_html(one.lead)}" for one in teasers)
    return Guised(_retitled(sheet, sheet.item.section, lines), None)


def _live_blog(sheet: Sheet, teasers: Sequence[Teaser]) -> Guised:
    ticker, truth = _live_ticker(sheet, teasers)
    return Guised(replace(ticker, linked_type="LiveBlogPosting"), truth)


def _live_ticker(sheet: Sheet, _: Sequence[Teaser]) -> Guised:
    """Dated posts with headings of their own, and no word in the metadata that it is one."""
    first, *rest = sheet.item.paragraphs
    posts = "\n".join(_post(sheet, at, paragraph) for at, paragraph in enumerate(rest))
    title = f"{sheet.look.publisher.speech.labels['live']}: {sheet.item.title}"
    item = replace(sheet.item, title=title)
    return Guised(replace(sheet, item=item, lines=(in_html(first),), inside=posts), item)


def _post(sheet: Sheet, at: int, paragraph: str) -> str:
    moment = sheet.published + at * BETWEEN_POSTS
    heading, *rest = map(in_html, _SENTENCE_END.split(paragraph))
    return f"""<div class="live-post"><time datetime="{moment.isoformat()}">{moment:%H:%M}</time>
<h3>{heading}</h3><p>{" ".join(rest)}</p></div>"""


def _named_titles(sheet: Sheet, _: Sequence[Teaser]) -> Guised:
    """Everything that says the headline says the section and the site's name with it, its heading as well."""
    title = f"{sheet.item.title} - {sheet.item.section} | {sheet.look.publisher.name}"
    return Guised(replace(sheet, item=replace(sheet.item, title=title)), sheet.item)


def _co_authors(sheet: Sheet, _: Sequence[Teaser]) -> Guised:
    """Two persons and an agency, in one line."""
    speech, author = sheet.look.publisher.speech, sheet.item.author
    names = map(" ".join, zip(speech.first_names, speech.last_names, strict=False))
    other = next(name for name in names if name != author)
    line = f"{author} {speech.labels['and']} {other}, {AGENCY}"
    return Guised(
        replace(sheet, item=replace(sheet.item, author=line)), replace(sheet.item, author=f"{author}, {other}")
    )


def _print_copy(sheet: Sheet, _: Sequence[Teaser]) -> Guised:
    text = "\n".join(f"<p>{in_html(paragraph)}</p>" for paragraph in sheet.item.paragraphs)
    return Guised(replace(sheet, outside=f'<div class="print-only">{text}</div>'), sheet.item)


def _amp_copy(sheet: Sheet, _: Sequence[Teaser]) -> Guised:
    """The text again for small screens, a sentence a paragraph."""
    sentences = (one for paragraph in sheet.item.paragraphs for one in _SENTENCE_END.split(paragraph))
    text = "\n".join(f"<p>{in_html(sentence)}</p>" for sentence in sentences)
    return Guised(replace(sheet, inside=f'<div class="amp-story" hidden>{text}</div>'), sheet.item)


def _hidden_copy(sheet: Sheet, _: Sequence[Teaser]) -> Guised:
    """The text again for those who have it read to them, all in one paragraph."""
    text = in_html(" ".join(sheet.item.paragraphs))
    return Guised(replace(sheet, inside=f'<p style="display:none">{text}</p>'), sheet.item)


def _teasers_inside(sheet: Sheet, teasers: Sequence[Teaser]) -> Guised:
    lines = list(story_lines(sheet))
    for at, teaser in enumerate(teasers[:BETWEEN]):
        lines.insert(2 * at + 1, f"{_headline(teaser)} {in_html(teaser.lead)}")
    return Guised(replace(sheet, lines=tuple(lines)), sheet.item)


def _consent_wall(sheet: Sheet, _: Sequence[Teaser]) -> Guised:
    """Under the story's own title, as a wall that only covers what it does not show."""
    return Guised(replace(sheet, lines=_labels(sheet, "cookies", "consent", "consent_use", "consent_choice")), None)


def _soft_404(sheet: Sheet, teasers: Sequence[Teaser]) -> Guised:
    popular = tuple(line for one in teasers[:BETWEEN] for line in (_headline(one), in_html(one.lead)))
    lines = (*_labels(sheet, "missing_text", "missing_advice"), *popular)
    return Guised(_retitled(sheet, sheet.look.publisher.speech.labels["missing"], lines), None)


def _paywall(sheet: Sheet, _: Sequence[Teaser]) -> Guised:
    shown = (in_html(sheet.item.lead), *_labels(sheet, "paywall", "paywall_offer"))
    return Guised(replace(sheet, lines=shown), replace(sheet.item, paragraphs=sheet.item.paragraphs[:1]))


def _moved(sheet: Sheet, _: Sequence[Teaser]) -> Guised:
    """What held the text holds a notice; the text stands in a new element below."""
    text = "\n".join(f"<p>{in_html(paragraph)}</p>" for paragraph in sheet.item.paragraphs)
    below = f'<section class="longread">{text}</section>'
    return Guised(replace(sheet, lines=_labels(sheet, "newsletter"), outside=below), sheet.item)


def _summarised(sheet: Sheet, _: Sequence[Teaser]) -> Guised:
    """What held the text holds its beginning, and the whole stands below in elements that nobody calls paragraphs."""
    whole = "\n".join(f'<div class="passage">{in_html(paragraph)}</div>' for paragraph in sheet.item.paragraphs)
    beginning = tuple(map(in_html, sheet.item.paragraphs[:2]))
    return Guised(replace(sheet, lines=beginning, outside=f'<section class="longread">{whole}</section>'), sheet.item)


def _partial_main(sheet: Sheet, _: Sequence[Teaser]) -> Guised:
    """What should hold the text holds its first paragraph; the others stand in an element of their own below."""
    first, *others = map(in_html, sheet.item.paragraphs)
    rest = "\n".join(f"<p>{line}</p>" for line in others)
    return Guised(replace(sheet, lines=(first,), outside=f'<section class="continued">{rest}</section>'), sheet.item)


def _split_story(sheet: Sheet, teasers: Sequence[Teaser]) -> Guised:
    """The story in several elements of a kind, with a card of another story between each two of them."""
    lines = list(map(in_html, sheet.item.paragraphs))
    size = max(len(lines) // PARTS, 1)
    own, *others = [lines[at : at + size] for at in range(0, len(lines), size)]
    cards = (f"<div class=card>{_headline(one)}</div>" for one in teasers)
    below = "\n".join(f"{next(cards, '')}<article class=part>{_paragraphs(part)}</article>" for part in others)
    return Guised(replace(sheet, lines=tuple(own), outside=below), sheet.item)


def _paragraphs(lines: Sequence[str]) -> str:
    return "\n".join(f"<p>{line}</p>" for line in lines)


def _teaser_river(sheet: Sheet, teasers: Sequence[Teaser]) -> Guised:
    """The story, and below it as much again of others."""
    cards = "\n".join(f"<div class=card><h3>{_headline(one)}</h3><p>{in_html(one.lead)}</p></div>" for one in teasers)
    return Guised(replace(sheet, outside=f'<section class="river">{cards}</section>'), sheet.item)


def _cross_references(sheet: Sheet, teasers: Sequence[Teaser]) -> Guised:
    """Between the paragraphs a label and the headline of another story."""
    lines, more = list(story_lines(sheet)), sheet.look.label("more")
    for at, teaser in enumerate(teasers[: len(lines) // 2]):
        lines.insert(3 * at + 1, f"{more}: {_headline(teaser)}")
    return Guised(replace(sheet, lines=tuple(lines)), sheet.item)


def _as_it_is(sheet: Sheet, _: Sequence[Teaser]) -> Guised:
    return Guised(sheet, sheet.item)


GUISES: Mapping[GuiseName, Callable[[Sheet, Sequence[Teaser]], Guised]] = {
    "listing": _listing,
    "listing_of_leads": _listing_of_leads,
    "linked_leads": _linked_leads,
    "live_blog": _live_blog,
    "live_ticker": _live_ticker,
    "named_titles": _named_titles,
    "co_authors": _co_authors,
    "print_copy": _print_copy,
    "amp_copy": _amp_copy,
    "hidden_copy": _hidden_copy,
    "teasers_inside": _teasers_inside,
    "consent_wall": _consent_wall,
    "soft_404": _soft_404,
    "paywall": _paywall,
    "summarised": _summarised,
    "partial_main": _partial_main,
    "split_story": _split_story,
    "teaser_river": _teaser_river,
    "cross_references": _cross_references,
    "renamed": _as_it_is,
    "stripped": _as_it_is,
    "moved": _moved,
}


def relaunched(name: GuiseName, html: str) -> str:
    """The finished page after its site changed every name, or dropped them."""
    match name:
        case "renamed":
            return _NAMES.sub(lambda found: f'{found[1]}="{_renamed(found[2])}"', html)
        case "stripped":
            return _NAMES.sub("", html)
    return html


def _renamed(names: str) -> str:
    return " ".join(f"next-{name}" for name in names.strip('"').split())


def _retitled(sheet: Sheet, title: str, lines: tuple[str, ...]) -> Sheet:
    return replace(sheet, item=replace(sheet.item, title=title), lines=lines)


def _labels(sheet: Sheet, *names: str) -> tuple[str, ...]:
    return tuple(map(sheet.look.label, names))


def _headline(teaser: Teaser) -> str:
    return f'<a href="{in_html(teaser.path)}">{in_html(teaser.title)}</a>'
