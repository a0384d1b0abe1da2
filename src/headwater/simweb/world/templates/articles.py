"""Article pages in six layouts, each marking up its facts the way a different kind of real site does."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from headwater.simweb.world.markup import in_html, in_script
from headwater.simweb.world.newsroom import Item
from headwater.simweb.world.templates.clutter import (
    Comment,
    Teaser,
    comments,
    cookie_banner,
    related,
    share_buttons,
    sidebar,
)
from headwater.simweb.world.templates.frame import Look, document
from headwater.simweb.world.templates.soup import Columns, soup


@dataclass(frozen=True, slots=True)
class Sheet:
    """An article with everything its page shows around it; `lines` are HTML shown in place of its paragraphs."""

    look: Look
    item: Item
    path: str
    related: tuple[Teaser, ...]
    popular: tuple[Teaser, ...]
    comments: tuple[Comment, ...]
    lines: tuple[str, ...] = ()
    inside: str = ""  # HTML at the end of the element that holds the text
    outside: str = ""  # HTML below that element
    linked_type: str = "NewsArticle"

    def local(self, moment: datetime) -> datetime:
        return moment.astimezone(self.look.publisher.zone)

    @property
    def published(self) -> datetime:
        return self.local(self.item.published)

    @property
    def modified(self) -> datetime:
        return self.local(self.item.updated or self.item.published)

    @property
    def image(self) -> str:
        return f"http://{self.look.publisher.host}/media{self.path.partition('?')[0].rstrip('/')}.png"


def paragraphs(sheet: Sheet) -> str:
    return "\n".join(f"<p>{line}</p>" for line in sheet.lines or story_lines(sheet)) + sheet.inside


def story_lines(sheet: Sheet) -> tuple[str, ...]:
    """The text as HTML; the second paragraph links to another story, as running text does."""
    shown = [in_html(paragraph) for paragraph in sheet.item.paragraphs]
    if len(shown) > 1 and sheet.related:
        first, _, rest = shown[1].partition(". ")
        shown[1] = f'<a href="{in_html(sheet.related[0].path)}">{first}.</a> {rest}' if rest else shown[1]
    return tuple(shown)


def linked_data(sheet: Sheet) -> dict[str, object]:
    item, publisher = sheet.item, sheet.look.publisher
    return {
        "@type": sheet.linked_type,
        "headline": item.title,
        "description": item.lead,
        "datePublished": sheet.published.isoformat(),
        "dateModified": sheet.modified.isoformat(),
        "author": [{"@type": "Person", "name": item.author}],
        "publisher": {"@type": "Organization", "name": publisher.name, "url": publisher.home},
        "mainEntityOfPage": item.url,
        "articleSection": item.section,
        "keywords": list(item.keywords),
        "inLanguage": item.language,
        "image": [sheet.image],
    }


def _linked_data_tag(sheet: Sheet, value: dict[str, object]) -> str:
    data = {"@context": "https://schema.org", **value}
    return f'<script type="application/ld+json">{in_script(data, sheet.look.publisher.charset)}</script>'


def _canonical(sheet: Sheet) -> str:
    return f'<link rel="canonical" href="{in_html(sheet.item.url)}">'


def _open_graph(sheet: Sheet) -> str:
    item = sheet.item
    said = {
        "og:type": "article",
        "og:title": item.title,
        "og:description": item.lead,
        "og:url": item.url,
        "og:image": sheet.image,
        "og:site_name": sheet.look.publisher.name,
        "og:locale": item.language,
        "article:published_time": sheet.published.isoformat(),
        "article:modified_time": sheet.modified.isoformat(),
        "article:author": item.author,
        "article:section": item.section,
    }
    return "\n".join(f'<meta property="{name}" content="{in_html(value)}">' for name, value in said.items())


def _meta(sheet: Sheet) -> str:
    item = sheet.item
    return f"""<meta name="description" content="{in_html(item.lead)}">
<meta name="keywords" content="{in_html(", ".join(item.keywords))}">
<meta name="author" content="{in_html(item.author)}">"""


def _figure(sheet: Sheet) -> str:
    caption = in_html(f"{sheet.item.section} / {sheet.look.publisher.name}")
    return f'<figure><img src="{in_html(sheet.image)}" alt=""><figcaption>{caption}</figcaption></figure>'


def _after(sheet: Sheet) -> str:
    return related(sheet.look, sheet.related) + "\n" + comments(sheet.look, sheet.comments)


def jsonld(sheet: Sheet) -> str:
    look, item = sheet.look, sheet.item
    body = f"""{cookie_banner(look)}
<main class="layout"><article class="story" data-id="{sheet.path.count("/")}">
<p class="kicker">{in_html(item.section)}</p>
<h1 class="story-headline">{in_html(item.title)}</h1>
<p class="byline">{look.label("by")} <span class="byline-name">{in_html(item.author)}</span> ·
<time datetime="{sheet.published.isoformat()}">{sheet.published:%d.%m.%Y, %H:%M}</time></p>
{share_buttons(look, sheet.path)}
{_figure(sheet)}
<div class="story-body">
{paragraphs(sheet)}
</div>{sheet.outside}
</article>
{sidebar(look, sheet.popular)}</main>
{_after(sheet)}"""
    head = _canonical(sheet) + "\n" + _linked_data_tag(sheet, linked_data(sheet))
    return document(look, f"{item.title} – {look.publisher.name}", body, head=head, body_class="article-page")


def graph(sheet: Sheet) -> str:
    look, item = sheet.look, sheet.item
    site = {"@type": "WebSite", "@id": look.publisher.home + "#site", "name": look.publisher.name}
    data: dict[str, object] = {"@graph": [site, linked_data(sheet)]}
    body = f"""{cookie_banner(look)}
<div class="wrap"><div class="col-main" role="main">
<div class="breadcrumbs"><a href="/">{look.label("home")}</a> › {in_html(item.section)}</div>
<h1>{in_html(item.title)}</h1>
<div class="article-meta"><span class="author">{in_html(item.author)}</span>
<span class="post-date">{sheet.published:%Y-%m-%d %H:%M}</span></div>
<div class="article-content" itemprop="articleBody">
{paragraphs(sheet)}
</div>{sheet.outside}
{share_buttons(look, sheet.path)}
{_after(sheet)}</div>
{sidebar(look, sheet.popular)}</div>"""
    head = "\n".join((_canonical(sheet), _open_graph(sheet), _linked_data_tag(sheet, data)))
    return document(look, f"{item.title} | {look.publisher.name}", body, head=head)


def opengraph(sheet: Sheet) -> str:
    look, item = sheet.look, sheet.item
    body = f"""<div id="page"><div class="content-column">
<h1 class="headline">{in_html(item.title)}</h1>
<div class="info"><a rel="author" class="author" href="/about">{in_html(item.author)}</a>
<span class="published-date">{look.label("published")}: {sheet.published:%d/%m/%Y}</span></div>
<div class="promo">{look.label("newsletter")} <a href="/login">{look.label("subscribe")}</a></div>
<div class="article-body">
{paragraphs(sheet)}
</div>{sheet.outside}
{share_buttons(look, sheet.path)}</div>
{sidebar(look, sheet.popular)}
{_after(sheet)}</div>
{cookie_banner(look)}"""
    head = "\n".join((_canonical(sheet), _meta(sheet), _open_graph(sheet)))
    return document(look, item.title, body, head=head, body_class="og")


def semantic(sheet: Sheet) -> str:
    look, item = sheet.look, sheet.item
    body = f"""<main><article><header><h1>{in_html(item.title)}</h1>
<address>{look.label("by")} <a rel="author" href="/about">{in_html(item.author)}</a></address>
<time datetime="{sheet.published.isoformat()}" pubdate>{sheet.published:%d.%m.%Y}</time></header>
{paragraphs(sheet)}
</article>{sheet.outside}</main>
{sidebar(look, sheet.popular)}
{_after(sheet)}"""
    return document(look, f"{item.title} · {look.publisher.name}", body, head=_meta(sheet))


def wordpress(sheet: Sheet) -> str:
    look, item = sheet.look, sheet.item
    body = f"""<div id="content" class="site-content"><main id="main" class="site-main">
<article class="post type-post status-publish hentry"><header class="entry-header">
<h1 class="entry-title">{in_html(item.title)}</h1>
<div class="entry-meta"><time class="entry-date published" datetime="{sheet.published.isoformat()}">
{sheet.published:%d.%m.%Y}</time><time class="updated" datetime="{sheet.modified.isoformat()}"></time>
<span class="byline"><span class="author vcard"><a class="url fn n" rel="author" href="/about">
{in_html(item.author)}</a></span></span></div></header>
<div class="entry-content">
{paragraphs(sheet)}
</div>{sheet.outside}
<footer class="entry-footer">{in_html(", ".join(item.keywords))}</footer></article>
{_after(sheet)}</main>
<div id="secondary" class="widget-area">{sidebar(look, sheet.popular)}</div></div>"""
    generator = '<meta name="generator" content="WordPress 6.5">\n'
    head = generator + "\n".join((_canonical(sheet), _meta(sheet), _open_graph(sheet)))
    return document(look, f"{item.title} – {look.publisher.name}", body, head=head, body_class="single single-post")


def _soup(sheet: Sheet) -> str:
    lines = sheet.lines or tuple(map(in_html, sheet.item.paragraphs))
    text = "<br><br>\n".join(lines) + sheet.inside
    return soup(sheet.look, sheet.item, sheet.published, Columns(text, sheet.outside, sheet.related, sheet.popular))


ARTICLE_PAGES: Mapping[str, Callable[[Sheet], str]] = {
    "jsonld": jsonld,
    "graph": graph,
    "opengraph": opengraph,
    "semantic": semantic,
    "wordpress": wordpress,
    "soup": _soup,
}
